"""What is done in the workers of a Dask scheduler: batches of work, one at a time, and commands."""

from __future__ import annotations

import math
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from distributed import Worker, get_worker

from oracle.errors import PluginError, RnngError
from rnng_dy import plugins
from rnng_dy.execution.executor import Command
from rnng_dy.execution.identity import differences, installed
from rnng_dy.execution.local import RunningProcess
from rnng_dy.execution.memory import limited_memory
from rnng_dy.execution.scheduler import refused
from rnng_dy.execution.sent import Files, unpack
from rnng_dy.execution.work import forget_model

SHARE = 0.7
"""Of the memory that a worker may take: from four fifths on Dask gives it nothing more to do."""
LOOKED = 0.2
"""Seconds between looks at a command that runs."""

_alone = threading.Lock()
_commands: dict[str, RunningProcess] = {}
_newest: weakref.ref[Opening] | None = None


class Opening:
    """Opens the work of one map: once in a worker, however many batches it does.

    What it has opened goes with it, when the scheduler lets go of it, or when another one opens something: a worker
    holds one model.
    """

    def __init__(self, pickled: bytes, identity: Mapping[str, str | None], processes: int):
        """`identity` is what is installed where the work comes from, `processes` how many share a machine's memory."""
        self._arguments = pickled, identity, processes
        self._work: Callable | None = None

    def __reduce__(self) -> tuple:
        return Opening, self._arguments

    def do(self, files: Mapping[str, Files], item: object, worker: Worker) -> object:
        """The work on an item."""
        limit = worker.memory_manager.memory_limit
        with limited_memory(self._arguments[2], SHARE * limit if limit else math.inf):
            if self._work is None:
                self._open(files, worker)
            return self._work(item)

    def _open(self, files: Mapping[str, Files], worker: Worker) -> None:
        global _newest
        pickled, identity, _ = self._arguments
        require_same(identity, worker)
        other = _newest and _newest()
        if other is not None:
            other._work = None
        folders = {key: of_key.folder(worker.local_directory) for key, of_key in files.items()}
        self._work = unpack(pickled, folders)()
        forget_model()
        _newest = weakref.ref(self)


def require_same(identity: Mapping[str, str | None], worker: Worker) -> None:
    """Raise RnngError where this worker has something else installed."""
    if different := differences(installed(), identity):
        raise RnngError(refused(worker.address, different))


def do(opening: Opening, files: Mapping[str, Files], item: object) -> object:
    """A batch: a task of Dask. Raises RnngError naming the worker where the machine stands in the way."""
    worker = get_worker()
    # one thread at a time, however many the worker has: DyNet has one graph
    with _alone, _blamed(worker), plugins.blamed():
        return opening.do(files, item, worker)


@contextmanager
def _blamed(worker: Worker) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        named = "" if error.filename is None else f"{error.filename}: "
        raise RnngError(f"the worker {worker.address}: {named}{error.strerror or error}") from None
    except PluginError as error:
        raise PluginError(f"{error} (on the worker {worker.address})") from None
    except MemoryError:
        raise RnngError(
            f"the worker {worker.address} has too little memory for the model: give it more, or take it away"
        ) from None


def run(name: str, command: Command, identity: Mapping[str, str | None]) -> tuple[int, str]:
    """A command: a task of Dask. Gives its exit code and where it ran.

    It ends with the worker; where nobody waits for it any more, as by Ctrl-C.
    """
    worker = get_worker()
    require_same(identity, worker)
    if not command.log.parent.is_dir():
        raise RnngError(
            f"the worker {worker.address} does not see {command.folder}: all workers must share this folder"
        )
    with _blamed(worker):
        process = RunningProcess(command, signal.SIGKILL)
    _commands[name] = process
    try:
        is_told = False
        while (code := process.poll()) is None:
            if not is_told and not _is_wanted(worker, name):
                process.interrupt()
                is_told = True
            time.sleep(LOOKED)
        return code, worker.address
    finally:
        del _commands[name]


def _is_wanted(worker: Worker, key: str) -> bool:
    """Whether a task that runs is still to be done: its scheduler is there, and so is who has given it."""
    task = worker.state.tasks.get(key)
    return worker.status.name == "running" and task is not None and task.state == "executing"


def interrupt(name: str) -> None:
    """End a command as Ctrl-C does, if it runs in this worker."""
    process = _commands.get(name)
    if process is not None:
        process.interrupt()
