"""`rnng-dy about`: print what a model is and where it comes from."""

from __future__ import annotations

import click

from rnng_dy import load, model_card
from rnng_dy.cli.paths import FOLDER


@click.command()
@click.argument("folder", type=FOLDER, metavar="MODEL")
def about(folder: str) -> None:
    """Print the sizes of a model and its model card: data, settings and scores.

    Example: rnng-dy about parser
    """
    model = load(folder)
    click.echo(repr(model))
    if model.about is None:
        click.echo("no about.json: nobody has said where the model comes from")
    else:
        click.echo(f"\n{model_card.card(model.about)}", nl=False)
