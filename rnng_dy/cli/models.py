"""`rnng-dy models`: list the models that commands take by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from oracle.errors import RnngError
from rnng_dy import checkpoint, model_card
from rnng_dy.cli.quiet import say, warn
from rnng_dy.model_paths import VARIABLE, known_models, places, size_of


@click.command()
def models() -> None:
    """List the models that --model takes by name: name, kind, size, score and path.

    They are model folders, and archives NAME.rnng.zip, in the folders of RNNG_DY_MODELS (separated by colons), in the
    user's data folder and in the package.

    Example: rnng-dy models
    """
    rows = []
    for name, path in known_models().items():
        try:
            rows.append(_row(name, path))
        except (RnngError, OSError) as error:
            warn(f"{name} is left out: {error}")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
    if not rows:
        say(
            f"no models in {', '.join(map(str, places()))}: put archives of `rnng-dy export` into one of these, or "
            f"name another folder in {VARIABLE}"
        )


def _row(name: str, path: Path) -> Sequence[str]:
    about = model_card.read(path) or {}
    score = model_card.best_score(about) or "no score"
    return name, checkpoint.kind_of(path), size_of(path), score, os.fspath(path)
