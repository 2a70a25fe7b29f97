"""Surprisals of another program, read from a table, as a scorer beside the models."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import numpy as np

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


class _Token(NamedTuple):
    begin: int
    """Number of letters of the sentence before it."""
    surprisal: float
    known: bool
    is_end: bool


class SurprisalTable(WordScorer):
    """The surprisals of a CSV or TSV file with the columns sentence_id, token and surprisal, in bits.

    A sentence is found by its letters, whatever its tokens are: subwords are added up to words, and a mark of subwords
    alone belongs to the word after it. If a token of the table covers several words, its surprisal belongs to the
    first. A column known has 0 for unknown words.
    """

    name = "surprisals"

    def __init__(self, path: str | None):
        """Raises RnngError without a file, InputError for a table that lacks a column or a number."""
        if path is None:
            raise RnngError("surprisals need a table: --scorer surprisals=TABLE.tsv")
        self._path = path
        self._sentences: dict[str, list[_Token]] = {}
        self._unclear: set[str] = set()
        rows = read_columns(path, _NEEDED, ["known"])
        for _, of_sentence in groupby(rows, lambda row: row[1][0]):
            letters, tokens = "", []
            for line, (_, token, bits, known) in of_sentence:
                is_end = token == END
                surprisal = self._surprisal(bits, line)
                tokens.append(_Token(len(letters), surprisal, known != "0", is_end))
                letters += "" if is_end else _plain(token)
            if not _are_alike(tokens, self._sentences.setdefault(letters, tokens)):
                self._unclear.add(letters)

    def _surprisal(self, bits: str, line: int) -> float:
        try:
            surprisal = float(bits)
        except ValueError:
            raise InputError(f"the surprisal {bits!r} is no number", self._path, line) from None
        if surprisal < -_ROUNDING:
            message = f"the surprisal {bits} is negative: log probabilities need the other sign"
            raise InputError(message, self._path, line)
        return surprisal

    def records_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> list[list[WordRecord]]:
        """See `WordScorer`. Raises InputError for a sentence that the table lacks, or has with different numbers."""
        return [self._records(words) for words in sentences]

    def _records(self, words: Sequence[str]) -> list[WordRecord]:
        """Return the records of words and of the sentence's end.

        A mark of subwords after the last word belongs to the end, or to the last word of a sentence without one.
        """
        plain = list(map(_plain, words))
        letters, ends = "".join(plain), list(accumulate(map(len, plain), initial=0))
        shown = f"{' '.join(words)!r:.200}"
        if letters not in self._sentences:
            raise InputError(f"no sentence {shown} in this table", self._path)
        if letters in self._unclear:
            message = f"the sentence {shown} is in this table with different surprisals"
            raise InputError(f"{message}: keep one of them", self._path)
        tokens = self._sentences[letters]
        has_end = any(token.is_end and token.begin == len(letters) for token in tokens)
        parts: list[list[_Token]] = [[] for _ in ends]
        for token in tokens:
            # some programs begin a sentence with the mark of its end
            if not token.is_end or token.begin == len(letters):
                place = bisect_right(ends, token.begin) - 1
                parts[place if has_end else min(place, len(words) - 1)].append(token)
        *bits, of_end = (math.fsum(token.surprisal for token in part) for part in parts)
        return [
            *(
                WordRecord(word, word if all(t.known for t in part) else _UNKNOWN, of_word)
                for word, part, of_word in zip(words, parts, bits, strict=False)
            ),
            WordRecord(None, None, of_end if has_end else math.nan),
        ]


def _are_alike(tokens: Sequence[_Token], others: Sequence[_Token]) -> bool:
    """Return whether sentences with the same letters have the same tokens and surprisals."""
    if [token.begin for token in tokens] != [token.begin for token in others]:
        return False
    bits, of_others = ([token.surprisal for token in of] for of in (tokens, others))
    return np.allclose(bits, of_others, rtol=0, atol=_ROUNDING, equal_nan=True)


def _plain(token: str) -> str:
    r"""Return a token without blanks and marks of subwords, with plain brackets, quotes and dashes.

    >>> [_plain(token) for token in ("-LRB-", "``", "Ġdog", "▁dog", "a\u00a0b", "’s", "1\\/2")]
    ['(', '"', 'dog', 'dog', 'ab', "'s", '1/2']
    """
    text = unspelled("".join(token.split()).lstrip(_MARKS))
    return _PLAIN.get(text) or text.translate(_PLAIN_CHARACTERS)
