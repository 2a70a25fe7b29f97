"""`rnng-dy sample`: draw trees from the parser."""

from __future__ import annotations

from functools import partial

import click

from rnng_dy.cli.inputs import parser_source, seed_option
from rnng_dy.cli.job import job_options
from rnng_dy.cli.options import Command, model_option, output_option
from rnng_dy.model_folder import ModelFolder
from rnng_dy.search import decoding
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.settings import COUNT, FiniteRange
from rnng_dy.text.sources import SentenceReader

SAMPLED_WORDS = 100
"""Words in one batch."""


@click.command(cls=Command)
@model_option()
@output_option()
@click.option("--samples", "n", type=COUNT, default=100, help="Number of trees per sentence.")
@click.option(
    "--alpha",
    type=FiniteRange(0, 100),
    default=FLATTENED,
    help="Exponent that flattens the parser's distribution; 1 does not flatten.",
)
@seed_option
@parser_source
@job_options
def sample(folder, source, output, n, alpha, seed, job) -> None:
    """Draw trees per sentence of INPUT from the parser's distribution, flattened by alpha.

    A line of the output has the number of the sentence from 0, the tree's log probability in nats
    under the flattened distribution, and the tree.

    Example: rnng-dy sample --model parser --alpha 0.8 --seed 1 test.oracle -o test.props
    """  # fmt: skip
    reader = SentenceReader(job.open(ModelFolder("discriminative", folder)), source)
    draw = partial(decoding.sampled_parses, n, alpha, seed)
    trees = partial(decoding.parser_trees, draw, decoding.unkified_tree)
    left_out = job.write(
        output,
        decoding.in_words(reader.sentences(), SAMPLED_WORDS),
        partial(decoding.decoded_lines, decoding.scored_lines, trees),
        lambda item: [],
        *(n, alpha, seed, source._replace(path="")),
        inputs=[source.path],
    )
    reader.report(left_out)
