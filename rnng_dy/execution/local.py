"""Processes of this machine for trainings and the server."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from rnng_dy import plugins
from rnng_dy.engine import CPU
from rnng_dy.memory import limit_memory
from rnng_dy.parallel import check_jobs as check_jobs
from rnng_dy.parallel import keep_from_collection

_sent: Mapping[str, str] = {}
_open_work: Callable[[], Callable] | None = None
_work: Callable | None = None


class StandingProcess:
    """A process of this machine that opens work once and does items as they come, until it is killed."""

    def __init__(self, open_work: Callable[[], Callable], processes: int = 1, device: str = CPU):
        """Take work like that of `Executor.map`; `processes` of its kind share this machine's memory."""
        before = set(active_children())
        prepared = (processes, dict(plugins.loaded()), open_work, device)
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), _prepare, prepared)
        self._before = before

    def submit(self, item: object) -> Future:
        """Return the future result; it raises BrokenProcessPool if the process ends before."""
        with without_ctrl_c():
            return self._pool.submit(_do, item)

    def kill(self) -> None:
        """End the process at once."""
        for process in set(active_children()) - self._before:
            process.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _prepare(
    processes: int, sent: Mapping[str, str], open_work: Callable[[], Callable], device: str = CPU
) -> None:
    """Prepare a working process. An exception here would end it without a message."""
    global _sent, _open_work
    end_with_parent()
    if device == CPU:
        limit_memory(processes)
    _sent, _open_work = sent, open_work


def _do(item: object) -> object:
    global _work
    if _work is None:
        plugins.load_sent(_sent)
        _work = _open_work()
        keep_from_collection()
    return _work(item)


@contextmanager
def without_ctrl_c(*others: int) -> Iterator[None]:
    """Block Ctrl-C, and the signals `others`, in processes that are started in a block.

    The main process handles a signal that comes meanwhile after the block.
    """
    numbers, came = (signal.SIGINT, *others), []
    in_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in numbers if in_main}
    # child processes inherit the mask; in this process a library's thread may still get the signal
    handlers = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, _: came.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            handlers[came[0]](came[0], None)


def end_with_parent(number: int = signal.SIGKILL, parent: int | None = None) -> None:
    """Have Linux send this process a signal when its parent process, or the parent thread that started it, ends.

    `parent` is the number of the parent process, by default multiprocessing's parent.
    """
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, number)
    if parent is None and (process := multiprocessing.parent_process()) is not None:
        parent = process.pid
    if parent is not None and os.getppid() != parent:
        # the parent ended before the call of prctl
        os._exit(1)
