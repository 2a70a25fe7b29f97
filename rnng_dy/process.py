"""What commands and their workers change in their own process: its limit of memory, garbage collection and signals.

Calls from Python change none of them.
"""

from __future__ import annotations

import gc
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def limit_memory(processes: int = 1) -> None:
    """Limit this process, one of `processes`, to its part of 9/10 of the available memory.

    Beyond the limit, MemoryError is raised; without it, Linux would end this or another process. Does nothing if the
    system does not report memory.
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


class Terminated(KeyboardInterrupt):
    """SIGTERM has been received; it acts like Ctrl-C."""


@contextmanager
def tidy() -> Iterator[None]:
    """Let SIGTERM end the process like Ctrl-C in a block, so that half-made files are removed."""

    def end(number: int, frame: object) -> None:
        # a second signal ends the process at once
        signal.signal(number, signal.SIG_DFL)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def stopping(say: Callable[[str], None] = lambda line: None) -> Iterator[list[int]]:
    """Yield a list that collects signals (Ctrl-C, SIGTERM), so that the current step can finish.

    The first signal is announced by `say`; a second one has its usual effect. Outside Python's main thread, which gets
    all signals, the list stays empty.
    """
    stopped: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: object) -> None:
        stopped.append(number)
        signal.signal(number, before[number])
        # the signal may come while another message is written: RuntimeError
        with suppress(OSError, RuntimeError):
            say("stopping after this step; the same again ends at once")

    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
