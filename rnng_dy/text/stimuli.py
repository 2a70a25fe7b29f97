"""Tables of stimuli: the sentences of an experiment with items, conditions and regions, as CSV or TSV."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oracle.errors import InputError
from oracle.sentences import SourceSentence
from oracle.tables import read_table
from rnng_dy.text.characters import HAN
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import RawText

SEPARATOR = "|"
"""The mark between the regions of a text."""
REGION = "region"
_TEXT = ("text", "sentence")
_OF_A_SENTENCE = ("item", "condition")
_WORDS = re.compile(rf"(?:(?![{HAN}])\w){{2}}")
"""Two letters that `|` separates as a blank would; Chinese has no blanks."""
_LINE_ENDS = str.maketrans("\t\r\n", "   ")


class StimulusRegion(NamedTuple):
    """A part of a sentence."""

    name: str
    begin: int
    """Where it begins in the text of the sentence."""
    cells: tuple[str, ...]
    """The cells of the columns that are carried into the output."""


class Stimulus(NamedTuple):
    """A sentence of an experiment."""

    text: str
    line: int
    """1-based line of the table where it begins."""
    regions: Sequence[StimulusRegion]
    name: str = ""
    """Its item and condition."""

    @property
    def region_texts(self) -> list[tuple[str, str]]:
        """Return the name and the text of each region."""
        ends = [*(region.begin for region in self.regions[1:]), len(self.text)]
        return [
            (r.name, self.text[r.begin : end]) for r, end in zip(self.regions, ends, strict=True)
        ]

    def region_at(self, character: int) -> int:
        """Return the index of the region that has a character of the sentence."""
        return bisect_right([region.begin for region in self.regions], character) - 1

    def tokens_by_region(self, sentence: SourceSentence) -> list[tuple[str, list[str]]]:
        """Return the name and the tokens of each region; a token belongs to the region in which it begins."""
        found: list[list[str]] = [[] for _ in self.regions]
        for token, (begin, _) in zip(sentence.tokens, sentence.spans, strict=True):
            found[self.region_at(begin)].append(token)
        return [(region.name, tokens) for region, tokens in zip(self.regions, found, strict=True)]


class Stimuli(NamedTuple):
    """A table of stimuli."""

    path: str
    columns: Sequence[str]
    """Names of the columns that are carried into the output."""
    sentences: Sequence[Stimulus]

    def tokenised(self, segmenter: Segmenter, text: RawText) -> list[SourceSentence]:
        """Return the sentences as tokens. Raises InputError for a sentence without words, or with too many."""
        return [text.read_line(s.text, self.path, s.line, segmenter) for s in self.sentences]

    def conditions(self) -> Iterator[tuple[str, str, Stimulus]]:
        """Yield each sentence after its item and condition. Raises InputError without these columns."""
        lower = [name.lower() for name in self.columns]
        for name in _OF_A_SENTENCE:
            if name not in lower:
                raise InputError(f"no column {name!r}, which a test suite needs", self.path, 1)
        item, condition = map(lower.index, _OF_A_SENTENCE)
        for sentence in self.sentences:
            cells = sentence.regions[0].cells
            yield cells[item], cells[condition], sentence


def read_stimuli(path: str) -> Stimuli:
    """Return the sentences of a table whose first line names its columns.

    Commas, semicolons or tabs separate cells. The text is in the column text, or else sentence. With a column region,
    the rows of the same item and condition are one sentence. Without it, a row is a sentence, and `|` may separate its
    regions, which are numbered from 1; a `|` at both ends does not count. Columns without a name are left out.

    Raises InputError, with the line, for any other table.
    """
    first, names, lines = read_table(path, quoted_tsv=True)
    lower = [name.lower() for name in names]
    there = [lower.index(name) for name in _TEXT if name in lower]
    if not there:
        shown = ", ".join(filter(None, names)) or "none"
        raise InputError(f"no column {' or '.join(map(repr, _TEXT))}, but {shown}", path, first)
    of_text = there[0]
    region = lower.index(REGION) if REGION in lower else None
    keys = [lower.index(name) for name in _OF_A_SENTENCE if name in lower]
    if region is not None and not keys:
        message = "the column region needs a column item or condition, which tells sentences apart"
        raise InputError(message, path, first)
    carried = [i for i, name in enumerate(names) if name and i not in (of_text, region)]
    # of each sentence its first line, and the name, text and carried cells of its regions
    sentences: dict[tuple[str, ...], tuple[int, list[tuple[str, str, tuple[str, ...]]]]] = {}
    for line, row in lines:
        cells = [cell.translate(_LINE_ENDS) for cell in row]
        kept, name = tuple(cells[i] for i in carried), tuple(cells[i] for i in keys)
        if region is None:
            if not row[of_text].strip():
                raise InputError(f"column {names[of_text]!r}: no text", path, line)
            parts = [(str(i), text, kept) for i, text in enumerate(_pieces(cells[of_text]), 1)]
            sentences[(*name, str(line))] = line, parts
            continue
        _, found = sentences.setdefault((*name, ""), (line, []))
        if cells[region] in [other for other, *_ in found]:
            raise InputError(
                f"the sentence {' '.join(name)!r} has the region {cells[region]!r} twice: number its regions, and tell "
                "sentences apart by the columns item and condition",
                path,
                line,
            )
        found.append((cells[region], f" {cells[of_text]} ", kept))
    if not sentences:
        raise InputError("no stimuli in this table", path)
    joined = [_joined(" ".join(key[:-1]), *of) for key, of in sentences.items()]
    return Stimuli(path, [names[i] for i in carried], joined)


def _pieces(text: str) -> list[str]:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == SEPARATOR:
        # a frame, not two empty regions
        text = text[1:-1]
    return text.split(SEPARATOR)


def _joined(name: str, line: int, regions: Sequence[tuple[str, str, tuple[str, ...]]]) -> Stimulus:
    """Join the texts of regions.

    There is one blank between two if there is one at the end of a piece or the beginning, and between the letters of
    two words.
    """
    text, found = "", []
    for region, piece, cells in regions:
        if text and (text[-1] == " " or piece[:1] == " " or _WORDS.fullmatch(text[-1] + piece[:1])):
            text = text.rstrip(" ") + " "
        found.append(StimulusRegion(region, len(text), cells))
        text += piece if text and text[-1] != " " else piece.lstrip(" ")
    return Stimulus(text.rstrip(" "), line, found, name)
