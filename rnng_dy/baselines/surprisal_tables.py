"""Surprisals of another program, read from a table, as a scorer beside the models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple

from oracle.errors import InputError, RnngError
from oracle.tables import read_columns
from rnng_dy.evaluation.records import END
from rnng_dy.search.words import WordRecord, WordScorer
from rnng_dy.text.conventions import unspelled

_NEEDED = ("sentence_id", "token", "surprisal")
_UNKNOWN = "<unk>"
_PLAIN = {"``": '"', "''": '"', "--": "-", "...": "…"}
_PLAIN_CHARACTERS = str.maketrans("“”„‘’`–—", "\"\"\"'''--")


class _Row(NamedTuple):
    sentence: str
    text: str
    """The token in plain letters, which may be none; empty for the end of the sentence."""
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
        self._sentences: dict[str, list[_Row]] = {}
        for _, rows in groupby(_rows(path), lambda row: row.sentence):
            of_sentence = list(rows)
            self._sentences.setdefault("".join(row.text for row in of_sentence), of_sentence)

    @classmethod
    def title(cls, path: str | None, order: int) -> str:
        """See `WordScorer`."""
        return Path(path or cls.name).name

    def surprisals_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> list[list[WordRecord]]:
        """See `WordScorer`. Raises InputError for a sentence that the table lacks."""
        return [self._records(tokens) for tokens in sentences]

    def _records(self, tokens: Sequence[str]) -> list[WordRecord]:
        plain = [_plain(token) for token in tokens]
        rows = self._sentences.get("".join(plain))
        if rows is None:
            raise InputError(f"no sentence {' '.join(tokens)!r:.200} in this table", self._path)
        ends = [row.surprisal for row in rows if row.is_end]
        begins = [0, *accumulate(len(row.text) for row in rows)]
        records, position = [], 0
        for token, text in zip(tokens, plain, strict=True):
            end = position + len(text)
            inside = [
                row
                for row, begin in zip(rows, begins, strict=False)
                if position <= begin < end and not row.is_end
            ]
            known = all(row.known for row in inside)
            bits = math.fsum(row.surprisal for row in inside)
            records.append(WordRecord(token, token if known else _UNKNOWN, bits))
            position = end
        return [*records, WordRecord(None, None, math.fsum(ends) if ends else math.nan)]


def _rows(path: str) -> Iterator[_Row]:
    for line, (sentence, token, bits, known) in read_columns(path, _NEEDED, ["known"]):
        try:
            surprisal = float(bits)
        except ValueError:
            raise InputError(f"the surprisal {bits!r} is no number", path, line) from None
        is_end = token == END
        yield _Row(sentence, "" if is_end else _plain(token), surprisal, known != "0", is_end)


def _plain(token: str) -> str:
    r"""Return a token without blanks and marks of subwords, with plain brackets, quotes and dashes.

    >>> [_plain(token) for token in ("-LRB-", "``", "Ġdog", "▁dog", "a\u00a0b", "’s", "1\\/2")]
    ['(', '"', 'dog', 'dog', 'ab', "'s", '1/2']
    """
    text = unspelled("".join(token.split()).lstrip("Ġ▁"))
    return _PLAIN.get(text) or text.translate(_PLAIN_CHARACTERS)
