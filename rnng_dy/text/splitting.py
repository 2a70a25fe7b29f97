"""Splitting of texts into sentences: paragraphs, Chinese ends, and NLTK's Punkt (Kiss and Strunk 2006)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from oracle.brackets import nltk
from rnng_dy.text.characters import CLOSERS, HAN_ENDS
from rnng_dy.text.conventions import CLITIC, NUMBERED, TITLES, Conventions

_LOWER_CASE = 1 << 5
"""Punkt's flag of a word that was seen in lower case inside a sentence."""
_PARAGRAPH = re.compile(r"\n(?: *\n)+")
_LINE = re.compile(r"\n")
_HAN_END = re.compile(rf"[{HAN_ENDS}]+[!?…]*[{re.escape(CLOSERS)}\"']*")
_GOES_ON = re.compile(r"[,;:!?–—)\]}]|\.(?!\.)|--|\[\d")
"""Marks that continue a sentence, or begin a note to the previous one."""
_NUMBER_OF_AN_ITEM = re.compile(r"\d{1,3}\.\s*\Z")
_WORD_BEFORE = re.compile(r"([^\W\d]+(?:['’][^\W\d]+)?)\.\s+\Z")
_LONGEST_WORD_BEFORE = 20
_NAME_FOLLOWS = re.compile(rf"\b(?:{'|'.join(TITLES)}|[A-Z]\.\s+[A-Z])\.\s+\Z")
"""A title, or two initials with a blank between them."""
_INITIALS_BEFORE = re.compile(r"(?:[^\W\d_]\.){2,}\s+\Z")
_WORD = re.compile(r"[^\W\d_]+")

Span = tuple[int, int]


class SentenceSplitter:
    """Splits texts by the abbreviations and the sentence starters of a treebank."""

    def __init__(self, conventions: Conventions):
        parameters = nltk.tokenize.punkt.PunktParameters()
        parameters.abbrev_types = set(conventions.abbreviations)
        # a Counter does not store the unseen words that it is asked for
        parameters.ortho_context = Counter(dict.fromkeys(conventions.starters, _LOWER_CASE))
        self._conventions = conventions
        self._punkt = nltk.tokenize.punkt.PunktSentenceTokenizer(parameters)

    def spans(self, text: str, one_per_line: bool) -> Iterator[Span]:
        """Yield the spans of sentences in a clean text, none empty; with `one_per_line` the spans of its lines."""
        for begin, end in _parts(text, 0, len(text), _LINE if one_per_line else _PARAGRAPH):
            if one_per_line:
                yield begin, end
            else:
                for left, right in _parts(text, begin, end, _HAN_END):
                    yield from self._punkt_spans(text, left, right)

    def _punkt_spans(self, text: str, begin: int, end: int) -> Iterator[Span]:
        """Yield Punkt's spans, joining those that continue the one before."""
        cuts = [begin]
        for left, _ in self._punkt.span_tokenize(text[begin:end]):
            if left and self._begins(text, cuts[-1], begin + left):
                cuts.append(begin + left)
        for left, right in pairwise([*cuts, end]):
            yield from _stripped(text, left, right)

    def _begins(self, text: str, begin: int, start: int) -> bool:
        """Return whether a sentence may begin at `start`, after the one that begins at `begin`."""
        if _GOES_ON.match(text, start) or _NUMBER_OF_AN_ITEM.match(text, begin, start):
            return False
        before = max(begin, start - _LONGEST_WORD_BEFORE)
        if _NAME_FOLLOWS.search(text, before, start):
            return False
        if _INITIALS_BEFORE.search(text, before, start) and (word := _WORD.match(text, start)):
            return word[0][0].isupper() and word[0].lower() in self._conventions.starters
        if not (text[start].isdigit() or text[start].islower()):
            return True
        found = _WORD_BEFORE.search(text, before, start)
        word = found[1] if found else ""
        if text[start].isdigit():
            return word not in NUMBERED
        return word.lower() in self._conventions.starters or CLITIC.search(word) is not None


def _parts(text: str, begin: int, end: int, mark: re.Pattern) -> Iterator[Span]:
    """Yield the spans that end with a mark or with the text."""
    for found in mark.finditer(text, begin, end):
        yield from _stripped(text, begin, found.end())
        begin = found.end()
    yield from _stripped(text, begin, end)


def _stripped(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield the span without surrounding blanks, unless it is all blanks."""
    part = text[begin:end].lstrip()
    if part:
        yield end - len(part), end - len(part) + len(part.rstrip())
