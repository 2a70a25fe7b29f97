"""Work on many items by processes that each open the model once."""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from oracle.errors import RnngError
from rnng_dy import engine

T = TypeVar("T")
R = TypeVar("R")

_work: Callable | None = None


def check_jobs(jobs: int) -> None:
    """Raise RnngError for several processes with a GPU."""
    if jobs > 1 and engine.device() != engine.CPU:
        raise RnngError("--jobs is for the CPU: one process keeps a GPU busy")


def ordered_map(
    open_work: Callable[[], Callable[[T], R]], items: Sequence[T], jobs: int
) -> Iterator[R]:
    """`open_work()(item)` for each item, in their order, by this process (jobs = 1) or by `jobs` others.

    With others, `open_work` (a function of a module, or a partial of one) is called once in each, and results must
    not depend on what else a process has worked on. Raises RnngError where a process is killed.
    """
    if jobs == 1:
        yield from map(open_work(), items)
        return
    # spawned: a forked DyNet would draw the same random numbers
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(items)) or 1, context, _open, (open_work,)) as pool:
        try:
            yield from _results(pool, items, ahead=4 * jobs)
        except BrokenProcessPool:
            raise RnngError(
                "a working process was killed, often for want of memory: go on with --resume and fewer --jobs"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _results(pool: ProcessPoolExecutor, items: Iterable[T], ahead: int) -> Iterator:
    """Results in order, of items handed out at most `ahead` before their turn."""
    waiting: deque = deque()
    for item in items:
        waiting.append(pool.submit(_do, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """Have Linux send this process a signal when the one that started it is gone, however it ended."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, number)


def _open(open_work: Callable[[], Callable]) -> None:
    global _work
    end_with_parent()
    # Ctrl-C is for the main process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _work = open_work()


def _do(item: object) -> object:
    return _work(item)
