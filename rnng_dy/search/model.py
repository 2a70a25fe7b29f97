"""The interface of models that searches use; `models` implements it, and searches do not import `models`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from oracle.transitions import State, TransitionSystem
from rnng_dy.engine import dy


class Configuration(Protocol):
    """A derivation's state; immutable, so that any number of successors can branch off it in the current graph."""

    state: State


class Step(Protocol):
    """Probabilities of the next action of some configurations; reading a number runs the graph.

    A generator's step also has probabilities of the next word.
    """

    def action_log_probs(self) -> np.ndarray:
        """Return log probabilities in nats, shape (configurations, actions), float64; about -1e30 if invalid."""

    def word_log_probs(self, members: Sequence[int], words: Sequence[int]) -> np.ndarray:
        """Return log p of one word per member (indices of configurations), shape (members,)."""

    def every_word_log_prob(self, members: Sequence[int]) -> np.ndarray:
        """Return log p of every word id, shape (members, words)."""


class Derivation(NamedTuple):
    """A sentence with the action ids of trees over it."""

    sentence: object
    """The argument of `start`."""
    sequences: Sequence[Sequence[int]]
    generated: Sequence[int] | None
    """Ids of the words that a generator's SHIFTs generate, in order."""


class Losses(NamedTuple):
    """Losses of actions and words."""

    losses: list[dy.Expression]
    """Losses in nats, as batched expressions of scalars."""
    decision_of: np.ndarray
    """The index of the decision that each batch element of the losses, in order, belongs to."""
    paths: list[list[int]]
    """The indices of the decisions of each action sequence; sequences of a sentence share their equal prefixes."""


class Model(Protocol):
    """A model that searches can walk: `start`, then `step` and `advance` in turn until a state `is_finished`."""

    transitions: TransitionSystem
    vocabulary: Any

    def start(self, sentence: object = None) -> Configuration:
        """Return the configuration before the first action; a parser needs the ids of a sentence."""

    def step(self, configurations: Sequence[Configuration], alpha: float = 1.0) -> Step:
        """Return the probabilities of the next action in each configuration, all computed together."""

    def advance(self, c: Configuration, action: int, word: int | None = None) -> Configuration:
        """Return the configuration after a valid action, without computing; a generator's SHIFT needs its word's id."""

    def keep(self, configurations: Iterable[Configuration]) -> None:
        """Let configurations outlive the current graph, with the states that their successors need."""

    def losses(self, trees: Iterable[Derivation]) -> Losses:
        """Return the losses of the actions of trees, and of the words that they generate, in the current graph."""


class Graphs:
    """The graphs of a search, one after another, each of a bounded number of configurations."""

    def __init__(self, model: Model, most: int):
        """Begin the first graph; `most` bounds the configurations of each."""
        self._model, self._most, self._configurations = model, most, 0
        dy.renew_cg(derivatives=False)

    def make_room(
        self, following: Sequence[Configuration], others: Iterable[Configuration] = ()
    ) -> None:
        """Begin a new graph if the successors of configurations would make this one too large.

        The configurations `following`, and the `others` that the search still needs, are carried over.
        """
        self._configurations += len(following)
        if self._configurations > self._most:
            self._model.keep(dict.fromkeys([*following, *others]))
            dy.renew_cg(derivatives=False)
            self._configurations = len(following)


def unlinked(actions: tuple[Any, ...] | None) -> list[int]:
    """Return the actions of a linked list, whose last action comes first, in order."""
    ids = []
    while actions is not None:
        actions, action = actions
        ids.append(action)
    return ids[::-1]
