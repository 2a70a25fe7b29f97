"""What commands print of likelihoods."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click

from rnng_dy.cli.quiet import warn
from rnng_dy.evaluation.perplexity import Gap, Likelihood, likelihood


def print_likelihood(
    log_probs: Sequence[float], lengths: Sequence[int], sentences: int
) -> Likelihood:
    """Print likelihood and perplexity of those of `sentences` sentences that have p > 0, and how many have not."""
    found = likelihood(log_probs, lengths)
    left_out = len(log_probs) - found.sentences
    if left_out:
        warn(f"{left_out} of {sentences} sentences have p = 0 and are left out")
    if math.isinf(found.perplexity):
        warn("the perplexity is too large for a number: see to the likelihoods")
    if not found.sentences:
        warn("no sentence has p > 0: there is no perplexity")
    click.echo(f"sentences={found.sentences} of {sentences}")
    click.echo(f"len={found.words} words")
    click.echo(f"LLH={found.llh:.15g}")
    click.echo(f"PPL={found.perplexity:.15g}")
    return found


def print_gap(found: Gap) -> None:
    """Print a search's likelihood beside that of samples."""
    sampled = found.sampled
    click.echo(f"p > 0 by search and samples: {sampled.sentences} sentences, {sampled.words} words")
    for name, of_way in (("search", found.searched), ("samples", sampled)):
        click.echo(f"{name}: LLH={of_way.llh:.15g} PPL={of_way.perplexity:.15g}")
    click.echo(
        f"gap: {found.a_sentence:.6g} nats a sentence, {found.a_word:.6g} nats a word, "
        f"ratio of perplexities {found.ratio:.6g}"
    )
    click.echo(f"search above samples: {found.above} sentences")
