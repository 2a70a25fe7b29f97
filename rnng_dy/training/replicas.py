"""Replicas of a model that share each minibatch: local processes or ranks of MPI.

Each replica computes the gradient of a part of the minibatch. All add up the gradients and make the
same step with their own optimizers, so parameters are sent only once. Processes of one machine add
in the order of their ranks: the same number of processes gives the same bits.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from oracle.common import plugins
from oracle.common.errors import RnngError
from rnng_dy import checkpoint, engine, kinds
from rnng_dy.engine.memory import limit_memory
from rnng_dy.parallel import blocked
from rnng_dy.training.data import Examples
from rnng_dy.training.updates import Diverged, Replicas, Updater

_WHY = {
    -signal.SIGKILL: "killed, often because memory ran out; continue with `resume`",
    1: "see above; a script that trains with jobs is a file, with its calls under "
    '`if __name__ == "__main__":`',
    255: "it could not start: `multiprocessing.set_executable` names the program of Python",
}
"""Reasons why a process has ended, by its code."""


class _Process(Replicas):
    """A process of this machine, with gradients in shared memory that has a row for each process.

    All write the gradients of the parameters that any of them has used, and read when all have
    added up. A process writes its row again only when all have reported on the next gradient, and
    so have read this one.
    """

    def __init__(self, memory: Any, rank: int, count: int, main: Connection | None = None):
        """Take the connection of a helper process to the main process."""
        self._rows = np.frombuffer(memory, np.float32).reshape(count, -1)
        self.rank, self.count, self._main = rank, count, main

    def gathered(self, message: Any) -> list[Any]:
        """Return the messages of all processes, in the order of ranks, to a helper process."""
        self._main.send(message)
        return self._main.recv()

    def total(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Return the sum over all processes, which add up a share each in the first row."""
        size = sum(map(len, arrays))
        np.concatenate(arrays, out=self._rows[self.rank, :size])
        self.gathered("written")
        share = slice(size * self.rank // self.count, size * (self.rank + 1) // self.count)
        total = self._rows[0, share]
        for row in self._rows[1:, share]:
            total += row
        self.gathered("added up")
        return self._rows[0, :size]


class Processes(_Process):
    """This process, the first replica, and helper processes, in a context that ends them."""

    def __init__(self, updater: Updater, folder: Path):
        """Start the helpers, which read the training state from the folder.

        Raises RnngError if one cannot start.
        """
        # spawned: a forked DyNet would draw the same random numbers
        context = multiprocessing.get_context("spawn")
        count = updater.settings.jobs
        memory = context.RawArray(ctypes.c_float, count * updater.model.store.count())
        super().__init__(memory, 0, count)
        self._updater = updater
        self._helpers: list[tuple[Connection, Any]] = []
        """The connection and the process of each helper, in the order of ranks from 1 on."""
        try:
            for rank in range(1, count):
                ours, theirs = context.Pipe()
                args = theirs, memory, rank, count
                process = context.Process(target=_help, args=args, daemon=True)
                # the tracker's start would unblock signals
                resource_tracker.ensure_running()
                # the main process ends it
                with blocked(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    process.start()
                theirs.close()
                self._helpers.append((ours, process))
            # not as arguments: `start` would wait for ever for a helper that ends before it has
            # read all of them
            data = updater.examples.sentences, updater.examples.members
            self.begin(dict(plugins.loaded), updater.model.kind, folder, updater.settings, *data)
            self.gathered("ready")
        except BaseException:
            self.__exit__()
            raise
        updater.replicas = self

    def __exit__(self, *error: object) -> None:
        self._updater.replicas = None
        for connection, _ in self._helpers:
            connection.close()
        for _, process in self._helpers:
            process.join()

    def begin(self, *task: object) -> None:
        """Send the arguments of `Updater.update` to the helpers."""
        for connection, _ in self._helpers:
            # of a helper that has ended, `_receive` says the reason
            with suppress(OSError):
                connection.send(task)

    def gathered(self, message: Any) -> list[Any]:
        """Return the messages of all processes, by rank, and send them to the helpers."""
        messages = [message, *(self._receive(rank) for rank in range(1, self.count))]
        self.begin(*messages)
        return messages

    def _receive(self, rank: int) -> Any:
        connection, process = self._helpers[rank - 1]
        try:
            message = connection.recv()
        except (EOFError, OSError):
            process.join()
            why = _WHY.get(process.exitcode, "see its messages above")
            how = f"ended with code {process.exitcode} ({why})"
            raise RnngError(f"training process {rank} {how}") from None
        if isinstance(message, Exception):
            raise RnngError(f"training process {rank}: {message}; continue with `resume`")
        return message


def _help(connection: Connection, memory: Any, rank: int, count: int) -> None:
    """Make the requested updates in a helper process until the main process is gone.

    The helper sends errors to the main process. It prints the traceback of errors that the user
    cannot fix.
    """
    try:
        texts, kind, folder, settings, *data = connection.recv()
        plugins.load_sent(texts)
        engine.start()
        limit_memory(count)
        model = checkpoint.build(kinds.kind(kind), folder)
        updater = Updater(model, Examples(model, *data), settings)
        checkpoint.load_training(model.store, folder, updater.optimizer)
        updater.replicas = _Process(memory, rank, count, connection)
        updater.replicas.gathered("ready")
        while True:
            updater.update(*connection.recv())
    except (EOFError, ConnectionError):
        return
    except Exception as error:
        if not isinstance(error, RnngError):
            traceback.print_exc()
            error = RnngError(traceback.format_exception_only(error)[0].strip())
        with suppress(OSError):
            connection.send(error)


class Ranks(Replicas):
    """The ranks of MPI, in a context.

    Each runs the same program on a shared disk, and the first one writes. An error of one rank ends
    all of them.
    """

    shown: Callable[[str], str] = str
    """How a message is printed."""

    def __init__(self) -> None:
        """Raises RnngError without mpi4py and an MPI."""
        try:
            # importing it connects this process with the others
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:
            how = "pip install 'rnng_dy[cluster]', and `pip install mpich` where there is no MPI"
            raise RnngError(f"`mpi` needs mpi4py and an MPI ({error}): {how}") from None
        self._in_place, self._comm = MPI.IN_PLACE, MPI.COMM_WORLD
        self.rank, self.count = self._comm.Get_rank(), self._comm.Get_size()

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        if kind is None and not self.rank:
            self._comm.bcast(None)
        if kind is None or self.count == 1:
            return
        # most errors are those of all ranks, and the first one says them
        time.sleep(min(self.rank, 1))
        if not isinstance(error, (RnngError, OSError)):
            traceback.print_exception(kind, error, trace)
        print(f"Error: rank {self.rank}: {self.shown(str(error))}", file=sys.stderr, flush=True)
        time.sleep(0.5)
        self._comm.Abort(2)
        os._exit(2)

    def join(self, updater: Updater) -> None:
        """Begin with the first rank's parameters.

        The other ranks make its updates and return when it is done.
        """
        store, optimizer = updater.model.store, updater.optimizer
        arrays = self._comm.bcast((store.arrays(), optimizer.arrays()) if not self.rank else None)
        if self.count > 1:
            updater.replicas = self
        if self.rank:
            store.load(arrays[0])
            optimizer.load(arrays[1])
            while (task := self._comm.bcast(None)) is not None:
                # the first rank raises and reports it, too
                with suppress(Diverged):
                    updater.update(*task)

    def from_first(self, value: Any) -> Any:
        """Return the value that the first rank has."""
        return self._comm.bcast(value)

    def begin(self, *task: object) -> None:
        """Send the arguments of `Updater.update` to the other ranks, if this is the first one."""
        if not self.rank:
            self._comm.bcast(task)

    def gathered(self, message: Any) -> list[Any]:
        """Return the messages of all ranks, in their order."""
        return self._comm.allgather(message)

    def total(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Return the sum over all ranks, added up by MPI."""
        total = np.concatenate(arrays)
        self._comm.Allreduce(self._in_place, total)
        return total
