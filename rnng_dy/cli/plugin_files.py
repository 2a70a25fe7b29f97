"""The option --plugin, which may stand before or after a command's name."""

from __future__ import annotations

from collections.abc import Sequence

import click

from oracle.errors import PluginError, RnngError
from rnng_dy import plugins
from rnng_dy.cli.paths import FILE

_GIVEN = "rnng_dy.plugins"


def _take(ctx: click.Context, _: click.Parameter, paths: Sequence[str]) -> None:
    ctx.meta.setdefault(_GIVEN, []).extend(paths)
    if not isinstance(ctx.command, click.Group):
        load_plugins(ctx)


plugin_option = click.Option(
    ["--plugin"],
    type=FILE,
    multiple=True,
    metavar="FILE.py",
    # processed before options whose choices a plugin extends
    is_eager=True,
    expose_value=False,
    callback=_take,
    help=f"Load classes of your own, such as a composition; {plugins.VARIABLE} names such files, too.",
)


def load_plugins(ctx: click.Context) -> None:
    """Load the plugins named on the command line so far, in the environment and by installed packages.

    Raises PluginError for a mistake in a plugin, OSError for a file that cannot be read.
    """
    try:
        for path in ctx.meta[_GIVEN]:
            plugins.load(path)
        plugins.load_named()
    except (PluginError, RnngError, OSError):
        # no messages while a shell completes a line
        if not ctx.resilient_parsing:
            raise
