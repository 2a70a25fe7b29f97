"""Report on systems side by side: figures with their differences, tables by kind, and single sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeVar

from oracle.brackets import format_tree
from rnng_dy.evaluation import comparison
from rnng_dy.evaluation.comparison import CommonSentences, Row
from rnng_dy.evaluation.significance import Difference, f1_difference, holm

T = TypeVar("T")
NAMED = 30
"""The most sentences that are listed as left out."""


def left_out(names: Sequence[str], common: CommonSentences) -> Iterator[str]:
    """Yield a line for each system that lacks some sentences."""
    for name, of_system in zip(names, common.lacking, strict=True):
        if of_system:
            numbers = ", ".join(str(i + 1) for i in of_system[:NAMED])
            more = ", ..." * (len(of_system) > NAMED)
            count = f"{len(of_system)} of {common.all_sentences}"
            yield f"{name}: EVALB cannot score {count} sentences: {numbers}{more}"


def f1_lines(names: Sequence[str], common: CommonSentences) -> Iterator[str]:
    """Yield F1 of each system, then the differences of all pairs."""
    if any(common.lacking):
        count = f"{len(common.golds)} of {common.all_sentences}"
        yield f"F1 is of the {count} sentences that all systems have"
    values = [scores.f1 for scores in common.scores]
    yield from figures("F1", names, values, f1_difference, common.scores)


def figures(
    figure: str,
    names: Sequence[str],
    values: Sequence[float],
    difference: Callable[[T, T], Difference],
    systems: Sequence[T],
) -> Iterator[str]:
    """Yield a figure of each system, then the differences of all pairs."""
    each = ", ".join(f"{name} {value:.2f}" for name, value in zip(names, values, strict=True))
    yield f"{figure}: {each}"
    pairs = list(combinations(range(len(names)), 2))
    found = [difference(systems[first], systems[second]) for first, second in pairs]
    for (first, second), d, p in zip(pairs, found, holm([d.p for d in found]), strict=True):
        corrected = f", by Holm {p:.4f}" if len(pairs) > 1 else ""
        yield (
            f"  {names[second]} less {names[first]}: {d.value:+.2f} "
            f"(95 %: {d.low:+.2f} to {d.high:+.2f}, p = {d.p:.4f}{corrected})"
        )


def kinds(names: Sequence[str], common: CommonSentences) -> Iterator[str]:
    """Yield tables of F1 by length and label of constituents."""
    for title, by_kind in (
        ("words in constituent", comparison.by_length),
        ("label", comparison.by_label),
    ):
        yield from _table(title, names, by_kind(common.golds, common.trees))


def _table(title: str, names: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Yield rows with F1 of each system and, if there are two systems, their difference."""
    columns = [f"{name} F1" for name in names]
    widths = [max(10, len(column)) for column in columns]
    cells = " ".join(f"{column:>{width}}" for column, width in zip(columns, widths, strict=True))
    two = len(names) == 2
    yield f"\n{title:<24} {'gold':>7} {cells}" + f" {'difference':>11}" * two
    for row in rows:
        f1 = [counts.f1 for counts in row.systems]
        cells = " ".join(f"{value:{width}.2f}" for value, width in zip(f1, widths, strict=True))
        difference = f" {f1[1] - f1[0]:+11.2f}" if two else ""
        yield f"{row.kind:<24} {row.systems[0].gold:7} {cells}{difference}"


def sentences(names: Sequence[str], common: CommonSentences, count: int) -> Iterator[str]:
    """Yield the trees of the sentences that differ most."""
    names = ["gold", *names]
    width = max(map(len, names))
    for i in comparison.most_different(common.scores, count):
        yield f"\nsentence {common.indices[i] + 1}"
        trees = [common.golds[i], *(of_system[i] for of_system in common.trees)]
        for name, tree in zip(names, trees, strict=True):
            yield f"{name:>{width}}  {format_tree(tree)}"
