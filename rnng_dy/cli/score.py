"""`rnng-dy score`: compute joint likelihoods of trees."""

from collections.abc import Iterator

import click

from rnng_dy.cli.job import job_options
from rnng_dy.cli.messages import warn
from rnng_dy.cli.options import FILE, JUDGE, Command, model_option, output_option
from rnng_dy.kinds import ModelFolder
from rnng_dy.search import scoring


@click.command(cls=Command)
@model_option(JUDGE)
@click.argument("source", type=FILE, metavar="SAMPLES")
@output_option()
@job_options
def score(folder, source, output, job) -> None:
    """Compute joint likelihoods of the trees in a file of samples or of trees.

    A line of the output has the number of words, a tab, and -log p(x, y) in nats.

    Example: rnng-dy score --model generator test.props -o test.likelihoods
    """
    model = job.open(ModelFolder("generative", folder))

    def batches() -> Iterator[list[scoring.SentenceTrees]]:
        for trees in scoring.trees_to_score(source, model):
            if reasons := scoring.impossible(model, trees):
                warn(f"sentence {trees.number + 1}: p = 0, {'; '.join(reasons)}")
            yield [trees]

    with job.output(output, inputs=[source]) as work:
        for [(trees, lines)] in work.map(scoring.likelihood_lines, batches()):
            if lines is None:
                warn(f"sentence {trees.number + 1}: p = 0 of all trees: memory ran out")
            work.write([lines or scoring.impossible_lines(trees)])
