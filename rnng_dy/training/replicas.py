"""Synchronous training in several local processes: each computes a part of the minibatch's gradient.

Every replica adds up the same gradients in the same order and makes the same step with its own optimizer. So
parameters are never sent, all replicas stay equal to the last bit, and a run can be repeated.

Replicas exchange gradients through a file that all map into memory, with a slot per replica. Each replica reports the
lookup rows that its graphs have used. All replicas write the rows that any has used; when all have written, they read.
A replica writes its slot again only after all have reported on the next gradient, and so have read this one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from oracle.errors import RnngError
from rnng_dy import checkpoint, engine, registry
from rnng_dy.execution.local import check_jobs, end_with_parent, without_ctrl_c
from rnng_dy.memory import limit_memory
from rnng_dy.parameters import ParameterStore
from rnng_dy.plugins import load_sent, loaded
from rnng_dy.training.all_reduce import (
    Gradients,
    PartialLoss,
    Update,
    add_in_order,
    total_loss,
)
from rnng_dy.training.updates import Updater

T = TypeVar("T")
WRITTEN = "written"


class Failed(NamedTuple):
    """The message of a helper process that has failed."""

    reason: str


Exchange = Callable[[T, Callable[[list[T]], T]], T]
"""Gives a replica's message to the others, and returns the messages of all combined by a function."""


class SharedGradients:
    """One replica's part in adding up gradients through the shared file; see `GradientAllReduce`."""

    def __init__(
        self, store: ParameterStore, path: str, rank: int, replicas: int, exchange: Exchange
    ):
        self.rank, self.replicas, self._exchange = rank, replicas, exchange
        self._gradients = Gradients(store)
        self._slots = np.memmap(path, np.float32, "r+", shape=(replicas, self._gradients.most))

    def add_up(self, part: PartialLoss) -> PartialLoss:
        """See `GradientAllReduce`."""
        whole = self._exchange(part, total_loss)
        self._gradients.write(self._slots[self.rank], whole.rows)
        # read when all have written
        self._exchange(WRITTEN, min)
        self._gradients.read(whole.rows, lambda part, out: add_in_order(self._slots[:, part], out))
        return whole


class Replicas:
    """The updater of this process and those of helper processes, which make updates together."""

    def __init__(self, updater: Updater, folder: Path, replicas: int):
        """Start helpers, which read the training state in `folder`. Raises RnngError if the disk lacks room."""
        check_jobs(replicas, engine.device())
        self._replicas, self._updater = replicas, updater
        self._connections, self._processes = [], []
        self._started = False
        store = updater.model.store
        descriptor, path = tempfile.mkstemp(prefix="rnng_dy.")
        try:
            size = replicas * store.count() * np.dtype(np.float32).itemsize
            os.posix_fallocate(descriptor, 0, size)
            for rank in range(1, replicas):
                self._start(path, folder, rank)
            self._receive_all()
            self._started = True
            updater.all_reduce = SharedGradients(store, path, 0, replicas, self._exchange)
        except RnngError:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise RnngError(
                f"no room for gradients in {Path(path).parent} ({error.strerror}): use fewer --jobs, "
                "or name another folder in TMPDIR"
            ) from None
        finally:
            os.close(descriptor)
            os.unlink(path)

    def _start(self, path: str, folder: Path, rank: int) -> None:
        # spawned: a forked DyNet would draw the same random numbers
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        u = self._updater
        place = (path, rank, self._replicas)
        process = context.Process(target=_help, args=(theirs,), daemon=True)
        # signals that end training are for this process only; helpers end when it ends
        with without_ctrl_c(signal.SIGTERM):
            process.start()
        theirs.close()
        self._connections.append(ours)
        self._processes.append(process)
        # not as arguments: `start` would wait for ever for a helper that ends before it has read all of them
        try:
            ours.send((dict(loaded()), str(folder), u.model.kind, u.examples, u.settings, place))
        except OSError:
            self._lost(rank)

    def update(self, members: Sequence[int], number: int, rate: float) -> Update:
        """See `Updater.update`."""
        self._send_all((members, number, rate))
        return self._updater.update(members, number, rate)

    def _exchange(self, own: T, combine: Callable[[list[T]], T]) -> T:
        whole = combine([own, *self._receive_all()])
        self._send_all(whole)
        return whole

    def _send_all(self, message: object) -> None:
        """Send a message to each helper."""
        for rank, connection in enumerate(self._connections, 1):
            try:
                connection.send(message)
            except OSError:
                # the helper may have sent the reason
                self._receive(rank)
                raise

    def _receive_all(self) -> list[object]:
        """Wait for a message from each helper and return them, in the order of ranks."""
        return [self._receive(rank) for rank in range(1, self._replicas)]

    def _receive(self, rank: int) -> object:
        connection, process = self._connections[rank - 1], self._processes[rank - 1]
        wait([connection, process.sentinel])
        try:
            message = connection.recv()
        except (EOFError, OSError):
            self._lost(rank)
        if isinstance(message, Failed):
            raise RnngError(f"training process {rank}: {message.reason}; continue with --resume")
        return message

    def _lost(self, rank: int) -> None:
        process = self._processes[rank - 1]
        process.join()
        if not self._started and process.exitcode == 1:
            raise RnngError(
                f"training process {rank} could not start: a script that trains with jobs needs "
                'its calls under `if __name__ == "__main__":`, because each process imports it'
            )
        raise RnngError(
            f"training process {rank} ended with code {process.exitcode} (-9: killed, often because memory ran out); "
            "continue with --resume, or train with fewer --jobs"
        )

    def close(self) -> None:
        """End the helpers; the updater works alone again."""
        self._updater.all_reduce = None
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.join()


def _help(connection: Connection) -> None:
    """Run a helper process: make the requested updates until the main process closes the connection.

    The helper sends errors to the main process. It prints the traceback of errors that the user cannot fix.
    """
    end_with_parent()
    try:
        sent, *task = connection.recv()
        load_sent(sent)
        _make_updates(connection, *task)
    except (EOFError, ConnectionError):
        # the main process is gone
        return
    except Exception as error:
        reason = str(error)
        if not isinstance(error, RnngError):
            traceback.print_exc()
            reason = ": ".join(filter(None, (type(error).__name__, reason)))
        with suppress(OSError):
            connection.send(Failed(reason))


def _make_updates(connection: Connection, folder: str, kind: str, examples, settings, place):
    """Make the updates; `place` is the path of the shared file, the helper's rank and the number of replicas."""
    engine.start()
    limit_memory(place[-1])
    model = registry.kind(kind).model_class.build(folder)
    updater = Updater(model, examples, settings)
    checkpoint.load_training(model.store, folder, updater.optimizer)

    def exchange(own: T, combine: Callable[[list[T]], T]) -> T:
        connection.send(own)
        return connection.recv()

    updater.all_reduce = SharedGradients(model.store, *place, exchange)
    connection.send("ready")
    while True:
        updater.update(*connection.recv())
