"""Ends of commands by a signal."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Terminated(KeyboardInterrupt):
    """SIGTERM came, which does what Ctrl-C does."""


@contextmanager
def tidy() -> Iterator[None]:
    """A signal to end (SIGTERM) ends the process as Ctrl-C does: what is half-made is removed on the way."""

    def end(number: int, frame: object) -> None:
        # a second one ends it at once
        signal.signal(number, signal.SIG_DFL)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
