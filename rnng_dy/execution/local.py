"""Executors on this machine: this process, or several other processes that each open the work once."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from typing import TypeVar

from oracle.errors import RnngError
from rnng_dy import plugins
from rnng_dy.engine import CPU
from rnng_dy.execution.executor import Command, Executor, Running
from rnng_dy.execution.memory import limit_memory, require_memory

T = TypeVar("T")
R = TypeVar("R")
ENDING = 10.0
"""Seconds to wait for a process that has been told to end."""
PROCESS_BYTES = 120_000_000
"""Minimal memory in bytes of a process with Python, numpy and DyNet."""

ALWAYS_ALLOWED, PROCESSES_EACH = 64, 16
"""Processes that are allowed on any machine, or per processor if that gives more."""

_open_work: Callable[[], Callable] | None = None
_work: Callable | None = None


def local_executor(jobs: int = 1, device: str = CPU) -> Executor:
    """Return an executor: this process for one job, else `jobs` others. Raises RnngError for several with a GPU."""
    check_jobs(jobs, device)
    return ThisProcess() if jobs == 1 else LocalProcesses(jobs)


def check_jobs(jobs: int, device: str) -> None:
    """Raise RnngError for several processes with a GPU or in a pool, or for more than memory or processors allow."""
    if jobs > 1 and device != CPU:
        raise RnngError("--jobs is for the CPU: one process keeps a GPU busy")
    if jobs > 1 and multiprocessing.current_process().daemon:
        raise RnngError(
            "a process of a multiprocessing.Pool cannot start others: use --jobs 1 there"
        )
    if jobs > 1:
        require_room(jobs, f"--jobs {jobs}")


def require_room(processes: int, what: str) -> None:
    """Raise RnngError for more processes than memory can hold or the processors can use."""
    require_memory(processes * PROCESS_BYTES, what, "use fewer")
    processors = os.cpu_count() or 1
    most = max(ALWAYS_ALLOWED, PROCESSES_EACH * processors)
    if processes > most:
        raise RnngError(
            f"{what} is more than {processors} processors have a use for: use {most} at most"
        )


def prepare_process(processes: int = 1, device: str = CPU) -> None:
    """Prepare this process, one of `processes`, for models by limiting its memory."""
    # no limit with a GPU: the driver's memory would count as the process's own
    if device == CPU:
        limit_memory(processes)


class _Local(Executor):
    """Base class of executors that start commands in processes of this machine."""

    def processes(self, others: int) -> int:
        return max(1, self.jobs - others)

    def start(self, command: Command) -> RunningProcess:
        return RunningProcess(command)


class ThisProcess(_Local):
    """Executor that works in the calling process."""

    jobs = sharing = 1

    def map(self, open_work: Callable[[], Callable[[T], R]], items: Sequence[T]) -> Iterator[R]:
        """See `Executor`."""
        work = open_work()
        keep_from_collection()
        yield from map(work, items)


class LocalProcesses(_Local):
    """Executor that works in other processes of this machine."""

    def __init__(self, jobs: int):
        self.jobs = self.sharing = jobs

    def map(self, open_work: Callable[[], Callable[[T], R]], items: Sequence[T]) -> Iterator[R]:
        """See `Executor`."""
        context, open_work = _Spawning(), plugins.carried(open_work)
        workers = min(self.jobs, len(items)) or 1
        # otherwise the pool would start it with its first semaphore, and its warnings would be printed
        _start_tracker()
        with ProcessPoolExecutor(workers, context, _prepare, (self.jobs, open_work)) as pool:
            try:
                yield from _results(pool, items, ahead=4 * self.jobs)
            except BrokenProcessPool as error:
                if error.__cause__:
                    # no process has ended: a result or an exception cannot be unpickled
                    raise
                raise RnngError(context.loss()) from None
            except BaseException:
                # the results of the running processes are no longer wanted
                context.kill()
                raise
            finally:
                pool.shutdown(cancel_futures=True)


class StandingProcess:
    """A process of this machine that opens work once and does items as they come, until it is killed."""

    def __init__(self, open_work: Callable[[], Callable], processes: int = 1, device: str = CPU):
        """Take work like that of `Executor.map`; `processes` of its kind share this machine's memory."""
        self._context = _Spawning()
        prepared = (processes, plugins.carried(open_work), device)
        _start_tracker()
        self._pool = ProcessPoolExecutor(1, self._context, _prepare, prepared)

    def submit(self, item: object) -> Future:
        """Return the future result; it raises BrokenProcessPool if the process ends before."""
        with without_ctrl_c():
            return self._pool.submit(_do, item)

    def kill(self) -> None:
        """End the process at once."""
        self._context.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)


class _Spawning(SpawnContext):
    """A context that spawns and records processes; forked ones would draw the same random numbers in DyNet."""

    def __init__(self):
        super().__init__()
        self._processes: list[BaseProcess] = []

    def Process(self, *arguments, **options) -> BaseProcess:
        """See `multiprocessing`."""
        self._processes.append(super().Process(*arguments, **options))
        return self._processes[-1]

    def loss(self) -> str:
        """Return the message that explains why one of the processes ended early."""
        # the pool has ended the others by SIGTERM; one that has not ended yet has no exit code
        for process in self._processes:
            process.join(ENDING)
        codes = {process.exitcode for process in self._processes} - {None, 0, -signal.SIGTERM}
        if codes <= {-signal.SIGKILL}:
            return "a working process was killed, often because memory ran out: continue with --resume and fewer --jobs"
        code = max(codes - {-signal.SIGKILL})
        named = f" ({signal.strsignal(-code)})" if code < 0 else ""
        return (
            f"a working process ended with code {code}{named}, as by a fault in a library that a plugin calls: "
            "continue with --resume"
        )

    def kill(self) -> None:
        """Kill the running processes."""
        for process in self._processes:
            # a process that could not be started has no pid
            if process.pid is not None:
                process.kill()


def _results(pool: ProcessPoolExecutor, items: Sequence[T], ahead: int) -> Iterator:
    """Yield results in order; items are submitted at most `ahead` before their turn."""
    waiting: deque = deque()
    for item in items:
        with without_ctrl_c():
            waiting.append(pool.submit(_do, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _prepare(processes: int, open_work: Callable[[], Callable], device: str = CPU) -> None:
    """Prepare a working process. An exception here would end it without a message."""
    global _open_work
    end_with_parent()
    prepare_process(processes, device)
    _open_work = open_work


def _do(item: object) -> object:
    global _work
    with plugins.blamed():
        if _work is None:
            _work = _open_work()
            keep_from_collection()
        return _work(item)


def keep_from_collection() -> None:
    """Make garbage collection rare in this process.

    The search for cycles among a graph's many small objects would take 1/10 of the time.
    """
    gc.freeze()
    gc.set_threshold(200_000, 50, 50)


@contextmanager
def without_ctrl_c(*others: int) -> Iterator[None]:
    """Block Ctrl-C, and the signals `others`, in processes that are started in a block.

    The main process handles a signal that comes meanwhile after the block.
    """
    # start the tracker first, since starting it unblocks signals
    _start_tracker()
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


def _start_tracker() -> None:
    """Start multiprocessing's tracker, which removes the semaphores of killed processes, without its messages.

    The tracker would warn of those semaphores. A tracker that replaces a killed one would print a KeyError for each
    semaphore that it does not know.
    """
    tracker = resource_tracker._resource_tracker
    if tracker._fd is not None and tracker._check_alive():
        # return early: redirecting standard error would lose the output of other threads
        return
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        # the tracker inherits standard error
        os.dup2(nowhere, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            resource_tracker.ensure_running()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


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


class RunningProcess(Running):
    """A command in a process of this machine."""

    place = ""

    def __init__(self, command: Command, without_parent: int = signal.SIGTERM):
        """Start the command; `without_parent` is the signal that it gets when its parent process ends."""
        # the process requests the signal itself: code between fork and exec may hang if other threads hold locks
        call = (
            "from rnng_dy.execution.local import end_with_parent; "
            f"end_with_parent({int(without_parent)}, {os.getpid()})\n"
            "from rnng_dy import plugins\n"
            "from rnng_dy.cli import main, errors_reported\n"
            "with errors_reported():\n"
            "    plugins.load_from_stdin()\n"
            "main()"
        )
        environment = {k: v for k, v in os.environ.items() if k != plugins.VARIABLE}
        with (
            command.log.open("ab") as log,
            (command.printed or command.log).open("wb" if command.printed else "ab") as printed,
            tempfile.TemporaryFile() as sent,
        ):
            pickle.dump(command.plugins, sent)
            sent.seek(0)
            self._process = subprocess.Popen(
                [sys.executable, "-c", call, *command.arguments],
                cwd=command.folder,
                stdout=printed,
                stderr=log,
                stdin=sent,
                env=environment,
                # Ctrl-C reaches it only through `interrupt`
                start_new_session=True,
            )
        self.poll, self.wait = self._process.poll, self._process.wait

    def interrupt(self) -> None:
        """Send SIGINT to the process."""
        self._process.send_signal(signal.SIGINT)
