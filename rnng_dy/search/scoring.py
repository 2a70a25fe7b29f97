"""Joint log probabilities of given trees under a generative model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from oracle.errors import ImpossibleError
from rnng_dy.engine import dy, one_graph
from rnng_dy.execution.batches import batches
from rnng_dy.search.model import Derived, Model

MAX_STATES = 4000
"""Configurations in one scoring graph; more would need gigabytes at the paper's sizes."""


@one_graph
def joint_log_probs(
    model: Model, words: Sequence[int], sequences: Sequence[Sequence[int]]
) -> np.ndarray:
    """log p(x, y) in nats of several trees of one sentence, float64; equal prefixes are computed once."""
    values = []
    for part in batches(sequences, len, MAX_STATES):
        dy.renew_cg()
        values.append(log_probs(model, [Derived(None, part, words)]))
    return np.concatenate(values)


@one_graph
def example_log_probs(model: Model, examples: Sequence) -> list[float]:
    """log p(x, y) in nats of one tree of each of several sentences, as training has them; all in one graph."""
    dy.renew_cg()
    return log_probs(model, map(model.derived, examples)).tolist()


def log_probs(model: Model, trees: Iterable[Derived]) -> np.ndarray:
    """The log probability in nats of each action sequence, with the words that it generates, float64.

    They are in the current graph, which runs once.
    """
    losses, owners, paths = model.losses(trees)
    values = dy.concatenate_to_batch(losses).npvalue().ravel()
    of_choice = np.bincount(owners, values.astype(np.float64))
    return np.array([-of_choice[path].sum() for path in paths])


def tree_log_probs(
    model: Model, unkified: Sequence[str], sequences: Sequence[Sequence[str]]
) -> list[float]:
    """log p(x, y) in nats of each tree of a sentence, given as actions; -inf for one that the model cannot give.

    Equal trees are computed once.
    """
    examples = {}
    for actions in dict.fromkeys(sequences):
        try:
            examples[actions] = model.encode(unkified, actions)
        except ImpossibleError:
            continue
    log_ps = {}
    if examples:
        words = next(iter(examples.values())).words
        values = joint_log_probs(model, words, [example.actions for example in examples.values()])
        log_ps = dict(zip(examples, values.tolist(), strict=True))
    return [log_ps.get(actions, -math.inf) for actions in sequences]
