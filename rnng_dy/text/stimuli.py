"""Tables of stimuli: the sentences of an experiment with items, conditions and regions, as CSV, TSV, xlsx or rows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oracle.errors import InputError
from oracle.numerals import is_whole_number
from oracle.sentences import SourceSentence
from oracle.tables import cell_text, read_table
from rnng_dy.text.characters import HAN
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import RawText

SEPARATOR = "|"
"""The mark between the regions of a text."""
CONDITION, REGION = "condition", "region"
_TEXT = ("text", "sentence", "content", "stimulus", "word")
_ITEM = ("item", "item_number", "item_id", "itemid")
_CONDITION = (CONDITION, "condition_name", "cond")
_REGION = (REGION, "region_name")
_NUMBER = ("region_number", "word_number", "position")
"""The usual names of columns, in lower case and with `_` for a blank; the first that is there counts."""
_WORDS = re.compile(rf"(?:(?![{HAN}])\w){{2}}")
"""Two letters that `|` separates as a blank would; Chinese has no blanks."""
_LINE_ENDS = str.maketrans("\t\r\n", "   ")


class Columns(NamedTuple):
    """The names of a table's columns; those that are not given have one of the usual names, or are not there."""

    texts: Sequence[str] = ()
    """The texts; several columns hold a sentence each for a condition, which has the column's name."""
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
    cells: tuple[str, ...]
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


class Stimuli(NamedTuple):
    """A table of stimuli."""

    path: str
    columns: Sequence[str]
    """Names of the columns that are carried into the output."""
    texts: Sequence[Stimulus]
    values: Mapping[str, Mapping[str, Any]] = {}
    """The values of columns by their texts, if the table is rows in Python."""

    def tokenised(self, segmenter: Segmenter, text: RawText) -> list[list[SourceSentence]]:
        """Return each text's sentences. Raises InputError for a text without words, and for a sentence too long."""
        return [text.read_cell(s.text, self.path, s.line, segmenter) for s in self.texts]

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
    numbers, these are their order. Columns without a name are left out.

    Args:
        table: A file that `read_table` reads, rows as mappings from names to cells, or a DataFrame of pandas.
        columns: The columns that do not have the usual names.

    Raises:
        InputError: Any other table; the error names the line or row.
    """
    path, first, names, lines, values = _rows(table)

    def place(given: str | None, usual: Sequence[str]) -> int | None:
        normal = [re.sub(r"[ .-]", "_", name.lower()) for name in names]
        found = [normal.index(name) for name in usual if name in normal]
        if given is not None:
            found = [i for i, name in enumerate(names) if name == given]
            if not found:
                raise InputError(f"no column {given!r}, but {_shown(names)}", path, first)
        return found[0] if found else None

    of_text = [i for name in columns.texts or [None] if (i := place(name, _TEXT)) is not None]
    if not of_text:
        usual = f"{', '.join(_TEXT[:-1])} or {_TEXT[-1]}"
        message = f"no column {usual}, but {_shown(names)}: name it by --column, one or several"
        raise InputError(message, path, first)
    is_wide = len(of_text) > 1
    item = place(columns.item, _ITEM)
    given: Sequence[str | None] = columns.conditions or [None]
    of_condition = [i for name in given if (i := place(name, _CONDITION)) is not None]
    number = place(None, _NUMBER)
    region = place(columns.region, _REGION)
    region = number if region is None else region
    if region is not None and item is None and not of_condition:
        raise InputError(
            "regions need a column item or condition, which tells sentences apart: name it by --item or --condition",
            path,
            first,
        )
    carried = [i for i, name in enumerate(names) if name and i not in (*of_text, region)]
    found: dict[tuple[object, ...], list[_Row]] = {}
    for line, row in lines:
        cells = [cell.translate(_LINE_ENDS) for cell in row]
        for of in of_text:
            of_row = None if item is None else cells[item]
            parts = [names[of]] * is_wide + [cells[i] for i in of_condition] * (not is_wide)
            key = of_row, "_".join(parts) if parts else None, line if region is None else 0
            if region is None and not cells[of].strip():
                raise InputError(f"column {names[of]!r}: no text", path, line)
            kept = (*(cells[i] for i in carried), *parts[: int(is_wide)])
            name, text = ("", cells[of]) if region is None else (cells[region], f" {cells[of]} ")
            at = None if number is None else cells[number]
            found.setdefault(key, []).append(_Row(line, name, at, text, kept))
    if not found:
        raise InputError("no stimuli in this table", path)
    if all(row.text.strip().isdigit() for rows in found.values() for row in rows):
        name = names[of_text[0]]
        raise InputError(f"column {name!r} has numbers: name that of texts by --column", path)
    if region is None:
        if item is not None and (of_condition or is_wide):
            _require_one_each(found, path)
        texts = [_of_row(*rows, *key[:2]) for key, rows in found.items()]
    else:
        texts = [_of_rows(rows, path, *key[:2]) for key, rows in found.items()]
    return Stimuli(path, [*(names[i] for i in carried), *[CONDITION] * is_wide], texts, values)


class _Row(NamedTuple):
    """What a row says about a text."""

    line: int
    region: str
    number: str | None
    text: str
    cells: tuple[str, ...]


def _rows(
    table: Any,
) -> tuple[str, int, Sequence[str], Iterable[tuple[int, Sequence[str]]], Mapping[str, Any]]:
    """Return a table's name, the line of its header, names of columns, rows with their lines, and values by texts."""
    if isinstance(table, str) or hasattr(table, "__fspath__"):
        return str(table), *read_table(table, quoted_tsv=True), {}
    rows = table.to_dict("records") if hasattr(table, "to_dict") else table
    rows = list(rows) if isinstance(rows, Iterable) else [rows]
    if not all(isinstance(row, Mapping) for row in rows):
        message = "stimuli are the name of a table, a DataFrame, or rows as dictionaries"
        raise InputError(message, "stimuli")
    names = list(rows[0]) if rows else []
    texts = ([cell_text(row.get(name)) for name in names] for row in rows)
    values = {
        str(name): {cell_text(row.get(name)): row.get(name) for row in rows} for name in names
    }
    return "stimuli", 1, [str(name) for name in names], enumerate(texts, 1), values


def _shown(names: Sequence[str]) -> str:
    return ", ".join(filter(None, names)) or "none"


def _require_one_each(found: Mapping[tuple[Any, ...], Sequence[_Row]], path: str) -> None:
    """Raise InputError if two texts have the same item and condition."""
    before: dict[tuple[Any, ...], str] = {}
    for key, [row] in found.items():
        if before.setdefault(key[:2], row.text) != row.text:
            item, condition, _ = key
            raise InputError(
                f"item {item!r} has the condition {condition!r} again: if the rows are regions, name the column of "
                "their numbers by --region; else name all columns that make a condition by --condition",
                path,
                row.line,
            )


def _of_row(row: _Row, item: str | None, condition: str | None) -> Stimulus:
    """Return the text of a row, whose regions `|` separates."""
    pieces = enumerate(_pieces(row.text), 1)
    regions = [(row._replace(region=str(i), text=text), i) for i, text in pieces]
    return Stimulus(*_joined(regions), item, condition)


def _of_rows(rows: Sequence[_Row], path: str, item: str | None, condition: str | None) -> Stimulus:
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
    regions: Sequence[tuple[_Row, int | None]],
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
