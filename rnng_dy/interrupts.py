"""Ctrl-C while the command line imports modules."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process at once: an exception would be lost in the destructors of modules."""
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    try:
        yield
    finally:
        if raises:
            signal.signal(signal.SIGINT, signal.default_int_handler)
