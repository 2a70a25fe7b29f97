"""The interface of models that searches use; `models` implements it, and searches do not import `models`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from oracle.transitions import State, TransitionSystem
from rnng_dy.engine import dy
from rnng_dy.models.configuration import Derivation, Losses


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


class Network(Protocol):
    """A network that searches can walk: `start`, then `step` and `advance` in turn until a state `is_finished`."""

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


class Model(Protocol):
    """A model: its network, what its actions do, and the ids of its symbols."""

    network: Network
    transitions: TransitionSystem
    vocabulary: Any


class Graphs:
    """The graphs of a search, one after another, each of a bounded number of configurations."""

    def __init__(self, model: Model, most: int):
        """Begin the first graph; `most` bounds the configurations of each."""
        self._network, self._most, self._configurations = model.network, most, 0
        dy.renew_cg(derivatives=False)

    def make_room(
        self, following: Sequence[Configuration], others: Iterable[Configuration] = ()
    ) -> None:
        """Begin a new graph if the successors of configurations would make this one too large.

        The configurations `following`, and the `others` that the search still needs, are carried over.
        """
        self._configurations += len(following)
        if self._configurations > self._most:
            self._network.keep(dict.fromkeys([*following, *others]))
            dy.renew_cg(derivatives=False)
            self._configurations = len(following)


def unlinked(actions: tuple[Any, ...] | None) -> list[int]:
    """Return the actions of a linked list, whose last action comes first, in order."""
    ids = []
    while actions is not None:
        actions, action = actions
        ids.append(action)
    return ids[::-1]
