"""`rnng-dy export`: put a model into an archive, one file to share."""

from __future__ import annotations

import click

from rnng_dy import checkpoint, load
from rnng_dy.cli.paths import FILE, MODEL, check_files
from rnng_dy.cli.quiet import say
from rnng_dy.model_paths import size_of


@click.command()
@click.argument("folder", type=MODEL, metavar="MODEL")
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="MODEL.rnng.zip", help="Archive to write."
)
@click.option(
    "--half",
    is_flag=True,
    help="Round the parameters to float16: half the size, and slightly other scores.",
)
@click.option("--licence", metavar="TEXT", help="Licence of the model, for the model card.")
@click.option("--data", metavar="TEXT", help="Training data and their licence, for the model card.")
def export(folder: str, output: str, half: bool, licence: str | None, data: str | None) -> None:
    """Write an archive of MODEL with all that is needed to use it.

    All commands read the archive as they read a model folder. It has no trees, no oracles and no training state.

    Example: rnng-dy export parser -o parser.rnng.zip --licence "CC BY 4.0"
    """
    check_files([output], [])
    model = load(folder)
    model.export(output, half, licence, data)
    say(f"{output}: {size_of(output)}, {'float16' if half else 'float32'}")
    for name in model.config().get(checkpoint.PLUGINS, ()):
        say(f"left out: the plugin {name}, which users of the model need: send it along")
    if half:
        say("the scores on the model card are of float32: measure again, see docs/models.md")
