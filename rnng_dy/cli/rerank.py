"""`rnng-dy rerank`: MAP trees and perplexity from samples and their joint likelihoods."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from oracle.blocks import read_oracle
from oracle.errors import InputError
from rnng_dy.cli.paths import FILE, check_files, require_read_once, write_output
from rnng_dy.cli.quiet import warn
from rnng_dy.cli.tree_formats import MBR, decode_option
from rnng_dy.evaluation.perplexity import Likelihood, likelihood
from rnng_dy.search.importance import map_line, mbr_line, read_sampled, require_fit

MOST_MISSING, NAMED = 1_000_000, 30
"""Limit on sentences without samples, beyond which the file must be wrong, and on those that are listed."""


@click.command()
@click.argument("props", type=FILE)
@click.argument("likelihoods", type=FILE)
@click.option("-o", "--output", type=FILE, help="File for the MAP trees; - is standard output.")
@click.option(
    "--oracle",
    "oracle_path",
    type=FILE,
    help="Take the words and POS tags of the MAP trees from this oracle. Without it the command does not notice if "
    "the last sentences have no samples.",
)
@decode_option("The MAP tree, the sample with the highest joint probability", "; needs --oracle")
@click.option(
    "--ess",
    is_flag=True,
    help="Also print effective sample size and standard error per sentence.",
)
@click.option(
    "--allow-missing", is_flag=True, help="Exit with code 0 even if sentences have no samples."
)
def rerank(props, likelihoods, output, oracle_path, decode, ess, allow_missing) -> None:
    """Choose each sentence's sample with the highest joint probability (the MAP tree), and estimate perplexity.

    `sample` makes PROPS, `score` makes LIKELIHOODS. The output lists log p(x) in nats per sentence; its last lines
    are the log likelihood LLH= and the perplexity PPL=. A sentence without samples is reported, gets an empty line
    among the MAP trees, and makes the exit code 1.

    Example: rnng-dy rerank test.props test.likelihoods -o map.trees --oracle test.oracle
    """
    if decode == MBR and not (oracle_path and output):
        raise click.UsageError(
            "--decode mbr needs -o for the trees, and their words: give --oracle"
        )
    require_read_once(props, likelihoods, oracle_path)
    check_files([output], [props, likelihoods, oracle_path])
    found = {of_sentence.index: of_sentence for of_sentence in read_sampled(props, likelihoods)}
    oracle = read_oracle(oracle_path) if oracle_path else None
    for of_sentence in found.values() if oracle else ():
        require_fit(of_sentence.best[0], oracle, props, oracle_path)
    sentences = len(oracle) if oracle else max(found) + 1
    if sentences > MOST_MISSING + len(found):
        raise InputError(
            f"{sentences - len(found)} sentences have no samples: give their --oracle", props
        )
    indices = range(sentences)
    line_of = mbr_line if decode == MBR else map_line
    lines = (line_of(found[i], oracle) if i in found else "" for i in indices)
    write_output(output, (f"{line}\n" for line in lines))
    for of_sentence in found.values():
        e = of_sentence.estimate
        more = f" ess={e.effective_sample_size:.2f} se={e.standard_error:.4f}" if ess else ""
        click.echo(f"prob: {e.log_marginal:.15g} (len={of_sentence.words}){more}")
    marginals = [of_sentence.estimate.log_marginal for of_sentence in found.values()]
    print_likelihood(marginals, [of_sentence.words for of_sentence in found.values()], sentences)
    missing = [index + 1 for index in range(sentences) if index not in found]
    if missing:
        numbers = ", ".join(map(str, missing[:NAMED])) + ", ..." * (len(missing) > NAMED)
        warn(f"{props}: no samples of {len(missing)} sentences: {numbers}")
        if not allow_missing:
            sys.exit(1)


def print_likelihood(
    log_probs: Sequence[float], lengths: Sequence[int], sentences: int
) -> Likelihood:
    """Print likelihood and perplexity of the sentences with p > 0, and how many of `sentences` are missing."""
    found = likelihood(log_probs, lengths)
    for problem in found.warnings(sentences, len(log_probs) - found.sentences):
        warn(problem)
    click.echo("\n".join(found.lines(sentences)))
    return found
