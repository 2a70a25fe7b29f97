"""The option --quiet, and lines that it silences."""

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
    help="No progress on standard error: only warnings and errors.",
)


def is_quiet() -> bool:
    """Was the command that runs given --quiet, before or after its name?"""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_QUIET, False)


def say(line: str) -> None:
    """Print how the work goes on standard error, unless that is to be quiet."""
    if not is_quiet():
        click.echo(line, err=True)
