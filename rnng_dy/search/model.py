"""What a search needs of a model; `models` has the models themselves, which searches do not import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from oracle.transitions import State, TransitionSystem
from rnng_dy.engine import dy


class Configuration(Protocol):
    """Where a search stands; immutable, so that any number of branches can go on from it in the current graph."""

    state: State


class Step(Protocol):
    """What a model says of the next action of some configurations; a number that is asked for runs the graph.

    A generator also says something of the next word, where it is generated.
    """

    def action_log_probs(self) -> np.ndarray:
        """In nats, shape (configurations, actions), float64; about -1e30 for an action that is not valid."""

    def word_log_probs(self, members: Sequence[int], words: Sequence[int]) -> np.ndarray:
        """Of a given word for each of the members (indices of configurations), shape (members,)."""

    def every_word_log_prob(self, members: Sequence[int]) -> np.ndarray:
        """Of every word id, shape (members, words)."""


class Derived(NamedTuple):
    """A sentence with the ids of actions over it."""

    sentence: object
    """What `start` takes."""
    sequences: Sequence[Sequence[int]]
    generated: Sequence[int] | None
    """Ids of the words that a generator's SHIFTs generate, in order."""


class Losses(NamedTuple):
    """What given actions and words cost."""

    losses: list[dy.Expression]
    """In nats, as batched expressions of scalars."""
    owners: np.ndarray
    """The index of the choice that each of their batch elements, one after the other, belongs to."""
    paths: list[list[int]]
    """The indices of the choices of each action sequence; equal beginnings of a sentence's share theirs."""


class Model(Protocol):
    """A model to walk: `start`, then `step` and `advance` in turn until a state `is_finished`."""

    transitions: TransitionSystem

    def start(self, sentence: object = None) -> Configuration:
        """Before the first action; a parser needs the ids of a sentence."""

    def step(self, configurations: Sequence[Configuration], alpha: float = 1.0) -> Step:
        """What comes next in each configuration, all computed together."""

    def advance(self, c: Configuration, action: int, word: int | None = None) -> Configuration:
        """What a valid action leads to, which computes nothing; a generator's SHIFT needs the id of its word."""

    def keep(self, configurations: Iterable[Configuration]) -> None:
        """Let configurations outlive the current graph, with what they go on from."""


def unlinked(actions: tuple | None) -> list[int]:
    """The actions of a linked list, which has the last action first, in order."""
    ids = []
    while actions is not None:
        actions, action = actions
        ids.append(action)
    return ids[::-1]
