"""The instruction set of this processor, as the compiler's -march names it."""

import platform
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
LEVEL = "RNNG_DY_CPU"
"""The environment variable that names a lower level than the processor's."""
# levels of the x86-64 psABI, highest first, with the flags of /proc/cpuinfo that each adds (abm
# includes lzcnt)
_ADDS = {
    "x86-64-v4": ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"],
    "x86-64-v3": ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"],
    "x86-64-v2": ["cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"],
    "x86-64": [],
}
_X86 = list(_ADDS)


def cpu_level(machine: str | None = None, cpuinfo: Path = CPUINFO) -> str:
    """Return `x86-64-v4`, `-v3`, `-v2`, `x86-64` or `armv8-a`; "" for any other machine.

    >>> cpu_level("aarch64")
    'armv8-a'
    """
    machine = machine or platform.machine()
    if machine in ("aarch64", "arm64"):
        return "armv8-a"
    if machine not in ("x86_64", "AMD64"):
        return ""
    flags = _cpu_flags(cpuinfo)
    has_all = {level: flags.issuperset(added) for level, added in _ADDS.items()}
    return next(level for level in _X86 if all(map(has_all.get, lower_levels(level))))


def lower_levels(level: str) -> list[str]:
    """Return a level and all lower levels, for compilers that do not support the level.

    >>> lower_levels("x86-64-v3")
    ['x86-64-v3', 'x86-64-v2', 'x86-64']
    """
    return _X86[_X86.index(level) :] if level in _X86 else [level]


def _cpu_flags(cpuinfo: Path) -> frozenset[str]:
    """Return the flags of the first processor, or none if the file is missing."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    flags = (line.partition(":")[2] for line in lines if line.startswith("flags"))
    return frozenset(next(flags, "").split())
