"""Segmentation of raw text into sentences of tokens, each with its position in the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from rnng_dy.text.characters import CleanText, clean
from rnng_dy.text.conventions import Conventions, unspelled
from rnng_dy.text.han import require_words
from rnng_dy.text.learning import learn
from rnng_dy.text.spelling import spelled
from rnng_dy.text.splitting import SentenceSplitter
from rnng_dy.text.tokens import Tokenizer

FORMAT, VERSION = "rnng_dy text", 1
LONGEST_WHOLE = 30
"""The most characters of an exception; anything longer is an address, or noise."""


class TextSentence(NamedTuple):
    """A sentence of a text."""

    tokens: tuple[str, ...]
    """Tokens as the treebank writes them: -LRB-, ``, n't."""
    spans: tuple[tuple[int, int], ...]
    """The characters of each token in the whole text, from 0, the end exclusive."""
    text: str
    """The sentence as written in the text."""
    line: int
    """1-based line of the text where the sentence begins."""


class Segmenter:
    """Splits texts into sentences of tokens in a treebank's style; by default the Penn Treebank's.

    >>> [sentence] = Segmenter().sentences("He can't (or won't).")
    >>> " ".join(sentence.tokens)
    "He ca n't -LRB- or wo n't -RRB- ."
    >>> sentence.spans[:3]
    ((0, 2), (3, 5), (5, 8))
    """

    def __init__(self, conventions: Conventions | None = None):
        self.conventions = conventions or Conventions()
        self._splitter = SentenceSplitter(self.conventions)
        self._tokenizer = Tokenizer(self.conventions)

    @classmethod
    def of_training(cls, sentences: Iterable[Sequence[str]]) -> Segmenter:
        """Return a segmenter that learns from training sentences: their abbreviations, quotes, brackets, compounds."""
        sentences = list(sentences)
        conventions = learn(sentences)
        return cls(replace(conventions, wholes=_wholes(sentences, Tokenizer(conventions))))

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Segmenter:
        """Return a segmenter that learns from the words of a vocabulary alone, without sentences."""
        # the made-up end keeps the last word from counting as the end of a sentence
        return cls.of_training([[*words, "END"]])

    def to_json(self) -> dict[str, object]:
        """Return the content of text.json."""
        return {"format": FORMAT, "version": VERSION, **self.conventions.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Segmenter:
        """Return the segmenter that `to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        given = dict(data)
        if (given.pop("format"), given.pop("version")) != (FORMAT, VERSION):
            raise ValueError("not of this version of rnng_dy")
        return cls(Conventions.from_json(given))

    def sentences(self, text: str, one_per_line: bool = False) -> list[TextSentence]:
        """Return the sentences of a text; a blank line ends a sentence, or with `one_per_line` the end of each line.

        Raises RnngError for characters that UTF-8 cannot encode. Raises InputError, with the line, for Chinese without
        blanks if the treebank's tokens are words.
        """
        cleaned = clean(text)
        require_words(cleaned.text, self.conventions)
        found, line, counted = [], 1, 0
        for begin, end in self._splitter.spans(cleaned.text, one_per_line):
            line += cleaned.text.count("\n", counted, begin)
            counted = begin
            found.append(self._sentence(text, cleaned, begin, end, line))
        return found

    def _sentence(
        self, text: str, cleaned: CleanText, begin: int, end: int, line: int
    ) -> TextSentence:
        pieces = self._tokenizer.pieces(cleaned.text, begin, end)
        tokens = tuple(spelled(cleaned.text, begin, end, pieces, self.conventions))
        spans = tuple(cleaned.span(piece.begin, piece.end) for piece in pieces)
        return TextSentence(tokens, spans, text[spans[0][0] : spans[-1][1]], line)


def _wholes(sentences: Collection[Sequence[str]], tokenizer: Tokenizer) -> frozenset[str]:
    """Return training words that the tokenizer splits, but that are more frequent than their parts in sequence."""
    spelled_words = Counter(word for sentence in sentences for word in sentence)
    as_text = {word: unspelled(word) for word in spelled_words}
    words: Counter[str] = Counter()
    for word, n in spelled_words.items():
        words[as_text[word]] += n
    parts = {word: tuple(tokenizer.words(word)) for word in words if 1 < len(word) <= LONGEST_WHOLE}
    parts = {word: found for word, found in parts.items() if len(found) > 1}
    wanted, seen = set(parts.values()), Counter()
    firsts = {found[:2] for found in wanted}
    lengths = sorted({len(found) for found in wanted})
    for sentence in sentences:
        row = [as_text[word] for word in sentence]
        for i, pair in enumerate(pairwise(row)):
            if pair in firsts:
                there = (tuple(row[i : i + length]) for length in lengths)
                seen.update(found for found in there if found in wanted)
    return frozenset(word for word, found in parts.items() if words[word] > seen[found])
