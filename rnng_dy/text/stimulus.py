"""A text of an experiment and its regions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

from oracle.errors import InputError
from oracle.sentences import SourceSentence
from oracle.tables import is_whole_number
from rnng_dy.text.characters import HAN

SEPARATOR = "|"
"""The mark between the regions of a text."""
_WORDS = re.compile(rf"(?:(?![{HAN}])\w){{2}}")
"""Two letters that `|` separates as a blank would; Chinese has no blanks."""


class StimulusRegion(NamedTuple):
    """A part of a sentence."""

    name: str
    begin: int
    """Where it begins in the text of the stimulus."""
    cells: tuple[Any, ...]
    """The cells of the columns that are carried into the output."""
    number: int | None
    """Its number in the table; None if the table names its regions only."""


class Stimulus(NamedTuple):
    """A text of an experiment, which is one sentence or several."""

    text: str
    line: int
    """1-based line of the table where it begins."""
    regions: Sequence[StimulusRegion]
    item: str | None
    condition: str | None
    """None, as for the item, if the table has no such column."""

    @property
    def name(self) -> str:
        """Its item and condition."""
        return " ".join(filter(None, (self.item, self.condition)))

    @property
    def region_texts(self) -> list[tuple[StimulusRegion, str]]:
        """Return each region and its text."""
        ends = [*(region.begin for region in self.regions[1:]), len(self.text)]
        return [(r, self.text[r.begin : end]) for r, end in zip(self.regions, ends, strict=True)]

    def region_at(self, character: int) -> int:
        """Return the index of the region that has a character of the sentence."""
        return bisect_right([region.begin for region in self.regions], character) - 1

    def tokens_by_region(
        self, sentences: Sequence[SourceSentence]
    ) -> list[tuple[StimulusRegion, list[str]]]:
        """Return the tokens of each region; a token belongs to the region in which it begins."""
        found: list[list[str]] = [[] for _ in self.regions]
        for sentence in sentences:
            for token, (begin, _) in zip(sentence.tokens, sentence.spans or (), strict=True):
                found[self.region_at(begin)].append(token)
        return list(zip(self.regions, found, strict=True))


class Row(NamedTuple):
    """What a row says about a text."""

    line: int
    region: str
    number: str | None
    text: str
    cells: tuple[Any, ...]


def text_of_row(row: Row, item: str | None, condition: str | None) -> Stimulus:
    """Return the text of a row, whose regions `|` separates."""
    pieces = enumerate(_pieces(row.text), 1)
    regions = [(row._replace(region=str(i), text=text), i) for i, text in pieces]
    return Stimulus(*_joined(regions), item, condition)


def text_of_regions(
    rows: Sequence[Row], path: str, item: str | None, condition: str | None
) -> Stimulus:
    """Return the text of rows that are regions. Raises InputError for a region that is there twice."""
    names = [row.region if row.number is None else row.number for row in rows]
    is_numbered = all(map(is_whole_number, names))
    for i, (row, name) in enumerate(zip(rows, names, strict=True)):
        if name in names[:i]:
            of = " ".join(filter(None, (item, condition)))
            raise InputError(
                f"the sentence {of!r} has the region {name!r} twice: number its regions, and tell sentences apart by "
                "the columns item and condition",
                path,
                row.line,
            )
        if row.number is not None and not is_whole_number(row.number):
            raise InputError(f"{row.number!r} is no number of a region", path, row.line)
    numbers = [int(name) if is_numbered else None for name in names]
    regions = list(zip(rows, numbers, strict=True))
    if is_numbered:
        regions.sort(key=lambda pair: pair[1] or 0)
    return Stimulus(*_joined(regions), item, condition)


def _pieces(text: str) -> list[str]:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == SEPARATOR:
        # a frame, not two empty regions
        text = text[1:-1]
    return text.split(SEPARATOR)


def _joined(
    regions: Sequence[tuple[Row, int | None]],
) -> tuple[str, int, list[StimulusRegion]]:
    """Return the text of regions, its first line, and where each region begins.

    There is one blank between two if there is one at the end of a piece or the beginning, and between the letters of
    two words.
    """
    text, found = "", []
    for row, number in regions:
        piece = row.text
        if text and (text[-1] == " " or piece[:1] == " " or _WORDS.fullmatch(text[-1] + piece[:1])):
            text = text.rstrip(" ") + " "
        found.append(StimulusRegion(row.region, len(text), row.cells, number))
        text += piece if text and text[-1] != " " else piece.lstrip(" ")
    return text.rstrip(" "), min(row.line for row, _ in regions), found
