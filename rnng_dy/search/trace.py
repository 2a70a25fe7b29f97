"""Walks along given action sequences, for training and for the log probabilities of trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from oracle.transitions import SHIFT
from rnng_dy.engine import dy
from rnng_dy.search.model import Configuration, Model


class Decision(NamedTuple):
    """An action taken in a configuration, and the word that it generates."""

    configuration: Configuration
    action: int
    word: int | None


class Trace(NamedTuple):
    """The decisions of some action sequences, equal prefixes once; `paths[i]` indexes those of sequence i."""

    decisions: list[Decision]
    paths: list[list[int]]


class _Node:
    """A prefix of action sequences; `decision` is the index of its last decision."""

    __slots__ = ("children", "configuration", "decision")

    def __init__(self, decision: int, configuration: Configuration | None):
        self.decision = decision
        self.configuration = configuration
        self.children: dict[int, _Node] = {}


def trace(
    model: Model,
    root: Configuration,
    sequences: Iterable[Sequence[int]],
    words: Sequence[int] | None = None,
    dropout: float = 0.0,
) -> Trace:
    """Walk action sequences from one root; `words` are those that the generator's SHIFTs generate, in order.

    Raises ValueError where an action is not valid.
    """
    found = Trace([], [])
    top = _Node(-1, root)
    for actions in sequences:
        node, path = top, []
        for action in actions:
            child = node.children.get(action)
            if child is None:
                child = _branch(model, found, node, action, words, dropout)
            path.append(child.decision)
            node = child
        found.paths.append(path)
    return found


def _branch(
    model: Model,
    found: Trace,
    node: _Node,
    action: int,
    words: Sequence[int] | None,
    dropout: float,
) -> _Node:
    if node.configuration is None:
        # put off until here: nothing is computed for the end of a sequence
        before = found.decisions[node.decision]
        node.configuration = model.advance(*before, dropout)
    c = node.configuration
    if not model.transitions.is_valid(c.state, action):
        raise ValueError(f"action {action} is not valid in {c.state}")
    word = words[c.words.position] if words is not None and action == SHIFT else None
    node.children[action] = child = _Node(len(found.decisions), None)
    found.decisions.append(Decision(c, action, word))
    return child


def log_probs(model: Model, found: Trace) -> np.ndarray:
    """The log probability in nats of each sequence of a trace, float64; runs the graph once."""
    losses, owners = model.decision_losses(found.decisions)
    values = dy.concatenate_to_batch(losses).npvalue().ravel()
    of_decision = np.bincount(owners, values.astype(np.float64), len(found.decisions))
    return np.array([-of_decision[path].sum() for path in found.paths])
