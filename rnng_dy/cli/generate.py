"""`rnng-dy generate`: draw sentences from a generative model."""

from __future__ import annotations

import click

from oracle.brackets import format_tree
from oracle.common.files import replacing
from oracle.treebank import words
from rnng_dy.cli.inputs import seed_option
from rnng_dy.cli.job import Job
from rnng_dy.cli.options import GENERATIVE, Command, device_option, model_option, output_option
from rnng_dy.kinds import ModelFolder
from rnng_dy.search.generation import generate_trees


@click.command(cls=Command)
@model_option(GENERATIVE)
@click.option("-n", "n", type=click.IntRange(min=1), default=10, help="Number of sentences.")
@seed_option
@click.option(
    "--max-length", type=click.IntRange(1), default=200, help="Longer sentences are drawn again."
)
@click.option("--words", "only_words", is_flag=True, help="Print the words, not the trees.")
@output_option()
@device_option
def generate(folder, n, seed, max_length, only_words, output, device) -> None:
    """Generate sentences with their trees from a generative model.

    The model generates no POS tags; XX stands in their place.

    Example: rnng-dy generate --model generator -n 10 --seed 1
    """  # fmt: skip
    model = Job(1, device).open(ModelFolder("generative", folder))
    with replacing(output) as stream:
        for tree, _ in generate_trees(model, n, seed, max_length):
            line = " ".join(words(tree)) if only_words else format_tree(tree)
            stream.write(f"{line}\n")
            stream.flush()
