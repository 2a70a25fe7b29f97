"""From a text to its sentences: paragraphs, Chinese ends, and NLTK's Punkt (Kiss and Strunk 2006)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from oracle.lazy import nltk
from rnng_dy.text.characters import CLOSERS, HAN_ENDS
from rnng_dy.text.conventions import Conventions

_LOWER_CASE = 1 << 5
"""Punkt's flag of a word that was seen in lower case inside a sentence."""
_PARAGRAPH = re.compile(r"\n(?: *\n)+")
_LINE = re.compile(r"\n")
_HAN_END = re.compile(rf"[{HAN_ENDS}]+[!?…]*[{re.escape(CLOSERS)}\"']*")
_GOES_ON = re.compile(r"[,;:!?–—]|\.(?!\.)|--|\[\d")
"""Marks of the middle of a sentence, and of a note to the one before."""
_NUMBER_OF_AN_ITEM = re.compile(r"\d{1,3}\.\s*\Z")
_WORD_BEFORE = re.compile(r"([^\W\d]+)\.\s+\Z")
_LONGEST_WORD_BEFORE = 20

Span = tuple[int, int]


class _Contexts(dict):
    """Of words; those of unseen words are not kept, so that reading changes nothing."""

    def __missing__(self, word: str) -> int:
        return 0


class SentenceSplitter:
    """Splits texts as the abbreviations and the sentence starters of a treebank let it."""

    def __init__(self, conventions: Conventions):
        parameters = nltk.tokenize.punkt.PunktParameters()
        parameters.abbrev_types = set(conventions.abbreviations)
        parameters.ortho_context = _Contexts.fromkeys(conventions.starters, _LOWER_CASE)
        self._conventions = conventions
        self._punkt = nltk.tokenize.punkt.PunktSentenceTokenizer(parameters)

    def spans(self, text: str, one_per_line: bool) -> Iterator[Span]:
        """Where sentences are in a clean text, none empty; the lines where they are those."""
        for begin, end in _parts(text, 0, len(text), _LINE if one_per_line else _PARAGRAPH):
            if one_per_line:
                yield begin, end
            else:
                for left, right in _parts(text, begin, end, _HAN_END):
                    yield from self._punkt_spans(text, left, right)

    def _punkt_spans(self, text: str, begin: int, end: int) -> Iterator[Span]:
        """Punkt's, but for those that go on with what is before them."""
        cuts = [begin]
        for left, _ in self._punkt.span_tokenize(text[begin:end]):
            if left and self._begins(text, cuts[-1], begin + left):
                cuts.append(begin + left)
        for left, right in pairwise([*cuts, end]):
            yield from _stripped(text, left, right)

    def _begins(self, text: str, begin: int, start: int) -> bool:
        """May a sentence begin there, after the one that begins before?"""
        if _GOES_ON.match(text, start) or _NUMBER_OF_AN_ITEM.match(text, begin, start):
            return False
        if not (text[start].isdigit() or text[start].islower()):
            return True
        found = _WORD_BEFORE.search(text, max(begin, start - _LONGEST_WORD_BEFORE), start)
        word = found[1] if found else ""
        if text[start].isdigit():
            return word not in self._conventions.numbered
        return word.lower() in self._conventions.starters


def _parts(text: str, begin: int, end: int, mark: re.Pattern) -> Iterator[Span]:
    """The spans that end with a mark or with the text."""
    for found in mark.finditer(text, begin, end):
        yield from _stripped(text, begin, found.end())
        begin = found.end()
    yield from _stripped(text, begin, end)


def _stripped(text: str, begin: int, end: int) -> Iterator[Span]:
    """The span without blanks around; none where it has nothing else."""
    while begin < end and text[begin].isspace():
        begin += 1
    while begin < end and text[end - 1].isspace():
        end -= 1
    if begin < end:
        yield begin, end
