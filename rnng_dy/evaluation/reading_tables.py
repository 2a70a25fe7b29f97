"""The reader of tables of reading times."""

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed
from oracle.common.tables import is_whole_number, number_of, read_columns

NEEDED, OPTIONAL = ("item", "position", "word", "time"), ("subject", "frequency", "condition")
"""The columns of a table of reading times."""
_USUAL = {
    "item": ("itemid", "itemnumber", "itemno", "itemnum"),
    "position": (
        *("zone", "wordnumber", "wordnum", "wordidx", "wordindex", "wordindexintext"),
        *("wordposition", "sentpos", "ianum", "iaid"),
    ),
    "word": ("token", "ialabel"),
    "time": ("rt", "readingtime", "meanrt"),
}
"""Other usual names of columns, as `plain_column` writes them."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2},\d{3}")
"""What is a thousand in some languages, and has three decimals in others."""


class ReadWord(NamedTuple):
    """A word that was read."""

    item: str
    position: float
    """Its number in the item; the word before it has the number before."""
    text: str
    line: int
    """1-based line of the table."""
    count: float
    """Its frequency as a count; NaN if it has none."""
    condition: str = ""
    """The variant of the item that was read; empty if the table has none."""


class Times(NamedTuple):
    """A table of reading times."""

    path: str
    words: Sequence[ReadWord]
    """By items, which are sorted if all are numbers, and positions."""
    times: np.ndarray
    """In ms, NaN for a missing one, shape (rows,)."""
    word_of: np.ndarray
    """Per row, the index of its word, shape (rows,)."""
    subjects: Sequence[str]
    """Per row, the subject; empty texts if the table has no subjects."""
    cells: Sequence[Mapping[str, str]]
    """Per row, all cells by their columns."""
    column: str = "time"
    """The column of the times."""

    def rows_where(self, values: Mapping[str, str]) -> np.ndarray:
        """Return which rows have these values, of the columns that the table has, shape (rows,)."""
        here = {name: value for name, value in values.items() if name in self.cells[0]}
        return np.array([here.items() <= cells.items() for cells in self.cells])


def read_times(path: str, columns: Mapping[str, str] = {}) -> Times:
    """Return a table of reading times: a row per word, or per subject and word.

    `columns` maps NEEDED and OPTIONAL to names of columns; NEEDED have these or other usual names
    by default. Several columns, separated by commas, may make an item.

    Raises:
        InputError: A column is missing, a position or time is no number, a row is repeated, or rows
            of one item and position have different words or frequencies; with the line. An empty
            time, NA or NaN is a missing one.
    """
    named = {role: columns.get(role, role) for role in NEEDED}
    named |= {role: columns[role] for role in OPTIONAL if role in columns}
    items = named.pop("item").split(",")
    words: dict[tuple[str, str, float], ReadWord] = {}
    times: dict[tuple[tuple[str, str, float], str], float] = {}
    all_cells = []
    rows = read_columns(path, [*items, *named.values()], usual=_USUAL, with_all=True)
    for line, (*cells, by_column) in rows:
        cells = list(map(str.strip, cells))
        item = "_".join(cells[: len(items)])
        row = dict.fromkeys(OPTIONAL, "") | dict(zip(named, cells[len(items) :], strict=True))
        with placed(path, line):
            if not all(cells[: len(items)]):
                raise RnngError("no item in this row: write it in every row, merged cells have one")
            position = _number(row, named, "position")
            count = _number(row, named, "frequency")
            key = item, row["condition"], position
            word = ReadWord(item, position, row["word"], line, count, row["condition"])
            before = words.setdefault(key, word)
            for here, there in ((word.text, before.text), (f"{word.count:g}", f"{before.count:g}")):
                if here != there:
                    other = f"line {before.line} has {there!r} at the same item and position"
                    remedy = "name all columns that make an item, as in item=A,B, and the condition"
                    raise RnngError(f"{here!r}, but {other}: {remedy}")
            if (key, row["subject"]) in times:
                what = f"item {item}, position {row['position']}, is in a line before as well"
                raise RnngError(f"{what}: leave one out, or name the column of the subjects")
            times[key, row["subject"]] = _number(row, named, "time")
        all_cells.append({name: cell.strip() for name, cell in by_column.items()})
    if all(map(math.isnan, times.values())):
        raise InputError("no reading times in this table", path)
    rank = {item: i for i, item in enumerate(in_order([item for item, *_ in words]))}
    variants = {variant: i for i, variant in enumerate(dict.fromkeys(key[:2] for key in words))}
    keys = sorted(words, key=lambda key: (rank[key[0]], variants[key[:2]], key[2]))
    index = {key: i for i, key in enumerate(keys)}
    return Times(
        path,
        [words[key] for key in keys],
        np.array([*times.values()]),
        np.array([index[key] for key, _ in times]),
        [subject for _, subject in times],
        all_cells,
        named["time"],
    )


def in_order(items: Sequence[str]) -> list[str]:
    """Return different items, sorted if all are whole numbers, or such joined by `_`."""
    numbers = {item: item.split("_") for item in items}
    if not all(is_whole_number(text) for texts in numbers.values() for text in texts):
        return list(numbers)
    return sorted(numbers, key=lambda item: [int(text) for text in numbers[item]])


def _number(row: Mapping[str, str], named: Mapping[str, str], role: str) -> float:
    """Return the number in the column of a role, of which only a position is never missing.

    Raises RnngError for any other text.
    """
    where = f"column {named.get(role)!r}: {row[role]!r}"
    if _THOUSANDS.fullmatch(row[role].strip()):
        how = "write it with a point or without a mark"
        raise RnngError(f"{where} may have thousands or decimals: {how}")
    is_count = role == "frequency"
    with suppress(ValueError):
        number = number_of(row[role])
        is_right = math.isfinite(number) and (not is_count or (number >= 0 and number.is_integer()))
        if is_right or (role != "position" and math.isnan(number)):
            return number
    what = "count (a whole number, not its logarithm)" if is_count else "number"
    raise RnngError(f"{where} is no {what}")
