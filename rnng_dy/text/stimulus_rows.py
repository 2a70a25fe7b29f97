"""The rows of tables of stimuli: each with a text, or with a region of one, or a word."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed
from oracle.common.tables import cell_text, read_table
from oracle.sentences import is_list
from rnng_dy.text.columns import CONDITION, ColumnIndices
from rnng_dy.text.regions import USUAL_MARK, marks_in

_log = logging.getLogger(__name__)
_LINE_ENDS = str.maketrans("\t\r\n", "   ")
_NUMBER = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)")
_OF_WORD = re.compile(rf"(?:[0-9]+-)*?{_NUMBER.pattern}")
"""The number of a word, in GECO with those of a text and a sentence before it."""
_MISSING = frozenset(["NA", "NaN", "#N/A", "<NA>"])


class TextRow(NamedTuple):
    """The text of a row, or of a region in it."""

    line: int
    text: str
    cells: tuple[Any, ...]
    name: str = ""
    """That of its region, or the region's number."""
    number: float | None = None
    """That of its region."""
    position: float | None = None
    """The number of the word, if the table numbers words."""

    @property
    def region(self) -> float | str:
        """What tells its region from others."""
        return self.name if self.number is None else self.number


TextKey = tuple[str | None, str | None, int]
"""The item and the condition of a text, and if it is a row, its line, else 0."""


def read_rows(table: Any) -> tuple[str, int, Sequence[str], Iterable[tuple[int, Sequence[Any]]]]:
    """Return a table's name, its header's line, names of columns, and rows with their lines."""
    if isinstance(table, str) or hasattr(table, "__fspath__"):
        return str(table), *read_table(table, quoted_tsv=True)
    if hasattr(table, "itertuples"):
        named = [name for name in table.index.names if name not in (None, *table.columns)]
        table = table.reset_index(named).to_dict("records")
    rows = list(table) if isinstance(table, Iterable) else [table]
    if not all(isinstance(row, Mapping) for row in rows):
        message = "stimuli are the name of a table, a DataFrame of pandas, or rows as dictionaries"
        raise InputError(message, "stimuli")
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = ([row.get(name) for name in names] for row in rows)
    return "stimuli", 1, [str(name) for name in names], enumerate(cells, 1)


def text_rows(
    lines: Iterable[tuple[int, Sequence[Any]]], names: Sequence[str], at: ColumnIndices, path: str
) -> tuple[list[str], dict[TextKey, list[TextRow]]]:
    """Return the names of the columns that go into the output, and the rows of each text."""
    # the condition of a text in one of several columns takes the place of the row's
    is_wide = len(at.texts) > 1
    replaced = [i for i in at.conditions if is_wide and names[i] == CONDITION]
    used = (*at.texts, at.region, at.number, *replaced)
    carried = [i for i, name in enumerate(names) if name and i not in used]
    texts: dict[TextKey, list[TextRow]] = {}
    item: str | None = None
    for line, row in _filled(lines, at, path):
        cells = list(map(_plain, row))
        last, item = item, "_".join(cells[i] for i in at.items) if at.items else None
        if at.region is None and item and item == last and not all(cells[i] for i in at.conditions):
            raise InputError(f"item {item!r}: an empty condition: fill the cell", path, line)
        # rows in Python keep their numbers
        kept = [cells[i] if isinstance(row[i], str) else row[i] for i in carried]
        for i in at.texts:
            levels = [*(cells[i] for i in at.conditions), *[names[i]] * is_wide]
            condition = "_".join(levels if any(levels) else "") if levels else None
            if is_list(getattr(row[i], "text", row[i])) or (at.region is None and not cells[i]):
                raise InputError(f"column {names[i]!r}: no text, but {row[i]!r:.60}", path, line)
            with placed(path, line):
                text = _text_row(line, cells, i, at, (*kept, *[condition] * is_wide))
            texts.setdefault((item, condition, line * (at.region is None)), []).append(text)
    return [*(names[i] for i in carried), *[CONDITION] * is_wide], texts


def _plain(cell: Any) -> str:
    return cell_text(cell).translate(_LINE_ENDS).strip()


def _filled(
    lines: Iterable[tuple[int, Sequence[Any]]], at: ColumnIndices, path: str
) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the rows, with merged cells filled by those above, and warn of these.

    These are an empty item and, if rows are regions or words, its empty conditions. Below another
    item, no cell is merged with those above.
    """
    merged = at.items if at.region is None else (*at.items, *at.conditions)
    last: Sequence[Any] = []
    filled = []
    for line, row in lines:
        others = [i for i in at.items if last and _plain(row[i]) not in ("", _plain(last[i]))]
        inside = merged[: merged.index(others[0])] if others else merged
        taken = {i for i in inside if last and _plain(last[i]) and not _plain(row[i])}
        filled += [line] * bool(taken)
        last = [last[i] if i in taken else cell for i, cell in enumerate(row)]
        yield line, last
    report_filled(path, filled, "items or conditions")


def report_filled(path: str, lines: Sequence[int], what: str) -> None:
    """Warn that empty cells, as merged ones of a workbook, got the cell above; with the lines."""
    if lines:
        _log.warning(f"{path}:{lines[0]}: empty {what}: read as those above, in {len(lines)} rows")


def _text_row(
    line: int, cells: Sequence[str], text: int, at: ColumnIndices, carried: tuple[Any, ...]
) -> TextRow:
    """Return a row's text and region. Raises RnngError for a number, and a text, that is none."""
    if at.region is None:
        return TextRow(line, cells[text], carried)
    name = cells[at.region]
    number = None if at.number is None else _number(cells[at.number], _NUMBER)
    position = None if at.position is None else _number(cells[at.position], _OF_WORD)
    if at.region == at.position:
        number = position
    elif at.number is None and _NUMBER.fullmatch(name):
        number = float(name)
    if number is not None and at.number in (None, at.region):
        name = cell_text(number)
    if USUAL_MARK in marks_in(cells[text]):
        raise RnngError(f"{USUAL_MARK!r} in {name!r}: one row per region")
    if cells[text] in _MISSING:
        raise RnngError(f"{cells[text]!r} in {name!r}: leave an empty region empty")
    return TextRow(line, f" {cells[text]} ", carried, name, number, position)


def _number(cell: str, pattern: re.Pattern[str]) -> float:
    if match := pattern.fullmatch(cell):
        return float(match[1])
    raise RnngError(f"{cell!r} is no number of a region")


def by_region(rows: Sequence[TextRow], path: str, sentence: str) -> list[list[TextRow]]:
    """Return the rows of each region of a text, in order.

    Words with numbers may have a row for each of their readers. Raises InputError for any other
    region or word that is there twice, and if each region is the whole sentence.
    """
    texts, places = {row.text for row in rows}, {(row.region, row.position) for row in rows}
    # a sentence has a word or more for each of its regions
    if len(texts) == 1 < len(places) <= len(rows[0].text.split()):
        message = f"all regions of {sentence!r} have the same text: name their texts by --column"
        raise InputError(message, path, rows[1].line)
    if rows[0].position is not None:
        rows = _words(rows, path, sentence)
    else:
        regions, last = set(), rows[0]
        for row in rows:
            # neighbouring words of one region
            is_next = row.region == last.region and row.text != last.text
            are_words = len(row.text.split()) == len(last.text.split()) == 1
            if row.region in regions and not (is_next and are_words):
                raise _twice(row, path, sentence)
            regions.add(row.region)
            last = row
        if not any(isinstance(region, str) for region in regions):
            rows = sorted(rows, key=lambda row: row.region)
    return [list(region) for _, region in groupby(rows, key=lambda row: row.region)]


def _words(rows: Iterable[TextRow], path: str, sentence: str) -> list[TextRow]:
    """Return the words of a text in the order of their numbers, one row each."""
    readings: dict[float, list[TextRow]] = {}
    for row in rows:
        readings.setdefault(row.position or 0, []).append(row)
    longest = max(readings.values(), key=len)
    for first, *others in readings.values():
        if different := [r for r in others if (r.text, r.region) != (first.text, first.region)]:
            raise _twice(different[0], path, sentence)
        if len(others) + 1 < len(longest):
            rows = f"{len(longest)} rows for {longest[0].text.strip()!r}"
            what = f"the sentence {sentence!r} has {rows}, and {len(others) + 1} for"
            raise InputError(f"{what} {first.text.strip()!r}", path, longest[-1].line)
    filled = [first for first, *_ in readings.values() if first.text.strip()]
    # a sentence of a story may begin with any number, but hardly with 2
    if len(filled) <= max(readings) - min(readings) + (min(readings) == 2):
        _log.warning(f"{path}: {sentence!r} lacks words of some numbers, and is read without")
    words = (word for _, word in sorted(readings.items()))
    return [word[0]._replace(cells=common(row.cells for row in word)) for word in words]


def _twice(row: TextRow, path: str, sentence: str) -> InputError:
    what = f"the sentence {sentence!r} has the region {row.name!r} twice: number its regions"
    how = "tell sentences apart by the columns of --item and --condition, each one or several"
    return InputError(f"{what}, and {how}", path, row.line)


def common(rows: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the cells of several rows, empty where they differ."""
    columns = zip(*rows, strict=True)
    return tuple(first if all(first == o for o in others) else "" for first, *others in columns)
