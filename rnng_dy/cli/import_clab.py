"""`rnng-dy import-clab`: turn models of the original program into model folders."""

from pathlib import Path

import click

from clusters.files import read_clusters
from oracle.blocks import read_oracle
from oracle.common.errors import RnngError
from oracle.common.files import file_hash, placed
from rnng_dy.checkpoint import writing
from rnng_dy.cli.messages import command_line, warn
from rnng_dy.cli.options import FILE, FOLDER, Command, LiveChoice
from rnng_dy.cli.rules import flag, goes, option
from rnng_dy.interop.vectors import read_vectors
from rnng_dy.models.composition import COMPOSITIONS, GatedAttention
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES, History

COMPOSITION = LiveChoice(COMPOSITIONS)


@click.command(cls=Command)
@click.argument("kind", type=click.Choice(["discriminative", "generative"]))
@click.argument("params", type=FILE)
@option("--train-oracle", "Training oracle, which decides all ids.", FILE, required=True)
@option("--model", "Model folder to write.", FOLDER, "folder", required=True)
@goes("with `kind` generative")
@option("--clusters", "Clusters that the generative model was trained with.", FILE)
@goes("with `kind` discriminative")
@flag("--pos", "The parser was trained with POS tags.")
@goes("with `kind` discriminative")
@option("--pretrained", "Word vectors that the parser was trained with.", FILE)
@option("--composition", "The model's composition.", COMPOSITION, default=COMPOSITIONS.default)
@option(
    "--state",
    "Parser state of that program, which no checkpoint shows; a wrong one gives wrong scores. "
    f"Required with gated attention.  [default: {PARSER_STATES.default}]",
    LiveChoice(GENERATOR_STATES | PARSER_STATES),
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
    from rnng_dy.training.data import require_transitions

    if is_parser:
        how = pos, composition, pretrained and read_vectors(pretrained)
        model = clab.import_parser(params, sentences, *how, state or PARSER_STATES.default)
    else:
        how = read_clusters(clusters), composition, state
        model = clab.import_generator(params, sentences, *how)
    with placed(train_oracle):
        require_transitions(model, {sentence.transitions for sentence in sentences})
    origin = {"program": "clab/rnng", "checkpoint": params, "sha256": file_hash(params)}
    model.about = about_model(model, sentences, command_line()) | {"origin": origin}
    model.save(folder)
    click.echo(f"{folder}: {model.store.count()} parameters, {model.sizes}")
    if state is not None:
        warn(f"{params} does not tell its parser state: if it is not {state}, scores are wrong")
