"""The instruction set of this processor, as the compiler's -march names it."""

from __future__ import annotations

import platform
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
# the x86-64 psABI's level 3, in the names of /proc/cpuinfo (abm has lzcnt)
X86_64_V3 = frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"])


def cpu_level(machine: str | None = None, cpuinfo: Path = CPUINFO) -> str:
    """`x86-64-v3` or `x86-64`, `armv8-a`, and for any other machine the empty string.

    >>> cpu_level("aarch64")
    'armv8-a'
    """
    machine = machine or platform.machine()
    if machine in ("aarch64", "arm64"):
        return "armv8-a"
    if machine not in ("x86_64", "AMD64"):
        return ""
    return "x86-64-v3" if _cpu_flags(cpuinfo) >= X86_64_V3 else "x86-64"


def runs_here(march: str) -> bool:
    """Whether code compiled for `march`, one of this module's names, runs on this processor."""
    return march != "x86-64-v3" or cpu_level() == march


def _cpu_flags(cpuinfo: Path) -> frozenset[str]:
    """The flags of the first processor, empty where the file is missing."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    flags = (line.partition(":")[2] for line in lines if line.startswith("flags"))
    return frozenset(next(flags, "").split())
