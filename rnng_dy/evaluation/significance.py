"""Statistics for comparing systems: means, a permutation test, intervals by t and bootstrap.

Units of the test and the bootstrap are sentences, or items, whose words are not independent.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rnng_dy.evaluation.evalb import Scores, on_common_sentences
from rnng_dy.evaluation.evalb_sentence import SentenceScore

REPLICATES = 10000
NORMAL_95 = 1.959963984540054
"""95 % of the normal distribution are between minus this and this."""
FEWEST = 6
"""The fewest units that differ with a p: 2 of the 64 choices of their swaps have p < 0.05."""
TOO_FEW = f"the systems differ in fewer than {FEWEST} sentences"
Figure = Callable[[np.ndarray], np.ndarray]


class Difference(NamedTuple):
    """The second system's figure minus the first's, on the same sentences."""

    value: float
    low: float
    """Lower end of the 95 % confidence interval over resampled test sets."""
    high: float
    p: float
    """Two-sided, by `permutation_p`; NaN if the systems differ in too few sentences."""


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and sample standard deviation; the latter is NaN for one value.

    >>> mean_and_deviation([1.0, 3.0])
    (2.0, 1.4142135623730951)
    """
    array = np.asarray(values, np.float64)
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else math.nan


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the ends of its 95 % interval, by the t distribution; NaN for one value.

    >>> [round(x, 3) for x in mean_interval([1.0, 3.0, 5.0])]
    [3.0, -1.968, 7.968]
    """
    if not values:
        return math.nan, math.nan, math.nan
    mean, deviation = mean_and_deviation(values)
    half = t_of_95(len(values) - 1) * deviation / math.sqrt(len(values))
    return mean, mean - half, mean + half


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a share (Wilson 1927); NaN without trials.

    >>> [round(x, 4) for x in wilson_interval(9, 10)]
    [0.5958, 0.9821]
    >>> wilson_interval(0, 21)[0], wilson_interval(11, 11)[1]
    (0.0, 1.0)
    """
    if not trials:
        return math.nan, math.nan
    share, z, scale = successes / trials, NORMAL_95, 1 + NORMAL_95**2 / trials
    middle = share + z**2 / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    # rounding must not lead beyond 0 and 1
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def t_of_95(degrees: int) -> float:
    """Return t so that 95 % of the t distribution are between -t and t.

    The series are those of Abramowitz and Stegun (1964), 26.7.3 and 4.

    From 10,000 degrees of freedom on, t is that of 10,000, 1.9602; the limit is 1.9600.
    """
    degrees = min(degrees, 10000)
    odd = degrees % 2
    k = np.arange(1 + odd, degrees - 1, 2)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        cosine = math.cos(angle)
        series = cosine**odd * (1 + np.cumprod(cosine**2 * k / (k + 1)).sum()) * (degrees > 1)
        share = math.sin(angle) * series
        share = 2 / math.pi * (angle + share) if odd else share
        low, high = (angle, high) if share < 0.95 else (low, angle)
    return math.sqrt(degrees) * math.tan(low)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p of several tests, corrected by Holm's method (1979); NaN is no test and stays.

    >>> holm([0.25, 0.125])
    [0.25, 0.25]
    """
    tests = sorted((p, i) for i, p in enumerate(ps) if not math.isnan(p))
    corrected, highest = [math.nan] * len(ps), 0.0
    for done, (p, i) in enumerate(tests):
        highest = corrected[i] = max(highest, min(1.0, (len(tests) - done) * p))
    return corrected


def pairs_of(
    systems: Mapping[str, Any], compare: Callable[[Any, Any], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return `first` and `second` of each pair of systems, with what `compare` says, such as p.

    `p_holm` is p corrected for the number of pairs.
    """
    pairs = [
        {"first": first, "second": second, **compare(systems[first], systems[second])}
        for first, second in combinations(systems, 2)
    ]
    corrected = holm([pair["p"] for pair in pairs])
    return [{**pair, "p_holm": p_holm} for pair, p_holm in zip(pairs, corrected, strict=True)]


def bootstrap(
    systems: Sequence[Any], figure: Callable[[list[np.ndarray]], np.ndarray], seed: int = 1
) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a figure over resampled sentences.

    Args:
        systems: The rows of counts per sentence of each system, on the same sentences.
        figure: Makes the figure from the sums of counts of each system, shape (..., counts).
        seed: Seed of the resampling.

    Returns:
        Both ends; NaN for fewer than FEWEST sentences.
    """
    counts = [np.array(rows, np.float64) for rows in systems]
    n = len(counts[0])
    if n < FEWEST:
        return math.nan, math.nan
    random, resampled = np.random.default_rng(seed), []
    for size in [1000] * (REPLICATES // 1000):
        drawn = random.multinomial(n, np.full(n, 1 / n), size=size)
        resampled.append(figure([drawn @ rows for rows in counts]))
    low, high = np.percentile(np.concatenate(resampled), [2.5, 97.5])
    return float(low), float(high)


def difference(first: Any, second: Any, figure: Figure, p: float, seed: int = 1) -> Difference:
    """Return the difference of a figure with its p, and its interval by a paired bootstrap.

    `first` and `second` are rows of counts per sentence.
    """
    if not len(first):
        return Difference(math.nan, math.nan, math.nan, math.nan)

    def less(sums: Sequence[np.ndarray]) -> np.ndarray:
        return figure(sums[1]) - figure(sums[0])

    value = less([np.sum(rows, axis=0, dtype=np.float64) for rows in (first, second)])
    return Difference(float(value), *bootstrap((first, second), less, seed), p)


def permutation_p(
    first: Any, second: Any, figure: Figure, seed: int = 1, permutations: int = REPLICATES
) -> float:
    """Return the two-sided p of a permutation test, which may swap both systems in each unit.

    p is the share of all choices of swaps by which the figures of the systems differ as much as
    observed, or more. If there are more choices than `permutations`, that many are drawn, and the
    observed one is added to them.

    Args:
        first: The counts of the first system, shape (units, counts); a unit is a sentence or an
            item.
        second: The counts of the second system, of the same units.
        figure: Makes the figure of a system from sums of counts, shape (..., counts).
        seed: Seed of the draws.
        permutations: The most choices.

    Returns:
        p; NaN if fewer than FEWEST units differ, or a count is NaN.
    """
    first, second = np.array(first, np.float64), np.array(second, np.float64)
    gains = (second - first)[(first != second).any(axis=-1)]
    n, random = len(gains), np.random.default_rng(seed)
    if n < FEWEST or np.isnan(gains).any():
        return math.nan
    if 2**n <= permutations:
        moved = (np.arange(2**n)[:, None] >> np.arange(n) & 1) @ gains
    else:
        sizes = [min(100, permutations - done) for done in range(0, permutations, 100)]
        drawn = [random.integers(0, 2, (size, n), np.int8) @ gains for size in sizes]
        moved = np.concatenate([np.zeros_like(gains[:1]), *drawn])
    a, b = figure(first.sum(axis=0) + moved), figure(second.sum(axis=0) - moved)
    differences = np.abs(b - a)
    # the first choice is the observed one; what differs from it by rounding alone is equal
    return float((differences >= differences[0] - 1e-9 * differences.max()).mean())


def sign_flip_p(differences: Any, seed: int = 1, permutations: int = REPLICATES) -> float:
    """Return `permutation_p` of the sum of units' differences, whose sign a swap changes.

    >>> sign_flip_p([1, 2, 3, 4, 5, 6])
    0.03125
    """
    rows = np.reshape(differences, (-1, 1))
    return permutation_p(0 * rows, rows, lambda sums: sums[..., 0], seed, permutations)


def f1_of(sums: np.ndarray) -> np.ndarray:
    """Return F1 in percent of sums of matched, gold and system brackets, shape (..., 3)."""
    matched, gold, system = np.moveaxis(sums, -1, 0)
    return 200 * matched / np.maximum(gold + system, 1)


def perplexity_of(sums: np.ndarray) -> np.ndarray:
    """Return the perplexity of sums of log p in nats and numbers of words, shape (..., 2)."""
    log_p, words = np.moveaxis(sums, -1, 0)
    return np.exp(-log_p / words)


def brackets(score: SentenceScore) -> tuple[int, int, int]:
    """Return the matched, gold and system brackets of a sentence."""
    return score.matched, score.gold, score.system


def f1_difference(first: Scores, second: Scores, seed: int = 1) -> Difference:
    """Compare the labelled F1, in percent, of two systems.

    Args:
        first: Scores of the first system.
        second: Scores of the second system, on the same sentences; those count that both score.
        seed: Seed of the resampling.

    Raises:
        ValueError: The numbers of sentences differ.
    """
    a, b = ([*map(brackets, s.scored)] for s in on_common_sentences((first, second)))
    return difference(a, b, f1_of, permutation_p(a, b, f1_of, seed), seed)


def perplexity_difference(
    first: Sequence[float], second: Sequence[float], lengths: Sequence[int], seed: int = 1
) -> Difference:
    """Compare the perplexities of two models, over sentences with p > 0 in both.

    Args:
        first: log p in nats per sentence, of the first model.
        second: The same of the second model.
        lengths: Number of words per sentence.
        seed: Seed of the resampling.
    """
    kept = [i for i in range(len(lengths)) if math.isfinite(first[i]) and math.isfinite(second[i])]
    a, b = ([(values[i], lengths[i]) for i in kept] for values in (first, second))
    # swaps keep the sum of both log p, so perplexities differ the more, the more log p does
    p = sign_flip_p([second[i] - first[i] for i in kept], seed)
    return difference(a, b, perplexity_of, p, seed)
