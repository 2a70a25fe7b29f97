"""`rnng-dy models`: list the models that commands take by name, show a model, put a model into one file."""

from __future__ import annotations

import os

import click

from oracle.common.errors import RnngError
from oracle.common.tables import aligned
from rnng_dy import checkpoint, load, model_folder
from rnng_dy.cli.messages import escaped, say, warn
from rnng_dy.cli.options import MODEL, OUTPUT, Command
from rnng_dy.model_folder import VARIABLE, known_models, places, size_of
from rnng_dy.parameters import BITS


@click.group(invoke_without_command=True)
@click.pass_context
def models(context: click.Context) -> None:
    """List the models that --model takes by name: name, kind, size and path.

    They are model folders, and archives NAME.rnng.zip, in the folders of RNNG_DY_MODELS (separated
    by colons), in the user's data folder and in the package.

    Example: rnng-dy models
    """
    if context.invoked_subcommand:
        return
    rows = []
    for name, path in known_models().items():
        try:
            rows.append((name, model_folder.kind_of(path).kind, size_of(path), os.fspath(path)))
        except (RnngError, OSError) as error:
            warn(f"{name} is left out: {error}")
    if rows:
        click.echo(aligned(rows, left=4), nl=False)
    else:
        say(
            f"no models in {', '.join(map(str, places()))}: put archives of `rnng-dy models export` into one "
            f"of these, or name another folder in {VARIABLE}"
        )


@models.command(cls=Command)
@click.argument("folder", type=MODEL, metavar="MODEL")
def show(folder: str) -> None:
    """Print the sizes of a model and its description: terms of use, data, settings and scores.

    MODEL is a folder, an archive or a name.

    Example: rnng-dy models show parser
    """
    model = load(folder)
    click.echo(repr(model))
    click.echo(f"size: {size_of(folder)}")
    if model.about is None:
        click.echo("no about.json: nobody has said where the model comes from")
        return
    if "terms" not in model.about:
        click.echo("licence: not stated; `rnng-dy models export --licence` states it")
    for name, section in model.about.items():
        click.echo(escaped(f"\n{name}:"))
        for key, value in section.items():
            # a model that was trained in Python has no command
            if value is not None:
                click.echo(f"  {escaped(f'{key}: {value}')}")


@models.command(cls=Command)
@click.argument("folder", type=MODEL, metavar="MODEL")
@click.option(
    "-o", "--output", type=OUTPUT, required=True, metavar="MODEL.rnng.zip", help="Archive to write."
)
@click.option(
    "--bits",
    type=click.Choice([str(bits) for bits in BITS]),
    default="32",
    help="Bits of a parameter; with fewer, scores are slightly other ones.",
)
@click.option("--licence", metavar="TEXT", help="Licence of the model, for its description.")
@click.option("--data", metavar="TEXT", help="Training data and licence, for its description.")
def export(folder: str, output: str, bits: str, licence: str | None, data: str | None) -> None:
    """Write an archive of MODEL with all that is needed to use it.

    All commands read the archive as they read a model folder. It has no trees, no oracles and no
    training state.

    Example: rnng-dy models export parser -o parser.rnng.zip --licence "CC BY 4.0"
    """
    model = load(folder)
    model.export(output, int(bits), licence, data)
    say(f"{output}: {size_of(output)}, {bits} bits")
    for name in model.config().get(checkpoint.PLUGINS, ()):
        say(f"left out: the plugin {name}, which users of the model need: send it along")
    if bits != "32":
        say(
            "left out: the scores of the training, which are of 32 bits: measure again, see docs/models.md"
        )
