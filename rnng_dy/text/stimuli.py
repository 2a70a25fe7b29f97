"""Tables of stimuli: the sentences of an experiment with items, conditions and regions, as CSV, TSV, xlsx or rows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from oracle.errors import InputError, RnngError
from oracle.sentences import SourceSentence
from oracle.tables import cell_text, is_whole_number, read_table
from rnng_dy.text.conventions import HAN
from rnng_dy.text.segmenter import Segmenter

CONDITION, REGION = "condition", "region"
_TEXT = ("text", "sentence", "content", "stimulus", "word")
_ITEM = ("item", "item_number", "item_id", "itemid")
_CONDITION = (CONDITION, "condition_name", "cond")
_REGION = (REGION, "region_name")
_NUMBER = ("region_number", "word_number", "position")
"""The usual names of columns, in lower case and with `_` for a blank; the first that is there counts."""
_LINE_ENDS = str.maketrans("\t\r\n", "   ")
SEPARATOR = "|"
"""The mark between the regions of a text."""
_WORDS = re.compile(rf"(?:(?![{HAN}])\w){{2}}")
"""Two letters that `|` separates as a blank would; Chinese has no blanks."""


class Columns(NamedTuple):
    """The names of a table's columns; those that are not given have one of the usual names, or are not there."""

    texts: Sequence[str] = ()
    """The texts; several columns hold a sentence each for a condition, whose name ends with that of the column."""
    item: str | None = None
    conditions: Sequence[str] = ()
    """The conditions of a factorial design are joined by `_`."""
    region: str | None = None
    """The name of a region, or its number."""


USUAL = Columns()
"""The usual names."""


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
    key: str
    """What tells it from other regions of the text: its number if the table has numbers, else its name."""
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

    Without a column of regions, a row is a text, and `|` may separate its regions, which are numbered from 1; a `|` at
    both ends does not count. With one, the rows of the same item and condition are one text; if all its regions have
    numbers, these are their order. Columns without a name are left out, and blanks at the ends of cells.

    Args:
        table: A file that `read_table` reads, rows as mappings from names to cells, or a DataFrame of pandas.
        columns: The columns that do not have the usual names.

    Raises:
        InputError: Any other table; the error names the line or row.
    """
    path, first, names, lines = _rows(table)
    at = _places(names, columns, path, first)
    is_wide = len(at.texts) > 1
    # the condition of a text in one of several columns takes the place of the row's
    left = (*at.texts, at.region, *(i for i in at.conditions if is_wide and names[i] == CONDITION))
    carried = [i for i, name in enumerate(names) if name and i not in left]
    found: dict[_Key, list[Row]] = {}
    for line, row in lines:
        cells = [cell_text(cell).translate(_LINE_ENDS).strip() for cell in row]
        item = None if at.item is None else cells[at.item]
        of_row = [cells[i] for i in at.conditions]
        # rows in Python keep their numbers
        kept = tuple(cells[i] if isinstance(row[i], str) else row[i] for i in carried)
        for of in at.texts:
            parts = [*of_row, names[of]] if is_wide else of_row
            condition = "_".join(parts) if parts else None
            own = (*kept, condition) if is_wide else kept
            if at.region is None:
                if not cells[of].strip():
                    raise InputError(f"column {names[of]!r}: no text", path, line)
                pieces = enumerate(_pieces(cells[of]), 1)
                rows = [Row(line, str(i), str(i), piece, own) for i, piece in pieces]
                found[item, condition, line] = rows
            else:
                key = cells[at.region if at.number is None else at.number]
                if at.number is not None and not is_whole_number(key):
                    raise InputError(f"{key!r} is no number of a region", path, line)
                if f" {SEPARATOR} " in cells[of]:
                    raise InputError(f"{SEPARATOR!r} in {key!r}: one row per region", path, line)
                region = Row(line, cells[at.region], key, f" {cells[of]} ", own)
                found.setdefault((item, condition, 0), []).append(region)
    if not found:
        raise InputError("no stimuli in this table", path)
    if all(row.text.strip().isdigit() for rows in found.values() for row in rows):
        name = names[at.texts[0]]
        raise InputError(f"column {name!r} has numbers: name that of texts by --column", path)
    if at.region is None and at.item is not None and (at.conditions or is_wide):
        _require_one_each(found, path)
    texts = [_text_of(rows, path, *key[:2]) for key, rows in found.items()]
    return Stimuli(path, [*(names[i] for i in carried), *[CONDITION] * is_wide], texts)


_Key = tuple[str | None, str | None, int]
"""The item and the condition of a text, and its line if a row is a text."""


class _Places(NamedTuple):
    """The columns that a table has, as indices."""

    texts: Sequence[int]
    item: int | None
    conditions: Sequence[int]
    region: int | None
    """The column of names of regions, or else that of their numbers."""
    number: int | None


def _places(names: Sequence[str], columns: Columns, path: str, first: int) -> _Places:
    """Find the columns. Raises InputError for one that is named and not there, and without texts or what they need."""
    normal = [re.sub(r"[ .-]", "_", name.lower()) for name in names]

    def place(given: str | None, usual: Sequence[str]) -> int | None:
        if given is None:
            return next((normal.index(name) for name in usual if name in normal), None)
        if given not in names:
            raise InputError(f"no column {given!r}, but {_shown(names)}", path, first)
        return names.index(given)

    def several(given: Sequence[str], usual: Sequence[str]) -> list[int]:
        return [i for name in given or [None] if (i := place(name, usual)) is not None]

    texts, item = several(columns.texts, _TEXT), place(columns.item, _ITEM)
    if not texts:
        usual = f"{', '.join(_TEXT[:-1])} or {_TEXT[-1]}"
        message = f"no column {usual}, but {_shown(names)}: name it by --column, one or several"
        raise InputError(message, path, first)
    # beside sentences, a position is that of a trial
    number = place(None, _NUMBER if normal[texts[0]] == "word" else _NUMBER[:-1])
    conditions, region = several(columns.conditions, _CONDITION), place(columns.region, _REGION)
    region = number if region is None else region
    if region is not None and item is None and not conditions:
        message = "regions need a column item or condition: name it by --item or --condition"
        raise InputError(message, path, first)
    return _Places(texts, item, conditions, region, number)


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


def _shown(names: Sequence[str]) -> str:
    return ", ".join(filter(None, names)) or "none"


def _require_one_each(found: Mapping[_Key, Sequence[Row]], path: str) -> None:
    """Raise InputError if two texts have the same item and condition."""
    before: dict[tuple[str | None, str | None], list[str]] = {}
    for (item, condition, _), rows in found.items():
        text = [row.text for row in rows]
        if before.setdefault((item, condition), text) != text:
            message = (
                f"item {item!r} has the condition {condition!r} again: if the rows are regions, name the column of "
                "their numbers by --region; else name all columns that make a condition by --condition"
            )
            raise InputError(message, path, rows[0].line)


def _text_of(rows: Sequence[Row], path: str, item: str | None, condition: str | None) -> Stimulus:
    """Return the text of regions. Raises InputError for a region that is there twice."""
    keys = [row.key for row in rows]
    for i, row in enumerate(rows):
        if row.key in keys[:i]:
            of = " ".join(filter(None, (item, condition)))
            message = (
                f"the sentence {of!r} has the region {row.key!r} twice: number its regions, and tell sentences apart "
                "by the columns item and condition"
            )
            raise InputError(message, path, row.line)
    is_numbered = all(map(is_whole_number, keys))
    text, regions = "", []
    for row in sorted(rows, key=lambda row: int(row.key)) if is_numbered else rows:
        piece = row.text
        # a blank at either side of a border is one blank, and so is a border between the letters of two words
        if text and (text[-1] == " " or piece[:1] == " " or _WORDS.fullmatch(text[-1] + piece[:1])):
            text = text.rstrip(" ") + " "
        number = int(row.key) if is_numbered else None
        regions.append(StimulusRegion(row.region, len(text), row.cells, number))
        text += piece if text and text[-1] != " " else piece.lstrip(" ")
    return Stimulus(text.rstrip(" "), min(row.line for row in rows), regions, item, condition)


def _pieces(text: str) -> list[str]:
    text = text.strip()
    # a frame, not two empty regions
    is_framed = len(text) > 1 and text[0] == text[-1] == SEPARATOR
    return (text[1:-1] if is_framed else text).split(SEPARATOR)
