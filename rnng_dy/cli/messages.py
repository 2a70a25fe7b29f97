"""Messages of commands by `logging`, and their progress by tqdm, on standard error."""

import logging
import os
import shlex
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO

import click

from oracle.brackets import visible

REDRAWN, LOGGED = 0.2, 10.0
"""Seconds between two states of progress on a terminal, and between two lines elsewhere."""

_log = logging.getLogger("rnng_dy")
say, warn = _log.info, _log.warning
"""`say` is for information, which --quiet leaves out."""


class _ToStandardError(logging.Handler):
    """Handler that writes messages to standard error; work continues if nobody reads them."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the text of a record."""
        # a bar that tqdm draws makes room; without one, tqdm is not loaded
        write = getattr(sys.modules.get("tqdm"), "tqdm", None)
        text = escaped(record.getMessage())
        try:
            if write is not None and sys.stderr.isatty():
                write.write(text, file=sys.stderr)
            else:
                click.echo(text, err=True)
        except OSError:
            # as after Ctrl-C in `2>&1 | tee x`
            to_nowhere(sys.stderr)


def show_messages(level: int = logging.INFO) -> None:
    """Show the messages of the whole package from a level on, and progress if `level` is INFO."""
    if not any(isinstance(handler, _ToStandardError) for handler in _log.handlers):
        _log.addHandler(_ToStandardError())
        _log.propagate = False
    _log.setLevel(level)


class _Lines:
    """A stream for tqdm, whose states become messages."""

    def write(self, text: str) -> None:
        if line := text.strip():
            say(line)


def progress(
    what: str,
    items: Iterable | None = None,
    total: int | None = None,
    unit: str = "sentences",
    done: int = 0,
) -> Any:
    """Return tqdm's display of finished items, which yields the items, if any.

    It is redrawn on a terminal, and in lines elsewhere. An earlier run finished `done` of them.
    """
    from tqdm import tqdm

    redraws = sys.stderr.isatty()
    return tqdm(
        items,
        desc=escaped(what),
        total=total,
        unit=f" {unit}",
        initial=done,
        file=sys.stderr if redraws else _Lines(),
        mininterval=REDRAWN if redraws else LOGGED,
        miniters=1,
        # numbers without a bar
        ncols=None if redraws else 0,
        # not before there is something to show
        delay=1e-9,
        disable=not _log.isEnabledFor(logging.INFO),
    )


def command_line() -> str:
    """Return the command line as it was typed."""
    return shlex.join(["rnng-dy", *sys.argv[1:]])


def to_nowhere(stream: TextIO | None) -> None:
    """Redirect a stream to the null device, which drops its buffered output."""
    # a stream of a test has no descriptor; a closed stream is None
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def escaped(text: str) -> str:
    r"""Escape control characters, so that a file's name does not affect a terminal.

    >>> print(escaped("\x1b[2Jold\rnew"))
    \x1b[2Jold\rnew
    """
    return "\n".join(map(visible, text.split("\n")))
