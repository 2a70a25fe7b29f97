"""`rnng-dy compare`: systems side by side, on the sentences that all of them have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import click

from oracle.errors import InputError, RnngError
from oracle.treebank import format_tree
from rnng_dy.cli.evalb_tags import GOLD, OWN, hint_at_tags, tags_option
from rnng_dy.cli.paths import FILE, require_read_once
from rnng_dy.evaluation import comparison
from rnng_dy.evaluation.comparison import CommonSentences
from rnng_dy.evaluation.evalb import Scores
from rnng_dy.evaluation.evalb_files import TreeLines, read_tree_lines, scored_lines
from rnng_dy.evaluation.perplexity import in_all, likelihood_in_all
from rnng_dy.evaluation.significance import Difference, f1_difference, holm, perplexity_difference
from rnng_dy.search.importance import read_sampled

T = TypeVar("T")
Samples = tuple[str, str]
"""Names of a file of samples and of that of their likelihoods."""
NAMED = 30
"""Sentences that are named among those left out."""

count_option = click.option(
    "-n", "count", type=click.IntRange(min=0), default=5, help="Sentences to show."
)


@click.command()
@click.argument("gold", type=FILE, metavar="GOLD.trees")
@click.argument("systems", type=FILE, nargs=-1, required=True, metavar="SYS.trees...")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="What to call a system, once for each of them in order.  [default: their files]",
)
@click.option(
    "--samples",
    nargs=2,
    type=FILE,
    multiple=True,
    metavar="PROPS LIKELIHOODS",
    help="Samples and likelihoods of a system, once for each of them in order, for perplexity.",
)
@tags_option
@count_option
def compare(gold, systems, names, samples, tags, count) -> None:
    """Compare the trees of two systems or more with the GOLD trees, each a file of one tree a line.

    Prints F1, perplexity where samples are given, a paired bootstrap for each pair of systems, F1 by length and label
    of constituents, and the sentences that differ most. F1 is of the sentences that EVALB can score for every system.
    Of more than two systems p is also given as corrected for the number of pairs, by Holm's method.

    Example: rnng-dy compare test.trees buggy.trees corrected.trees gated.trees
    """  # fmt: skip
    _require_one_for_each(gold, systems, names, samples)
    stems = [Path(path).stem for path in systems]
    names = names or (stems if len(set(stems)) == len(set(systems)) else systems)
    if len(set(names)) < len(names):
        raise click.UsageError("two systems have one name: give each its own by --name")
    common = _read(gold, systems, names, tags)
    values = [scores.f1 for scores in common.scores]
    _print_figures("F1", names, values, f1_difference, common.scores)
    if samples:
        _print_perplexity(names, samples, len(common.golds) + len(set().union(*common.lacking)))
    for title, rows in (
        ("words in constituent", comparison.by_length(common.golds, common.trees)),
        ("label", comparison.by_label(common.golds, common.trees)),
    ):
        _print_rows(title, names, rows)
    for i in comparison.most_different(common.scores, count):
        click.echo(f"\nsentence {common.indices[i] + 1}")
        trees = [common.golds[i], *(of_system[i] for of_system in common.trees)]
        width = max(map(len, ("gold", *names)))
        for name, tree in zip(("gold", *names), trees, strict=True):
            click.echo(f"{name:>{width}}  {format_tree(tree)}")


@click.command("compare-composition")
@click.argument("gold", type=FILE)
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@click.option("--names", nargs=2, default=())
@click.option("--first-samples", nargs=2, type=FILE)
@click.option("--second-samples", nargs=2, type=FILE)
@count_option
@click.pass_context
def compare_composition(ctx, gold, first, second, names, first_samples, second_samples, count):
    """Do what `compare` does, by its former name and options."""
    samples = [of_system for of_system in (first_samples, second_samples) if of_system]
    ctx.invoke(
        compare,
        gold=gold,
        systems=(first, second),
        names=names,
        samples=samples,
        tags=OWN,
        count=count,
    )


def _require_one_for_each(
    gold: str, systems: Sequence[str], names: Sequence[str], samples: Sequence[Samples]
) -> None:
    if len(systems) < 2:
        raise click.UsageError("give the trees of two systems at least, after the gold ones")
    require_read_once(gold, *systems)
    for option, of_systems in (("--name", names), ("--samples", samples)):
        if of_systems and len(of_systems) != len(systems):
            raise click.UsageError(f"{option} is given once for each of the {len(systems)} systems")


def _read(gold: str, systems: Sequence[str], names: Sequence[str], tags: str) -> CommonSentences:
    """The sentences to compare; says which ones are left out. Raises RnngError where all are."""
    golds = TreeLines(gold, list(read_tree_lines(gold)))
    lines = [
        list(scored_lines(golds, TreeLines(path, read_tree_lines(path)), gold_tags=tags == GOLD))
        for path in systems
    ]
    trees = [[line.system for line in of_system] for of_system in lines]
    scores = [Scores(tuple(line.score for line in of_system)) for of_system in lines]
    common = comparison.on_common_sentences(golds.trees, trees, scores)
    for name, of_system in zip(names, common.lacking, strict=True):
        if of_system:
            numbers = ", ".join(str(i + 1) for i in of_system[:NAMED])
            more = ", ..." * (len(of_system) > NAMED)
            count = f"{len(of_system)} of {len(golds.trees)}"
            click.echo(f"{name}: EVALB cannot score {count} sentences: {numbers}{more}")
    hint_at_tags(sum(of_system.errors for of_system in scores), tags)
    if not common.golds:
        raise RnngError(
            "no sentence can be scored for every system: see that all files hold the same words"
        )
    if any(common.lacking):
        click.echo(
            f"F1 is of the {len(common.golds)} of {len(golds.trees)} sentences that all systems have"
        )
    return common


def _print_figures(
    figure: str,
    names: Sequence[str],
    values: Sequence[float],
    difference: Callable[[T, T], Difference],
    systems: Sequence[T],
) -> None:
    """A figure of each system, then the differences of all pairs."""
    each = ", ".join(f"{name} {value:.2f}" for name, value in zip(names, values, strict=True))
    click.echo(f"{figure}: {each}")
    pairs = list(combinations(range(len(names)), 2))
    found = [difference(systems[first], systems[second]) for first, second in pairs]
    for (first, second), d, p in zip(pairs, found, holm([d.p for d in found]), strict=True):
        corrected = f", by Holm {p:.4f}" if len(pairs) > 1 else ""
        click.echo(
            f"  {names[second]} less {names[first]}: {d.value:+.2f} "
            f"(95 %: {d.low:+.2f} to {d.high:+.2f}, p = {d.p:.4f}{corrected})"
        )


def _print_perplexity(names: Sequence[str], samples: Sequence[Samples], sentences: int) -> None:
    """Perplexity of the sentences that have samples and p > 0 by every system. Raises InputError where none has."""
    systems = [{s.index: s for s in read_sampled(*files)} for files in samples]
    indices = sorted(set(systems[0]).intersection(*systems))
    lengths = [systems[0][i].words for i in indices]
    for (path, _), system in zip(samples, systems, strict=True):
        for i, length in zip(indices, lengths, strict=True):
            if system[i].words != length:
                message = (
                    f"sentence {i + 1} has {system[i].words} words, {length} in {samples[0][0]}"
                )
                raise InputError(message, path)
    marginals = [[system[i].estimate.log_marginal for i in indices] for system in systems]
    found = likelihood_in_all(marginals, lengths)
    kept = found[0].sentences
    if not kept:
        raise InputError("no sentence has samples and p > 0 by every system", samples[-1][0])
    if kept < sentences:
        click.echo(
            f"perplexity is of the {kept} of {sentences} sentences that have samples and p > 0 by every system"
        )
    difference = partial(perplexity_difference, lengths=lengths)
    _print_figures(
        "perplexity", names, [f.perplexity for f in found], difference, in_all(marginals)
    )


def _print_rows(title: str, names: Sequence[str], rows: Sequence[comparison.Row]) -> None:
    """F1 of each system, and of two the difference."""
    columns = [f"{name} F1" for name in names]
    widths = [max(10, len(column)) for column in columns]
    cells = " ".join(f"{column:>{width}}" for column, width in zip(columns, widths, strict=True))
    two = len(names) == 2
    click.echo(f"\n{title:<24} {'gold':>7} {cells}" + f" {'difference':>11}" * two)
    for row in rows:
        f1 = [counts.f1 for counts in row.systems]
        cells = " ".join(f"{value:{width}.2f}" for value, width in zip(f1, widths, strict=True))
        difference = f" {f1[1] - f1[0]:+11.2f}" if two else ""
        click.echo(f"{row.kind:<24} {row.systems[0].gold:7} {cells}{difference}")
