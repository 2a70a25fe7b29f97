"""`rnng-dy doctor`: report versions and hardware, and check the numerics."""

import sys
from itertools import chain

import click

from oracle.common import plugins
from oracle.common.errors import RnngError
from rnng_dy import __version__, engine
from rnng_dy.cli import checks
from rnng_dy.cli.options import Command, device_option


@click.command(cls=Command)
@device_option
def doctor(device: str) -> None:
    """Print versions, backend and devices, and check the numerics.

    The exit code is 0 if all is well, 1 if a number is wrong, and 2 if DyNet cannot be used.

    Example: rnng-dy doctor --device cuda
    """
    plugged = (("plugin", path) for path in plugins.loaded)
    for name, value in chain([("rnng_dy", __version__)], engine.versions(), plugged):
        click.echo(f"{name:<11}{value}")
    engine.require_build()
    try:
        engine.start(device)
    except ImportError as error:
        raise RnngError(f"DyNet does not load ({error}): {engine.INSTALL_HINT}") from error
    click.echo(f"self-check on {device}: relative differences up to {checks.TOLERANCE:.0e}")
    passed = True
    for name, difference in checks.differences():
        # NaN fails
        is_right = difference <= checks.TOLERANCE
        passed &= is_right
        click.echo(f"  {name:<38}{'ok' if is_right else 'FAILED':<8}{difference:.1e}")
    if not passed:
        sys.exit(1)
