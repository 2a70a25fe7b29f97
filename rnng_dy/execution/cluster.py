"""The workers of a Dask scheduler as an executor.

Batches are tasks that depend on two other tasks: the files that the work reads, under the hash of their content, and
the opening of the work. So Dask sends both to each worker once and repeats them if a worker is lost. It drops them
when the command ends, even if the command is killed.
"""

from __future__ import annotations

import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from oracle.errors import RnngError
from rnng_dy import plugins
from rnng_dy.execution.executor import Command, Executor, Running
from rnng_dy.execution.scheduler import TIMEOUTS, Scheduler
from rnng_dy.execution.sent import Files, pack

T = TypeVar("T")
R = TypeVar("R")
AHEAD = 4
"""Batches in flight per worker."""
SHOWN = 200
"""Characters that an error shows of a lost batch."""


class DaskWorkers(Executor):
    """Executor that uses the workers of a Dask scheduler, with one batch at a time per worker.

    The batches of a lost worker are rerun by the other workers, or by new ones.
    """

    def __init__(self, scheduler: str, say: Callable[[str], None] = lambda line: None):
        """Connect to `scheduler`, an address, a scheduler file or `local:N`; `say` gets messages other than errors.

        Raises RnngError as `Scheduler` does.
        """
        self._scheduler = Scheduler(scheduler, say)
        self.sharing = max(1, self._scheduler.workers_here)
        self._commands: list[_RunningCommand] = []

    def close(self) -> None:
        """Disconnect from the scheduler; workers that this process started end."""
        self._scheduler.close()

    @property
    def jobs(self) -> int:
        """Return the current number of workers, but 1 at least."""
        return max(1, len(self._scheduler.workers()))

    def map(self, open_work: Callable[[], Callable[[T], R]], items: Sequence[T]) -> Iterator[R]:
        """See `Executor`."""
        batches = _Batches(self._scheduler, open_work)
        left, waiting = iter(enumerate(items)), deque()
        while True:
            free = max(0, AHEAD * self.jobs - len(waiting))
            waiting.extend((*given, batches.give(*given)) for given in islice(left, free))
            if not waiting:
                return
            yield batches.result(*waiting.popleft())

    def processes(self, others: int) -> int:
        """Return the number of threads of the next free worker, since each command gets its own worker."""
        return self._scheduler.workers().get(self._free_worker(), 1)

    def start(self, command: Command) -> _RunningCommand:
        """Start a command on a worker. All workers must share the command's folder under the same name."""
        started = _RunningCommand(self._scheduler, command, self._free_worker())
        self._commands.append(started)
        return started

    def _free_worker(self) -> str:
        """Return the address of the worker with the fewest tasks; empty if there is none."""
        self._commands = [command for command in self._commands if command.poll() is None]
        # the scheduler may not have registered the newest commands yet
        ours = Counter(command.place for command in self._commands)
        tasks = self._scheduler.tasks()
        return min(tasks, key=lambda address: max(tasks[address], ours[address]), default="")


class _Batches:
    """The tasks of one call of `map`."""

    def __init__(self, scheduler: Scheduler, open_work: Callable):
        from rnng_dy.execution.remote import Opening

        self._scheduler, self._name = scheduler, uuid.uuid4().hex
        (pickled, contents), client = pack(plugins.carried(open_work)), scheduler.client
        machines = Counter(w["host"] for w in client.scheduler_info()["workers"].values())
        with scheduler.there():
            self._files = {
                key: client.submit(Files, content, key=f"rnng_dy-files-{key}")
                for key, content in contents.items()
            }
            key = f"rnng_dy-opening-{self._name}"
            on_a_machine = max(machines.values(), default=1)
            opens = pickled, scheduler.identity, on_a_machine
            self._opening = client.submit(Opening, *opens, key=key)

    def give(self, number: int, item: object, attempt: int = 0):
        """Submit a batch and return its task; a second attempt has priority over first attempts."""
        from rnng_dy.execution.remote import do

        key = (f"rnng_dy-batches-{self._name}-{attempt}", number)
        arguments = self._opening, self._files, item
        with self._scheduler.there():
            return self._scheduler.client.submit(do, *arguments, key=key, priority=attempt)

    def result(self, number: int, item: object, future) -> object:
        """Return the result of a batch; a batch that was lost with several workers is tried once more.

        Dask blames every batch of a lost worker, even those that waited. The second attempt runs first on its worker.
        Raises RnngError if that is lost, too.
        """
        killed = self._scheduler.dask.KilledWorker
        with suppress(killed):
            return _waited(self._scheduler, future)
        try:
            return _waited(self._scheduler, self.give(number, item, attempt=1))
        except killed as error:
            raise RnngError(
                f"all workers that were given batch {number + 1} were lost, the last one at "
                f"{error.last_worker.address}, often because memory ran out; it begins with {item!r:.{SHOWN}}"
            ) from None


def _waited(scheduler: Scheduler, future) -> object:
    """Return the result of a task. Raises the task's exception, or RnngError if the scheduler is gone."""
    while True:
        with scheduler.there():
            try:
                with scheduler.client.as_current():
                    scheduler.dask.wait(future, timeout=1.0)
                break
            except TIMEOUTS:
                scheduler.look()
    with scheduler.there():
        try:
            return future.result()
        except scheduler.dask.KilledWorker:
            raise
        except Exception:
            # the cause may be a new worker with other software, which `workers` reports
            scheduler.workers()
            raise


class _RunningCommand(Running):
    """A command on a worker."""

    def __init__(self, scheduler: Scheduler, command: Command, worker: str):
        from rnng_dy.execution.remote import run

        self.place = worker
        self._scheduler, self._name = scheduler, f"rnng_dy-command-{uuid.uuid4().hex}"
        folder = command.folder.absolute()
        moved = replace(
            command,
            folder=folder,
            log=command.log.absolute(),
            printed=command.printed and command.printed.absolute(),
        )
        # if the worker is lost, another one takes over
        where = {"workers": [worker], "allow_other_workers": True} if worker else {}
        with scheduler.there():
            self._future = scheduler.client.submit(
                run, self._name, moved, scheduler.identity, key=self._name, **where
            )
        self._shown = f"rnng-dy {' '.join(command.arguments)}"
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs. Raises RnngError if scheduler or workers are gone."""
        if self._code is None:
            if self._future.done():
                self._code, self.place = self._result()
            else:
                self._scheduler.look()
        return self._code

    def interrupt(self) -> None:
        from rnng_dy.execution.remote import interrupt

        # if the scheduler is gone, workers end their commands themselves
        with suppress(Exception):
            run = self._scheduler.client.run
            self._scheduler.asked(run, interrupt, self._name, on_error="ignore")

    def wait(self) -> int:
        """Wait until it ends; return its exit code, or 1 if that cannot be determined."""
        with suppress(RnngError):
            self._code, self.place = self._result()
        return 1 if self._code is None else self._code

    def _result(self) -> tuple[int, str]:
        try:
            return _waited(self._scheduler, self._future)
        except self._scheduler.dask.KilledWorker as error:
            raise RnngError(
                f"all workers that were given `{self._shown:.{SHOWN}}` were lost, the last one at "
                f"{error.last_worker.address}, often because memory ran out"
            ) from None
