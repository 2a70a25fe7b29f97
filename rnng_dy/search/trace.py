"""Walks along given action sequences, for training and for the log probabilities of trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from oracle.transitions import SHIFT
from rnng_dy.search.model import Configuration, Model


class Decision(NamedTuple):
    """An action taken in a configuration, and the word that it generates."""

    configuration: Configuration
    action: int
    word: int | None


class Walk(NamedTuple):
    """Action sequences that begin in one configuration, and what the generator's SHIFTs generate, in order."""

    start: Configuration
    sequences: Sequence[Sequence[int]]
    words: Sequence[int] | None = None


class Trace(NamedTuple):
    """The decisions of some action sequences, equal prefixes of a walk once; `paths[i]` indexes those of sequence i."""

    decisions: list[Decision]
    paths: list[list[int]]


class _Node:
    """A prefix of action sequences; `decision` is the index of its last decision."""

    __slots__ = ("children", "configuration", "decision")

    def __init__(self, decision: int):
        self.decision = decision
        self.configuration: Configuration | None = None
        self.children: dict[int, _Node] = {}


def trace(model: Model, walks: Iterable[Walk], dropout: float = 0.0) -> Trace:
    """Walk all action sequences together, step by step. Raises ValueError where an action is not valid."""
    found = Trace([], [])
    level: dict[int, tuple[_Node, Sequence[int], Sequence[int] | None]] = {}
    for walk in walks:
        top = _Node(-1)
        top.configuration = walk.start
        for actions in walk.sequences:
            if actions:
                level[len(found.paths)] = top, actions, walk.words
            found.paths.append([])
    depth = 0
    while level:
        following = {}
        for i, (node, actions, words) in level.items():
            action = actions[depth]
            if action not in node.children:
                node.children[action] = _Node(len(found.decisions))
                found.decisions.append(_decision(model, node.configuration, action, words))
            child = node.children[action]
            found.paths[i].append(child.decision)
            # nothing is computed for the end of a sequence
            if len(actions) > depth + 1:
                following[i] = child, actions, words
        level, depth = following, depth + 1
        _advance(model, found, dict.fromkeys(node for node, *_ in level.values()), dropout)
    return found


def _decision(model: Model, c: Configuration, action: int, words: Sequence[int] | None) -> Decision:
    if not model.transitions.is_valid(c.state, action):
        raise ValueError(f"action {action} is not valid in {c.state}")
    word = words[c.words.position] if words is not None and action == SHIFT else None
    return Decision(c, action, word)


def _advance(model: Model, found: Trace, nodes: Iterable[_Node], dropout: float) -> None:
    """Give the nodes the configurations that their decisions lead to."""
    nodes = list(nodes)
    if nodes:
        columns = zip(*(found.decisions[node.decision] for node in nodes), strict=True)
        for node, c in zip(nodes, model.advance(*columns, dropout), strict=True):
            node.configuration = c
