"""Likelihood and perplexity over sentences with p > 0, and comparisons of two estimates."""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from operator import ne
from typing import NamedTuple
from unicodedata import normalize

from oracle.brackets import unspelled
from oracle.common.errors import InputError
from oracle.common.files import read_lines, reading
from oracle.common.tables import joined, read_columns
from oracle.samples import LIKELIHOODS, format_likelihood, read_log_probs
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import one_word
from rnng_dy.evaluation.significance import TOO_FEW, perplexity_difference
from rnng_dy.evaluation.token_tables import plain

COLUMNS = ("words", "negative_log_p", "unknown", "vocabulary", "read", "model")
"""The columns of a table of likelihoods."""
VOCABULARIES = ("closed", "open")


Words = tuple[str, str, str]
"""What the probability of a sentence is of: the number of unknown words, one of VOCABULARIES, and
the words, as strings if it is open, else as the model reads them."""


def words_read(sentence: SourceSentence, is_open: bool) -> Words:
    """Return what a probability is of; the sentence has `unkified` words."""
    unknown = sum(map(ne, sentence.tokens, sentence.unkified))
    read = sentence.tokens if is_open else map(str, sentence.unkified)
    return str(unknown), VOCABULARIES[is_open], " ".join(map(one_word, read))


class Likelihood(NamedTuple):
    """Likelihood and perplexity of the sentences with p > 0."""

    llh: float
    """Log likelihood in nats."""
    perplexity: float
    """Perplexity per word; NaN without a sentence, infinity if it is too large for a number."""
    words: int
    sentences: int

    def lines(self, total: int) -> list[str]:
        """Return the lines to print; `total` is the number of all sentences."""
        counts = [f"sentences={self.sentences} of {total}", f"len={self.words} words"]
        return [*counts, f"LLH={self.llh:.15g}", f"PPL={self.perplexity:.15g}"]

    def warnings(self, total: int, left_out: int) -> Iterator[str]:
        """Yield warnings; `left_out` of the `total` sentences have p = 0."""
        if left_out:
            yield f"{left_out} of {total} sentences have p = 0 and are left out"
        if math.isinf(self.perplexity):
            yield "the perplexity is too large for a number: see to the likelihoods"
        if not self.sentences:
            yield "no sentence has p > 0: there is no perplexity"


def likelihood(log_marginals: Iterable[float], lengths: Iterable[int]) -> Likelihood:
    """Return the likelihood of sentences by log p in nats and lengths in words, p > 0 alone.

    Perplexity is exp(-llh / words); the end of a sentence is not a word (Dyer et al. 2016, section
    5).

    >>> total = likelihood([-2 * math.log(8), -math.inf], [2, 5])
    >>> round(total.perplexity, 6), total.words, total.sentences
    (8.0, 2, 1)
    """
    possible = [(m, n) for m, n in zip(log_marginals, lengths, strict=True) if math.isfinite(m)]
    llh, words = math.fsum(m for m, _ in possible), sum(n for _, n in possible)
    try:
        perplexity = math.exp(-llh / words) if words else math.nan
    except OverflowError:
        perplexity = math.inf
    return Likelihood(llh, perplexity, words, len(possible))


def written(sentence: SourceSentence) -> str:
    r"""Return a sentence as it is written, without white space, in which tokenisations differ.

    It is the running text, of which models have different spellings, such as `` for a quotation
    mark; else its tokens, with one character for `-LRB-`, `\/` and the like.
    """
    text = sentence.text or "".join(map(unspelled, sentence.tokens))
    return normalize("NFC", "".join(text.split()))


def rates(log_marginals: Sequence[float], texts: Sequence[str]) -> dict[str, float]:
    """Return bits per character and byte of sentences, from their log p in nats, p > 0 alone.

    They compare models of different vocabularies and tokenisations. `texts` are the sentences as
    `written`.

    >>> rates([-8 * math.log(2)], ["é("])
    {'characters': 2, 'bits_per_character': 4.0, 'bytes': 3, 'bits_per_byte': 2.6666666666666665}
    """
    as_bytes = [text.encode("utf-8", "surrogateescape") for text in texts]
    figures: dict[str, float] = {}
    for unit, strings in (("character", texts), ("byte", as_bytes)):
        total = likelihood(log_marginals, map(len, strings))
        bits = -total.llh / math.log(2) / total.words if total.words else math.nan
        figures |= {f"{unit}s": total.words, f"bits_per_{unit}": bits}
    return figures


def likelihood_lines(
    log_ps: Iterable[float], lengths: Sequence[int], words: Sequence[Words], model: str
) -> Iterator[str]:
    """Yield the lines of a table with COLUMNS of sentences, given their log p in nats."""
    yield joined(COLUMNS)
    for log_p, length, read in zip(log_ps, lengths, words, strict=True):
        yield joined([format_likelihood(length, -log_p), *read, model])


def read_other(
    path: str, sentences: Sequence[Sequence[str]], words: Sequence[Words]
) -> tuple[list[float], str | None]:
    """Return log p in nats of the same sentences by another model, and why it may not compare.

    The file is a table with COLUMNS, or one that `read_log_probs` reads. Raises InputError if it
    has other sentences: with other numbers of words, or more words that differ than are unknown.
    """
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        raise InputError("this is read several times: name a file", path)
    log_ps = read_log_probs(path, list(map(len, sentences)))
    if not next(read_lines(path))[1].startswith(LIKELIHOODS):
        return log_ps, "it does not say which words its model knows"
    lines, others = zip(*read_columns(path, COLUMNS[2:5]), strict=True)
    if [tuple(row[1:]) for row in others] == [row[1:] for row in words]:
        return log_ps, None
    if others[0][1] != words[0][1]:
        return log_ps, "one vocabulary is open, the other closed"
    with reading(path) as location:
        rows = zip(lines, others, sentences, strict=True)
        for location.line, (number, kind, read), tokens in rows:
            differing = sum(map(ne, map(plain, map(one_word, tokens)), map(plain, read.split())))
            if differing > int(number) * (kind == VOCABULARIES[0]):
                raise ValueError(f"not the words {' '.join(tokens)!r:.60} of INPUT")
    unknown = " and ".join(str(sum(int(row[0]) for row in rows)) for rows in (others, words))
    return log_ps, f"its model knows other words ({unknown} are unknown): compare both with --open"


def report(
    log_ps: Sequence[float],
    sentences: Sequence[Sequence[str]],
    texts: Sequence[str] = (),
    others: Sequence[float] | None = None,
    problem: str | None = None,
) -> tuple[list[str], dict[str, object]]:
    """Return the figures of sentences as lines and by name.

    Args:
        log_ps: log p of each sentence in nats.
        sentences: The tokens of each sentence.
        texts: The sentences as `written`, which add the rates per character and byte.
        others: log p in nats by another model or method, to compare with on the sentences with p >
            0 in both.
        problem: The reason why the difference has no interval and no p.
    """
    lengths = list(map(len, sentences))
    whole = likelihood(log_ps, lengths)
    lines = whole.lines(len(sentences))
    figures: dict[str, object] = whole._asdict() | {"of": len(sentences)}
    if texts:
        per_unit = rates(log_ps, texts)
        figures |= per_unit
        lines.append("characters={characters} bytes={bytes}".format(**per_unit))
        lines.append("bits/character={bits_per_character:.6g}".format(**per_unit))
        lines.append("bits/byte={bits_per_byte:.6g}".format(**per_unit))
    if others is not None:
        both = [r for r in zip(log_ps, others, lengths, strict=True) if all(map(math.isfinite, r))]
        first, second, words = ([row[k] for row in both] for k in range(3))
        this, other = likelihood(first, words), likelihood(second, words)
        # a table has nine digits, so that equal models have no difference
        less = perplexity_difference(second, [float(f"{x:.9g}") for x in first], words)
        if problem:
            less = less._replace(low=math.nan, high=math.nan, p=math.nan)
        ends = f"95 % interval {less.low:.6g} to {less.high:.6g}"
        interval = ends if less.low == less.low else "no interval"
        test = f"p={less.p:.4g}" if less.p == less.p else f"no p: {problem or TOO_FEW}"
        gap = (other.llh - this.llh) / this.sentences if both else math.nan
        lines += [
            f"p > 0 in both: {this.sentences} sentences, {this.words} words",
            f"this: LLH={this.llh:.15g} PPL={this.perplexity:.15g}",
            f"other: LLH={other.llh:.15g} PPL={other.perplexity:.15g}",
            f"difference: {less.value:.6g} ({interval}), {test}",
            f"gap: {gap:.6g} nats per sentence",
        ]
        pair = {"first": this._asdict(), "second": other._asdict(), "difference": less._asdict()}
        figures["against"] = {**pair, "nats_per_sentence": gap}
    return lines, figures
