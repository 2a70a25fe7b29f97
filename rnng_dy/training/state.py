"""The progress of a training, which its folder keeps for a resumed run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rnng_dy.training.presets import Settings

LARGE = 10**15
"""A number of sentences, seconds or nats that no training reaches."""


@dataclass
class TrainingState:
    """The progress of a training: all that a resumed run needs besides parameters and optimizer state."""

    epoch: int = 0
    position: int = 0
    """Sentences of this epoch that are done."""
    sentences: int = 0
    updates: int = 0
    seconds: float = 0.0
    best: float | None = None
    best_sentences: int = 0
    best_left_out: int | None = None
    """Development sentences that had no score when the best was found; None if that is not known."""
    evaluated: int = -1
    """Number of sentences at the last evaluation; -1 before the first."""
    stale: int = 0
    """Number of evaluations since the best one."""
    window: tuple[float, int, int, int] = (0.0, 0, 0, 0)
    """Sums since the last progress record: loss in nats, words, updates, clipped updates."""

    @classmethod
    def from_json(cls, data: Mapping[str, object], examples: int) -> TrainingState:
        """Restore a state from the result of `asdict`, for `examples` examples. Raises TypeError or ValueError."""
        state = cls(**data)
        loss, *counts = state.window = tuple(state.window)
        counts += [state.epoch, state.position, state.best_sentences, state.stale]
        counts += [state.sentences, state.updates, state.evaluated + 1]
        if len(state.window) != 4 or any(type(n) is not int or n < 0 for n in counts):
            raise ValueError("its counts are none")
        if state.position >= examples or state.sentences > LARGE:
            raise ValueError("its place is not in the data")
        if max(counts) > LARGE:
            raise ValueError("its counts are too large")
        if not (abs(loss) < LARGE and 0 <= state.seconds < LARGE):
            raise ValueError("its loss or its time is no number")
        if not (state.best is None or state.best == float(state.best)):
            raise ValueError("its best score is no number")
        if not (state.best_left_out is None or type(state.best_left_out) is int):
            raise ValueError("its best score leaves out no number of sentences")
        return state

    def is_best(self, score: float, left_out: int) -> bool:
        """Return whether a score is the best so far; one of fewer sentences is none, whatever it is."""
        if self.best is None:
            return True
        if self.best_left_out in (None, left_out):
            return score > self.best
        return left_out < self.best_left_out

    def is_evaluation_due(self, before: int, settings: Settings) -> bool:
        """Return whether an evaluation falls between `before` sentences and now."""
        if self.epoch < settings.evaluate_from_epoch or self.sentences < settings.first_evaluation:
            return False
        first, every = settings.first_evaluation, settings.evaluate_every
        return before < first or (before - first) // every < (self.sentences - first) // every
