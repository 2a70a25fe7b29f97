"""Likelihood and perplexity over sentences: those that have p > 0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Likelihood(NamedTuple):
    """Of the sentences that have p > 0."""

    llh: float
    """Log likelihood in nats."""
    perplexity: float
    """A word; NaN where there is no sentence, infinity where it is too large for a number."""
    words: int
    sentences: int


def likelihood(log_marginals: Iterable[float], lengths: Iterable[int]) -> Likelihood:
    """Of sentences with these log probabilities in nats and numbers of words, but for those with p = 0.

    Perplexity is exp(-llh / words); the end of a sentence is not a word (Dyer et al. 2016, section 5).

    >>> found = likelihood([-2 * math.log(8), -math.inf], [2, 5])
    >>> round(found.perplexity, 6), found.words, found.sentences
    (8.0, 2, 1)
    """
    possible = [(m, n) for m, n in zip(log_marginals, lengths, strict=True) if math.isfinite(m)]
    llh, words = math.fsum(m for m, _ in possible), sum(n for _, n in possible)
    return Likelihood(llh, _exp(-llh / words) if words else math.nan, words, len(possible))


def _exp(x: float) -> float:
    """e to the power of x; infinity where that is too large for a number."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def likelihood_in_all(
    log_probs: Sequence[Sequence[float]], lengths: Sequence[int]
) -> list[Likelihood]:
    """That of several systems on the same sentences, of those that have p > 0 in all of them."""
    possible = [
        all(map(math.isfinite, of_sentence)) for of_sentence in zip(*log_probs, strict=True)
    ]
    return [
        likelihood(
            (p if kept else -math.inf for p, kept in zip(of_system, possible, strict=True)), lengths
        )
        for of_system in log_probs
    ]
