"""Functions that run in the workers of a Dask scheduler: batches of work, one at a time, and commands."""

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
"""Share of a worker's memory limit that work may use: from four fifths on Dask pauses the worker."""
LOOKED = 0.2
"""Seconds between polls of a running command."""

_alone = threading.Lock()
_commands: dict[str, RunningProcess] = {}
_newest: weakref.ref[Opening] | None = None


class Opening:
    """Opens the work of one call of `map`, once per worker.

    The opened work is released with this object, or when another `Opening` opens its work: a worker holds one model.
    """

    def __init__(self, pickled: bytes, identity: Mapping[str, str | None], processes: int):
        """Take pickled work, the sender's installed software, and how many workers share a machine's memory."""
        self._arguments = pickled, identity, processes
        self._work: Callable | None = None

    def __reduce__(self) -> tuple:
        return Opening, self._arguments

    def do(self, files: Mapping[str, Files], item: object, worker: Worker) -> object:
        """Run the work on an item and return the result."""
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
    """Raise RnngError if this worker has other software installed."""
    if different := differences(installed(), identity):
        raise RnngError(refused(worker.address, different))


def do(opening: Opening, files: Mapping[str, Files], item: object) -> object:
    """Run a batch as a Dask task. Raises RnngError naming the worker if its machine causes an error."""
    worker = get_worker()
    # only one of the worker's threads at a time: DyNet has one graph
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
    """Run a command as a Dask task; return its exit code and the address of this worker.

    The command ends with the worker. It is interrupted like by Ctrl-C when its task is no longer wanted.
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
        is_interrupted = False
        while (code := process.poll()) is None:
            if not is_interrupted and not _is_wanted(worker, name):
                process.interrupt()
                is_interrupted = True
            time.sleep(LOOKED)
        return code, worker.address
    finally:
        del _commands[name]


def _is_wanted(worker: Worker, key: str) -> bool:
    """Return whether a running task is still wanted: scheduler and client are still there."""
    task = worker.state.tasks.get(key)
    return worker.status.name == "running" and task is not None and task.state == "executing"


def interrupt(name: str) -> None:
    """End a command like Ctrl-C, if it runs in this worker."""
    process = _commands.get(name)
    if process is not None:
        process.interrupt()
