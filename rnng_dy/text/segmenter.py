"""Segmentation of raw text into sentences of tokens, each with its position in the text."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from oracle.brackets import unspelled
from oracle.errors import InputError
from oracle.files import replacing
from rnng_dy.text.characters import HAN, CleanText, clean
from rnng_dy.text.conventions import Conventions
from rnng_dy.text.learning import learn
from rnng_dy.text.splitting import SentenceSplitter
from rnng_dy.text.tokens import Tokenizer, spelled

TEXT = "text.json"
"""The file of a model folder with the settings that segment raw text."""
FORMAT, VERSION = "rnng_dy text", 1
LONGEST_WHOLE = 30
"""The most characters of an exception; anything longer is an address, or noise."""
_HAN_RUN = re.compile(f"[{HAN}]+")
_TIMES_THE_MEAN = 2

PART = 1 << 16
"""Characters of a text that are segmented at a time."""


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

    def save(self, path: Path) -> None:
        """Write the segmenter as JSON."""
        with replacing(path) as stream:
            json.dump(self.to_json(), stream, ensure_ascii=False, indent=1)

    @classmethod
    def load(cls, path: Path | zipfile.Path) -> Segmenter:
        """Return the segmenter of a file. Raises InputError for a damaged one."""
        try:
            return cls.from_json(json.loads(path.read_bytes().decode("utf-8", "surrogateescape")))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"damaged ({type(error).__name__}: {error}): train the model again, or delete this file; text is then "
                "read as the model's words let see",
                path,
            ) from None

    def sentences(self, text: str, one_per_line: bool = False) -> list[TextSentence]:
        """Return the sentences of a text; a blank line ends a sentence, or with `one_per_line` the end of each line.

        Raises RnngError for characters that UTF-8 cannot encode. Raises InputError, with the line, for Chinese without
        blanks if the treebank's tokens are words.
        """
        cleaned = clean(text)
        _require_words(cleaned.text, self.conventions)
        found, line, counted = [], 1, 0
        for begin, end in self._splitter.spans(cleaned.text, one_per_line):
            line += cleaned.text.count("\n", counted, begin)
            counted = begin
            found.append(self._sentence(text, cleaned, begin, end, line))
        return found

    def stream(self, lines: Iterable[str], one_per_line: bool = False) -> Iterator[TextSentence]:
        """Yield what `sentences` returns for the text of all lines, while they are read.

        Raises as `sentences` does. Whether Chinese has blanks is decided for each part of the text.
        """
        # the text that is read and not yet segmented, with its place and line in the whole text
        rest, begin, line = "", 0, 1
        lines = iter(lines)
        while text := rest + "".join(_taken(lines, max(PART, 2 * len(rest)))):
            is_end = text == rest
            try:
                found = self.sentences(text, one_per_line)
            except InputError as error:
                raise InputError(error.message, line=(error.line or 1) + line - 1) from None
            # the last sentence may continue
            last = None if is_end or not found else found.pop()
            for sentence in found:
                spans = tuple((left + begin, right + begin) for left, right in sentence.spans)
                yield sentence._replace(spans=spans, line=sentence.line + line - 1)
            if is_end:
                return
            rest = "" if last is None else text[last.spans[0][0] :]
            line += text.count("\n", 0, len(text) - len(rest))
            begin += len(text) - len(rest)

    def _sentence(
        self, text: str, cleaned: CleanText, begin: int, end: int, line: int
    ) -> TextSentence:
        pieces = self._tokenizer.pieces(cleaned.text, begin, end)
        tokens = tuple(spelled(cleaned.text, begin, end, pieces, self.conventions))
        spans = tuple(cleaned.span(piece.begin, piece.end) for piece in pieces)
        return TextSentence(tokens, spans, text[spans[0][0] : spans[-1][1]], line)


def _taken(lines: Iterator[str], size: int) -> Iterator[str]:
    """Yield lines of at least `size` characters together, if there are as many."""
    taken = 0
    for line in lines:
        yield line
        taken += len(line)
        if taken >= size:
            return


def _wholes(sentences: Collection[Sequence[str]], tokenizer: Tokenizer) -> frozenset[str]:
    """Return training words that the tokenizer splits, but that are more frequent than their parts in sequence."""
    rows = [[unspelled(word) for word in sentence] for sentence in sentences]
    words = Counter(word for row in rows for word in row)
    parts = {word: tuple(tokenizer.words(word)) for word in words if 1 < len(word) <= LONGEST_WHOLE}
    parts = {word: found for word, found in parts.items() if len(found) > 1}
    wanted = set(parts.values())
    firsts, lengths = {found[:2] for found in wanted}, {len(found) for found in wanted}
    seen = Counter(
        found
        for row in rows
        for i, pair in enumerate(pairwise(row))
        if pair in firsts
        for length in lengths
        if i + length <= len(row) and (found := tuple(row[i : i + length])) in wanted
    )
    return frozenset(word for word, found in parts.items() if words[word] > seen[found])


def _require_words(text: str, conventions: Conventions) -> None:
    """Raise InputError, with the line, if a clean Chinese text has no blanks between its words.

    It has none if one run of characters is longer than every training word, or if runs are on average over twice as
    long as training words.
    """
    runs = list(_HAN_RUN.finditer(text)) if conventions.han == "words" else []
    if not runs:
        return
    mean = sum(len(run[0]) for run in runs) / len(runs)
    longest = conventions.longest_han if mean <= _TIMES_THE_MEAN * conventions.mean_han else 1
    found = next((run for run in runs if len(run[0]) > longest), None)
    if found is not None:
        raise InputError(
            f"no blank tells where the words of {found[0]!r:.20} end, and this model was trained on Chinese words: "
            "put blanks between words, or train a model on single characters",
            line=text.count("\n", 0, found.start()) + 1,
        )
