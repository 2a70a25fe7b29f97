"""Schedulers and workers of Dask as processes on the loopback, and work that they are given."""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ...commands import until
from ...conftest import absent

CHECKOUT = Path(__file__).resolve().parents[3]
LIMIT = 10_000
"""Bytes of a file that a worker with a small disk can write."""
# a scheduler misses a worker that does not answer after ten heartbeats at the least
IMPATIENT = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "2 s"}


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None):
        self.folder, self.file = folder, folder / "scheduler.json"
        self.local = folder / "workers"
        self.processes: list[subprocess.Popen] = []
        folder.mkdir(parents=True, exist_ok=True)
        options = ("--scheduler-file", str(self.file), "--port", "0", "--no-dashboard")
        self.scheduler = self._start("scheduler", options, {**IMPATIENT, **(environment or {})})
        until(lambda: self.file.exists() and self.file.stat().st_size)
        self.address = json.loads(self.file.read_text())["address"]

    def add_worker(
        self,
        *options: str,
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> subprocess.Popen:
        """Start a worker of one thread."""
        given = (self.address, "--nthreads", "1", "--no-dashboard", "--memory-limit", "0")
        more = ("--local-directory", str(self.local), *options)
        return self._start("worker", (*given, *more), environment, prepare)

    def _start(
        self,
        what: str,
        options: Sequence[str],
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> subprocess.Popen:
        with (self.folder / f"{what}.log").open("ab") as log:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    f"distributed.cli.dask_{what}",
                    "--host",
                    "127.0.0.1",
                    *options,
                ],
                cwd=CHECKOUT,
                env={**os.environ, **(environment or {})},
                stdout=log,
                stderr=log,
                preexec_fn=prepare,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def close(self) -> None:
        """End all, the processes that they have started as well."""
        for process in reversed(self.processes):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait()


@contextmanager
def cluster(
    folder: Path, workers: int = 0, environment: Mapping[str, str] | None = None
) -> Iterator[Cluster]:
    """A scheduler, with its environment, and workers, each with a nanny."""
    made = Cluster(folder, environment)
    try:
        for _ in range(workers):
            made.add_worker()
        yield made
    finally:
        made.close()


def small_disk() -> None:
    """In a new process: files can have no more than LIMIT bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def open_square() -> Callable[[int], int]:
    return _square


def _square(x: int) -> int:
    return x * x


def open_process() -> Callable[[object], int]:
    return _process


def _process(item: object) -> int:
    time.sleep(0.1)
    return os.getpid()


def open_once(folder: str, number: int) -> Callable[[int], int]:
    return partial(_once, folder, number)


def _once(folder: str, number: int, x: int) -> int:
    """Send the process a signal the first time that it does something, and give the square of it."""
    told = Path(folder, str(x))
    if not told.exists():
        told.touch()
        os.kill(os.getpid(), number)
    return x * x


def open_deadly(which: int) -> Callable[[int], int]:
    return partial(_deadly, which)


def _deadly(which: int, x: int) -> int:
    if x == which:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def open_counted(folder: str) -> Callable[[int], int]:
    """Leaves a file for each time that a process opens it."""
    Path(folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return _slow_square


def _slow_square(x: int) -> int:
    time.sleep(0.02)
    return x * x


def open_where(place) -> Callable[[object], tuple[int, str]]:
    return partial(_where, place.folder)


def _where(folder: str, item: object) -> tuple[int, str]:
    time.sleep(0.05)
    assert Path(folder, "parameters.npz").is_file()
    return os.getpid(), folder


def requires_dask() -> None:
    """Skip the module that asks where Dask is not installed; where all must be tested, fail."""
    if importlib.util.find_spec("distributed") is None:
        absent("Dask is not installed: pip install '.[cluster]'")
