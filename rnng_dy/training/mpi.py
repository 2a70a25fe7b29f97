"""The ranks of MPI as replicas of a model that share each minibatch, on one machine or several (--mpi)."""

from __future__ import annotations

import os
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

import numpy as np

from oracle.errors import RnngError
from rnng_dy.training.replicas import Gradients
from rnng_dy.training.updates import Diverged, PartialLoss, Updater, total_loss


class Ranks:
    """The ranks of MPI, in a context; each runs the same program on a shared disk, and the first one writes.

    An error of one rank ends all of them.
    """

    def __init__(self) -> None:
        """Raises RnngError without mpi4py, and if each of several processes sees itself alone."""
        try:
            # importing it connects this process with the others
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:
            raise RnngError(
                f"--mpi needs mpi4py and an MPI ({error}): pip install 'rnng_dy[cluster]', and `pip install mpich` "
                "where the machine has no MPI"
            ) from None
        self._in_place, self._comm = MPI.IN_PLACE, MPI.COMM_WORLD
        self.rank, self.count = self._comm.Get_rank(), self._comm.Get_size()
        started = [os.environ.get(name) for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")]
        if self.count == 1 and any(n not in (None, "1") for n in started):
            raise RnngError(
                f"several processes were started, and mpi4py's MPI, {MPI.get_vendor()[0]}, sees one: start them with "
                "the mpirun of that MPI"
            )

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        if kind is None and not self.rank:
            self._comm.bcast(None)
        if kind is None or self.count == 1:
            return
        # most errors are those of all ranks, and the first one says them
        time.sleep(min(self.rank, 1))
        if not isinstance(error, (RnngError, OSError)):
            traceback.print_exception(kind, error, trace)
        print(f"Error: rank {self.rank}: {error}", file=sys.stderr, flush=True)
        time.sleep(0.5)
        self._comm.Abort(2)
        os._exit(2)

    def join(self, updater: Updater) -> None:
        """Begin with the first rank's parameters; the other ranks make its updates and return when it is done."""
        store, optimizer = updater.model.store, updater.optimizer
        arrays = self._comm.bcast((store.arrays(), optimizer.arrays()) if not self.rank else None)
        self._gradients = Gradients(store)
        self._row = np.empty(store.count(), np.float32)
        if self.count > 1:
            updater.replicas = self
        if self.rank:
            store.load(arrays[0])
            if arrays[1]:
                optimizer.load(arrays[1])
            while (task := self._comm.bcast(None)) is not None:
                # the first rank raises and reports it, too
                with suppress(Diverged):
                    updater.update(*task)

    def of_first(self, value: Any) -> Any:
        """Return the value that the first rank has."""
        return self._comm.bcast(value)

    def begin(self, *task: object) -> None:
        """See `Replicas`."""
        if not self.rank:
            self._comm.bcast(task)

    def add_up(self, part: PartialLoss) -> PartialLoss:
        """See `Replicas`."""
        whole = total_loss(self._comm.allgather(part))
        row = self._row[: self._gradients.write(self._row, whole.rows)]
        self._comm.Allreduce(self._in_place, row)
        self._gradients.read(whole.rows, lambda part, out: np.copyto(out, row[part]))
        return whole
