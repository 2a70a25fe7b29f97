"""Figures of systems by sentence and seed, with intervals, differences and verdicts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rnng_dy.evaluation import significance

Figures = dict[str, Any]
"""A row of a table: its values by column."""


class Measured(NamedTuple):
    """A figure of a system, made from counts per sentence and seed."""

    counts: np.ndarray
    """Shape (sentences, seeds, counts); NaN where a sentence does not count."""
    figure: significance.Figure

    def values(self) -> list[float]:
        """Return the figure of each seed."""
        return self.figure(np.nansum(self.counts, axis=0)).tolist()

    def by_seed(self, sums: np.ndarray) -> np.ndarray:
        """Return the figure of each seed from sums, shape (..., seeds * counts)."""
        return self.figure(sums.reshape(*sums.shape[:-1], *self.counts.shape[1:]))

    def mean(self, sums: np.ndarray) -> np.ndarray:
        """Return the mean over seeds of `by_seed`."""
        return self.by_seed(sums).mean(axis=-1)

    def columns(self, published: Mapping[Any, float] | None, key: object) -> Figures:
        """Return the mean over seeds with interval and deviation, beside the paper's number."""
        theirs = {} if published is None else {"paper": published.get(key)}
        by_seed = self.values()
        mean, deviation = significance.mean_and_deviation(by_seed)
        low, high = significance.bootstrap(_common(self), lambda sums: self.mean(sums[0]))
        interval = {"low": low, "high": high}
        return {**theirs, "here": mean, **interval, "sd_over_seeds": deviation, "by_seed": by_seed}


def perplexity_of(seeds: Sequence[Sequence[float]], lengths: Sequence[int]) -> Measured:
    """Return the perplexity, given log p in nats by seed and sentence, over p > 0 alone."""
    log_ps = np.array(seeds).T
    counts = np.stack([log_ps, np.broadcast_to(np.array(lengths)[:, None], log_ps.shape)], axis=-1)
    counts[~np.isfinite(log_ps)] = math.nan
    return Measured(counts, significance.perplexity_of)


def compared(first: Measured, second: Measured) -> Figures:
    """Return the difference of the means over seeds, second less first, on common sentences."""
    a, b = _common(first, second)
    less = significance.difference(a, b, first.mean, significance.permutation_p(a, b, first.mean))
    interval = {"low": less.low, "high": less.high, "p": less.p}
    by_seed = first.by_seed(b.sum(axis=0)) - first.by_seed(a.sum(axis=0))
    return {"difference": less.value, **interval, "by_seed": by_seed.tolist()}


def _common(*systems: Measured) -> list[np.ndarray]:
    """Return counts of each system, shape (sentences, seeds * counts), where all have some."""
    rows = [counts.reshape(len(counts), -1) for counts, _ in systems]
    kept = ~np.isnan(np.hstack(rows)).any(axis=1)
    return [counts[kept] for counts in rows]


def verdict_of(difference: Figures, sign: int = 1) -> str:
    """Return whether a difference is of the sign by its interval and in all seeds."""
    values = [sign * x for x in (difference["low"], difference["high"], *difference["by_seed"])]
    if all(x > 0 for x in values):
        return "upheld"
    return "not upheld" if all(x < 0 for x in values) else "undecided"
