"""`rnng-dy compare-composition`: two compositions, or any two systems, side by side."""

from __future__ import annotations

import click
import numpy as np
from nltk import Tree

from oracle.errors import InputError
from oracle.files import read_scored_samples
from oracle.treebank import format_tree, read_trees
from rnng_dy import comparison, evalb, statistics
from rnng_dy.importance import estimate_of, likelihood

samples_options = [
    click.option(
        f"--{name}-samples",
        nargs=2,
        metavar="PROPS LIKELIHOODS",
        help=f"Samples and likelihoods of the {name} models, for perplexity.",
    )
    for name in ("buggy", "corrected")
]


def _samples_options(command):
    for option in reversed(samples_options):
        command = option(command)
    return command


@click.command("compare-composition")
@click.argument("gold")
@click.argument("buggy")
@click.argument("corrected")
@_samples_options
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Sentences to show.",
)
def compare_composition(gold, buggy, corrected, buggy_samples, corrected_samples, count) -> None:
    """Compare trees of the BUGGY and the CORRECTED composition with the GOLD trees, each a file of one tree a line.

    Prints F1 with a paired bootstrap, perplexity where samples are given, F1 by length and label of constituents, and
    the sentences that differ most.

    Example: rnng-dy compare-composition test.trees buggy.trees corrected.trees
    """
    if bool(buggy_samples) != bool(corrected_samples):
        raise click.UsageError("perplexity needs both --buggy-samples and --corrected-samples")
    golds, *systems = [
        [located.tree for located in read_trees(path)] for path in (gold, buggy, corrected)
    ]
    for path, trees in zip((buggy, corrected), systems, strict=True):
        if len(trees) != len(golds):
            raise InputError(f"{len(trees)} trees, but {gold} has {len(golds)}", path)
    first, second = (evalb.score(golds, trees) for trees in systems)
    _print_difference("F1", first.f1, second.f1, statistics.f1_difference(first, second))
    if buggy_samples:
        _print_perplexity(buggy_samples, corrected_samples)
    for title, rows in (
        ("words in constituent", comparison.by_length(golds, *systems)),
        ("label", comparison.by_label(golds, *systems)),
    ):
        click.echo(
            f"\n{title:<24} {'gold':>7} {'buggy F1':>9} {'corrected':>10} {'difference':>11}"
        )
        for row in rows:
            a, b = row.first.f1, row.second.f1
            click.echo(f"{row.kind:<24} {row.first.gold:7} {a:9.2f} {b:10.2f} {b - a:+11.2f}")
    for i in comparison.most_different(first, second, count):
        _print_trees(i, golds[i], systems[0][i], systems[1][i])


def _print_difference(name: str, first: float, second: float, d: statistics.Difference) -> None:
    click.echo(
        f"{name}: buggy {first:.2f}, corrected {second:.2f}, difference {d.value:+.2f} "
        f"(95 %: {d.low:+.2f} to {d.high:+.2f}, p = {d.p:.4f})"
    )


def _print_perplexity(buggy: tuple[str, str], corrected: tuple[str, str]) -> None:
    marginals, lengths = [], []
    for files in (buggy, corrected):
        groups = read_scored_samples(*files)
        marginals.append([estimate_of(group).log_marginal for group in groups])
        lengths.append([len(group[0][0].tree.leaves()) for group in groups])
    if lengths[0] != lengths[1]:
        raise InputError("its sentences are not those of the other samples", corrected[0])
    # both of the sentences that are possible in both
    impossible = np.isinf(marginals).any(axis=0)
    ppl = [likelihood(np.where(impossible, -np.inf, m), lengths[0]).perplexity for m in marginals]
    _print_difference("perplexity", *ppl, statistics.perplexity_difference(*marginals, lengths[0]))


def _print_trees(i: int, *trees: Tree) -> None:
    click.echo(f"\nsentence {i + 1}")
    for name, tree in zip(("gold", "buggy", "corrected"), trees, strict=True):
        click.echo(f"{name:>10}  {format_tree(tree)}")
