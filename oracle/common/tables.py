"""Tables: CSV and TSV whose first row names the columns, as spreadsheets and programs write them; aligned text."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from oracle.common.errors import InputError, extra
from oracle.common.files import placed, read_lines, reading

TSV, CSV = "tsv", "csv"
_COMMA = re.compile(r"^(\s*[-+]?\d+),(\d+\s*)$")
_DELIMITERS = ",;\t"
_SEPARATOR = re.compile(r'"?sep=[,;\t]"?\s*$')
MOST_DIGITS = 15
"""Digits that a float holds, too; Python refuses to read some thousands."""


def cell_text(value: Any) -> str:
    """Return a cell of a spreadsheet or of rows in Python as text; a missing value is empty.

    >>> cell_text(3.0), cell_text(None), cell_text(float("nan"))
    ('3', '', '')
    """
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def number_of(text: str) -> float:
    """Return the number of a cell, with a point or a comma before its decimals; NaN for a missing one.

    Raises ValueError for any other text.

    >>> number_of("1,5"), number_of("NA")
    (1.5, nan)
    """
    if text.strip().lower() in ("", "na", "n/a", "nan"):
        return math.nan
    return float(_COMMA.sub(r"\1.\2", text))


def is_whole_number(text: str) -> bool:
    """Return whether a text is a whole number from 0 on, in ASCII digits.

    >>> list(map(is_whole_number, ["0", "12", "-1", "", "²", "1" * 16]))
    [True, True, False, False, False, False]
    """
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS


def _sheet(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row that is not empty of a workbook's first sheet."""
    with placed(path), extra("a workbook needs openpyxl, or is to be saved as CSV", "tables"):
        import openpyxl
    with reading(path, remedy="no workbook, or a damaged one: save it as CSV"):
        sheet = openpyxl.load_workbook(path, read_only=True, data_only=True).worksheets[0]
        width = 0
        for line, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = list(map(cell_text, row))
            if any(map(str.strip, cells)):
                # programs may leave out empty cells at the end
                width = width or len(cells)
                yield line, cells + [""] * (width - len(cells))


def _rows(
    path: str | os.PathLike[str], quoted_tsv: bool, lines: Iterable[tuple[int, str]] | None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line, from 1, and the cells of each row that is not empty."""
    if str(path).lower().endswith(".xlsx"):
        yield from _sheet(path)
        return
    lines = iter(read_lines(path) if lines is None else lines)
    # a spreadsheet may name the separator in a line of its own
    texts = ((line, text) for line, text in lines if text.strip() and not _SEPARATOR.match(text))
    first, header = next(texts, (1, ""))
    if "\r" in header.rstrip("\r\n"):
        message = "lines end in CR alone, as on old Macs: save it with other line ends"
        raise InputError(message, path)
    with reading(path, first, "write a quotation mark inside of quotation marks twice") as location:
        delimiter = max(
            _DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), []))
        )
        is_quoted = quoted_tsv or delimiter != "\t" or header.startswith('"')
        quoting = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
        contents = chain([header], (text for _, text in lines))
        rows = csv.reader(contents, delimiter=delimiter, quoting=quoting, strict=True)
        for cells in rows:
            if any(map(str.strip, cells)):
                yield location.line, cells
            location.line = rows.line_num + first


def read_table(
    path: str | os.PathLike[str],
    quoted_tsv: bool = False,
    lines: Iterable[tuple[int, str]] | None = None,
) -> tuple[int, list[str], Iterator[tuple[int, list[str]]]]:
    """Return the line of the first row, from 1, its cells, which name the columns, and the other rows with their lines.

    The file is CSV, TSV or a workbook (xlsx), of which the first sheet is read; or `lines`, with
    their numbers, are its content. The first row that is not empty decides whether commas,
    semicolons or tabs separate cells. Quotation marks may enclose a cell; between tabs only if
    `quoted_tsv`, or if the first row begins with one. Empty rows do not count. Raises InputError,
    with the line, for a file that is not UTF-8, quotation marks that do not match, a repeated name,
    and a row of another length.
    """
    found = _rows(path, quoted_tsv, lines)
    first, header = next(found, (1, []))
    names = [name.strip() for name in header]
    if twice := [name for name, n in Counter(filter(None, names)).items() if n > 1]:
        raise InputError(f"two columns are called {twice[0]!r}: rename one", path, first)
    hint = ": put text with a separator into quotation marks" if quoted_tsv else ""

    def rows() -> Iterator[tuple[int, list[str]]]:
        for line, cells in found:
            if len(cells) != len(names):
                counts = f"{len(cells)} columns, and the first line has {len(names)}"
                raise InputError(counts + hint, path, line)
            yield line, cells

    return first, names, rows()


def plain_column(name: str) -> str:
    """Return a column's name in lower case, without blanks and marks.

    >>> plain_column("Word_Number"), plain_column("Item No.")
    ('wordnumber', 'itemno')
    """
    return re.sub(r"[\W_]", "", name.lower())


def read_columns(
    path: str | os.PathLike[str],
    needed: Sequence[str],
    optional: Sequence[str] = (),
    usual: Mapping[str, Sequence[str]] = {},
) -> Iterator[tuple[int, list[Any]]]:
    """Yield each row's line, from 1, and its cells in the needed, then the optional columns; None for a missing one.

    `usual` has other names of columns, as `plain_column` writes them, which count if the column
    itself is not there. Raises InputError, with the line, for what `read_table` does not read, a
    missing column, and two with a usual name.
    """
    first, names, rows = read_table(path)
    if len(names) == 1 and " " in names[0]:
        message = "columns are separated by tabs, commas or semicolons; this line has blanks"
        raise InputError(message, path, first)
    shown = ", ".join(names) or "none"
    places = []
    for name in (*needed, *optional):
        others = [plain_column(name), *usual[name]] if name in usual else []
        found = [n for other in others for n in names if plain_column(n) == other]
        found = [name] if name in names else found
        if name in needed and len(found) > 1:
            message = f"{found[0]!r} and {found[1]!r} may both be the column {name!r}: rename one"
            raise InputError(message, path, first)
        if name in needed and not found:
            raise InputError(f"no column {name!r}; the columns are: {shown}", path, first)
        places.append(names.index(found[0]) if found else None)
    for line, cells in rows:
        yield line, [None if place is None else cells[place] for place in places]


def joined(cells: Sequence[str], style: str = TSV) -> str:
    r"""Return a line of a table, without its line feed.

    TSV separates cells, which must have no tabs, by tabs and adds no quotation marks. CSV follows
    RFC 4180: cells may have any content, and lines end with a carriage return, too.

    >>> joined(["1", "a,b"], CSV)
    '1,"a,b"\r'
    """
    if style == TSV:
        return "\t".join(cells)
    text = io.StringIO(newline="")
    csv.writer(text).writerow(cells)
    return text.getvalue().removesuffix("\n")


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return the rows as lines with columns two blanks apart; the first `left` are left-aligned, others right-aligned.

    >>> print(aligned([("label", "of"), ("NP", "10")]), end="")
    label  of
    NP     10
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = (f"{{:{'<' if i < left else '>'}{width}}}" for i, width in enumerate(widths))
    line = "  ".join(cells)
    return "".join(line.format(*row).rstrip() + "\n" for row in rows)
