"""Attention weights in trees, under a model whose composition attends to the children."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from oracle.errors import RnngError
from oracle.transitions import REDUCE
from rnng_dy.engine import dy, one_graph
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.scoring import MAX_STATES

Attended = tuple[str, np.ndarray]
"""A constituent's label, and the weights of its children from left to right, shape (children,); they sum to 1."""


def attention_weights(model: Any, examples: Sequence[Any]) -> list[list[Attended] | None]:
    """Return the constituents of each tree in order of completion; None for a tree too large for memory.

    Examples are training examples. Raises RnngError if the model has no attention weights.
    """
    network = model.network
    if not network.has_attention:
        raise RnngError(
            "this model has no attention weights: train one with --composition gated-attention and with the stack"
        )
    found: list[list[Attended] | None] = []
    for batch in batches(examples, lambda e: len(e.actions), MAX_STATES):
        found += split_on_memory_error(lambda part: _in_one_graph(network, part), batch)
    return found


@one_graph
def _in_one_graph(network: Any, examples: Sequence[Any]) -> list[list[Attended]]:
    dy.renew_cg(derivatives=False)
    decisions, paths = network.walk(map(network.derivation, examples))
    trees = [
        [decisions[i].after.stack.reads for i in path if decisions[i].action == REDUCE]
        for path in paths
    ]
    constituents = sorted(chain(*trees), key=lambda constituent: len(constituent.children))
    network.compute([constituent.configuration for constituent in constituents])
    weights = dict(zip(constituents, network.compose.weights(constituents), strict=True))
    labels = network.transitions.nonterminals
    return [[(labels[c.label], weights[c]) for c in of_tree] for of_tree in trees]
