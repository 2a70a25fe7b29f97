"""Ending a command by a signal."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Terminated(KeyboardInterrupt):
    """SIGTERM has been received; it acts like Ctrl-C."""


@contextmanager
def tidy() -> Iterator[None]:
    """Let SIGTERM end the process like Ctrl-C in a block, so that half-made files are removed."""

    def end(number: int, frame: object) -> None:
        # a second signal ends the process at once
        signal.signal(number, signal.SIG_DFL)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
