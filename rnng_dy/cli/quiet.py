"""The option --quiet, and printing of messages and warnings."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

import click

_QUIET = "rnng_dy.quiet"


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


def say(line: str) -> None:
    """Print a message on standard error, unless the command is quiet."""
    if not is_quiet():
        warn(line)


def warn(line: str) -> None:
    """Print a message on standard error, even if the command is quiet."""
    show(f"{escaped(line)}\n")


def show(text: str) -> None:
    """Print text on standard error unchanged; work continues if nobody reads it, as after Ctrl-C in `2>&1 | tee x`."""
    try:
        click.echo(text, nl=False, err=True)
    except OSError:
        to_nowhere(sys.stderr)


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
