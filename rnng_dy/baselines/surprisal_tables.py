"""Surprisals of another program, read from a table, as a scorer beside the models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple

from oracle.brackets import unspelled
from oracle.errors import InputError, RnngError
from oracle.tables import read_columns
from rnng_dy.evaluation.records import END
from rnng_dy.search.words import WordRecord, WordScorer

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
        self._sentences: dict[str, list[list[_Row]]] = {}
        for _, rows in groupby(_rows(path), lambda row: row.sentence):
            of_sentence = list(rows)
            letters = "".join(row.text for row in of_sentence)
            self._sentences.setdefault(letters, []).append(of_sentence)

    @classmethod
    def title(cls, path: str | None, order: int) -> str:
        """See `WordScorer`."""
        return Path(path or cls.name).name

    def surprisals_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> list[list[WordRecord]]:
        """See `WordScorer`. Raises InputError for a sentence that the table lacks, or has with different numbers."""
        return [self._records(tokens) for tokens in sentences]

    def _records(self, tokens: Sequence[str]) -> list[WordRecord]:
        plain = list(map(_plain, tokens))
        ends = list(accumulate(map(len, plain), initial=0))
        sentences = self._sentences.get("".join(plain), [])
        unlike = [_unlike(rows, ends) for rows in sentences]
        found = [
            _records_of(rows, tokens, ends)
            for rows, n in zip(sentences, unlike, strict=True)
            if n == min(unlike)
        ]
        shown = f"{' '.join(tokens)!r:.200}"
        if not found:
            raise InputError(f"no sentence {shown} in this table", self._path)
        for records in zip(*found, strict=True):
            bits = [record.surprisal for record in records]
            if max(bits) - min(bits) > _ROUNDING:
                message = f"the sentence {shown} is in this table with different surprisals"
                raise InputError(f"{message}: keep one of them", self._path)
        return found[0]


def _unlike(rows: Sequence[_Row], ends: Sequence[int]) -> int:
    """Return the number of places where a word ends in the rows alone, or alone in tokens with these ends."""
    is_marked = any(row.begins_word for row in rows)
    begins = accumulate((len(row.text) for row in rows), initial=0)
    of_rows = {
        at for row, at in zip(rows, begins, strict=False) if row.begins_word or not is_marked
    }
    return len((of_rows | {0, ends[-1]}) ^ {*ends})


def _records_of(
    rows: Sequence[_Row], tokens: Sequence[str], ends: Sequence[int]
) -> list[WordRecord]:
    """Return the records of tokens and of the sentence's end; `ends` are 0 and the letters up to each token's end."""
    begins = list(accumulate((len(row.text) for row in rows), initial=0))
    has_end = any(row.is_end for row in rows)
    # a mark of subwords after the last word belongs to the end of the sentence, if the rows have it
    limits = [*ends[:-1], ends[-1] if has_end else math.inf]
    records = []
    for token, begin, end in zip(tokens, limits, limits[1:], strict=False):
        inside = [
            row
            for row, at in zip(rows, begins, strict=False)
            if begin <= at < end and not row.is_end
        ]
        known = all(row.known for row in inside)
        bits = math.fsum(row.surprisal for row in inside)
        records.append(WordRecord(token, token if known else _UNKNOWN, bits))
    of_end = (row.surprisal for row, at in zip(rows, begins, strict=False) if at >= limits[-1])
    return [*records, WordRecord(None, None, math.fsum(of_end) if has_end else math.nan)]


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
