"""Progress by tqdm: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from rnng_dy.cli.quiet import escaped, is_quiet, say

REDRAWN, LOGGED = 0.2, 10.0
"""Seconds between two states of a bar, and between two lines."""


def clock(seconds: float) -> str:
    """Format seconds as `1:02:03` or `2:03`.

    >>> clock(3723), clock(123)
    ('1:02:03', '2:03')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def takes_escapes(stream: TextIO) -> bool:
    """Return whether lines can be redrawn and coloured: on a terminal that is not dumb, without NO_COLOR."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") in ("", "dumb")
    return stream.isatty() and not plain


class _Lines:
    """A stream for tqdm, whose states become messages."""

    def write(self, text: str) -> None:
        if line := text.strip():
            say(line)

    def flush(self) -> None:
        pass


class Progress:
    """A display of finished items with rate and, if their number is known, time left, unless the command is quiet."""

    def __init__(self, what: str, total: int | None = None, unit: str = "sentences"):
        from tqdm import tqdm

        redraws = takes_escapes(sys.stderr)
        self._bar = tqdm(
            desc=escaped(what),
            total=total,
            unit=f" {unit}",
            file=sys.stderr if redraws else _Lines(),
            mininterval=REDRAWN if redraws else LOGGED,
            miniters=1,
            # numbers without a bar
            ncols=None if redraws else 0,
            # not before there is something to show
            delay=1e-9,
            disable=is_quiet(),
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def skip(self, n: int) -> None:
        """Count n items as done by an earlier run."""
        self._bar.initial = self._bar.n = n

    def advance(self, n: int = 1) -> None:
        """Count n more items as done."""
        self._bar.update(n)

    def finish(self) -> None:
        """End the display."""
        self._bar.close()
