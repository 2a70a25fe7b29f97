"""How much memory there is, and a bound on what this process takes of it."""

from __future__ import annotations

import re
import resource
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
STATUS = Path("/proc/self/status")
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
CGROUP_USED = Path("/sys/fs/cgroup/memory.current")
GIGABYTE = 1 << 30


def available_memory() -> int:
    """Bytes that may be used: what the system has left, or the limit of the container."""
    left = _kilobytes(MEMINFO, "MemAvailable") * 1024
    try:
        return min(left, int(CGROUP_LIMIT.read_text()) - int(CGROUP_USED.read_text()))
    except (OSError, ValueError):
        # no control group here, or one without a limit ("max")
        return left


def peak_memory() -> int:
    """The most bytes that this process, or one that it started and that has ended, has held at a time."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in both) * 1024


def limit_memory(processes: int = 1) -> None:
    """Let this process, one of several, take its part of nine tenths of the available memory.

    Beyond it, MemoryError is raised; without a limit the system would kill the process, or another one.
    Does nothing where the system does not tell its memory.
    """
    try:
        now = _kilobytes(STATUS, "VmData") * 1024
        limit = now + available_memory() * 9 // 10 // processes
    except OSError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _kilobytes(path: Path, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"no {name} in {path}")
    return int(found[1])
