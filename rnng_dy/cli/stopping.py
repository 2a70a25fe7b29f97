"""Long work that is stopped between two steps."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Signals that came, Ctrl-C among them: the step that runs is finished; a second one ends at once."""
    stopped: list[int] = []

    def stop(number: int, frame: object) -> None:
        stopped.append(number)
        signal.signal(number, signal.SIG_DFL)

    before = {n: signal.signal(n, stop) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def tidy() -> Iterator[None]:
    """A signal to end (SIGTERM) ends the process as an error does: what is half-made is removed on the way."""

    def end(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
