"""Likelihood and perplexity over sentences with p > 0, and the comparison of two ways to estimate them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from oracle.brackets import unspelled


class Likelihood(NamedTuple):
    """Likelihood and perplexity of the sentences with p > 0."""

    llh: float
    """Log likelihood in nats."""
    perplexity: float
    """Perplexity per word; NaN if there is no sentence, infinity if it is too large for a number."""
    words: int
    sentences: int

    def lines(self, of: int) -> list[str]:
        """Return the lines to print; `of` is the number of all sentences."""
        counts = [f"sentences={self.sentences} of {of}", f"len={self.words} words"]
        return [*counts, f"LLH={self.llh:.15g}", f"PPL={self.perplexity:.15g}"]

    def warnings(self, of: int, left_out: int) -> Iterator[str]:
        """Yield warnings; `left_out` of the `of` sentences have p = 0."""
        if left_out:
            yield f"{left_out} of {of} sentences have p = 0 and are left out"
        if math.isinf(self.perplexity):
            yield "the perplexity is too large for a number: see to the likelihoods"
        if not self.sentences:
            yield "no sentence has p > 0: there is no perplexity"


def likelihood(log_marginals: Iterable[float], lengths: Iterable[int]) -> Likelihood:
    """Return the likelihood of sentences from their log probabilities in nats and lengths in words, ignoring p = 0.

    Perplexity is exp(-llh / words); the end of a sentence is not a word (Dyer et al. 2016, section 5).

    >>> found = likelihood([-2 * math.log(8), -math.inf], [2, 5])
    >>> round(found.perplexity, 6), found.words, found.sentences
    (8.0, 2, 1)
    """
    possible = [(m, n) for m, n in zip(log_marginals, lengths, strict=True) if math.isfinite(m)]
    llh, words = math.fsum(m for m, _ in possible), sum(n for _, n in possible)
    return Likelihood(llh, _exp(-llh / words) if words else math.nan, words, len(possible))


class Rates(NamedTuple):
    r"""Bits per character and byte, which compare models of different vocabularies and tokenisations.

    White space does not count, since tokenisations differ in it; `-LRB-`, `\/` and the like count as one character.
    """

    bits_per_character: float
    bits_per_byte: float
    characters: int
    bytes: int

    def lines(self) -> list[str]:
        """Return the lines to print."""
        return [
            f"characters={self.characters} bytes={self.bytes}",
            f"bits/character={self.bits_per_character:.6g}",
            f"bits/byte={self.bits_per_byte:.6g}",
        ]


def rates(log_marginals: Sequence[float], sentences: Sequence[Sequence[str]]) -> Rates:
    """Return the rates of sentences, which are lists of tokens, from their log probabilities in nats, ignoring p = 0.

    >>> rates([-8 * math.log(2)], [["é", "-LRB-"]])
    Rates(bits_per_character=4.0, bits_per_byte=2.6666666666666665, characters=2, bytes=3)
    """
    texts = ["".join(map(unspelled, tokens)) for tokens in sentences]
    sizes = [*map(len, texts)], [len(text.encode("utf-8", "surrogateescape")) for text in texts]
    found = [likelihood(log_marginals, of_unit) for of_unit in sizes]
    bits = [-x.llh / math.log(2) / x.words if x.words else math.nan for x in found]
    return Rates(*bits, *(x.words for x in found))


def _exp(x: float) -> float:
    """Return e to the power of x, or infinity if that is too large for a number."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def in_all(log_probs: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return each system's log probabilities, with -inf for every sentence that has p = 0 in some system.

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


ABOVE = 1e-6
"""The difference in nats from which one probability counts as higher than another, allowing for rounding."""


class Gap(NamedTuple):
    """A search's probabilities compared with a sampler's estimates, over the sentences with p > 0 in both."""

    searched: Likelihood
    sampled: Likelihood
    nats_per_sentence: float
    """Nats per sentence by which the log likelihood of the search is lower."""
    nats_per_word: float
    """Nats per word by which the log likelihood of the search is lower."""
    ratio: float
    """Perplexity by the search divided by perplexity by the samples."""
    above: int
    """Sentences to which the search gives a higher probability; if that is a lower bound, the sampler missed mass."""

    def lines(self) -> Iterator[str]:
        """Yield the lines to print."""
        sentences, words = self.sampled.sentences, self.sampled.words
        yield f"p > 0 by search and samples: {sentences} sentences, {words} words"
        for name, of_way in (("search", self.searched), ("samples", self.sampled)):
            yield f"{name}: LLH={of_way.llh:.15g} PPL={of_way.perplexity:.15g}"
        yield (
            f"gap: {self.nats_per_sentence:.6g} nats per sentence, {self.nats_per_word:.6g} nats per word, "
            f"ratio of perplexities {self.ratio:.6g}"
        )
        yield f"search above samples: {self.above} sentences"

    def to_json(self) -> dict[str, object]:
        """Return all figures by name."""
        both = {"searched": self.searched._asdict(), "sampled": self.sampled._asdict()}
        return self._asdict() | both


def gap(searched: Sequence[float], sampled: Sequence[float], lengths: Sequence[int]) -> Gap:
    """Return the gap between log probabilities, in nats, of the same sentences; `lengths` are in words.

    >>> found = gap([-6.0, -2.0], [-5.0, -2.5], [3, 2])
    >>> found.nats_per_sentence, found.nats_per_word, round(found.ratio, 6), found.above
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
