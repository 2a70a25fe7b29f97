"""Progress on standard error: redrawn on a terminal, occasional plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

from oracle.files import is_compressed
from rnng_dy.cli.quiet import escaped, is_quiet, say, show, warn


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


class Progress:
    """A display of finished items with rate and time left, unless the command is quiet."""

    warn = staticmethod(warn)

    def __init__(self, what: str, total: int | None, unit: str = "sentences"):
        """Begin the display; a total of None is unknown, and then no time left is shown."""
        self._what, self._total, self._unit = escaped(what), total, unit
        self._done = self._skipped = 0
        self._start = time.monotonic()
        self._shown = self._start
        self._redraws = takes_escapes(sys.stderr) and not is_quiet()

    def skip(self, n: int) -> None:
        """Count n items as done by an earlier run."""
        self._done = self._skipped = n

    def advance(self, n: int = 1) -> None:
        """Count n more items as done."""
        self._done += n
        now = time.monotonic()
        if now - self._shown >= (0.2 if self._redraws else 10.0):
            self._shown = now
            self._show(now)

    def _show(self, now: float) -> None:
        rate = (self._done - self._skipped) / max(now - self._start, 1e-9)
        line = f"{self._what}: {self._done}"
        if self._total is None:
            line += f" {self._unit}, {rate:.1f}/s"
        else:
            left = clock((self._total - self._done) / rate) if rate else "?"
            line += f"/{self._total} {self._unit}, {rate:.1f}/s, {left} left"
        if self._redraws:
            show(f"\r\033[K{line}")
        else:
            say(line)

    def finish(self) -> None:
        """Print the number of items, the time and the rate."""
        if self._redraws:
            show("\r\033[K")
        seconds = time.monotonic() - self._start
        done = self._done - self._skipped
        rate = done / max(seconds, 1e-9)
        say(f"{self._what}: {done} {self._unit} in {seconds:.1f} s, {rate:.1f}/s")


class ByteProgress:
    """Progress through a file in kilobytes, whatever the length of its lines."""

    def __init__(self, what: str, path: str):
        # a pipe has no size
        size = 0 if path == "-" or is_compressed(path) else os.path.getsize(path)
        self._progress = Progress(what, size // 1024 or None, "kB")
        self._rest = 0

    def advance(self, size: int) -> None:
        """Count `size` more bytes as read."""
        done, self._rest = divmod(self._rest + size, 1024)
        if done:
            self._progress.advance(done)
