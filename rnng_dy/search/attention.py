"""Attention weights in trees, under a model whose composition attends to the children."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from oracle.brackets import LocatedTree
from oracle.errors import ImpossibleError, InputError, RnngError
from oracle.transitions import REDUCE
from rnng_dy.engine import dy, one_graph
from rnng_dy.evaluation.attention import AttendedTree
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.scoring import MAX_STATES

Attended = tuple[str, np.ndarray]
"""A constituent's label, and the weights of its children from left to right, shape (children,); they sum to 1."""


def attention_weights(model: Any, examples: Sequence[Any]) -> list[list[Attended] | None]:
    """Return the constituents of each tree in order of completion; None for a tree too large for memory.

    Examples are training examples. Raises RnngError if the model has no attention weights.
    """
    if not model.has_attention:
        config = model.config()
        raise RnngError(
            f"a model with composition {config['composition']} and state {config['state']} has no attention weights: "
            "train one with --composition gated-attention, and not without the stack"
        )
    found: list[list[Attended] | None] = []
    for batch in batches(examples, lambda e: len(e.actions), MAX_STATES):
        found += split_on_memory_error(lambda part: _in_one_graph(model, part), batch)
    return found


def attended_trees(
    model: Any, trees: Sequence[LocatedTree], is_tagged: bool, warn: Callable[[str], None]
) -> list[AttendedTree]:
    """Return the trees that the model can derive, with their weights; report the others to `warn`.

    `is_tagged` says whether words have POS tags above them. Raises InputError, with file and line, for a tree that
    has no actions.
    """
    examples = {}
    for i, tree in enumerate(trees):
        try:
            examples[i] = model.example_of(tree.tree, is_tagged)
        except ImpossibleError as error:
            warn(f"{tree.path}:{tree.line}: left out: {error}")
        except RnngError as error:
            raise InputError(str(error), tree.path, tree.line) from None
    found = []
    weights = attention_weights(model, list(examples.values()))
    for i, constituents in zip(examples, weights, strict=True):
        if constituents is None:
            warn(f"{trees[i].path}:{trees[i].line}: left out: it does not fit into memory")
        else:
            found.append(AttendedTree(i, trees[i], *zip(*constituents, strict=True)))
    return found


@one_graph
def _in_one_graph(model: Any, examples: Sequence[Any]) -> list[list[Attended]]:
    dy.renew_cg(derivatives=False)
    decisions, paths = model.walk(map(model.derived, examples))
    trees = [
        [decisions[i].after.stack.reads for i in path if decisions[i].action == REDUCE]
        for path in paths
    ]
    constituents = sorted(chain(*trees), key=lambda constituent: len(constituent.children))
    model.compute([constituent.configuration for constituent in constituents])
    weights = dict(zip(constituents, model.compose.weights(constituents), strict=True))
    labels = model.transitions.nonterminals
    return [[(labels[c.label], weights[c]) for c in of_tree] for of_tree in trees]
