"""The interface of places to run: commands are given one and do not know which.

`local` has this process and processes of this machine, `cluster` the workers of a Dask scheduler. A new place is a
class with these methods, whose docstrings hold for all of them.
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
    """A `rnng-dy` command to run by itself in a folder."""

    arguments: Sequence[str]
    """Without the leading `rnng-dy`."""
    folder: Path
    log: Path
    """What it prints on standard error is added here; on standard output too, unless there is `printed`."""
    printed: Path | None = None
    plugins: Sequence[Plugin] = ()
    """Loaded before it runs."""


class Running(Protocol):
    """A command that was started."""

    place: str
    """The worker that it was given to; empty on this machine."""

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""

    def interrupt(self) -> None:
        """End it as Ctrl-C does, which loses nothing that it can go on from."""

    def wait(self) -> int:
        """Wait until it ends; gives its exit code."""


class Executor(Protocol):
    """A place to run work that falls into parts."""

    jobs: int
    """Parts that run at a time."""

    def prepare(self) -> None:
        """Make the calling process ready to hold a model beside those that work."""

    def map(self, open_work: Callable[[], Callable[[T], R]], items: Sequence[T]) -> Iterator[R]:
        """`open_work()(item)` for each item, in their order.

        `open_work` is a function of a module, or a partial of one, and is called once in each worker; results must
        not depend on what else a worker has done. Raises RnngError where a worker is lost.
        """

    def processes(self, others: int) -> int:
        """How many processes the next command may use while `others` run."""

    def start(self, command: Command) -> Running:
        """Start a command in a process of its own."""
