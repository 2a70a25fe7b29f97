"""Statistics for comparing two systems: spread over seeds and a paired bootstrap over sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rnng_dy.evaluation.evalb import Scores

REPLICATES = 10000


@dataclass(frozen=True)
class Difference:
    """The second system's figure minus the first's, on the same sentences."""

    value: float
    low: float
    """Lower end of the 95 % confidence interval over resampled test sets."""
    high: float
    p: float
    """Two-sided: twice the share of resampled test sets in which the difference is not of this sign, at most 1."""


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and sample standard deviation; the latter is NaN for one value.

    >>> mean_and_deviation([1.0, 3.0])
    (2.0, 1.4142135623730951)
    """
    array = np.asarray(values, np.float64)
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else math.nan


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the ends of its 95 % interval, by the t distribution; ends are NaN for one value.

    >>> [round(x, 3) for x in mean_interval([1.0, 3.0, 5.0])]
    [3.0, -1.968, 7.968]
    """
    if not values:
        return math.nan, math.nan, math.nan
    mean, deviation = mean_and_deviation(values)
    half = _t_of_95(len(values) - 1) * deviation / math.sqrt(len(values))
    return mean, mean - half, mean + half


def _t_of_95(degrees: int) -> float:
    """Return t so that 95 % of the t distribution are between -t and t (Abramowitz and Stegun 1964, 26.7.3 and 4)."""
    odd = degrees % 2

    def share(angle: float) -> float:
        term, total = (math.cos(angle) if odd else 1.0), 0.0
        for k in range(1 + odd, degrees, 2):
            total += term
            term *= math.cos(angle) ** 2 * k / (k + 1)
        total *= math.sin(angle)
        return 2 / math.pi * (angle + total) if odd else total

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) < 0.95 else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p of several tests, corrected by Holm's method (1979); NaN is not a test and stays.

    >>> holm([0.25, 0.125])
    [0.25, 0.25]
    """
    tests = sorted((p, i) for i, p in enumerate(ps) if not math.isnan(p))
    corrected, highest = [math.nan] * len(ps), 0.0
    for done, (p, i) in enumerate(tests):
        highest = corrected[i] = max(highest, min(1.0, (len(tests) - done) * p))
    return corrected


def _paired_bootstrap(
    first: Sequence[tuple[float, ...]],
    second: Sequence[tuple[float, ...]],
    figure: Callable[[np.ndarray], np.ndarray],
    seed: int,
) -> Difference:
    """Resample `first` and `second`, rows of counts per sentence; `figure` maps their sums, shape (..., counts).

    All values are NaN if there are no sentences.
    """
    n = len(first)
    if not n:
        return Difference(math.nan, math.nan, math.nan, math.nan)
    random = np.random.default_rng(seed)
    first, second = (np.array(rows, np.float64) for rows in (first, second))
    both = np.concatenate([first, second], axis=1)
    differences = []
    for size in [1000] * (REPLICATES // 1000):
        sums = random.multinomial(n, np.full(n, 1 / n), size=size) @ both
        a, b = sums[:, : first.shape[1]], sums[:, first.shape[1] :]
        differences.append(figure(b) - figure(a))
    resampled = np.concatenate(differences)
    value = float(figure(second.sum(axis=0)) - figure(first.sum(axis=0)))
    others = np.count_nonzero(resampled * np.sign(value) <= 0) if value else REPLICATES
    other_sign = (others + 1) / (REPLICATES + 1)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Difference(value, float(low), float(high), min(1.0, 2 * float(other_sign)))


def sign_flip_p(differences: np.ndarray, permutations: int = REPLICATES, seed: int = 1) -> float:
    """Return the two-sided p of a paired permutation test, under which each difference has either sign.

    p is the share of all choices of signs whose sum is as far from 0 as the observed one. If there are more choices
    than `permutations`, that many are drawn, and the observed one is added to them.

    >>> sign_flip_p(np.array([1.0, 2.0, 3.0]))
    0.25
    """
    n = len(differences)
    # sums that differ by rounding alone are equal
    observed = abs(differences.sum()) * (1 - 1e-9)
    if n < 60 and 2**n <= permutations:
        signs = (np.arange(2**n)[:, None] >> np.arange(n)) % 2 * 2 - 1
        return float((abs(signs @ differences) >= observed).mean())
    random = np.random.default_rng(seed)
    extreme = 0
    for begin in range(0, permutations, 500):
        size = min(500, permutations - begin)
        signs = random.integers(0, 2, (size, n), dtype=np.int8) * np.int8(2) - np.int8(1)
        extreme += int((abs(signs @ differences) >= observed).sum())
    return (extreme + 1) / (permutations + 1)


def f1_difference(first: Scores, second: Scores, seed: int = 1) -> Difference:
    """Compare the labelled F1, in percent, of two systems by paired bootstrap.

    Args:
        first: Scores of the first system.
        second: Scores of the second system, on the same sentences.
        seed: Seed of the resampling.

    Raises:
        ValueError: The numbers of scored sentences differ.
    """

    def f1(sums: np.ndarray) -> np.ndarray:
        matched, gold, system = np.moveaxis(sums, -1, 0)
        return 200 * matched / np.maximum(gold + system, 1)

    a, b = ([(s.matched, s.gold, s.system) for s in of.scored] for of in (first, second))
    return _paired_bootstrap(a, b, f1, seed)


def perplexity_difference(
    first: Sequence[float], second: Sequence[float], lengths: Sequence[int], seed: int = 1
) -> Difference:
    """Compare the perplexities of two models by paired bootstrap, over sentences with p > 0 in both.

    Args:
        first: log p in nats per sentence, of the first model.
        second: The same of the second model.
        lengths: Number of words per sentence.
        seed: Seed of the resampling.
    """
    kept = [i for i in range(len(lengths)) if math.isfinite(first[i]) and math.isfinite(second[i])]

    def ppl(sums: np.ndarray) -> np.ndarray:
        log_p, words = np.moveaxis(sums, -1, 0)
        return np.exp(-log_p / words)

    a, b = ([(values[i], lengths[i]) for i in kept] for values in (first, second))
    return _paired_bootstrap(a, b, ppl, seed)
