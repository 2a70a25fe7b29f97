"""`rnng-dy models`: list the models that commands take by name, show one, put one into a file."""

import os
from typing import Any

import click

from oracle.common.errors import RnngError
from oracle.common.tables import aligned
from rnng_dy import model_folder
from rnng_dy.arrays import BITS
from rnng_dy.cli.messages import escaped, say, warn
from rnng_dy.cli.options import MODEL, OUTPUT, Command
from rnng_dy.cli.rules import flag, option
from rnng_dy.cli.signature import identified, version
from rnng_dy.kinds import ModelFolder, kind_of, load
from rnng_dy.model_folder import PLUGINS, VARIABLE, known_models, searched_folders, size_of

BIBTEX = """\
@inproceedings{dyer-etal-2016-recurrent,
  title = {Recurrent Neural Network Grammars},
  author = {Dyer, Chris and Kuncoro, Adhiguna and Ballesteros, Miguel and Smith, Noah A.},
  booktitle = {Proceedings of the 2016 Conference of the North American Chapter of the Association
    for Computational Linguistics: Human Language Technologies},
  year = {2016},
  pages = {199--209},
  doi = {10.18653/v1/N16-1024},
}"""


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
            rows.append((name, kind_of(path).kind, size_of(path), os.fspath(path)))
        except (RnngError, OSError) as error:
            warn(f"{name} is left out: {error}")
    if rows:
        click.echo(aligned(rows, left=4), nl=False)
    else:
        how = f"put archives of `models export` there, or name another folder in {VARIABLE}"
        say(f"no models in {', '.join(map(str, searched_folders()))}: {how}")


@models.command(cls=Command)
@click.argument("folder", type=MODEL, metavar="MODEL")
@flag("--cite", "Print two sentences for a paper, and BibTeX.")
def show(folder: str, cite: bool) -> None:
    """Print the sizes of a model and its description: terms of use, data, settings and scores.

    MODEL is a folder, an archive or a name.

    Example: rnng-dy models show parser
    """
    model = load(folder)
    if cite:
        click.echo(citation(folder, model))
        return
    model.about = model_folder.true_about(model)
    click.echo(f"{model!r}\nsize: {size_of(folder)}")
    if model.about is None:
        click.echo("no about.json: nobody has said where the model comes from")
        return
    if "terms" not in model.about:
        click.echo("licence: not stated; `rnng-dy models export --licence` states it")
    for name, section in model.about.items():
        click.echo(escaped(f"\n{name}:"))
        # other versions counted before they added words for all classes of unknown words
        now = {"parameters": model.store.count()} if name == "model" else {}
        for key, value in {**section, **now}.items():
            # a model that was trained in Python has no command
            if value is not None:
                click.echo(f"  {escaped(f'{key}: {value}')}")


def citation(folder: str, model: Any) -> str:
    """Return two sentences about a model for a methods section, and what to cite in BibTeX."""
    about = model.about or {}
    name, count = identified(ModelFolder(model.kind, folder)), model.store.count()
    config, parts = model.config(), ("composition", "transitions", "state")
    system = f"{model.kind} RNNG (Dyer et al., 2016)" if model.has_trees else "LSTM language model"
    details = "".join(f"{part} {config[part]}, " for part in parts if part in config)
    corpus = model_folder.trained_on(about) or "our own data"
    data = about.get("terms", {}).get("data")
    return (
        f"We used the {system} `{name}` of rnng_dy {version()} ({details}{count:,} parameters). "
        f"It was trained on {corpus}{f' ({data})' if data else ''}.\n\n{BIBTEX}"
    )


@models.command(cls=Command)
@click.argument("folder", type=MODEL, metavar="MODEL")
@option("-o --output", "Archive to write.", OUTPUT, required=True, metavar="MODEL.rnng.zip")
@option("--bits", "Bits of a parameter.", click.Choice([*map(str, BITS)]), default="32")
@option("--licence", "Licence of the model, for its description.", metavar="TEXT")
@option("--data", "Training data and licence, for its description.", metavar="TEXT")
def export(folder: str, output: str, bits: str, licence: str | None, data: str | None) -> None:
    """Write an archive of MODEL with all that is needed to use it.

    All commands read the archive as they read a model folder. It has no trees, no oracles and no
    training state.

    Example: rnng-dy models export parser -o parser.rnng.zip --licence "CC BY 4.0"
    """
    model = load(folder)
    model.export(output, int(bits), licence, data)
    say(f"{output}: {size_of(output)}, {bits} bits")
    for name in model.config().get(PLUGINS, ()):
        say(f"left out: the plugin {name}, which users of the model need: send it along")
    if bits != "32":
        say("left out: the scores, which are of 32 bits: measure again, see docs/models.md")
