"""Messages and progress of a training: interfaces that do nothing unless a command overrides them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any


class Progress:
    """The interface of displays of progress, which shows nothing itself."""

    def skip(self, n: int) -> None:
        """Count n items as done by an earlier run."""

    def advance(self, n: int = 1) -> None:
        """Count n more items as done."""

    def finish(self) -> None:
        """Report that the work is done."""


class Listener:
    """Receiver of a training's messages: passes on warnings to Python and records to a function, ignores the rest."""

    def __init__(self, on_record: Callable[[Mapping[str, Any]], None] | None = None):
        self._on_record = on_record

    def record(self, record: Mapping[str, Any]) -> None:
        """Receive a new record of the log."""
        if self._on_record:
            self._on_record(record)

    def say(self, line: str) -> None:
        """Receive a message for information."""

    def warn(self, line: str) -> None:
        """Receive a warning: something is not as requested, or not as it should be."""
        warnings.warn(line, stacklevel=2)

    def progress(self, what: str, total: int | None, unit: str = "sentences") -> Progress:
        """Return the progress of work that begins; a total of None is unknown."""
        return Progress()

    def reading(self, path: str) -> Callable[[int], None]:
        """Return a function to be called with the size in bytes of each line that is read from a file."""
        return lambda size: None
