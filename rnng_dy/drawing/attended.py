"""Trees with attention weights, as a table and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracle.treebank import NO_TAG, with_words, words
from rnng_dy.drawing.sections import attended
from rnng_dy.drawing.tree_page import tree_page
from rnng_dy.evaluation.attention import AttendedTree
from rnng_dy.evaluation.tables import CSV, joined


def table_lines(trees: Sequence[AttendedTree], style: str) -> Iterator[str]:
    """Yield a line per constituent; CSV begins with a header line."""
    if style == CSV:
        yield joined(("tree", "label", "weights"), style) + "\n"
    for tree in trees:
        for label, weights in zip(tree.labels, tree.weights, strict=True):
            numbers = " ".join(f"{weight:.6f}" for weight in weights)
            yield joined((str(tree.number), label, numbers), style) + "\n"


def page(trees: Sequence[AttendedTree], is_tagged: bool, name: str) -> Iterator[str]:
    """Yield the parts of a page of the trees with the weights on their edges; `name` is the model's."""
    sections = []
    for number, located, _, weights in trees:
        tree, tokens = located.tree, words(located.tree)
        tagged = tree if is_tagged else with_words(tree, tokens, [NO_TAG] * len(tokens))
        sections.append(attended(number + 1, tagged, weights))
    description = (
        f"{len(trees):,} trees. On an edge: how much of a child goes into its constituent."
    )
    yield from tree_page(sections, f"Attention of {name}", description)
