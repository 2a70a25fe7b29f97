"""Long work that is stopped between two steps."""

from __future__ import annotations

import signal
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
