"""The interface of executors, which run work; commands use it and do not depend on the kind of executor.

`local` has executors for this process and for several processes of this machine, `cluster` one for the workers of a
Dask scheduler. A new executor is a class with these methods; the docstrings here hold for all executors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from rnng_dy.plugins import Plugin

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Command:
    """A `rnng-dy` command to run in its own process in a folder."""

    arguments: Sequence[str]
    """Arguments without the leading `rnng-dy`."""
    folder: Path
    log: Path
    """File to which standard error is appended, and standard output, too, unless `printed` is set."""
    printed: Path | None = None
    plugins: Sequence[Plugin] = ()
    """Plugins that are loaded before it runs."""


class Running(Protocol):
    """A started command."""

    place: str
    """Address of the worker that runs it; empty on this machine."""

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""

    def interrupt(self) -> None:
        """End it like Ctrl-C, which keeps everything that it can resume from."""

    def wait(self) -> int:
        """Wait until it ends and return its exit code."""


class Executor(Protocol):
    """A place that runs work consisting of parts, such as this machine or a cluster."""

    jobs: int
    """Number of parts that run at the same time."""
    sharing: int
    """Number of processes that share the memory of this machine, for the calling one's limit if it holds a model."""

    def map(self, open_work: Callable[[], Callable[[T], R]], items: Sequence[T]) -> Iterator[R]:
        """Yield `open_work()(item)` for each item, in order.

        `open_work` is a function of a module, or a partial of one, and is called once per worker. Results must not
        depend on a worker's earlier items. Raises RnngError if a worker is lost.
        """

    def processes(self, others: int) -> int:
        """Return how many processes the next command may use while `others` commands run."""

    def start(self, command: Command) -> Running:
        """Start a command in its own process."""
