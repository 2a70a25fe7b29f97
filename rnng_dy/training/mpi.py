"""MPI ranks as replicas, on one machine or several: the first rank trains, and the others compute its updates with it.

Only the first rank has data, options and the model folder; it sends the others what they need once. In each update
every rank owns a slice of the gradients. It receives this slice from all ranks, adds them up in the order of ranks, and
sends the sum to all. So an update sends and receives twice the bytes of a gradient, whatever the number of ranks. Its
result equals, to the last bit, that of the same number of local processes (`replicas`).
"""

from __future__ import annotations

import os
import pickle
import shlex
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from oracle.errors import RnngError
from rnng_dy import engine, plugins
from rnng_dy.cpu_level import cpu_level
from rnng_dy.execution.identity import differences, installed
from rnng_dy.memory import limit_memory
from rnng_dy.parameters import ParameterStore
from rnng_dy.training.all_reduce import Gradients, PartialLoss, Update, add_in_order, total_loss
from rnng_dy.training.examples import Examples
from rnng_dy.training.updates import Diverged, Updater

try:
    # importing it connects this process with the others
    from mpi4py import MPI
except ModuleNotFoundError:
    raise RnngError(
        "--mpi needs mpi4py and an MPI: pip install '.[cluster]', and `pip install mpich` where the machine has none"
    ) from None
except (ImportError, RuntimeError) as error:
    reason = str(error).splitlines()[0]
    raise RnngError(
        f"--mpi needs an MPI ({reason}): load or install MPICH or Open MPI, or `pip install mpich`"
    ) from None

STARTED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
"""Environment variables in which launchers give the number of processes."""
EAGER, PAUSE = 0.02, 0.0005
"""Seconds: a rank polls without a break for EAGER, then every PAUSE."""
LONG = 1.0
"""Seconds of polling without a break in steps that all ranks reach at the same time, so that none waits for a poll."""
PART = 2**30
"""Bytes of a message that are sent at once: some MPIs cannot count beyond 2^31."""


class World:
    """The ranks that mpirun has started, as one of them sees them."""

    def __init__(self, command: Sequence[str]):
        """Compare the ranks. Raises RnngError if they differ in the typed `command`, in software or in processor."""
        self._comm = MPI.COMM_WORLD
        self.rank, self.size = self._comm.Get_rank(), self._comm.Get_size()
        _require_one_mpi(self.size)
        self._host = MPI.Get_processor_name()
        # otherwise sums and steps would not be equal to the last bit
        alike = {"command": shlex.join(command), **installed(), "processor": cpu_level()}
        ranks = self._comm.allgather((self._host, alike))
        hosts = [host for host, _ in ranks]
        self.machines, self.here = len(set(hosts)), hosts.count(self._host)
        self._is_inside = False
        for rank, (host, theirs) in enumerate(ranks):
            if what := differences(theirs, ranks[0][1]):
                if self.rank:
                    # only the first rank prints the error
                    raise SystemExit(2)
                raise RnngError(f"rank {rank} on {host} is not as rank 0 on {hosts[0]}: {what}")

    @contextmanager
    def leading(self) -> Iterator[None]:
        """Run a block on the first rank while the others help; they end after it.

        If an exception leaves the block during a step of all ranks, all ranks are ended by force.
        """
        try:
            yield
        except Exception:
            if self._is_inside:
                traceback.print_exc()
            raise
        finally:
            if self._is_inside:
                self._abort()
            self.send(None)

    def _abort(self) -> None:
        """End all ranks by force, after a pause in which mpirun passes on their messages."""
        sys.stderr.flush()
        time.sleep(0.5)
        self._comm.Abort(2)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run a block on the first rank that all ranks must complete, or none."""
        self._is_inside = True
        try:
            yield
        except Diverged:
            # all ranks raise it, and have completed the step
            self._is_inside = False
            raise
        self._is_inside = False

    def send(self, message: object) -> None:
        """Send all other ranks a message; None ends their loop. Does nothing during a step of all ranks."""
        if self._is_inside:
            return
        with self.together():
            content = np.frombuffer(pickle.dumps(message), np.uint8)
            _wait(self._comm.Ibcast(np.array([content.size]), root=0))
            self._broadcast(content)

    def _receive(self) -> object:
        """Wait for the next message of the first rank and return it."""
        size = np.zeros(1, int)
        _wait(self._comm.Ibcast(size, root=0))
        content = np.empty(size[0], np.uint8)
        self._broadcast(content)
        return pickle.loads(content)

    def _broadcast(self, content: np.ndarray) -> None:
        for start in range(0, content.size, PART):
            _wait(self._comm.Ibcast(content[start : start + PART], root=0))

    def group(self, updater: Updater, folder: Path, replicas: int) -> Ranks:
        """Return the ranks as the replicas of an updater; only the first rank uses the folder."""
        return Ranks(self, updater)

    def help(self) -> None:
        """Make the updates that the first rank requests, until it ends the loop; for all other ranks.

        An error here ends all ranks, with a message.
        """
        # signals that end training are for the first rank, which then ends the others
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        try:
            limit_memory(self.here)
            engine.start()
            # plugins come before the model that needs them
            while (sent := self._receive()) is not None:
                plugins.load_sent(sent)
                self._make_updates(*self._receive())
        except BaseException as error:
            if not isinstance(error, (RnngError, MemoryError)):
                traceback.print_exc()
            reason = str(error) or type(error).__name__
            message = f"Error: rank {self.rank} on {self._host}: {reason}; continue with --resume"
            print(message, file=sys.stderr, flush=True)
            self._abort()

    def _make_updates(self, model, examples: Sequence, settings, optimizer: Mapping) -> None:
        updater = Updater(model, examples, settings, RankAllReduce(model.store))
        updater.optimizer.load(optimizer)
        while (update := self._receive()) is not None:
            # the first rank raises and reports it, too
            with suppress(Diverged):
                updater.update(*update)


class Ranks:
    """The replicas of an updater, as the first rank sees them; see `ReplicaGroup`."""

    def __init__(self, world: World, updater: Updater):
        """Send the updater's model, with its initial parameters, to the other ranks."""
        self._world, self._updater = world, updater
        examples, optimizer = updater.examples, updater.optimizer.arrays()
        if world.machines > 1 and isinstance(examples, Examples):
            examples = examples.unmapped()
        world.send(dict(plugins.loaded()))
        world.send((updater.model, examples, updater.settings, optimizer))
        with world.together():
            updater.all_reduce = RankAllReduce(updater.model.store)

    def update(self, members: Sequence[int], number: int, rate: float) -> Update:
        """See `Updater.update`."""
        self._world.send((members, number, rate))
        with self._world.together():
            return self._updater.update(members, number, rate)

    def close(self) -> None:
        """See `ReplicaGroup`."""
        self._updater.all_reduce = None
        self._world.send(None)


class RankAllReduce:
    """One rank's part in adding up the gradients of all ranks; see `GradientAllReduce`."""

    def __init__(self, store: ParameterStore):
        """Wait for the other ranks, which must construct theirs at the same time."""
        self._comm, self._gradients = MPI.COMM_WORLD, Gradients(store)
        self.rank, self.replicas = self._comm.Get_rank(), self._comm.Get_size()
        self._row = np.empty(self._gradients.most, np.float32)
        # one more number per slice, since slices differ in size by one
        self._slices = np.empty(self._gradients.most + self.replicas, np.float32)
        _wait(self._comm.Ibarrier())

    def add_up(self, part: PartialLoss) -> PartialLoss:
        """See `GradientAllReduce`."""
        # wait here for late ranks
        _wait(self._comm.Ibarrier())
        whole = total_loss(self._comm.allgather(part))
        row = self._row[: self._gradients.count(whole.rows)]
        self._gradients.write(row, whole.rows)
        self._add_slices(row)
        self._gradients.read(whole.rows, lambda part, out: np.copyto(out, row[part]))
        return whole

    def _add_slices(self, row: np.ndarray) -> None:
        """Replace a row by the sum of the rows of all ranks, each number added in the order of ranks."""
        ranks, rank = self.replicas, self.rank
        ends = [row.size * r // ranks for r in range(ranks + 1)]
        sizes = np.diff(ends).tolist()
        own = sizes[rank]
        slices = self._slices[: ranks * own].reshape(ranks, own)
        # buffers with the sizes and offsets of the parts for or from each rank
        whole = [row, (sizes, ends[:-1]), MPI.FLOAT]
        of_all = [slices, ([own] * ranks, [own * r for r in range(ranks)]), MPI.FLOAT]
        _wait(self._comm.Ialltoallv(whole, of_all), eager=LONG)
        add_in_order(slices, row[ends[rank] : ends[rank + 1]])
        _wait(self._comm.Iallgatherv(MPI.IN_PLACE, whole), eager=LONG)


def _wait(request: MPI.Request, eager: float = EAGER) -> None:
    """Wait for an operation by polling, so that Python handles signals and other processes can run.

    MPI's own wait keeps a processor busy that another rank may need.
    """
    eager_until = time.monotonic() + eager
    while not request.Test():
        if time.monotonic() < eager_until:
            os.sched_yield()
        else:
            time.sleep(PAUSE)


def _require_one_mpi(size: int) -> None:
    """Raise RnngError if the started processes do not see each other: each would train on its own."""
    for name in STARTED:
        started = os.environ.get(name, "1")
        if size == 1 and started != "1":
            library, _ = MPI.get_vendor()
            raise RnngError(
                f"{started} processes were started ({name}), and mpi4py's MPI, {library}, sees one: start them with "
                f"the mpirun of {library}"
            )
