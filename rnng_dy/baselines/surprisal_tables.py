"""Surprisals of another program, read from a table, as a scorer beside the models."""

from __future__ import annotations

import codecs
import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import accumulate, chain, groupby, zip_longest
from typing import NamedTuple

import numpy as np

from oracle.brackets import unspelled
from oracle.errors import InputError, RnngError
from oracle.files import placed
from oracle.tables import read_columns
from rnng_dy.baselines.word_scorer import WordScorer
from rnng_dy.evaluation.records import END, ROUNDING, WordRecord, surprisal_of

_NEEDED, _SENTENCE = ("token", "surprisal"), ("sentence_id", "item", "condition")
_UNKNOWN = "<unk>"
_UNKNOWNS = (_UNKNOWN, "<UNK>", "[UNK]")
_ENDS = (END, "<s>", "<eos>", "<bos>", "<|endoftext|>", "[CLS]", "[SEP]")
"""Marks of the beginning or the end of a sentence."""
_MARKS = "Ġ▁"
"""Marks of subwords that begin a word."""
_PART = re.compile(r"^##(?=.)|(?<=.)(?:@@|</w>)$")
"""Marks of subwords that go on with a word, or that a word goes on after, or that end it."""
_GAP = "\0"
"""What stands for an unknown word among the letters of a sentence."""
_PLAIN = {"``": '"', "''": '"', "--": "-", "...": "…"}
_PLAIN_CHARACTERS = str.maketrans("“”„‘’`–—", "\"\"\"'''--")


class _Token(NamedTuple):
    letters: str
    """_GAP for an unknown word; empty for a mark."""
    bits: float
    known: bool
    is_end: bool


class SurprisalTable(WordScorer):
    """The surprisals of a CSV or TSV file with the columns sentence_id, token and surprisal, in bits.

    A sentence is found by its letters, whatever its tokens are: subwords are added up to words, and a mark of subwords
    alone belongs to the word after it. If a token of the table covers several words, its surprisal belongs to the
    first. `<unk>` stands for any one word. A column known has 0 for unknown words. Columns item and condition may stand
    in place of sentence_id.
    """

    name = "surprisals"

    def __init__(self, path: str | None):
        """Raises RnngError without a file, InputError for a table that lacks a column or a number."""
        if path is None:
            raise RnngError("surprisals need a table: --scorer surprisals=TABLE.tsv")
        self._path = path
        self._sentences: dict[str, list[_Token]] = {}
        self._unclear: set[str] = set()
        rows = list(read_columns(path, _NEEDED, ("known", *_SENTENCE)))
        if rows and not any(rows[0][1][3:]):
            raise InputError(f"no column {' or '.join(map(repr, _SENTENCE[:2]))}", path, 1)
        plain = _ByteLetters() if any("Ġ" in cells[0] for _, cells in rows) else _plain
        for _, of_sentence in groupby(rows, lambda row: row[1][3:]):
            tokens = []
            for line, (token, bits, known, *_) in of_sentence:
                is_end, is_unknown = token in _ENDS, token in _UNKNOWNS
                text = "" if is_end else _GAP if is_unknown else plain(token)
                with placed(path, line):
                    is_known = known != "0" and not is_unknown
                    tokens.append(_Token(text, surprisal_of(bits), is_known, is_end))
            letters = "".join(token.letters for token in tokens)
            both = self._sentences.setdefault(letters, tokens), tokens
            first, second = ([token._replace(bits=0.0) for token in of] for of in both)
            bits, others = ([token.bits for token in of] for of in both)
            if first != second or not np.allclose(
                bits, others, rtol=0, atol=ROUNDING, equal_nan=True
            ):
                self._unclear.add(letters)
        self._with_gaps = [letters for letters in self._sentences if _GAP in letters]

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
        tokens = self._tokens_of(words)
        has_end = any(token.is_end and place == len(words) for token, place in tokens)
        parts: list[list[_Token]] = [[] for _ in (*words, END)]
        for token, place in tokens:
            # some programs begin a sentence with the mark of its end
            if not token.is_end or place == len(words):
                parts[place if has_end else min(place, len(words) - 1)].append(token)
        *bits, of_end = (math.fsum(token.bits for token in part) for part in parts)
        return [
            *(
                WordRecord(word, word if all(t.known for t in part) else _UNKNOWN, of_word)
                for word, part, of_word in zip(words, parts, bits, strict=False)
            ),
            WordRecord(None, None, of_end if has_end else math.nan),
        ]

    def _tokens_of(self, words: Sequence[str]) -> list[tuple[_Token, int]]:
        """Return the table's tokens of a sentence, each with the index of its word, or with the number of words."""
        plain = list(map(_plain, words))
        letters, shown = "".join(plain), f"{' '.join(words)!r:.200}"
        with_gaps = (s for s in self._with_gaps if letters.startswith(s.partition(_GAP)[0]))
        for found in chain([letters], with_gaps):
            tokens = self._sentences.get(found, [])
            places = _places(tokens, plain)
            if tokens and places is not None:
                if found in self._unclear:
                    message = f"the sentence {shown} is in this table with different surprisals"
                    raise InputError(f"{message}: keep one of them", self._path)
                return list(zip(tokens, places, strict=True))
        message = f"no sentence {shown} in this table"
        for near in get_close_matches(letters, self._sentences, 1, 0):
            at = next(i for i, pair in enumerate(zip_longest(letters, near)) if len({*pair}) > 1)
            there, here = (f"{of[at : at + 20]!r}" for of in (near, letters))
            message += f": the most similar one has {there} in place of {here}"
        raise InputError(message, self._path)


def _places(tokens: Sequence[_Token], words: Sequence[str]) -> list[int] | None:
    """Return the index of the word in which each token begins; None if tokens and words have different letters."""
    letters, begins = "".join(words), list(accumulate(map(len, words), initial=0))
    at, places = 0, []
    for token in tokens:
        place = bisect_right(begins, at) - 1
        places.append(place)
        if token.letters == _GAP and begins[place] == at < len(letters):
            at = begins[place + 1]
        elif letters.startswith(token.letters, at):
            at += len(token.letters)
        else:
            return None
    return places if at == len(letters) else None


def _plain(token: str) -> str:
    r"""Return a token without blanks and marks of subwords, with plain brackets, quotes and dashes.

    >>> [_plain(token) for token in ("-LRB-", "``", "Ġdog", "▁dog", "##s", "do@@", "a\u00a0b", "’s", "1\\/2")]
    ['(', '"', 'dog', 'dog', 's', 'do', 'ab', "'s", '1/2']
    """
    text = unspelled(_PART.sub("", "".join(token.split()).lstrip(_MARKS)))
    return _PLAIN.get(text) or text.translate(_PLAIN_CHARACTERS)


class _ByteLetters:
    """The letters of GPT-2's tokens, which write each byte as a letter; a letter belongs to the token that ends it.

    >>> letters = _ByteLetters()
    >>> [letters(token) for token in ("Ġcaf", "Ã©", "âĢ", "Ļ", "s")]
    ['caf', 'é', '', "'", 's']
    """

    def __init__(self) -> None:
        printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in printed]
        self._bytes = {chr(byte): byte for byte in printed}
        self._bytes |= {chr(256 + i): byte for i, byte in enumerate(others)}
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __call__(self, token: str) -> str:
        if not set(token) <= self._bytes.keys():
            return _plain(token)
        return _plain(self._decoder.decode(bytes(self._bytes[letter] for letter in token)))
