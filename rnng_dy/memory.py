"""Available memory, and a limit on this process's use of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from oracle.errors import RnngError

MEMINFO = Path("/proc/meminfo")
STATUS = Path("/proc/self/status")
GIGABYTE = 10**9
LARGEST_SHOWN = 10**30


def total_memory() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_memory() -> int:
    """Return the memory in bytes that the system has left. Raises OSError if the system does not report it."""
    return _bytes(MEMINFO, "MemAvailable")


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


def limit_memory(processes: int = 1) -> None:
    """Limit this process, one of `processes`, to its part of 9/10 of the available memory.

    Beyond the limit, MemoryError is raised; without it, Linux would end this or another process. Only commands and
    their workers call this. Does nothing if the system does not report memory.
    """
    import resource

    try:
        limit = _bytes(STATUS, "VmData") + available_memory() * 9 // 10 // processes
    except OSError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _bytes(path: Path, name: str) -> int:
    line = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    if line is None:
        raise OSError(f"no {name} in {path}")
    return int(line[1]) * 1024
