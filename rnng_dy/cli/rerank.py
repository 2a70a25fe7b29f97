"""`rnng-dy rerank`: MAP trees and perplexity from samples and their joint likelihoods."""

import sys

import click

from oracle.blocks import read_oracle
from oracle.common.errors import listed
from rnng_dy.cli.inputs import decode_option
from rnng_dy.cli.messages import warn
from rnng_dy.cli.options import FILE, OUTPUT, Command, write_output
from rnng_dy.cli.rules import goes, option
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.search.importance import best_line, read_sampled, require_fit
from rnng_dy.settings import FiniteRange

NAMED = 30
"""The most sentences that a message lists."""


@click.command(cls=Command)
@click.argument("props", type=FILE)
@click.argument("likelihoods", type=FILE)
@option("-o --output", "File for the MAP trees; - is standard output.", OUTPUT)
@option("--oracle", "Oracle of the MAP trees' words and tags.", FILE, "oracle_path")
@decode_option("The MAP tree")
@goes("with `output`")
@option(
    "--weight",
    "Weight: p^W q^(1 - W) decides; 1 is the generative model alone.",
    FiniteRange(0, 1, min_open=True),
    default=1.0,
    metavar="W",
)
def rerank(props, likelihoods, output, oracle_path, decode, weight) -> None:
    """Choose each sentence's most probable sample (the MAP tree), and estimate perplexity.

    `sample` makes PROPS, `score` makes LIKELIHOODS. The output lists log p(x) in nats per sentence;
    its last lines are the log likelihood LLH= and the perplexity PPL=. A sentence without samples
    is reported, gets an empty line among the trees, and makes the exit code 1. Without --oracle the
    last sentences are not missed.

    Example: rnng-dy rerank test.props test.likelihoods -o map.trees --oracle test.oracle
    """
    mbr = decode == "mbr"
    if mbr and not oracle_path:
        raise click.UsageError("--decode mbr needs the words of the trees: give --oracle")
    sampled = {s.index: s for s in read_sampled(props, likelihoods, of_one_q=weight < 1)}
    oracle = read_oracle(oracle_path) if oracle_path else None
    for sentence in sampled.values() if oracle else ():
        best, _ = sentence.samples[sentence.estimate.best]
        require_fit(best, oracle, props, oracle_path)
    sentences = len(oracle) if oracle else max(sampled) + 1
    lines = (
        best_line(sampled[i], oracle, weight, mbr) if i in sampled else "" for i in range(sentences)
    )
    write_output(output, (f"{line}\n" for line in lines))
    rows = [(s.estimate.log_marginal, s.words) for s in sampled.values()]
    for log_p, words in rows:
        click.echo(f"prob: {log_p:.15g} (len={words})")
    whole = likelihood(*zip(*rows, strict=True))
    for problem in whole.warnings(sentences, len(sampled) - whole.sentences):
        warn(problem)
    of_parser = [index + 1 for index in sorted(sampled) if not sampled[index].has_joint]
    if of_parser and output:
        number = f"p = 0 for all samples of {len(of_parser)} sentences, so q alone decides"
        warn(f"{likelihoods}: {number}: {listed(of_parser, NAMED)}")
    click.echo("\n".join(whole.lines(sentences)))
    if missing := [index + 1 for index in range(sentences) if index not in sampled]:
        warn(f"{props}: no samples of {len(missing)} sentences: {listed(missing, NAMED)}")
        sys.exit(1)
