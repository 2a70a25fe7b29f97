"""What a training says besides its records: to nobody, unless somebody listens."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping


class Progress:
    """Hears how some work goes, and does nothing."""

    def advance(self, n: int = 1) -> None:
        """n more items are done."""

    def finish(self) -> None:
        """All of them are."""


class Listener:
    """Passes warnings on to Python's, and records to a function; a command has one that prints."""

    def __init__(self, on_record: Callable[[Mapping[str, object]], None] | None = None):
        self._on_record = on_record

    def record(self, record: Mapping[str, object]) -> None:
        """A record of the log is written."""
        if self._on_record:
            self._on_record(record)

    def say(self, line: str) -> None:
        """Something is as it was asked for, and may be of interest."""

    def warn(self, line: str) -> None:
        """Something is not as it was asked for, or as it should be."""
        warnings.warn(line, stacklevel=2)

    def progress(self, what: str, total: int | None, unit: str = "sentences") -> Progress:
        """Some work begins; where the total is None nobody knows it."""
        return Progress()

    def reading(self, path: str) -> Callable[[int], None]:
        """A file is read; the result is called with the size of each line."""
        return lambda size: None
