"""What commands and their workers change in their process: memory limit, garbage collection.

Calls from Python change neither.
"""

import gc
import re
from pathlib import Path


def limit_memory(processes: int = 1) -> None:
    """Limit this process, one of `processes`, to its part of 9/10 of the available memory.

    Beyond the limit, MemoryError is raised; without it, Linux would end this or another process.
    Does nothing if the system does not report memory.
    """
    import resource

    try:
        used, available = _bytes("self/status", "VmData"), _bytes("meminfo", "MemAvailable")
    except OSError:
        return
    limit = used + available * 9 // 10 // processes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _bytes(name: str, field: str) -> int:
    """Return a field of a file in /proc, in bytes. Raises OSError if there is none."""
    line = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc", name).read_text(), re.MULTILINE)
    if line is None:
        raise OSError(f"no {field} in /proc/{name}")
    return int(line[1]) * 1024


def keep_from_collection() -> None:
    """Make garbage collection rare in this process.

    The search for cycles among a graph's many small objects would take 1/10 of the time.
    """
    gc.freeze()
    gc.set_threshold(200_000, 50, 50)
