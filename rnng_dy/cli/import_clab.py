"""`rnng-dy import-clab`: turn models of the original program into model folders."""

from __future__ import annotations

from pathlib import Path

import click

from clusters.files import read_clusters
from oracle.blocks import read_oracle
from oracle.common.errors import RnngError
from oracle.common.files import file_hash
from rnng_dy.checkpoint import writing
from rnng_dy.cli.messages import command_line, warn
from rnng_dy.cli.options import FILE, FOLDER, Command, LiveChoice
from rnng_dy.cli.rules import goes
from rnng_dy.interop.vectors import read_vectors
from rnng_dy.models.composition import COMPOSITIONS, GatedAttention
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES, History


@click.command(cls=Command)
@click.argument("kind", type=click.Choice(["discriminative", "generative"]))
@click.argument("params", type=FILE)
@click.option(
    "--train-oracle", type=FILE, required=True, help="Training oracle, which decides all ids."
)
@click.option("--model", "folder", type=FOLDER, required=True, help="Model folder to write.")
@goes("with `kind` generative")
@click.option("--clusters", type=FILE, help="Clusters that the generative model was trained with.")
@goes("with `kind` discriminative")
@click.option("--pos", is_flag=True, help="The parser was trained with POS tags.")
@goes("with `kind` discriminative")
@click.option("--pretrained", type=FILE, help="Word vectors that the parser was trained with.")
@click.option(
    "--composition",
    type=LiveChoice(COMPOSITIONS),
    default=COMPOSITIONS.default,
    help="The model's composition.",
)
@click.option(
    "--state",
    type=LiveChoice(GENERATOR_STATES | PARSER_STATES),
    help="Parser state of that program, which no checkpoint shows; a wrong one gives wrong scores. "
    f"Required with gated attention.  [default: {PARSER_STATES.default}]",
)
def import_clab(
    kind, params, train_oracle, folder, clusters, pos, pretrained, composition, state
) -> None:
    """Convert PARAMS, a checkpoint of the original program, to a model folder.

    Example: rnng-dy import-clab discriminative p.params --train-oracle train.oracle --model parser
    """
    click.get_current_context().with_resource(writing(folder))
    if Path(folder).exists():
        raise RnngError(f"{folder} exists: name another --model folder")
    is_parser = kind == "discriminative"
    if not (is_parser or clusters):
        raise click.UsageError("a generative model needs --clusters")
    states = PARSER_STATES if is_parser else GENERATOR_STATES
    if state not in (None, *states) or state == History.name:
        raise click.UsageError(f"the original has no {kind} model of the state {state}")
    if is_parser and composition == GatedAttention.name:
        raise click.UsageError("the original has no parser with gated attention")
    sentences = read_oracle(train_oracle)
    from rnng_dy.interop import clab
    from rnng_dy.model_folder import about_model

    if is_parser:
        vectors = read_vectors(pretrained) if pretrained else None
        how = composition, vectors, state or PARSER_STATES.default
        model = clab.import_parser(params, sentences, pos, *how)
    else:
        entries = read_clusters(clusters)
        model = clab.import_generator(params, sentences, entries, composition, state)
    origin = {"program": "clab/rnng", "checkpoint": params, "sha256": file_hash(params)}
    model.about = about_model(model, sentences, command_line()) | {"origin": origin}
    model.save(folder)
    click.echo(f"{folder}: {model.store.count()} parameters, {model.sizes}")
    if state is not None:
        warn(f"{params} does not tell its parser state: if it is not {state}, scores are wrong")
