"""Surprisals of another program, read from a table, as a scorer beside the models."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple

from oracle.brackets import unspelled
from oracle.errors import InputError, RnngError
from oracle.tables import read_columns
from rnng_dy.baselines.word_scorer import WordScorer
from rnng_dy.evaluation.records import END, WordRecord

_NEEDED = ("sentence_id", "token", "surprisal")
_UNKNOWN = "<unk>"
_MARKS = "Ġ▁"
"""Marks of subwords that begin a word."""
_ROUNDING = 1e-3
"""The largest difference in bits of numbers that count as equal."""
_PLAIN = {"``": '"', "''": '"', "--": "-", "...": "…"}
_PLAIN_CHARACTERS = str.maketrans("“”„‘’`–—", "\"\"\"'''--")


class _Row(NamedTuple):
    sentence: str
    text: str
    """The token in plain letters, which may be none; empty for the end of the sentence."""
    surprisal: float
    known: bool
    is_end: bool
    begins_word: bool
    """Whether a mark or a blank before the token says so."""


class _Sentence:
    """The rows of a sentence, each with the number of letters before it."""

    def __init__(self, rows: Iterable[_Row], is_marked: bool):
        """`is_marked` says whether the table marks the tokens that begin a word; else all do."""
        rows = list(rows)
        *begins, self._letters = accumulate((len(row.text) for row in rows), initial=0)
        self.letters = "".join(row.text for row in rows)
        self._rows = list(zip(begins, rows, strict=True))
        begun = (at for at, row in self._rows if row.begins_word or not is_marked)
        self.word_begins = frozenset(at for at in begun if at < self._letters)

    def is_like(self, other: _Sentence) -> bool:
        """Return whether another sentence with the same letters has the same tokens and surprisals."""
        return len(self._rows) == len(other._rows) and all(
            at == of_other and _are_equal(row.surprisal, of.surprisal)
            for (at, row), (of_other, of) in zip(self._rows, other._rows, strict=True)
        )

    def records(self, tokens: Sequence[str], ends: Sequence[int]) -> list[WordRecord]:
        """Return the records of tokens and of the sentence's end; `ends` are 0 and the letters up to each token's end.

        A mark of subwords after the last word belongs to the end, or to the last word of a sentence without one.
        """
        has_end = any(row.is_end and at == self._letters for at, row in self._rows)
        parts: list[list[_Row]] = [[] for _ in ends]
        for at, row in self._rows:
            # some programs begin a sentence with the mark of its end
            if not row.is_end or at == self._letters:
                place = bisect_right(ends, at) - 1
                parts[place if has_end else min(place, len(tokens) - 1)].append(row)
        *bits, of_end = (math.fsum(row.surprisal for row in part) for part in parts)
        return [
            *(
                WordRecord(token, token if all(row.known for row in part) else _UNKNOWN, of_token)
                for token, part, of_token in zip(tokens, parts, bits, strict=False)
            ),
            WordRecord(None, None, of_end if has_end else math.nan),
        ]


class SurprisalTable(WordScorer):
    """The surprisals of a CSV or TSV file with the columns sentence_id, token and surprisal, in bits.

    A sentence is found by its letters, whatever its tokens are: subwords are added up to words, and a mark of subwords
    alone belongs to the word after it. If a token of the table covers several words, its surprisal belongs to the
    first. Of sentences with the same letters, such as "every day" and "everyday", the one with the most similar words
    is found. A column known has 0 for unknown words.
    """

    name = "surprisals"

    def __init__(self, path: str | None):
        """Raises RnngError without a file, InputError for a table that lacks a column or a number."""
        if path is None:
            raise RnngError("surprisals need a table: --scorer surprisals=TABLE.tsv")
        self._path = path
        rows = list(_rows(path))
        is_marked = any(row.begins_word for row in rows)
        self._sentences: dict[str, dict[frozenset[int], _Sentence]] = {}
        self._unclear: set[_Sentence] = set()
        for _, of_sentence in groupby(rows, lambda row: row.sentence):
            sentence = _Sentence(of_sentence, is_marked)
            by_words = self._sentences.setdefault(sentence.letters, {})
            known = by_words.setdefault(sentence.word_begins, sentence)
            if not known.is_like(sentence):
                self._unclear.add(known)

    @classmethod
    def title(cls, path: str | None, order: int) -> str:
        """See `WordScorer`."""
        return Path(path or cls.name).name

    def records_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> list[list[WordRecord]]:
        """See `WordScorer`. Raises InputError for a sentence that the table lacks, or has with different numbers."""
        return [self._records(tokens) for tokens in sentences]

    def _records(self, tokens: Sequence[str]) -> list[WordRecord]:
        plain = list(map(_plain, tokens))
        ends = list(accumulate(map(len, plain), initial=0))
        by_words = self._sentences.get("".join(plain), {})
        shown = f"{' '.join(tokens)!r:.200}"
        if not by_words:
            raise InputError(f"no sentence {shown} in this table", self._path)
        nearest = min(by_words, key=lambda word_begins: len(word_begins ^ {*ends[:-1]}))
        sentence = by_words[nearest]
        if sentence in self._unclear:
            message = f"the sentence {shown} is in this table with different surprisals"
            raise InputError(f"{message}: keep one of them", self._path)
        return sentence.records(tokens, ends)


def _are_equal(bits: float, other: float) -> bool:
    both_are_nan = math.isnan(bits) and math.isnan(other)
    return both_are_nan or math.isclose(bits, other, rel_tol=0, abs_tol=_ROUNDING)


def _rows(path: str) -> Iterator[_Row]:
    for line, (sentence, token, bits, known) in read_columns(path, _NEEDED, ["known"]):
        try:
            surprisal = float(bits)
        except ValueError:
            raise InputError(f"the surprisal {bits!r} is no number", path, line) from None
        if surprisal < -_ROUNDING:
            message = f"the surprisal {bits} is negative: log probabilities need the other sign"
            raise InputError(message, path, line)
        is_end = token == END
        text, begins_word = "" if is_end else _plain(token), token.startswith((" ", *_MARKS))
        yield _Row(sentence, text, surprisal, known != "0", is_end, begins_word)


def _plain(token: str) -> str:
    r"""Return a token without blanks and marks of subwords, with plain brackets, quotes and dashes.

    >>> [_plain(token) for token in ("-LRB-", "``", "Ġdog", "▁dog", "a\u00a0b", "’s", "1\\/2")]
    ['(', '"', 'dog', 'dog', 'ab', "'s", '1/2']
    """
    text = unspelled("".join(token.split()).lstrip(_MARKS))
    return _PLAIN.get(text) or text.translate(_PLAIN_CHARACTERS)
