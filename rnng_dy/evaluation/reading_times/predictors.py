"""Predictors of reading times, and the rows that a regression uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rnng_dy.evaluation.reading_times.tables import Reading, Times, is_mark

SURPRISAL, FREQUENCY, LENGTH, POSITION = "surprisal", "log_frequency", "length", "position"
UNITS = {
    SURPRISAL: "ms per bit",
    FREQUENCY: "ms per doubling",
    LENGTH: "ms per character",
    POSITION: "ms per word",
}
Systems = Mapping[str, Sequence[Reading | None]]
"""Per system, the row of each word in its table of surprisals."""


@dataclass(frozen=True)
class Exclusions:
    """Rows to leave out, besides those without a predictor."""

    first: bool = False
    """Words that begin a sentence by the table of any system."""
    last: bool = False
    marks: bool = False
    """Words with a punctuation mark."""
    unknown: bool = False
    """Words that any system does not know."""
    times_between: tuple[float, float] = (100.0, 3000.0)
    """Shortest and longest time in ms."""


class Term:
    """A predictor of the word itself or of a word before it: per word of the table its value, or NaN."""

    def __init__(self, predictor: str, before: int, values: np.ndarray):
        self.predictor, self.before, self.values = predictor, before, values

    @property
    def name(self) -> str:
        """Return the predictor's name and, for a word before, how many words before."""
        return f"{self.predictor}_{self.before}" if self.before else self.predictor


def terms(times: Times, readings: Sequence[Reading | None], spillover: int) -> list[Term]:
    """Return the terms of a system: surprisal first, each predictor with its spill-over, position at the end.

    Frequency is absent if no word has one.
    """
    count = np.array([word.count for word in times.words])
    values = {
        SURPRISAL: np.array([np.nan if r is None else r.bits for r in readings]),
        FREQUENCY: np.log2(count + 1),
        LENGTH: np.array([float(len(word.text)) for word in times.words]),
    }
    if np.isnan(count).all():
        del values[FREQUENCY]
    before = [_words_before(times, distance) for distance in range(spillover + 1)]
    found = [
        Term(predictor, distance, np.where(places >= 0, of_words[places], np.nan))
        for predictor, of_words in values.items()
        for distance, places in enumerate(before)
    ]
    position = np.array([float(word.position) for word in times.words])
    return [*found, Term(POSITION, 0, position)]


def _words_before(times: Times, distance: int) -> np.ndarray:
    """Return per word the index of the word this many positions before it in its item; -1 for none."""
    index = {(word.item, word.position): i for i, word in enumerate(times.words)}
    return np.array([index.get((w.item, w.position - distance), -1) for w in times.words])


def rows_used(
    times: Times, systems: Systems, exclusions: Exclusions, spillover: int
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the indices of the rows that all systems have, and how many rows are left out for each reason.

    A row that is left out for several reasons counts for the first of them.
    """
    of_words = _words_left_out(times, list(systems.values()), exclusions, spillover)
    reasons = {reason: mask[times.word_of] for reason, mask in of_words.items()}
    low, high = exclusions.times_between
    reasons[f"time not between {low:g} and {high:g} ms"] = (times.times < low) | (
        times.times > high
    )
    kept = np.ones(len(times.times), bool)
    counts = {}
    for reason, mask in reasons.items():
        if count := int((kept & mask).sum()):
            counts[reason] = count
        kept &= ~mask
    return np.flatnonzero(kept), counts


def _words_left_out(
    times: Times,
    systems: Sequence[Sequence[Reading | None]],
    exclusions: Exclusions,
    spillover: int,
) -> dict[str, np.ndarray]:
    """Return for each reason which words are left out."""

    def by_any(holds: Callable[[Reading], bool]) -> np.ndarray:
        of_words = zip(*systems, strict=True)
        return np.array([any(r is not None and holds(r) for r in rows) for rows in of_words])

    marked = np.array([any(map(is_mark, word.text)) for word in times.words])
    lacking: dict[str, np.ndarray] = {}
    for readings in systems:
        for term in terms(times, readings, spillover):
            reason = f"no {term.predictor} of the word or a word before it"
            lacking[reason] = lacking.get(reason, False) | np.isnan(term.values)
    return {
        "not in every table of surprisals": np.array(
            [None in r for r in zip(*systems, strict=True)]
        ),
        "first words of an item, without words before them": _words_before(times, spillover) < 0,
        "first word of a sentence": by_any(lambda r: r.is_first) & exclusions.first,
        "last word of a sentence": by_any(lambda r: r.is_last) & exclusions.last,
        "a punctuation mark": marked & exclusions.marks,
        "unknown to a model": by_any(lambda r: not r.is_known) & exclusions.unknown,
        **lacking,
    }
