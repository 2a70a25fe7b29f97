"""Replicas of a model that share each minibatch: processes of this machine (--jobs); `mpi` has the ranks of MPI.

Each replica computes the gradient of a part of the minibatch. All add up the gradients and make the same step with
their own optimizers, so parameters are sent only once. Processes of one machine add in the order of their ranks: the
same number of processes gives the same bits.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from oracle.errors import RnngError
from rnng_dy import checkpoint, engine, registry
from rnng_dy.memory import limit_memory
from rnng_dy.parameters import ParameterStore
from rnng_dy.plugins import load_sent, loaded
from rnng_dy.training.examples import Examples
from rnng_dy.training.updates import PartialLoss, Rows, Updater, total_loss


class Gradients:
    """The gradients in a model's store as one row of numbers: dense parameters first, then selected lookup rows."""

    def __init__(self, store: ParameterStore):
        self._dense = [p.grad_view().ravel(order="K") for p in store.dense.values()]
        self._tables = {name: (t, t.grad_view()) for name, t in store.lookups.items()}

    def write(self, row: np.ndarray, rows: Rows) -> int:
        """Copy the gradients to the beginning of a float32 array; return their number."""
        start = 0
        lookups = (gradients[ids].ravel() for _, gradients, ids in self._selected(rows))
        for values in (*self._dense, *lookups):
            row[start : start + values.size] = values
            start += values.size
        return start

    def read(self, rows: Rows, get: Callable[[slice, np.ndarray], None]) -> None:
        """Replace the gradients: `get(part, out)` writes a part of the row into an array of its size."""
        start = 0
        for gradient in self._dense:
            get(slice(start, start + gradient.size), gradient)
            start += gradient.size
        for table, gradients, ids in self._selected(rows):
            values = np.empty((len(ids), gradients.shape[1]), np.float32)
            get(slice(start, start + values.size), values.reshape(-1))
            gradients[ids] = values
            table.touch(ids)
            start += values.size

    def _selected(self, rows: Rows) -> list[tuple[Any, np.ndarray, list[int]]]:
        return [(*self._tables[name], sorted(ids)) for name, ids in rows.items() if ids]


def add_in_order(parts: np.ndarray, out: np.ndarray) -> None:
    """Write the sum of rows into `out`, added in order, so that every replica gets the same bits."""
    np.copyto(out, parts[0])
    for part in parts[1:]:
        out += part


class _Replica:
    """A process's part in adding up gradients in shared memory, which has a row for each process: that of a helper.

    All write the lookup rows that any of them has used, and read when all have written. A process writes its row again
    only when all have reported on the next gradient, and so have read this one.
    """

    def __init__(self, store: ParameterStore, memory: Any, rank: int, count: int, main: Any = None):
        self.rank, self.count, self._main = rank, count, main
        self._gradients = Gradients(store)
        self._rows = np.frombuffer(memory, np.float32).reshape(count, -1)

    def begin(self, *task: object) -> None:
        """See `Replicas`."""

    def add_up(self, part: PartialLoss) -> PartialLoss:
        """See `Replicas`."""
        whole = self._exchange(part, total_loss)
        self._gradients.write(self._rows[self.rank], whole.rows)
        self._exchange("written", min)
        self._gradients.read(whole.rows, lambda part, out: add_in_order(self._rows[:, part], out))
        return whole

    def _exchange(self, own: Any, combine: Callable[[list], Any]) -> Any:
        """Give this process's message to the others; return the messages of all, combined."""
        self._main.send(own)
        return self._main.recv()


class Processes(_Replica):
    """This process, the first replica, and helper processes, in a context that ends them."""

    def __init__(self, updater: Updater, folder: Path):
        """Take an updater, and the folder from which the helpers read the training state."""
        # spawned: a forked DyNet would draw the same random numbers
        self._context = multiprocessing.get_context("spawn")
        count, store = updater.settings.jobs, updater.model.store
        self._memory = self._context.RawArray(ctypes.c_float, count * store.count())
        super().__init__(store, self._memory, 0, count)
        self._updater, self._folder = updater, folder
        self._connections: list[Connection] = []
        self._processes: list[Any] = []
        self._has_started = False

    def __enter__(self) -> Processes:
        """Start the helpers. Raises RnngError if one cannot start."""
        try:
            for rank in range(1, self.count):
                self._start(rank)
            self._receive_all()
        except BaseException:
            self.__exit__()
            raise
        self._has_started = True
        self._updater.replicas = self
        return self

    def _start(self, rank: int) -> None:
        ours, theirs = self._context.Pipe()
        args = theirs, self._memory, rank, self.count
        process = self._context.Process(target=_help, args=args, daemon=True)
        with _signals_ignored():
            process.start()
        theirs.close()
        self._connections.append(ours)
        self._processes.append(process)
        u = self._updater
        data = u.examples.sentences, u.examples.members
        # not as arguments: `start` would wait for ever for a helper that ends before it has read all of them
        self._send(rank, (dict(loaded()), str(self._folder), u.model.kind, *data, u.settings))

    def __exit__(self, *error: object) -> None:
        self._updater.replicas = None
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.join()

    def begin(self, *task: object) -> None:
        """See `Replicas`."""
        self._send_all(task)

    def _exchange(self, own: Any, combine: Callable[[list], Any]) -> Any:
        whole = combine([own, *self._receive_all()])
        self._send_all(whole)
        return whole

    def _send_all(self, message: object) -> None:
        for rank in range(1, self.count):
            self._send(rank, message)

    def _send(self, rank: int, message: object) -> None:
        try:
            self._connections[rank - 1].send(message)
        except OSError:
            # the helper may have sent the reason
            self._receive(rank)
            raise

    def _receive_all(self) -> list[Any]:
        return [self._receive(rank) for rank in range(1, self.count)]

    def _receive(self, rank: int) -> Any:
        connection, process = self._connections[rank - 1], self._processes[rank - 1]
        wait([connection, process.sentinel])
        try:
            message = connection.recv()
        except (EOFError, OSError):
            process.join()
            if not self._has_started and process.exitcode == 1:
                raise RnngError(
                    f"training process {rank} could not start: a script that trains with jobs needs its calls under "
                    '`if __name__ == "__main__":`, because each process imports it'
                ) from None
            raise RnngError(
                f"training process {rank} ended with code {process.exitcode} (-9: killed, often because memory ran "
                "out); continue with --resume, or train with fewer --jobs"
            ) from None
        if isinstance(message, Exception):
            raise RnngError(f"training process {rank}: {message}; continue with --resume")
        return message


@contextmanager
def _signals_ignored() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM while a process is started, which then ignores them, too: the main one ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = signal.SIGINT, signal.SIGTERM
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _help(connection: Connection, memory: Any, rank: int, count: int) -> None:
    """Make the requested updates in a helper process until the main process closes the connection or is gone.

    The helper sends errors to the main process. It prints the traceback of errors that the user cannot fix.
    """
    try:
        plugins, folder, kind, sentences, members, settings = connection.recv()
        load_sent(plugins)
        engine.start()
        limit_memory(count)
        model = registry.kind(kind).build(folder)
        updater = Updater(model, Examples(model, sentences, members), settings)
        checkpoint.load_training(model.store, folder, updater.optimizer)
        updater.replicas = _Replica(model.store, memory, rank, count, connection)
        connection.send("ready")
        while True:
            updater.update(*connection.recv())
    except (EOFError, ConnectionError):
        return
    except Exception as error:
        reason = str(error)
        if not isinstance(error, RnngError):
            reason = traceback.format_exception_only(error)[0].strip()
            traceback.print_exc()
        with suppress(OSError):
            connection.send(RnngError(reason))
