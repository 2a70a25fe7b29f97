"""Likelihood and perplexity over sentences: those that have p > 0; two ways to estimate them side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Likelihood(NamedTuple):
    """Of the sentences that have p > 0."""

    llh: float
    """Log likelihood in nats."""
    perplexity: float
    """A word; NaN where there is no sentence, infinity where it is too large for a number."""
    words: int
    sentences: int

    def lines(self, of: int) -> list[str]:
        """Return what is printed of so many sentences."""
        counts = [f"sentences={self.sentences} of {of}", f"len={self.words} words"]
        return [*counts, f"LLH={self.llh:.15g}", f"PPL={self.perplexity:.15g}"]

    def warnings(self, of: int, left_out: int) -> Iterator[str]:
        """Yield what is wrong, with so many of the sentences left out."""
        if left_out:
            yield f"{left_out} of {of} sentences have p = 0 and are left out"
        if math.isinf(self.perplexity):
            yield "the perplexity is too large for a number: see to the likelihoods"
        if not self.sentences:
            yield "no sentence has p > 0: there is no perplexity"


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


def in_all(log_probs: Sequence[Sequence[float]]) -> list[list[float]]:
    """The log probabilities by several systems of the same sentences; -inf for a sentence with p = 0 by any of them.

    >>> in_all([[-1.0, -2.0], [-math.inf, -3.0]])
    [[-inf, -2.0], [-inf, -3.0]]
    """
    possible = [
        all(map(math.isfinite, of_sentence)) for of_sentence in zip(*log_probs, strict=True)
    ]
    return [
        [p if kept else -math.inf for p, kept in zip(of_system, possible, strict=True)]
        for of_system in log_probs
    ]


def likelihood_in_all(
    log_probs: Sequence[Sequence[float]], lengths: Sequence[int]
) -> list[Likelihood]:
    """That of several systems on the same sentences, of those that have p > 0 in all of them."""
    return [likelihood(of_system, lengths) for of_system in in_all(log_probs)]


ABOVE = 1e-6
"""Nats by which a probability is above another, and not equal to it but for rounding."""


class Gap(NamedTuple):
    """A search's probabilities of sentences beside a sampler's estimates, of the sentences that have p > 0 by both."""

    searched: Likelihood
    sampled: Likelihood
    a_sentence: float
    """Nats by which the log likelihood of the search is lower."""
    a_word: float
    """The same."""
    ratio: float
    """Perplexity by the search to that by the samples."""
    above: int
    """Sentences whose probability is higher by the search: where that is a lower bound, the sampler missed mass."""

    def lines(self) -> Iterator[str]:
        """Yield what is printed."""
        sentences, words = self.sampled.sentences, self.sampled.words
        yield f"p > 0 by search and samples: {sentences} sentences, {words} words"
        for name, of_way in (("search", self.searched), ("samples", self.sampled)):
            yield f"{name}: LLH={of_way.llh:.15g} PPL={of_way.perplexity:.15g}"
        yield (
            f"gap: {self.a_sentence:.6g} nats a sentence, {self.a_word:.6g} nats a word, "
            f"ratio of perplexities {self.ratio:.6g}"
        )
        yield f"search above samples: {self.above} sentences"

    def to_json(self) -> dict[str, object]:
        """All of it by name."""
        both = {"searched": self.searched._asdict(), "sampled": self.sampled._asdict()}
        return self._asdict() | both


def gap(searched: Sequence[float], sampled: Sequence[float], lengths: Sequence[int]) -> Gap:
    """Of log probabilities in nats of the same sentences, with their numbers of words.

    >>> found = gap([-6.0, -2.0], [-5.0, -2.5], [3, 2])
    >>> found.a_sentence, found.a_word, round(found.ratio, 6), found.above
    (0.25, 0.1, 1.105171, 1)
    """
    both = in_all([searched, sampled])
    of_search, of_samples = (likelihood(of_way, lengths) for of_way in both)
    missed, words = of_samples.llh - of_search.llh, of_search.words
    return Gap(
        of_search,
        of_samples,
        missed / of_search.sentences if of_search.sentences else math.nan,
        missed / words if words else math.nan,
        _exp(missed / words) if words else math.nan,
        sum(a > b + ABOVE for a, b in zip(*both, strict=True)),
    )
