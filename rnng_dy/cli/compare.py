"""`rnng-dy compare-composition`: two compositions, or any two systems, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from oracle.errors import InputError
from oracle.lazy import nltk
from oracle.treebank import format_tree, read_trees
from rnng_dy.cli.paths import FILE
from rnng_dy.evaluation import comparison, evalb
from rnng_dy.evaluation.perplexity import likelihood_in_all
from rnng_dy.evaluation.significance import Difference, f1_difference, perplexity_difference
from rnng_dy.search.importance import read_sampled

Names = tuple[str, str]


def _samples_options(command: Callable) -> Callable:
    for name in ("second", "first"):
        command = click.option(
            f"--{name}-samples",
            nargs=2,
            type=FILE,
            metavar="PROPS LIKELIHOODS",
            help=f"Samples and likelihoods of the {name} system, for perplexity.",
        )(command)
    return command


@click.command("compare-composition")
@click.argument("gold", type=FILE)
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@click.option(
    "--names", nargs=2, metavar="FIRST SECOND", help="What to call them.  [default: their files]"
)
@_samples_options
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Sentences to show.",
)
def compare_composition(gold, first, second, names, first_samples, second_samples, count) -> None:
    """Compare the trees of two systems, FIRST and SECOND, with the GOLD trees, each a file of one tree a line.

    Prints F1 with a paired bootstrap, perplexity where samples are given, F1 by length and label of constituents, and
    the sentences that differ most.

    Example: rnng-dy compare-composition test.trees buggy.trees corrected.trees
    """
    if bool(first_samples) != bool(second_samples):
        raise click.UsageError("perplexity needs both --first-samples and --second-samples")
    names = names or (Path(first).stem, Path(second).stem)
    golds, *systems = [
        [located.tree for located in read_trees(path)] for path in (gold, first, second)
    ]
    for path, trees in zip((first, second), systems, strict=True):
        if len(trees) != len(golds):
            raise InputError(f"{len(trees)} trees, but {gold} has {len(golds)}", path)
    scores = [evalb.score(golds, trees) for trees in systems]
    _print_difference("F1", names, [s.f1 for s in scores], f1_difference(*scores))
    if first_samples:
        _print_perplexity(names, (first_samples, second_samples), len(golds))
    for title, rows in (
        ("words in constituent", comparison.by_length(golds, *systems)),
        ("label", comparison.by_label(golds, *systems)),
    ):
        _print_rows(title, names, rows)
    for i in comparison.most_different(*scores, count):
        _print_trees(i, names, golds[i], systems[0][i], systems[1][i])


def _print_difference(name: str, names: Names, values: Sequence[float], d: Difference) -> None:
    both = ", ".join(f"{system} {value:.2f}" for system, value in zip(names, values, strict=True))
    click.echo(
        f"{name}: {both}, difference {d.value:+.2f} (95 %: {d.low:+.2f} to {d.high:+.2f}, p = {d.p:.4f})"
    )


def _print_perplexity(names: Names, files: Sequence[tuple[str, str]], sentences: int) -> None:
    first, second = (read_sampled(*of_system) for of_system in files)
    if [(s.index, s.words) for s in first] != [(s.index, s.words) for s in second]:
        raise InputError("its sentences are not those of the other samples", files[1][0])
    if len(first) < sentences:
        click.echo(
            f"perplexity is of {len(first)} of {sentences} sentences: the others have no samples"
        )
    marginals = [[s.estimate.log_marginal for s in system] for system in (first, second)]
    lengths = [s.words for s in first]
    values = [found.perplexity for found in likelihood_in_all(marginals, lengths)]
    _print_difference("perplexity", names, values, perplexity_difference(*marginals, lengths))


def _print_rows(title: str, names: Names, rows: Sequence[comparison.Row]) -> None:
    first, second = (f"{name} F1" for name in names)
    widths = [max(10, len(column)) for column in (first, second)]
    click.echo(
        f"\n{title:<24} {'gold':>7} {first:>{widths[0]}} {second:>{widths[1]}} {'difference':>11}"
    )
    for row in rows:
        a, b = row.first.f1, row.second.f1
        click.echo(
            f"{row.kind:<24} {row.first.gold:7} {a:{widths[0]}.2f} {b:{widths[1]}.2f} {b - a:+11.2f}"
        )


def _print_trees(i: int, names: Names, *trees: nltk.Tree) -> None:
    click.echo(f"\nsentence {i + 1}")
    width = max(map(len, ("gold", *names)))
    for name, tree in zip(("gold", *names), trees, strict=True):
        click.echo(f"{name:>{width}}  {format_tree(tree)}")
