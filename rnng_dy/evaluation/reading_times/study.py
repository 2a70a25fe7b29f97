"""The study: how much surprisals of each system explain of the reading times, by cross-validation over items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from oracle.errors import RnngError
from rnng_dy.evaluation.reading_times.predictors import (
    SURPRISAL,
    Exclusions,
    Systems,
    Term,
    rows_used,
    terms,
)
from rnng_dy.evaluation.reading_times.regression import Regression, fit, require_independent
from rnng_dy.evaluation.reading_times.tables import Times, Word
from rnng_dy.evaluation.significance import holm, sign_flip_p

NORMAL_95 = 1.959964
"""The standard errors from an estimate to each end of its 95 % interval."""


@dataclass(frozen=True)
class Options:
    """Choices of the study."""

    spillover: int = 2
    """Words before a word whose predictors count, too."""
    mixed: bool = False
    """Random intercepts by item and, in a table with subjects, by subject."""
    folds: int = 10
    """The most parts of the items in cross-validation."""
    permutations: int = 10000
    seed: int = 1
    exclusions: Exclusions = field(default_factory=Exclusions)


class Effect(NamedTuple):
    """The coefficient of a term, by the regression on all rows."""

    term: Term
    coefficient: float
    standard_error: float
    delta: float
    """Held-out log likelihood per row in nats, less that without the predictor and its spill-over."""

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval."""
        width = NORMAL_95 * self.standard_error
        return self.coefficient - width, self.coefficient + width


@dataclass(frozen=True)
class SystemResult:
    """A system's figures; held-out values are of regressions that were fitted to other items."""

    name: str
    effects: Sequence[Effect]
    """Of each term, surprisal first."""
    bits: np.ndarray
    """Surprisal per row."""
    predicted: np.ndarray
    """Held-out expectation per row in ms."""
    without: np.ndarray
    """The same without surprisal."""
    log_likelihoods: np.ndarray
    """Held-out log density per row in nats."""
    log_likelihoods_without: np.ndarray
    adjusted: np.ndarray
    """Times per row, less the part that the other predictors explain besides the mean."""
    p: float
    """Of the difference to the regression without surprisal, by permutation."""

    @property
    def deltas(self) -> np.ndarray:
        """Return the difference of log densities per row in nats."""
        return self.log_likelihoods - self.log_likelihoods_without


class Pair(NamedTuple):
    """The first system less the second."""

    first: str
    second: str
    difference: float
    """Of held-out log likelihoods per row, in nats."""
    p: float
    p_holm: float


@dataclass(frozen=True)
class Study:
    """Results of all systems on the same rows."""

    words: Sequence[Word]
    """The word of each row."""
    times: np.ndarray
    subjects: Sequence[str] | None
    """The subject of each row, if the table has subjects."""
    left_out: Mapping[str, int]
    """Rows that are left out, by reasons."""
    systems: Sequence[SystemResult]
    pairs: Sequence[Pair]
    mixed: bool
    folds: int

    def items_better(self, system: SystemResult) -> tuple[int, int]:
        """Return in how many items surprisal raises the held-out likelihood, and the number of items."""
        items = _codes([word.item for word in self.words])
        sums = np.bincount(items, system.deltas)
        return int((sums > 0).sum()), len(sums)


def run_study(times: Times, systems: Systems, options: Options = Options()) -> Study:
    """Return the study of the systems' surprisals on the rows that all of them have.

    Raises RnngError if too few rows or only one item is left, or if a predictor is constant or depends on others.
    """
    kept, left_out = rows_used(times, systems, options.exclusions, options.spillover)
    if not len(kept):
        reasons = "; ".join(f"{reason}: {count}" for reason, count in left_out.items())
        raise RnngError(f"no row of {times.path} is left: {reasons}")
    rows = _Rows(times, kept, options)
    results = [
        rows.result(name, terms(times, readings, options.spillover))
        for name, readings in systems.items()
    ]
    subjects = None
    if times.subject_of is not None:
        subjects = [times.subjects[code] for code in times.subject_of[kept]]
    return Study(
        words=[times.words[i] for i in times.word_of[kept]],
        times=rows.y,
        subjects=subjects,
        left_out=left_out,
        systems=results,
        pairs=rows.pairs(results),
        mixed=options.mixed,
        folds=len(rows.folds),
    )


class _Rows:
    """The rows of a study, and their division into folds by items."""

    def __init__(self, times: Times, kept: np.ndarray, options: Options):
        self._options = options
        self._word_of = times.word_of[kept]
        self.y = times.times[kept]
        items = _codes([times.words[i].item for i in self._word_of])
        count = int(items.max()) + 1
        if count < 2:
            raise RnngError(
                f"{times.path}: all rows are of one item; cross-validation needs two items at least"
            )
        self._factors: list[np.ndarray] = []
        if options.mixed:
            self._factors.append(items)
            if times.subject_of is not None:
                self._factors.append(_codes(times.subject_of[kept]))
        self._levels = [int(codes.max()) + 1 for codes in self._factors]
        number = min(options.folds, count)
        self.folds = [np.flatnonzero(items % number == fold) for fold in range(number)]

    def p(self, differences: np.ndarray) -> float:
        """Return p of a difference per row, by permutation over words."""
        of_words = np.bincount(self._word_of, differences)
        met = np.bincount(self._word_of) > 0
        return sign_flip_p(of_words[met], self._options.permutations, self._options.seed)

    def pairs(self, results: Sequence[SystemResult]) -> list[Pair]:
        """Return the comparison of each pair of systems."""
        found = []
        for one, other in combinations(results, 2):
            differences = one.log_likelihoods - other.log_likelihoods
            found.append((one.name, other.name, float(differences.mean()), self.p(differences)))
        corrected = holm([p for *_, p in found])
        return [Pair(*pair, p) for pair, p in zip(found, corrected, strict=True)]

    def result(self, name: str, found: Sequence[Term]) -> SystemResult:
        """Return a system's figures."""
        x = np.column_stack([term.values[self._word_of] for term in found])
        names = [term.name for term in found]
        require_independent(x, names)
        whole = self._fit(x, slice(None))
        predicted, densities = self._held_out(x, names)
        deltas, without = {}, {}
        for predictor in dict.fromkeys(term.predictor for term in found):
            others = [j for j, term in enumerate(found) if term.predictor != predictor]
            without[predictor] = self._held_out(x[:, others], [names[j] for j in others])
            deltas[predictor] = float((densities - without[predictor][1]).mean())
        of_surprisal = [j for j, term in enumerate(found) if term.predictor == SURPRISAL]
        centred = x - x.mean(axis=0)
        centred[:, of_surprisal[0]] = 0.0
        effects = [
            Effect(term, float(slope), float(error), deltas[term.predictor])
            for term, slope, error in zip(
                found, whole.coefficients, whole.standard_errors, strict=True
            )
        ]
        return SystemResult(
            name=name,
            effects=effects,
            bits=x[:, of_surprisal[0]],
            predicted=predicted,
            without=without[SURPRISAL][0],
            log_likelihoods=densities,
            log_likelihoods_without=without[SURPRISAL][1],
            adjusted=self.y - centred @ whole.coefficients,
            p=self.p(densities - without[SURPRISAL][1]),
        )

    def _fit(self, x: np.ndarray, rows: np.ndarray | slice) -> Regression:
        return fit(self.y[rows], x[rows], [codes[rows] for codes in self._factors], self._levels)

    def _held_out(self, x: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's expectation and log density by the regression on the other folds."""
        predicted, densities = np.empty(len(x)), np.empty(len(x))
        for fold in self.folds:
            rest = np.ones(len(x), bool)
            rest[fold] = False
            require_independent(x[rest], names)
            found = self._fit(x, rest)
            factors = [codes[fold] for codes in self._factors]
            predicted[fold] = found.predict(x[fold], factors)
            densities[fold] = found.log_densities(self.y[fold], x[fold], factors)
        return predicted, densities


def _codes(values: Sequence[object] | np.ndarray) -> np.ndarray:
    """Return the number of each value, from 0 in the order of their first rows."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values])


def binned(bits: np.ndarray, times: np.ndarray, bins: int = 20) -> Iterator[tuple[float, float]]:
    """Yield the mean surprisal and mean time of equally large parts, ordered by surprisal."""
    order = np.argsort(bits, kind="stable")
    for part in np.array_split(order, min(bins, max(1, len(order) // 2))):
        yield float(bits[part].mean()), float(times[part].mean())
