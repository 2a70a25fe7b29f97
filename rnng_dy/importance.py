"""Importance sampling: marginal likelihood, MAP tree and perplexity (Dyer et al. 2016, section 4.3).

All log values are in nats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oracle.samples import Sample


@dataclass(frozen=True)
class Estimate:
    """What the samples of one sentence say of it."""

    log_marginal: float
    """log p(x); -inf where every sample has p = 0."""
    best: int
    """The sample with the highest joint probability, the first of equals."""
    effective_sample_size: float
    """1 to the number of samples; 0 where every sample has p = 0."""
    standard_error: float
    """Monte-Carlo standard error of log p(x) (delta method)."""


def estimate(log_q: Sequence[float], log_p: Sequence[float]) -> Estimate:
    """log (1/N) sum_i p_i / q_i from samples y_i ~ q, repeated samples counted each time.

    Raises ValueError for no samples or for log q and log p of different numbers.

    >>> round(estimate([math.log(0.5)] * 2, [math.log(0.1), math.log(0.3)]).log_marginal, 6)
    -0.916291
    """
    if not log_q or len(log_q) != len(log_p):
        raise ValueError(f"{len(log_q)} proposal and {len(log_p)} joint log probabilities")
    joint = np.asarray(log_p, np.float64)
    log_weights = joint - np.asarray(log_q, np.float64)
    best = int(np.argmax(joint))
    top = log_weights.max()
    if top == -math.inf:
        return Estimate(-math.inf, best, 0.0, math.inf)
    weights = np.exp(log_weights - top)
    total, n = weights.sum(), len(weights)
    ess = total**2 / (weights**2).sum()
    return Estimate(
        log_marginal=float(top + np.log(total / n)),
        best=best,
        effective_sample_size=float(ess),
        # var(w) / (n mean(w)^2), with var and mean over the samples
        standard_error=float(math.sqrt(max(0.0, 1.0 / ess - 1.0 / n))),
    )


class Likelihood(NamedTuple):
    """Of the sentences that have p > 0."""

    llh: float
    """Log likelihood in nats."""
    perplexity: float
    """A word; NaN where there is no sentence."""
    words: int
    sentences: int


def likelihood(log_marginals: Iterable[float], lengths: Iterable[int]) -> Likelihood:
    """Of all sentences together but those with p = 0.

    >>> likelihood([-2 * math.log(8), -math.inf], [2, 5])[2:]
    (2, 1)
    """
    possible = [(m, n) for m, n in zip(log_marginals, lengths, strict=True) if math.isfinite(m)]
    found = perplexity([m for m, _ in possible], [n for _, n in possible])
    return Likelihood(*found, len(possible))


def estimate_of(scored: Sequence[tuple[Sample, float]]) -> Estimate:
    """The estimate from a sentence's samples and their log p, as `read_scored_samples` gives them."""
    return estimate([sample.log_q for sample, _ in scored], [log_p for _, log_p in scored])


def perplexity(log_marginals: Iterable[float], lengths: Iterable[int]) -> tuple[float, float, int]:
    """LLH in nats, words and perplexity exp(-LLH / words); the end of a sentence is not a word.

    >>> llh, ppl, words = perplexity([-2 * math.log(8)], [2])
    >>> round(ppl, 6), words
    (8.0, 2)
    """
    llh, words = math.fsum(log_marginals), sum(lengths)
    return llh, math.exp(-llh / words) if words else math.nan, words
