"""Tables of stimuli: the sentences of an experiment with items, conditions and regions, as CSV, TSV, xlsx or rows."""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from oracle.common.errors import InputError, RnngError
from oracle.common.tables import cell_text, read_table
from oracle.sentences import SourceSentence
from rnng_dy.text.columns import CONDITION, USUAL, Columns, Places, places, shown
from rnng_dy.text.columns import REGION as REGION
from rnng_dy.text.conventions import HAN
from rnng_dy.text.no_sentences import require_column
from rnng_dy.text.regions import USUAL_MARK, divided
from rnng_dy.text.segmenter import Segmenter

_log = logging.getLogger(__name__)
_LINE_ENDS = str.maketrans("\t\r\n", "   ")
_WORDS = re.compile(rf"(?:(?![{HAN}])\w){{2}}")
"""Two letters that `|` separates as a blank would; Chinese has no blanks."""
_NUMBER = re.compile(r"(?:[0-9]+-)*?(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)")
"""A number, or as in GECO those of a text and a sentence before it."""
_MISSING = frozenset(["NA", "NaN", "#N/A", "<NA>"])


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
    key: float | str
    """What tells it from other regions of the text: its number if it has one, else its name."""
    text: str
    cells: tuple[Any, ...]


class Stimuli(NamedTuple):
    """A table of stimuli."""

    path: str
    columns: Sequence[str]
    """Names of the columns that are carried into the output."""
    texts: Sequence[Stimulus]

    def tokenised(
        self, segmenter: Segmenter, one_per_line: bool = False
    ) -> list[list[SourceSentence]]:
        """Return each text's sentences; with `one_per_line` it is one. Raises InputError for a text without words."""
        texts = []
        for of in self.texts:
            try:
                found = segmenter.sentences(of.text, one_per_line)
            except RnngError as error:
                message = getattr(error, "message", str(error))
                raise InputError(message, self.path, of.line) from None
            if not found:
                raise InputError("a line without words", self.path, of.line)
            texts.append([replace(sentence, line=of.line) for sentence in found])
        return texts

    def conditions(self) -> Iterator[tuple[str, str, Stimulus]]:
        """Yield each text after its item and condition. Raises InputError without these columns."""
        for text in self.texts:
            if text.item is None or text.condition is None:
                name = "item" if text.item is None else CONDITION
                message = f"no column {name!r}, which a test suite needs: name it by --{name}"
                raise InputError(message, self.path, 1)
            yield text.item, text.condition, text


def read_stimuli(table: Any, columns: Columns = USUAL) -> Stimuli:
    """Return the texts of a table.

    Without a column of regions, a row is a text, and a mark may separate its regions, which are
    numbered from 1; a mark at both ends does not count. With one, the rows of the same item and
    condition are one text; if all its regions have numbers, these are their order. Columns without
    a name are left out, and blanks at the ends of cells. An empty cell of an item is filled with
    the item above it.

    Args:
        table: A file that `read_table` reads, rows as mappings from names to cells, or a DataFrame
            of pandas.
        columns: The columns that do not have the usual names.

    Raises:
        InputError: Any other table, or a text that cannot be a sentence; the error names the line
            or row.
    """
    path, first, names, lines = _rows(table)
    at = places(names, columns, path, first)
    is_wide, is_whole = len(at.texts) > 1, at.region is None
    # the condition of a text in one of several columns takes the place of the row's
    left = (*at.texts, at.region, *(i for i in at.conditions if is_wide and names[i] == CONDITION))
    carried = [i for i, name in enumerate(names) if name and i not in left]
    # a text has an item and a condition, and if it is a row, its line
    found: dict[tuple[str | None, str | None, int], list[Row]] = {}
    for line, row in _filled(lines, at, path):
        cells = [_plain(cell) for cell in row]
        item = "_".join(cells[i] for i in at.items) if at.items else None
        # rows in Python keep their numbers
        kept = tuple(cells[i] if isinstance(row[i], str) else row[i] for i in carried)
        for of in at.texts:
            if is_whole and not cells[of]:
                raise InputError(f"column {names[of]!r}: no text", path, line)
            parts = [*(cells[i] for i in at.conditions), *[names[of]] * is_wide]
            condition = "_".join(parts if any(parts) else parts[:0]) if parts else None
            region = _region(line, cells, of, at, path)
            region = region._replace(cells=(*kept, *[condition] * is_wide))
            found.setdefault((item, condition, line * is_whole), []).append(region)
    if not found:
        raise InputError("no stimuli in this table", path)
    if is_whole:
        given = [(row.line, row.text) for [row] in found.values()]
        pieces = divided(given, path, columns.mark, is_usual=True)
        for rows, parts in zip(found.values(), pieces, strict=True):
            numbered = enumerate(parts, 1)
            rows[:] = [rows[0]._replace(region=str(i), key=i, text=of) for i, of in numbered]
    elif columns.mark is not None:
        raise InputError("--mark is for tables with a text in a row, not a region", path)
    texts = [_text_of(rows, path, *key[:2]) for key, rows in found.items()]
    rows = [(text.line, text.text) for text in texts if text.text]
    what, remedy = f"column {names[at.texts[0]]!r}", "name that of texts by --column"
    numbers = "name the column of words' numbers by --region, such as zone"
    of_words = f"{numbers}, and items by --item; the columns are {shown(names)}" * is_whole
    require_column(rows, path, what, f"{remedy}, or leave the row out", of_words)
    if is_whole:
        _require_one_each(texts, path, at.items)
    if is_whole and at.word is not None and len({text for _, text in rows}) < len(rows):
        what = f"sentences in several rows, beside {names[at.word]!r}"
        raise InputError(f"{what}: name the texts by --column", path, rows[0][0])
    return Stimuli(path, [*(names[i] for i in carried), *[CONDITION] * is_wide], texts)


def _plain(cell: Any) -> str:
    return cell_text(cell).translate(_LINE_ENDS).strip()


def _filled(
    lines: Iterable[tuple[int, Sequence[Any]]], at: Places, path: str
) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the rows with merged cells filled: an empty item and, if rows are regions, its empty conditions."""
    merged = at.items if at.region is None else (*at.items, *at.conditions)
    last: Sequence[Any] = []
    filled = 0
    for line, row in lines:
        filled += bool(last) and any(not _plain(row[i]) for i in at.items)
        if last and all(_plain(row[i]) in ("", _plain(last[i])) for i in at.items):
            row = [last[i] if i in merged and not _plain(of) else of for i, of in enumerate(row)]
        last = row
        yield line, row
    if filled:
        _log.warning(f"{path}: {filled} empty cells of items are filled with the item above them")


def _region(line: int, cells: Sequence[str], text: int, at: Places, path: str) -> Row:
    """Return the region of a row, or the row's text. Raises InputError for a number, and for a text, that is none."""
    if at.region is None:
        return Row(line, "", "", cells[text], ())
    name, key = cells[at.region], cells[at.region if at.number is None else at.number]
    number = _NUMBER.fullmatch(key)
    if at.number is not None and not number:
        raise InputError(f"{key!r} is no number of a region", path, line)
    if f" {USUAL_MARK} " in cells[text]:
        raise InputError(f"{USUAL_MARK!r} in {name!r}: one row per region", path, line)
    if cells[text] in _MISSING:
        raise InputError(f"{cells[text]!r} in {name!r}: leave an empty region empty", path, line)
    # 2-3 is a number of GECO's words, and the name of other regions
    if not number or (at.number is None and number[1] != key):
        return Row(line, name, key, f" {cells[text]} ", ())
    value = float(number[1])
    return Row(line, cell_text(value) if name == key else name, value, f" {cells[text]} ", ())


def _rows(table: Any) -> tuple[str, int, Sequence[str], Iterable[tuple[int, Sequence[Any]]]]:
    """Return a table's name, the line of its header, names of columns, and rows with their lines."""
    if isinstance(table, str) or hasattr(table, "__fspath__"):
        return str(table), *read_table(table, quoted_tsv=True)
    rows = table.to_dict("records") if hasattr(table, "to_dict") else table
    rows = list(rows) if isinstance(rows, Iterable) else [rows]
    if not all(isinstance(row, Mapping) for row in rows):
        message = "stimuli are the name of a table, a DataFrame, or rows as dictionaries"
        raise InputError(message, "stimuli")
    names = list(rows[0]) if rows else []
    cells = ([row.get(name) for name in names] for row in rows)
    return "stimuli", 1, [str(name) for name in names], enumerate(cells, 1)


def _require_one_each(texts: Sequence[Stimulus], path: str, items: Sequence[int]) -> None:
    """Raise InputError if two texts have the same item and condition."""
    before: dict[tuple[str | None, str | None], str] = {}
    for text in texts if items else ():
        item, condition = text.item, text.condition
        if before.setdefault((item, condition), text.text) != text.text:
            again = "several rows" if condition is None else f"the condition {condition!r} again"
            message = (
                f"item {item!r} has {again}: if the rows are regions, name the column of their numbers by --region; "
                "else name all columns that make a condition by --condition, or an item by --item"
            )
            raise InputError(message, path, text.line)


def _text_of(rows: Sequence[Row], path: str, item: str | None, condition: str | None) -> Stimulus:
    """Return the text of regions. Raises InputError for a region that is there twice."""
    by_key: dict[float | str, Row] = {}
    for row in rows:
        if by_key.setdefault(row.key, row) is not row:
            of = " ".join(filter(None, (item, condition)))
            what = f"the sentence {of!r} has the region {row.region!r} twice"
            how = (
                "tell sentences apart by the columns of --item and --condition, each one or several"
            )
            raise InputError(f"{what}: number its regions, and {how}", path, row.line)
    is_ordered = not any(isinstance(key, str) for key in by_key)
    is_numbered = is_ordered and all(key >= 0 and key == int(key) for key in by_key)
    text, regions = "", []
    for row in sorted(rows, key=lambda row: row.key) if is_ordered else rows:
        piece = row.text
        # a blank at either side of a border is one blank, and so is a border between the letters of
        # two words
        if text and (text[-1] == " " or piece[:1] == " " or _WORDS.fullmatch(text[-1] + piece[:1])):
            text = text.rstrip(" ") + " "
        number = int(row.key) if is_numbered else None
        regions.append(StimulusRegion(row.region, len(text), row.cells, number))
        text += piece if text and text[-1] != " " else piece.lstrip(" ")
    return Stimulus(text.rstrip(" "), min(row.line for row in rows), regions, item, condition)
