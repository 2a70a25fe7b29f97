"""Word-by-word searches with a generative model: their common parts.

A search is a Python generator function. It yields an `ExpansionRequest` about some hypotheses,
receives the model's answer (`Expansion`), and returns a `SearchState` per word.
`batched_search.run` answers the requests of many searches as one batch.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from oracle.common.errors import RnngError
from oracle.transitions import SHIFT, TransitionSystem
from rnng_dy.models.configuration import Configuration
from rnng_dy.settings import COUNT, NOT_NEGATIVE, require_setting, require_whole, setting

T = TypeVar("T")


class Hypothesis(NamedTuple):
    """A derivation: a configuration, and the action that follows it but is not carried out yet."""

    configuration: Configuration
    action: int | None = None
    """The id of that action; None if the hypothesis is the configuration itself."""
    word: int | None = None
    """The id of the word that the action generates."""
    score: float = 0.0
    """Joint log probability of all actions and words, in nats."""
    lexical: float = 0.0
    """log p(the last word | u), part of the score."""
    cluster: float = 0.0
    """log p(the last word's cluster | u), part of `lexical`."""
    actions: tuple[Any, ...] | None = None
    """All actions as a linked list, last action first."""
    weights: Any = None
    """The search's own data on the hypothesis."""

    def then(self, c: Configuration, action: int, score: float) -> Hypothesis:
        """Return this hypothesis with one more action; `c` is the configuration that it led to."""
        return Hypothesis(c, action, score=score, actions=(self.actions, action))

    def generating(self, word: int, answer: Expansion, row: int) -> Hypothesis:
        """Return this hypothesis with the word that its action generates, by a row of `answer`."""
        lexical, cluster = float(answer.word[row]), float(answer.cluster[row])
        return self._replace(word=word, lexical=lexical, cluster=cluster)

    def action_ids(self) -> list[int]:
        """Return all actions, in order."""
        return unlinked(self.actions)


def unlinked(actions: tuple[Any, ...] | None) -> list[int]:
    """Return the actions of a linked list, whose last action comes first, in order."""
    ids = []
    while actions is not None:
        actions, action = actions
        ids.append(action)
    return ids[::-1]


class ExpansionRequest(NamedTuple):
    """A request for the configurations that hypotheses lead to, and for what can follow them."""

    hypotheses: Sequence[Hypothesis]
    word: int | None
    """The id of the next word, whose probability is asked for; None if no word's is."""
    held: Sequence[Hypothesis] = ()
    """Other hypotheses that the search still needs."""


class Expansion(NamedTuple):
    """The answer to a request."""

    configurations: Sequence[Configuration]
    actions: np.ndarray
    """log p(action) in nats, -inf for invalid actions: shape (hypotheses, actions), float64."""
    word: np.ndarray
    """log p(word | u) in nats, -inf if SHIFT is not valid: shape (hypotheses,), float64."""
    cluster: np.ndarray
    """log p(the word's cluster | u), the same."""


@dataclass(frozen=True)
class SearchState:
    """The state of a search after a word."""

    hypotheses: Sequence[Hypothesis]
    """The partial trees with which the search continues, best first; none if none has the word."""
    log_mass: float
    """Log of the estimated probability of the words so far in nats."""
    shares: np.ndarray
    """Probability of each partial tree given the words so far: shape (hypotheses,)."""
    rounds: int = 0
    """Number of requests to the model for this word."""
    actions: int = 0
    """Number of actions carried out for this word."""
    entropy: float | None = None
    """An estimate of the entropy over all partial trees in nats; None: the entropy of `shares`."""
    next_word_entropy: float | None = None
    """The entropy of the next word in bits; None if it was not asked for."""
    next_words: Sequence[tuple[str, float]] = ()
    """The most probable next words, with their probabilities, if the entropy was asked for."""


Search = Generator[ExpansionRequest, Expansion, T]


@dataclass(frozen=True)
class SearchOptions:
    """Options of searches; each search reads some of them.

    The search options of `rnng-dy surprisal` have the same names and defaults, with - in place of
    _.
    """

    search: str = "beam"
    """Name of the search: `beam`, `particles`, `variable`, or that of a plugin."""
    beam: int = setting("Beam: partial trees kept after a round.", 100)
    fast_track: int = setting("Beam: more partial trees, which reach the word.", 5, NOT_NEGATIVE)
    word_beam: int = setting("Beam: partial trees kept for the next word.", 10)
    like_reference: bool = setting("Beam: as cpllab/rnng-incremental.", False)
    particles: int = setting("Particles or variable: number of particles.", 1000, COUNT)
    seed: int = 1
    runs: int = 1
    """Particles: the number of runs with seeds `seed`, `seed` + 1, ..., for means over them."""
    next_word: bool = False
    """Whether the entropy of the next word is measured, too, by another beam after each word."""

    def __post_init__(self) -> None:
        """Raise RnngError for impossible options."""
        for field in fields(self):
            if field.type == "int" and field.metadata:
                require_setting(field, getattr(self, field.name))
        require_whole(1, runs=self.runs)
        require_whole(0, seed=self.seed)


class WordSearch(ABC):
    """A search from word to word; `search.surprisal.SEARCHES` has them by name."""

    name: ClassVar[str]
    """Name on the command line and in `SearchOptions.search`."""
    reads: ClassVar[tuple[str, ...]] = ()
    """The fields of `SearchOptions` that the search reads."""
    width: ClassVar[str | None] = None
    """The field that is the number of partial trees held per sentence; None: one is held."""
    lacks: ClassVar[tuple[str, ...]] = ()
    """The measures that its records never have, as names in `WordRecord`; tables omit them."""

    def __init__(self, system: TransitionSystem, options: SearchOptions, index: int = 0):
        """Prepare the search of sentence `index`. Raises RnngError for impossible options."""
        self.system, self.options, self.index = system, options, index
        if options.runs > 1 and "seed" not in self.reads:
            raise RnngError("runs: this search draws nothing, so all its runs are equal")

    def start(self, configuration: Configuration) -> SearchState:
        """Return the state before the first word."""
        return SearchState([Hypothesis(configuration)], 0.0, np.ones(1))

    @abstractmethod
    def read(self, state: SearchState, word: int | None) -> Search[SearchState]:
        """Return the state after one more word; None is the end, where trees are complete."""


def completes_tree(system: TransitionSystem, answer: Expansion) -> np.ndarray:
    """Return which valid actions would complete a tree: shape (configurations, actions)."""
    completing = np.zeros(answer.actions.shape, bool)
    for action in range(system.first_open):
        if action != SHIFT:
            for i in np.flatnonzero(answer.actions[:, action] > -np.inf).tolist():
                completing[i, action] = answer.configurations[i].state.after(action).is_finished
    return completing


def without_words(system: TransitionSystem, scores: np.ndarray) -> np.ndarray:
    """Return scores, shape (hypotheses, actions), with -inf for actions that no end can follow."""
    scores = scores.copy()
    scores[:, SHIFT] = -np.inf
    if system.opening_needs_word:
        scores[:, system.first_open :] = -np.inf
    return scores


def best_first(scores: np.ndarray, bound: float = -math.inf) -> np.ndarray:
    """Return the indices of scores above a bound in row-major order, best score first.

    Ties go to the better hypothesis, then to the lower action id.
    """
    flat = scores.ravel()
    possible = np.flatnonzero(flat > bound)
    return possible[np.argsort(-flat[possible], kind="stable")]


def expand(
    hypotheses: Sequence[Hypothesis], answer: Expansion, scores: np.ndarray, items: np.ndarray
) -> tuple[list[int], list[Hypothesis]]:
    """Return hypotheses with one more action, and their rows; `items` index flattened scores."""
    rows, actions = (column.tolist() for column in np.divmod(items, scores.shape[1]))
    taken = zip(rows, actions, scores.ravel()[items].tolist(), strict=True)
    return rows, [
        hypotheses[row].then(answer.configurations[row], action, score)
        for row, action, score in taken
    ]
