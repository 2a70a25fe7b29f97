"""Predictors of reading times: measures of a table of surprisals, length, frequency, position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from rnng_dy.evaluation.alignment import MeasuredWord
from rnng_dy.evaluation.reading_tables import Times
from rnng_dy.evaluation.token_tables import Token

SURPRISAL = "surprisal"
Measured = Sequence[MeasuredWord | None]
"""What a table of surprisals says about each word."""


class Design(NamedTuple):
    """Which predictors a study has."""

    spillover: int = 2
    """Number of words before a word that are predictors, too."""
    measures: Sequence[str] = (SURPRISAL,)
    """The columns of the tables of surprisals that are compared, each alone."""
    over: Sequence[str] = ()
    """Such columns that are predictors in both regressions."""

    def of(self, *measures: str) -> list[str]:
        """Return the predictors of measures, those of the words before included."""
        distances = range(self.spillover + 1)
        return [_before(measure, n) for measure in measures for n in distances]


SURPRISAL_ALONE = Design()


def _before(name: str, distance: int) -> str:
    return f"{name}_{distance}" if distance else name


def predictors(times: Times, measured: Measured, design: Design) -> dict[str, np.ndarray]:
    """Return the predictors of a system by name, per word its value or NaN.

    They are the measures, surprisal in bits, log2 of the frequency plus 1 if any word has a
    frequency, the length in characters, each also of the words before (`surprisal_1`), and the
    position.
    """
    count = np.array([word.count for word in times.words])
    values = {
        name: np.array([np.nan if row is None else value_of(row, name) for row in measured])
        for name in dict.fromkeys([*design.over, *design.measures])
    }
    controls = {"length": np.array([float(len(word.text)) for word in times.words])}
    if not np.isnan(count).all():
        controls = {"log_frequency": np.log2(count + 1), **controls}
    if twice := [name for name in values if name in {*controls, "position"}]:
        raise RnngError(f"{twice[0]!r} is a predictor already, that of the table of times")
    before = [words_before(times, distance) for distance in range(design.spillover + 1)]
    by_name = {
        _before(name, distance): np.where(word >= 0, of_words[word], np.nan)
        for name, of_words in {**values, **controls}.items()
        for distance, word in enumerate(before)
    }
    return {**by_name, "position": np.array([float(word.position) for word in times.words])}


def value_of(row: MeasuredWord | Token, measure: str) -> float:
    """Return a measure of a word or token."""
    return row.bits if measure == SURPRISAL else row.measures[measure]


def words_before(times: Times, distance: int) -> np.ndarray:
    """Return per word the index of that so many positions before it in its item; -1 for none."""
    index = {(w.item, w.condition, w.position): i for i, w in enumerate(times.words)}
    before = ((w.item, w.condition, w.position - distance) for w in times.words)
    return np.array([index.get(place, -1) for place in before])
