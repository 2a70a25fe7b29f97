"""`rnng-dy about`: print what a model is and where it comes from."""

from __future__ import annotations

import click

from rnng_dy import checkpoint, load, model_card
from rnng_dy.cli.paths import MODEL


@click.command()
@click.argument("folder", type=MODEL, metavar="MODEL")
def about(folder: str) -> None:
    """Print what MODEL, a model folder, archive or name, holds: its size, terms of use, scores and origin.

    Example: rnng-dy about parser
    """
    model = load(folder)
    click.echo(repr(model))
    click.echo(f"size: {checkpoint.size_of(folder)}")
    if model.about is None:
        click.echo("no about.json: nobody has said where the model comes from")
        return
    if "terms" not in model.about:
        click.echo("licence: not stated; `rnng-dy export --licence` states it")
    click.echo(f"\n{model_card.card(model.about)}", nl=False)
