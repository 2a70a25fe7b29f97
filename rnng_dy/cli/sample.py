"""`rnng-dy sample`: draw trees from the parser."""

from __future__ import annotations

from functools import partial

import click

from oracle.samples import format_sample
from rnng_dy.cli.job import ModelFolder, job_options, parser_source
from rnng_dy.cli.options import Command, model_option, output_option, seed_option
from rnng_dy.cli.results import Lines
from rnng_dy.search.decoding import (
    Batch,
    Find,
    decoded,
    in_words,
    parser_trees,
    sampled_parses,
    unkified_tree,
)
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

    A line of the output has the number of the sentence from 0, the tree's log probability in nats under the
    flattened distribution, and the tree.

    Example: rnng-dy sample --model parser --samples 100 --alpha 0.8 --seed 1 test.oracle -o test.props
    """  # fmt: skip
    reader = SentenceReader(job.open(ModelFolder("discriminative", folder)), source)
    items = reader.sentences()
    lines = partial(_lines, partial(sampled_parses, n, alpha, seed))
    batches = in_words(items, SAMPLED_WORDS)
    decides = n, alpha, seed, source._replace(path="")
    left_out = job.write(output, batches, lines, lambda item: [], *decides, inputs=[source.path])
    reader.report(left_out)


def _lines(find: Find, parser, batch: Batch) -> list[Lines]:
    return [
        [format_sample(item.index, tree.log_prob, tree.tree) for tree in trees]
        for item, trees in decoded(partial(parser_trees, find, unkified_tree), parser, batch)
    ]
