"""The option --quiet, and printing of messages and warnings."""

from __future__ import annotations

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
        click.echo(escaped(line), err=True)


def warn(line: str) -> None:
    """Print a warning on standard error, even if the command is quiet."""
    click.echo(line, err=True)


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
