"""`rnng-dy sample`: draw trees from the parser."""

from __future__ import annotations

import click

from rnng_dy.cli.inputs import parser_source, seed_option
from rnng_dy.cli.job import job_options
from rnng_dy.cli.options import Command, model_option, output_option
from rnng_dy.cli.parse import sample_lines, write_trees
from rnng_dy.kinds import ModelFolder
from rnng_dy.search.decoding import SampledTrees
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.settings import COUNT, FiniteRange


@click.command(cls=Command)
@model_option()
@output_option()
@click.option("--samples", "n", type=COUNT, default=100, help="Number of trees per sentence.")
@click.option(
    "--alpha", type=FiniteRange(0, 100), default=FLATTENED, help="Power of q; 1 does not flatten."
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
    job.open(ModelFolder("discriminative", folder))
    write_trees(job, source, SampledTrees(n, alpha, seed), output, sample_lines)
