"""The workers of a Dask scheduler as a place to run.

Batches are tasks that depend on two others: the files that the work reads, under the hash of their content, and what
opens it. So Dask sends both to each worker once, makes them anew where a worker is lost, and drops them when the
command ends, however it ends.
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
from rnng_dy.execution.local import prepare_process
from rnng_dy.execution.scheduler import TIMEOUTS, Scheduler
from rnng_dy.execution.sent import Files, pack

T = TypeVar("T")
R = TypeVar("R")
AHEAD = 4
"""Batches in flight for each worker."""
SHOWN = 200
"""Characters of a batch that is lost."""


class DaskWorkers(Executor):
    """Works in the workers of a Dask scheduler, on one batch at a time in each.

    What a worker that is lost had to do is done again by those that there are, or come.
    """

    def __init__(self, scheduler: str, say: Callable[[str], None] = lambda line: None):
        """`scheduler` is an address, a scheduler file, or `local:N`; `say` is given what happens besides errors.

        Raises RnngError as `Scheduler` does.
        """
        self._scheduler = Scheduler(scheduler, say)
        self._commands: list[_RunningCommand] = []

    def close(self) -> None:
        """Let go of the scheduler; workers that were started here end."""
        self._scheduler.close()

    @property
    def jobs(self) -> int:
        """As many as there are workers now."""
        return max(1, len(self._scheduler.workers()))

    def prepare(self) -> None:
        prepare_process(max(1, self._scheduler.workers_here))

    def map(self, open_work: Callable[[], Callable[[T], R]], items: Sequence[T]) -> Iterator[R]:
        batches = _Batches(self._scheduler, open_work)
        left, waiting = iter(enumerate(items)), deque()
        while True:
            free = max(0, AHEAD * self.jobs - len(waiting))
            waiting.extend((*given, batches.give(*given)) for given in islice(left, free))
            if not waiting:
                return
            yield batches.result(*waiting.popleft())

    def processes(self, others: int) -> int:
        """As many as the next worker has threads: each command has a worker."""
        return self._scheduler.workers().get(self._free_worker(), 1)

    def start(self, command: Command) -> _RunningCommand:
        """Start a command on a worker. All must have its folder under the same name."""
        started = _RunningCommand(self._scheduler, command, self._free_worker())
        self._commands.append(started)
        return started

    def _free_worker(self) -> str:
        """That with the least to do; empty where there is none."""
        self._commands = [command for command in self._commands if command.poll() is None]
        # the scheduler may not know yet of what was just given to it
        ours = Counter(command.place for command in self._commands)
        tasks = self._scheduler.tasks()
        return min(tasks, key=lambda address: max(tasks[address], ours[address]), default="")


class _Batches:
    """The tasks of one map."""

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
        """The task of a batch; what is tried once more goes before what is tried for the first time."""
        from rnng_dy.execution.remote import do

        key = (f"rnng_dy-batches-{self._name}-{attempt}", number)
        arguments = self._opening, self._files, item
        with self._scheduler.there():
            return self._scheduler.client.submit(do, *arguments, key=key, priority=attempt)

    def result(self, number: int, item: object, future) -> object:
        """The result; of a batch that was lost with several workers when it is given once more.

        Dask blames all that a worker had before it, but the second time it is the first that a worker does.
        Raises RnngError where it is lost then, too.
        """
        killed = self._scheduler.dask.KilledWorker
        with suppress(killed):
            return _waited(self._scheduler, future)
        try:
            return _waited(self._scheduler, self.give(number, item, attempt=1))
        except killed as error:
            raise RnngError(
                f"all workers that were given batch {number + 1} were lost, the last one at "
                f"{error.last_worker.address}, often for want of memory; it begins with {item!r:.{SHOWN}}"
            ) from None


def _waited(scheduler: Scheduler, future) -> object:
    """The result of a task. Raises what it raises, RnngError where the scheduler is gone."""
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
            # it may come of a worker that is new, and has another version
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
        # where the worker is lost, another one goes on
        where = {"workers": [worker], "allow_other_workers": True} if worker else {}
        with scheduler.there():
            self._future = scheduler.client.submit(
                run, self._name, moved, scheduler.identity, key=self._name, **where
            )
        self._shown = f"rnng-dy {' '.join(command.arguments)}"
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, None while it runs. Raises RnngError where scheduler or workers are gone."""
        if self._code is None:
            if self._future.done():
                self._code, self.place = self._result()
            else:
                self._scheduler.look()
        return self._code

    def interrupt(self) -> None:
        from rnng_dy.execution.remote import interrupt

        # where the scheduler is gone, workers end what they run
        with suppress(Exception):
            run = self._scheduler.client.run
            self._scheduler.asked(run, interrupt, self._name, on_error="ignore")

    def wait(self) -> int:
        """Wait until it ends; gives its exit code, 1 where nobody can say it any more."""
        with suppress(RnngError):
            self._code, self.place = self._result()
        return 1 if self._code is None else self._code

    def _result(self) -> tuple[int, str]:
        try:
            return _waited(self._scheduler, self._future)
        except self._scheduler.dask.KilledWorker as error:
            raise RnngError(
                f"all workers that were given `{self._shown:.{SHOWN}}` were lost, the last one at "
                f"{error.last_worker.address}, often for want of memory"
            ) from None
