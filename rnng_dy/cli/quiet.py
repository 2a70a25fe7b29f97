"""Messages of commands by `logging`: `say` for information, which --quiet leaves out, and `warn`."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from typing import TextIO

import click

_QUIET = "rnng_dy.quiet"


class _ToStandardError(logging.Handler):
    """Handler that writes messages to the present standard error; work continues if nobody reads them."""

    def emit(self, record: logging.LogRecord) -> None:
        """See logging."""
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

    def filter(self, record: logging.LogRecord) -> bool:
        """See logging."""
        return record.levelno >= logging.WARNING or not is_quiet()


_log = logging.getLogger("rnng_dy")
say, warn = _log.info, _log.warning


def show_messages() -> None:
    """Let commands show the messages of the whole package on standard error."""
    if not any(isinstance(handler, _ToStandardError) for handler in _log.handlers):
        _log.addHandler(_ToStandardError())
        _log.setLevel(logging.INFO)
        _log.propagate = False


def _set_quiet(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_QUIET] = True


quiet_option = click.Option(
    ["-q", "--quiet"],
    is_flag=True,
    expose_value=False,
    callback=_set_quiet,
    help="Print no progress on standard error, only warnings and errors.",
)


def is_quiet() -> bool:
    """Return whether the running command has --quiet, before or after its name."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_QUIET, False)


def to_nowhere(stream: TextIO | None) -> None:
    """Redirect a stream to the null device, which drops its buffered output."""
    # a stream of a test has no descriptor; a closed stream is None
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# characters that control a terminal or change the direction of text
_CONTROLS = {
    number: chr(number).encode("unicode_escape").decode()
    for number in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(number) not in "\n\t"
}


def escaped(text: str) -> str:
    r"""Escape control characters, which a file's name may have, so that they do not affect a terminal.

    >>> print(escaped("\x1b[2Jold\rnew"))
    \x1b[2Jold\rnew
    """
    return text.translate(_CONTROLS)
