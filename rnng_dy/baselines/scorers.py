"""Scorers, which measure surprisals without a model folder: n-grams, plugins, tables.

A table has the surprisals of another program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import chain, groupby, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oracle.brackets import unspelled
from oracle.common import plugins
from oracle.common.errors import InputError, RnngError
from oracle.common.plugins import Registry
from rnng_dy.baselines.kneser_ney import ORDER, KneserNey
from rnng_dy.evaluation.records import END, OPEN_MEASURES, ROUNDING, WordRecord
from rnng_dy.evaluation.token_tables import GAP, UNKNOWN, Token, places, plain, read_surprisals
from rnng_dy.scorer import Sentences, Unkified, WordScorer


class SurprisalTable(WordScorer):
    """The surprisals of a table with the columns sentence_id, token and surprisal, in bits.

    `read_surprisals` reads it. A sentence is found by its words, else by its letters, whatever its
    tokens are: subwords are added up to words, and a mark of subwords alone belongs to the word
    after it. If a token of the table is one written word, such as `can't`, and covers several
    words, its surprisal belongs to the first. `<unk>` stands for any one word; the fewest count.
    Columns item and condition may stand in place of sentence_id.
    """

    name = "surprisals"

    def __init__(self, path: str | None):
        """Raises RnngError without a file, InputError if a column or a number is missing."""
        if path is None:
            raise RnngError("surprisals need a table: --scorer surprisals=TABLE.tsv")
        self._path = path
        self._sentences: dict[str, list[list[Token]]] = {}
        """By letters: the different tokens of the sentences that have them."""
        for sentence, rows in groupby(read_surprisals(path), lambda token: token.sentence):
            if sentence is None:
                raise InputError("no column 'sentence_id' or 'item'", path, 1)
            tokens = list(rows)
            self.of_strings = {*OPEN_MEASURES} <= tokens[0].cells.keys()
            different = self._sentences.setdefault("".join(t.letters for t in tokens), [])
            if not any(_are_alike(tokens, others) for others in different):
                different.append(tokens)
        with_gaps = (letters for letters in self._sentences if GAP in letters)
        self._with_gaps = sorted(with_gaps, key=lambda letters: letters.count(GAP))

    def records_of(self, sentences: Sentences, unkified: Unkified = None) -> list[list[WordRecord]]:
        """Return the table's surprisals of the words of each sentence, and of its end.

        Raises InputError for a sentence that the table lacks, or has with different numbers, or by
        regions.
        """
        return [self._records(words) for words in sentences]

    def _records(self, words: Sequence[str]) -> list[WordRecord]:
        """Return the records of words and of the sentence's end.

        A mark of subwords after the last word belongs to the end, or to the last word of a sentence
        without one.
        """
        tokens = self._tokens_of(words)
        has_end = any(token.is_end and index == len(words) for token, index in tokens)
        subwords: list[list[Token]] = [[] for _ in (*words, END)]
        for token, index in tokens:
            # some programs begin a sentence with the mark of its end
            if not token.is_end or index == len(words):
                subwords[index if has_end else min(index, len(words) - 1)].append(token)
        *bits, end_bits = (math.fsum(token.bits for token in word) for word in subwords)
        are_known = (all(token.is_known is not False for token in word) for word in subwords)
        unks = [word if known else UNKNOWN for word, known in zip(words, are_known, strict=False)]
        end = WordRecord(None, None, end_bits if has_end else math.nan)
        return [*map(WordRecord, words, unks, bits), end]

    def _tokens_of(self, words: Sequence[str]) -> list[tuple[Token, int]]:
        """Return the table's tokens of a sentence, each with the index of its word.

        The index of the sentence's end is the number of words.
        """
        letters_of = list(map(plain, words))
        letters, shown = "".join(letters_of), f"{' '.join(words)!r:.200}"
        with_gaps = (s for s in self._with_gaps if letters.startswith(s.partition(GAP)[0]))
        for candidate in chain([letters], with_gaps):
            different = self._sentences.get(candidate, [])
            exact = [s for s in different if [t.letters for t in s if t.letters] == letters_of]
            tokens, *others = exact or different or [[]]
            if tokens and (at_words := places(tokens, letters_of)) is not None:
                if others:
                    message = f"the sentence {shown} is in this table with different surprisals"
                    raise InputError(f"{message}: keep one of them", self._path)
                for token, (first, last) in zip(tokens, at_words, strict=True):
                    if first < last and self._is_several(token, words[first : last + 1]):
                        message = f"{token.text!r} is several words: give the surprisals of words"
                        raise InputError(message, self._path, token.line)
                return [(token, first) for token, (first, _) in zip(tokens, at_words, strict=True)]
        message = f"no sentence {shown} in this table"
        for near in get_close_matches(letters, self._sentences, 1, 0):
            at = next(i for i, pair in enumerate(zip_longest(letters, near)) if len({*pair}) > 1)
            there, here = (f"{text[at : at + 20]!r}" for text in (near, letters))
            message += f": the most similar one has {there} in place of {here}"
        raise InputError(message, self._path)

    def _is_several(self, token: Token, words: Sequence[str]) -> bool:
        """Return whether a token of the table is not written as one word, as `can't` is."""
        are_letters = re.search("[a-z] [a-z]", " ".join(words).lower())
        whole = self.segmenter.tokens("".join(map(unspelled, words))) if are_letters else words
        return len(token.text.split()) > 1 or [*map(plain, whole)] != [*map(plain, words)]


def _are_alike(tokens: Sequence[Token], others: Sequence[Token]) -> bool:
    first, second = ([(t.letters, t.is_known, t.is_end) for t in row] for row in (tokens, others))
    bits, other_bits = ([token.bits for token in row] for row in (tokens, others))
    return first == second and np.allclose(bits, other_bits, 0, ROUNDING, equal_nan=True)


SCORERS: Registry[type[WordScorer]] = Registry("scorer", WordScorer, KneserNey, SurprisalTable)


class OpenableScorer(NamedTuple):
    """A scorer that workers open."""

    name: str
    source: str | None = None
    """The file that it is made from; None if the user names no file."""
    order: int = ORDER
    has_trees = False
    """No search is needed."""

    @property
    def title(self) -> str:
        """Return its name in outputs: as `--scorer` names it."""
        order = "" if self.order == ORDER else f":{self.order}"
        return f"{self.name}{order}" + ("" if self.source is None else f"={self.source}")

    def content(self) -> list[object]:
        """Return what determines the scorer's results, for `content_hash`."""
        return [self.name, self.order, *self.files().values(), *plugins.loaded.values()]

    def files(self) -> dict[str, Path]:
        """Return the file that the scorer is made from, by its name."""
        return {Path(self.source).name: Path(self.source)} if self.source else {}

    def moved(self, folder: str) -> OpenableScorer:
        """Return the scorer with its file in another folder."""
        return self._replace(source=self.source and str(Path(folder, Path(self.source).name)))

    def open(self) -> WordScorer:
        """Open the scorer. Raises RnngError for an unknown name or an unsuitable file."""
        return SCORERS[self.name].open(self.source, self.order)
