"""The command of the campaign."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import click

from scripts.torture.campaign import KIND_NAMES, Campaign


def _kinds(context: click.Context, parameter: click.Parameter, names: str) -> list[str]:
    """Return the kinds in a comma-separated list."""
    kinds = names.split(",")
    for kind in kinds:
        if kind not in KIND_NAMES:
            raise click.BadParameter(f"no kind {kind!r}")
    return kinds


@click.command()
@click.option("--minutes", default=10.0, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--inputs", type=int, help="Damaged inputs to try at most.")
@click.option("--kills", type=int, help="Kills, signals and full disks at most.")
@click.option("--skip", default=0, help="Inputs of this seed to leave out first.")
@click.option(
    "--only",
    default=",".join(KIND_NAMES),
    metavar="KIND,...",
    callback=_kinds,
    help=f"Of {', '.join(KIND_NAMES)}.",
)
@click.option("--jobs", default=1, help="Inputs, or commands, at a time.", show_default=True)
@click.option("--seconds", default=60.0, help="That an input may take.", show_default=True)
@click.option("--gigabytes", default=2.0, help="That an input may take.", show_default=True)
@click.option("--output", default="torture", help="Folder of the report.", show_default=True)
def main(**given: object) -> None:
    """Look for inputs and moments that break rnng-dy.

    Damaged files of every format through every command that reads them, closed and full streams, kills, signals and
    full disks in every long command, which must then end with the bits of an uninterrupted run. Each cause of a failure
    gets a folder with the smallest input that shows it. The exit code is 1 where something failed.
    """
    # a shell makes its background processes ignore Ctrl-C, and all commands would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        campaign = Campaign(SimpleNamespace(**given), Path(folder))
        try:
            campaign.run()
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
        finally:
            campaign.report()
    sys.exit(1 if campaign.book.failures else 0)


if __name__ == "__main__":
    main()
