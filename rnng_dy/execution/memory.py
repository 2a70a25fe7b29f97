"""How much memory there is, and a bound on what this process takes of it."""

from __future__ import annotations

import math
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from oracle.errors import RnngError

MEMINFO = Path("/proc/meminfo")
STATUS = Path("/proc/self/status")
CGROUPS = Path("/proc/self/cgroup")
CGROUP_ROOT = Path("/sys/fs/cgroup")
GIGABYTE = 10**9
LARGEST_SHOWN = 10**30


def total_memory() -> int:
    """Bytes that the machine has."""
    return _kilobytes(MEMINFO, "MemTotal") * 1024


def available_memory() -> int:
    """Bytes that may be used: what the system has left, or less where a control group has a limit."""
    left = _kilobytes(MEMINFO, "MemAvailable") * 1024
    return min([left, *_left_in_control_groups()])


def require_memory(needed: float, what: str, remedy: str) -> None:
    """Raise RnngError where `what` needs more bytes than may be used. Does nothing where the system does not tell."""
    try:
        available = available_memory()
    except OSError:
        return
    if needed > available:
        # a whole number of hundreds of digits is no float
        needed = min(needed, LARGEST_SHOWN)
        raise RnngError(
            f"{what} needs {needed / GIGABYTE:,.1f} GB of memory, and {available / GIGABYTE:,.1f} GB are there: "
            f"{remedy}"
        )


def _left_in_control_groups() -> Iterator[int]:
    """What each control group of this process leaves, the outer ones too: a batch scheduler makes nested ones."""
    try:
        lines = CGROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        # number, controllers (none in version 2) and path
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, limit, used = CGROUP_ROOT, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root = CGROUP_ROOT / "memory"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        inner = Path(path.strip("/"))
        for group in (inner, *inner.parents):
            try:
                allowed, taken = (int((root / group / n).read_text()) for n in (limit, used))
                yield allowed - taken
            except (OSError, ValueError):
                # not to be seen from inside a container, or without a limit ("max")
                continue


def peak_memory() -> int:
    """The most bytes that this process, or one that it started and that has ended, has held at a time."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in both) * 1024


def limit_memory(processes: int = 1, most: float = math.inf) -> None:
    """Let this process, one of several, take its part of nine tenths of the available memory, and hold `most` bytes.

    Beyond it, MemoryError is raised; without a limit the system would kill the process, or another one.
    Does nothing where the system does not tell its memory.
    """
    try:
        now, held = (_kilobytes(STATUS, name) * 1024 for name in ("VmData", "VmRSS"))
        limit = now + int(min(available_memory() * 9 // 10 // processes, max(0, most - held)))
    except OSError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


@contextmanager
def limited_memory(processes: int, most: float) -> Iterator[None]:
    """`limit_memory` in the block alone, of a process that does other things as well."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit_memory(processes, most)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _kilobytes(path: Path, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"no {name} in {path}")
    return int(found[1])
