"""Likelihood and perplexity over sentences with p > 0, and comparisons of two estimates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

from oracle.brackets import unspelled
from rnng_dy.evaluation.significance import perplexity_difference


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
    """Two estimates of the probabilities of sentences compared, over the sentences with p > 0 in both."""

    first: Likelihood
    second: Likelihood
    nats_per_sentence: float
    """Nats per sentence by which the first log likelihood is lower."""
    nats_per_word: float
    """Nats per word by which the first log likelihood is lower."""
    ratio: float
    """The first perplexity divided by the second."""
    above: int
    """Sentences with a higher probability by the first; if that is a lower bound, the second missed mass."""


def gap(first: Sequence[float], second: Sequence[float], lengths: Sequence[int]) -> Gap:
    """Return the gap between log probabilities, in nats, of the same sentences; `lengths` are in words.

    >>> found = gap([-6.0, -2.0], [-5.0, -2.5], [3, 2])
    >>> found.nats_per_sentence, found.nats_per_word, round(found.ratio, 6), found.above
    (0.25, 0.1, 1.105171, 1)
    """
    both = in_all([first, second])
    own, other = (likelihood(log_ps, lengths) for log_ps in both)
    missed, words = other.llh - own.llh, own.words
    return Gap(
        own,
        other,
        missed / own.sentences if own.sentences else math.nan,
        missed / words if words else math.nan,
        _exp(missed / words) if words else math.nan,
        sum(a > b + ABOVE for a, b in zip(*both, strict=True)),
    )


def report(
    log_ps: Sequence[float],
    sentences: Sequence[Sequence[str]],
    of_strings: bool = False,
    others: Sequence[float] | None = None,
) -> tuple[list[str], dict[str, object]]:
    """Return the figures of sentences as lines and by name.

    Args:
        log_ps: log p of each sentence in nats.
        sentences: The tokens of each sentence.
        of_strings: Whether to add the rates per character and byte.
        others: log p in nats by another model or method, to compare with.
    """
    lengths = list(map(len, sentences))
    whole = likelihood(log_ps, lengths)
    lines = whole.lines(len(sentences))
    figures: dict[str, object] = whole._asdict() | {"of": len(sentences)}
    if of_strings:
        per_unit = rates(log_ps, sentences)
        lines += per_unit.lines()
        figures |= per_unit._asdict()
    if others is not None:
        both, less = gap(log_ps, others, lengths), perplexity_difference(others, log_ps, lengths)
        lines += [
            f"p > 0 in both: {both.first.sentences} sentences, {both.first.words} words",
            f"this: LLH={both.first.llh:.15g} PPL={both.first.perplexity:.15g}",
            f"other: LLH={both.second.llh:.15g} PPL={both.second.perplexity:.15g}",
            f"difference: {less.value:.6g} (95 % interval {less.low:.6g} to {less.high:.6g}), p={less.p:.4g}",
            f"gap: {both.nats_per_sentence:.6g} nats per sentence, {both.nats_per_word:.6g} nats per word, "
            f"ratio of perplexities {both.ratio:.6g}",
            f"higher p than the other: {both.above} sentences",
        ]
        figures["against"] = {
            **both._asdict(),
            "first": both.first._asdict(),
            "second": both.second._asdict(),
            "difference": asdict(less),
        }
    return lines, figures
