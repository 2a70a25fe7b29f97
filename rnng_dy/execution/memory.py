"""Available memory, and a limit on this process's use of it."""

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
    """Return the machine's memory in bytes."""
    return _kilobytes(MEMINFO, "MemTotal") * 1024


def available_memory() -> int:
    """Return the usable memory in bytes: what the system has left, or less if a control group has a limit."""
    left = _kilobytes(MEMINFO, "MemAvailable") * 1024
    return min([left, *_left_in_control_groups()])


def require_memory(needed: float, what: str, remedy: str) -> None:
    """Raise RnngError if `what` needs more bytes than available. Does nothing if the system does not report memory."""
    try:
        available = available_memory()
    except OSError:
        return
    if needed > available:
        # an integer of hundreds of digits does not fit into a float
        needed = min(needed, LARGEST_SHOWN)
        raise RnngError(
            f"{what} needs {needed / GIGABYTE:,.1f} GB of memory, and {available / GIGABYTE:,.1f} GB are there: "
            f"{remedy}"
        )


def _left_in_control_groups() -> Iterator[int]:
    """Yield the bytes left in each control group of this process, with outer groups: batch schedulers nest them."""
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
                # invisible inside a container, or without a limit ("max")
                continue


def peak_memory() -> int:
    """Return the largest peak memory in bytes of this process and its ended child processes."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in both) * 1024


def limit_memory(processes: int = 1, most: float = math.inf) -> None:
    """Limit this process, one of `processes`, to its part of 9/10 of the available memory, and to `most` bytes in all.

    Beyond the limit, MemoryError is raised; without it the system would kill this or another process.
    Does nothing if the system does not report memory.
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
    """Apply `limit_memory` only within a block, for a process that also does other things."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit_memory(processes, most)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _kilobytes(path: Path, name: str) -> int:
    line = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    if line is None:
        raise OSError(f"no {name} in {path}")
    return int(line[1])
