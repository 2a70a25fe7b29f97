"""Long work that is stopped between two steps."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Stopped(KeyboardInterrupt):
    """A signal has stopped work after a step, and what is done is kept."""

    def __init__(self, message: str, number: int):
        """`number` is the signal's."""
        super().__init__(message)
        self.number = number


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Give signals that came, Ctrl-C among them: the step that runs is finished; a second one does what it always did.

    Python has signals in its main thread alone: in others there are none.
    """
    stopped: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: object) -> None:
        stopped.append(number)
        signal.signal(number, before[number])

    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
