"""Work on many batches in order: in this process, in several, or on workers of Dask."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from oracle.common import plugins
from oracle.common.errors import RnngError, Terminated, extra
from rnng_dy.engine.memory import keep_from_collection, limit_memory

T = TypeVar("T")
R = TypeVar("R")
AHEAD = 4
"""Batches per worker that are submitted before their turn."""
CONNECTION = 10.0
"""Seconds within which a Dask scheduler must answer."""
LOST = (
    "a worker has ended (often because memory ran out), or the scheduler: "
    "the same command continues; fewer --jobs need less memory"
)

_log = logging.getLogger(__name__)


class Workers:
    """A context in which functions run on batches, with models that each worker opens once.

    Args:
        openables: What each worker opens. Of each, `open` returns the model, `files` the files or
            members of archives that `open` reads, by name in a folder, and `moved` the same with
            its files in another folder.
        jobs: The number of processes; one is this process. Or the address or the file of a Dask
            scheduler.
        models: The same, as this process has opened them.

    Raises:
        RnngError: No Dask scheduler answers, or its workers have other software.
    """

    def __init__(
        self, openables: Sequence[Any] = (), jobs: int | str = 1, models: Sequence[Any] = ()
    ):
        self._openables, self._jobs, self._models = openables, jobs, models
        self._executor: Executor | None = None
        self._opening: Any = None
        self._client: Any = None
        self._lost: tuple[type[BaseException], ...] = (BrokenProcessPool,)
        self._children = set(multiprocessing.active_children())

    def __enter__(self) -> Workers:
        if isinstance(self._jobs, str):
            self._connect(self._jobs)
        elif self._jobs > 1:
            # forked processes would draw the same random numbers in DyNet
            spawn = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self._jobs, spawn, _prepare, (self._jobs,))
            self._opening = pickle.dumps(partial(_open, dict(plugins.loaded), self._openables))
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._client is not None:
            self._client.close(timeout=5)
        elif self._executor is not None:
            if kind is not None:
                # the results of the running batches are no longer wanted
                for process in {*multiprocessing.active_children()} - self._children:
                    process.kill()
            self._executor.shutdown(cancel_futures=True)

    def map(self, function: Callable[..., R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Yield each item with `function(item, *models)`, in order; `function` can be pickled.

        Items are taken from the iterator as workers need them. Raises RnngError if a worker is
        lost.
        """
        if self._executor is None:
            for item in items:
                yield item, function(item, *self._models)
            return
        waiting: deque[tuple[T, Future[Any]]] = deque()
        for item in items:
            # the main process ends the others
            with blocked(signal.SIGINT, signal.SIGHUP):
                task = self._executor.submit(_do, self._opening, function, item)
            waiting.append((item, task))
            if len(waiting) > AHEAD * self._workers():
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def _workers(self) -> int:
        if isinstance(self._jobs, int):
            return self._jobs
        try:
            return len(self._client.nthreads())
        except (OSError, TimeoutError):
            raise RnngError(LOST) from None

    def _next(self, waiting: deque[tuple[T, Future[Any]]]) -> tuple[T, Any]:
        item, task = waiting.popleft()
        try:
            return item, task.result()
        except self._lost as error:
            if error.__cause__ is not None:
                # no worker has ended: a result or an exception cannot be pickled
                raise
            raise RnngError(LOST) from None

    def _connect(self, scheduler: str) -> None:
        """Connect to a Dask scheduler, and send models and plugins, which its workers share."""
        with extra("a scheduler needs Dask", "cluster"):
            import dask
            import distributed
        # the archive is part of a task, so that it is sent again if a worker is lost
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
        for noisy in ("distributed", "distributed.client", "tornado", "asyncio"):
            logging.getLogger(noisy).setLevel(logging.CRITICAL)
        name = "scheduler_file" if os.path.isfile(scheduler) else "address"
        try:
            connect: Callable[..., Any] = distributed.Client
            self._client = connect(**{name: scheduler}, timeout=CONNECTION, set_as_default=False)
            self._client.get_versions(check=True, packages=["rnng_dy", "numpy"])
        except Exception as error:
            raise RnngError(f"`jobs` {scheduler}: {error or type(error).__name__}") from None
        if not (workers := self._client.scheduler_info(n_workers=-1)["workers"].values()):
            _log.warning(f"the Dask scheduler at {scheduler} has no workers: waiting for one")
        on_a_machine = max(Counter(worker["host"] for worker in workers).values(), default=1)
        contents = [
            (openable, {file: path.read_bytes() for file, path in openable.files().items()})
            for openable in self._openables
        ]
        opening = partial(_open_contents, dict(plugins.loaded), contents, on_a_machine)
        self._opening = self._client.submit(bytes, pickle.dumps(opening))
        self._executor = self._client.get_executor(pure=False)
        killed = distributed.scheduler.KilledWorker
        self._lost = killed, CancelledError, distributed.comm.core.CommClosedError


def batches(items: Iterable[T], size_of: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    """Yield batches of neighbouring items, of total size at most `limit` or of a single item.

    >>> list(batches(["a", "bb", "cccc", "d"], len, 3))
    [['a', 'bb'], ['cccc'], ['d']]
    """
    batch: list[T] = []
    size = 0
    for item in items:
        if batch and size + size_of(item) > limit:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += size_of(item)
    if batch:
        yield batch


def split_on_memory_error(
    function: Callable[..., Iterable[R]], batch: Sequence[T], *models: Any
) -> list[R | None]:
    """Return `function(batch, *models)`, a result per item.

    If memory does not suffice, each item is a batch of its own; the result of one that does not fit
    alone is None.
    """
    try:
        return [*function(batch, *models)]
    except MemoryError:
        if len(batch) == 1:
            return [None]
    return [result for x in batch for result in split_on_memory_error(function, [x], *models)]


def check_jobs(jobs: int | str, device: str) -> None:
    """Raise RnngError for several processes with a GPU."""
    if jobs != 1 and device != "cpu":
        raise RnngError("`jobs` is for the CPU: one process keeps a GPU busy")


# in the workers

_alone = threading.Lock()


def _do(opening: bytes, function: Callable[..., Any], item: object) -> object:
    # one thread at a time: DyNet has one graph
    with _alone:
        return function(item, *_opened(opening))


@lru_cache(maxsize=1)
def _opened(opening: bytes) -> list[Any]:
    models: list[Any] = pickle.loads(opening)()
    keep_from_collection()
    return models


def _open(texts: Mapping[str, str], openables: Iterable[Any]) -> list[Any]:
    plugins.load_sent(texts)
    return [openable.open() for openable in openables]


def _open_contents(
    texts: Mapping[str, str], contents: Sequence[tuple[Any, dict[str, bytes]]], processes: int
) -> list[Any]:
    """Open models from the contents of their files, in one of the `processes` of this machine.

    `texts` are those of plugins by path.
    """
    limit_memory(processes)
    with TemporaryDirectory() as folder:
        moved = []
        for number, (openable, files) in enumerate(contents):
            for name, content in files.items():
                path = Path(folder, str(number), name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            moved.append(openable.moved(os.path.join(folder, str(number))))
        return _open(texts, moved)


def _prepare(processes: int) -> None:
    """Let a new process, one of `processes`, end with its parent, and limit its memory."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limit_memory(processes)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def blocked(*signals: signal.Signals) -> Iterator[None]:
    """Block signals while a process may be started, which keeps them blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def tidy() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a block like Ctrl-C, so that half-made files are removed."""

    def end(number: int, frame: object) -> None:
        # a second signal ends the process at once
        signal.signal(number, signal.SIG_DFL)
        raise Terminated

    before = {number: signal.signal(number, end) for number in ending()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ending() -> list[int]:
    """Return the signals that end a process, but SIGHUP if nohup has it ignored."""
    signals = signal.SIGTERM, signal.SIGHUP
    return [number for number in signals if signal.getsignal(number) != signal.SIG_IGN]
