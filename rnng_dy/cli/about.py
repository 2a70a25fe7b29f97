"""`rnng-dy about`: print what a model is and where it comes from."""

from __future__ import annotations

import click

from rnng_dy import load, model_card
from rnng_dy.cli.paths import MODEL
from rnng_dy.model_paths import size_of


@click.command()
@click.argument("folder", type=MODEL, metavar="MODEL")
def about(folder: str) -> None:
    """Print the sizes of a model and its model card: terms of use, data, settings and scores.

    MODEL is a folder, an archive or a name.

    Example: rnng-dy about parser
    """
    model = load(folder)
    click.echo(repr(model))
    click.echo(f"size: {size_of(folder)}")
    if model.about is None:
        click.echo("no about.json: nobody has said where the model comes from")
        return
    if "terms" not in model.about:
        click.echo("licence: not stated; `rnng-dy export --licence` states it")
    click.echo(f"\n{model_card.card(model.about)}", nl=False)
