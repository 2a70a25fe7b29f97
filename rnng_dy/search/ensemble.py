"""Several models as one: the mean of their probabilities, behind the interface that searches walk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from oracle.errors import RnngError
from oracle.transitions import SHIFT, State
from rnng_dy.search.model import Configuration, Derived, Model

VALID = -1e29
"""Log probabilities below it are of invalid actions."""


class EnsembleConfiguration:
    """A configuration of each model after the same actions."""

    __slots__ = ("actions", "log_weights", "of_models", "words")

    def __init__(self, of_models: Sequence[Configuration], log_weights: np.ndarray):
        self.of_models = of_models
        self.log_weights = log_weights
        """Logs of the weights that the models have in the mean, shape (models,); they need not add up to 1."""
        self.actions: np.ndarray | None = None
        """Log probabilities of the next action, shape (models, actions); `step` notes them."""
        self.words: Any = {}
        """Log probabilities of next words by id, shape (models,) each; reading them from a step notes them."""

    @property
    def state(self) -> State:
        """Return the state of the transition system, which is the same for all models."""
        return self.of_models[0].state


class EnsembleStep:
    """Means of the models' probabilities of the next action and the next word; see `search.model.Step`."""

    def __init__(
        self, ensemble: Ensemble, configurations: Sequence[EnsembleConfiguration], alpha: float
    ):
        self._configurations, self._alpha, self._ids = configurations, alpha, ensemble.action_ids
        columns = zip(*[c.of_models for c in configurations], strict=True)
        # all graphs are built before a number is read
        self._steps = [
            model.step(list(column)) for model, column in zip(ensemble.models, columns, strict=True)
        ]
        self._log_weights = np.array([c.log_weights for c in configurations]).T

    @cached_property
    def _actions(self) -> np.ndarray:
        """Log probabilities of actions, shape (models, configurations, actions)."""
        tables = zip(self._steps, self._ids, strict=True)
        found = np.array([step.action_log_probs()[:, ids] for step, ids in tables])
        for i, c in enumerate(self._configurations):
            c.actions = found[:, i]
        return found

    def action_log_probs(self) -> np.ndarray:
        """See `search.model.Step`; the mean of probabilities is flattened by alpha."""
        mean = log_mean(self._actions, self._log_weights[:, :, None])
        if self._alpha == 1.0:
            return mean
        flat = np.where(mean > VALID, self._alpha * mean, mean)
        return flat - np.logaddexp.reduce(flat, axis=1, keepdims=True)

    def word_log_probs(self, members: Sequence[int], words: Sequence[int]) -> np.ndarray:
        """See `search.model.Step`."""
        # before the actions: one run of the graph computes both
        found = np.array([step.word_log_probs(members, words) for step in self._steps])
        for member, word, of_word in zip(members, words, found.T, strict=True):
            self._configurations[member].words[word] = of_word
        return log_mean(found, self._at_words(members))

    def every_word_log_prob(self, members: Sequence[int]) -> np.ndarray:
        """See `search.model.Step`."""
        found = np.array([step.every_word_log_prob(members) for step in self._steps])
        for i, member in enumerate(members):
            self._configurations[member].words = found[:, i].T
        return log_mean(found, self._at_words(members)[:, :, None])

    def _at_words(self, members: Sequence[int]) -> np.ndarray:
        """Return logs of the models' weights after SHIFT, shape (models, members)."""
        return (self._log_weights + self._actions[:, :, SHIFT])[:, list(members)]


class Ensemble:
    """Models with the same actions as one model; the first model's vocabulary and tagger are the ensemble's.

    A subclass says with `of_trees` of which probabilities it is the mean. If false, the probability of an action is the
    mean of the models' probabilities. If true, p(tree, words) is the mean of the models': in the mean for an action, a
    model's weight is then its probability of all actions and words before.
    """

    of_trees: ClassVar[bool]

    def __init__(self, *models: Any):
        """Raises RnngError, which names the difference, for models that cannot be an ensemble."""
        first = models[0]
        for number, model in enumerate(models[1:], 2):
            for what, of_first, its in self.must_agree(first, model):
                if of_first != its:
                    raise RnngError(f"models 1 and {number} of an ensemble differ in {what}")
        self.models, self.transitions, self.vocabulary = models, first.transitions, first.vocabulary
        actions = first.transitions.decode(range(len(first.transitions)))
        self.action_ids = [model.transitions.encode(actions) for model in models]
        """The ids of the ensemble's actions in each model, which may number its labels in another order."""

    @staticmethod
    def must_agree(first: Any, other: Any) -> list[tuple[str, object, object]]:
        """Return the names and the two values of what must be equal in two models."""
        labels = [set(model.transitions.nonterminals) for model in (first, other)]
        unshared = ", ".join(sorted(labels[0] ^ labels[1])[:5])
        return [
            ("their transition systems", first.transitions.name, other.transitions.name),
            (f"their nonterminals: only one has {unshared}", *labels),
        ]

    def sentences_of_models(self, sentence: Any) -> Sequence[object]:
        """Return the sentence that `start` of each model needs."""
        return [sentence] * len(self.models)

    def start(self, sentence: Any = None) -> EnsembleConfiguration:
        """See `search.model.Model`."""
        of_models = zip(self.models, self.sentences_of_models(sentence), strict=True)
        begun = [model.start(own) for model, own in of_models]
        return EnsembleConfiguration(begun, np.zeros(len(begun)))

    def step(
        self, configurations: Sequence[EnsembleConfiguration], alpha: float = 1.0
    ) -> EnsembleStep:
        """See `search.model.Model`."""
        return EnsembleStep(self, configurations, alpha)

    def advance(
        self, c: EnsembleConfiguration, action: int, word: int | None = None
    ) -> EnsembleConfiguration:
        """See `search.model.Model`; the probabilities of the action and the word have been read from a step."""
        log_weights = c.log_weights
        if self.of_trees:
            log_weights = log_weights + c.actions[:, action]
            if word is not None:
                log_weights = log_weights + c.words[word]
        of_models = zip(self.models, c.of_models, self.action_ids, strict=True)
        after = [model.advance(own, ids[action], word) for model, own, ids in of_models]
        return EnsembleConfiguration(after, log_weights)

    def keep(self, configurations: Iterable[EnsembleConfiguration]) -> None:
        """See `search.model.Model`."""
        columns = zip(*[c.of_models for c in configurations], strict=True)
        for model, column in zip(self.models, columns, strict=True):
            model.keep(column)

    def trees_of_models(self, trees: Sequence[Derived]) -> Iterable[tuple[Model, list[Derived]]]:
        """Yield each model with the trees as it numbers their actions."""
        for i, (model, ids) in enumerate(zip(self.models, self.action_ids, strict=True)):
            renumbered = []
            for tree in trees:
                sentence = self.sentences_of_models(tree.sentence)[i]
                sequences = [[ids[action] for action in actions] for actions in tree.sequences]
                renumbered.append(tree._replace(sentence=sentence, sequences=sequences))
            yield model, renumbered


def log_mean(log_probs: np.ndarray, log_weights: np.ndarray) -> np.ndarray:
    """Return the log of the weighted mean over the first axis; the weights are divided by their sum.

    The mean of equal numbers is that number to the last bit.
    """
    weights = np.exp(log_weights - log_weights.max(axis=0))
    # finite even if all probabilities are 0
    top = log_probs.max(axis=0, initial=np.finfo(float).min)
    weighted = weights / weights.sum(axis=0) * np.exp(log_probs - top)
    with np.errstate(divide="ignore"):
        return top + np.log(weighted.sum(axis=0))
