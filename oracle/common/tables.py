"""Tables: CSV and TSV whose first row names the columns, as spreadsheets and programs write them.

Tables as aligned text, too.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import unquote

from oracle.common.errors import InputError, extra
from oracle.common.files import FileName, NumberedLines, placed, read_lines, reading

NumberedRows = Iterator[tuple[int, list[str]]]
"""Rows of cells, each with its line, from 1."""

TSV, CSV = "tsv", "csv"
TABLES = ".csv", ".tsv", ".xlsx"
"""The endings of files that are read as tables."""
_COMMA = re.compile(r"^(\s*[-+]?\d+),(\d+\s*)$")
_DELIMITERS = ",;\t"
_RESULTS = "# Results on "
"""The beginning of the results of a web experiment by Ibex or PCIbex."""
_RESULT_COLUMN = re.compile(r"#\s*(\d{1,4})\.\s*(.+?)\.?\s*$")
_WORD_COLUMNS = {"Parameter": "Word number", "Value": "Word"}
"""PCIbex's names of the columns of words that were read, and Ibex's."""
_TIME = "Reading time"
MOST_DIGITS = 15
"""Digits that a float holds, too; Python refuses to read some thousands."""


def cell_text(value: Any) -> str:
    """Return a cell of a spreadsheet or of rows in Python as text; a missing value is empty.

    >>> cell_text(3.0), cell_text(None), cell_text(float("nan"))
    ('3', '', '')
    """
    # the comparisons of NA of pandas are neither true nor false
    if value is None or type(value).__name__ == "NAType" or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def number_of(text: str) -> float:
    """Return the number of a cell, with a point or a comma before its decimals.

    A missing one gives NaN.

    Raises ValueError for any other text.

    >>> number_of("1,5"), number_of("NA")
    (1.5, nan)
    """
    if text.strip().lower() in ("", "na", "n/a", "nan"):
        return math.nan
    # Python reads 1_000
    return float(_COMMA.sub(r"\1.\2", text.replace("_", " ")))


def is_whole_number(text: str) -> bool:
    """Return whether a text is a whole number from 0 on, in ASCII digits.

    >>> list(map(is_whole_number, ["0", "12", "-1", "", "²", "1" * 16]))
    [True, True, False, False, False, False]
    """
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS


def _sheet(path: FileName) -> NumberedRows:
    """Yield the number and the cells of each row that is not empty of a workbook's first sheet."""
    with placed(path), extra("a workbook needs openpyxl, or is to be saved as CSV", "tables"):
        import openpyxl
    with reading(path, remedy="no workbook, or a damaged one: save it as CSV"):
        books = (openpyxl.load_workbook(path, read_only=True, data_only=d) for d in (True, False))
        sheets = [book.worksheets[0] for book in books]
        for sheet in sheets:
            # the size that a program writes into the file may be too small
            sheet.reset_dimensions()
        rows = []
        for line, (values, formulas) in enumerate(zip(*sheets, strict=True), 1):
            rows.append([cell_text(cell.value) for cell in values])
            for cell, formula in zip(values, formulas, strict=True):
                # an empty text has another type
                if formula.data_type == "f" and cell.value is None and cell.data_type == "n":
                    where = f"sheet {sheet.title!r}, cell {cell.coordinate}"
                    how = "open the workbook in a spreadsheet program, and save it"
                    raise InputError(f"{where}: a formula without a value: {how}", path, line)
        # programs leave out empty cells at the end
        width = max(map(len, rows), default=0)
        for line, cells in enumerate(rows, 1):
            if any(map(str.strip, cells)):
                yield line, cells + [""] * (width - len(cells))


def _rows(path: FileName, quoted_tsv: bool, lines: NumberedLines | None) -> NumberedRows:
    """Yield the line, from 1, and the cells of each row that is not empty."""
    if str(path).lower().endswith(".xlsx"):
        yield from _sheet(path)
        return
    lines = iter(read_lines(path) if lines is None else lines)
    first, header = next(((line, text) for line, text in lines if text.strip()), (1, ""))
    if header.startswith(_RESULTS):
        yield from _results(path, lines)
        return
    with reading(path, first, "write a quotation mark inside of quotation marks twice") as location:
        heads = {mark: next(csv.reader([header], delimiter=mark), []) for mark in _DELIMITERS}
        delimiter = max(heads, key=lambda mark: len(heads[mark]))
        is_quoted = quoted_tsv or delimiter != "\t" or header.startswith('"')
        quoting = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
        contents = chain([header], (text for _, text in lines))
        rows = csv.reader(contents, delimiter=delimiter, quoting=quoting, strict=True)
        for cells in rows:
            # tables with other delimiters are written by programs, which quote what needs it
            if delimiter == "\t" and any("\n" in cell and "\t" in cell for cell in cells):
                raise ValueError("one cell has the end of a row and the beginning of the next one")
            if any(map(str.strip, cells)):
                yield location.line, cells
            location.line = rows.line_num + first


def _results(path: object, lines: NumberedLines) -> NumberedRows:
    """Yield the rows of Ibex's or PCIbex's results, after their names of columns.

    Comments number and name the columns of the rows after them. If some rows have reading times,
    these alone are read: the other rows are those of instructions and clicks.
    """
    names: dict[int, str] = {}
    rows: list[tuple[int, dict[str, str]]] = []
    for line, text in lines:
        if column := _RESULT_COLUMN.match(text):
            names[int(column[1])] = column[2]
        elif text.strip() and not text.startswith("#"):
            cells = [unquote(cell) for cell in text.rstrip("\r\n").split(",")]
            if not names:
                names = dict(enumerate(cells, 1))
                continue
            if not names.keys() >= {*range(1, len(cells) + 1)}:
                message = f"{len(cells)} columns, and the comments name {len(names)}"
                raise InputError(message, path, line)
            rows.append((line, {names[number]: cell for number, cell in enumerate(cells, 1)}))
            if len(rows[-1][1]) < len(cells):
                raise InputError("two columns have the same name: rename one", path, line)
    has_times = any(_TIME in row for _, row in rows)
    if has_times:
        rows = [(line, row) for line, row in rows if row.get(_TIME, "NULL") not in ("", "NULL")]
    header = list(dict.fromkeys(name for _, row in rows for name in row))
    others = _WORD_COLUMNS if has_times and "Word" not in header else {}
    yield 1, [others.get(name, name) for name in header]
    yield from ((line, [row.get(name, "") for name in header]) for line, row in rows)


def read_table(
    path: FileName, quoted_tsv: bool = False, lines: NumberedLines | None = None
) -> tuple[int, list[str], NumberedRows]:
    """Return the first row's line, from 1, the names of the columns, and the other rows.

    The file is CSV, TSV or a workbook (xlsx), of which the first sheet is read; or `lines`, with
    their numbers, are its content. The first row that is not empty decides whether commas,
    semicolons or tabs separate cells. Quotation marks may enclose a cell; between tabs only if
    `quoted_tsv`, or if the first row begins with one. Empty rows do not count. Raises InputError,
    with the line, for a file that is not UTF-8, quotation marks that do not match, a repeated name,
    and a row of another length.
    """
    table = _rows(path, quoted_tsv, lines)
    first, header = next(table, (1, []))
    names = [name.strip() for name in header]
    if twice := [name for name, n in Counter(filter(None, names)).items() if n > 1]:
        raise InputError(f"two columns are called {twice[0]!r}: rename one", path, first)
    hint = ": put text with a separator into quotation marks" if quoted_tsv else ""

    def rows() -> NumberedRows:
        for line, cells in table:
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
    path: FileName,
    needed: Sequence[str],
    optional: Sequence[str] = (),
    usual: Mapping[str, Sequence[str]] = {},
    with_all: bool = False,
) -> Iterator[tuple[int, list[Any]]]:
    """Yield each row's line, from 1, and its cells in the needed, then the optional columns.

    `usual` has other names of columns, as `plain_column` writes them, which count if the column
    itself is not there. `with_all` adds a dictionary of all cells by their columns. Raises
    InputError, with the line, for what `read_table` does not read, a missing column, and two with a
    usual name.
    """
    first, names, rows = read_table(path)
    if len(names) == 1 and " " in names[0]:
        message = "columns are separated by tabs, commas or semicolons; this line has blanks"
        raise InputError(message, path, first)
    shown = ", ".join(names) or "none"
    indices = []
    for name in (*needed, *optional):
        others = [plain_column(name), *usual[name]] if name in usual else []
        matches = [n for other in others for n in names if plain_column(n) == other]
        matches = [name] if name in names else matches
        if name in needed and len(matches) > 1:
            both = f"{matches[0]!r} and {matches[1]!r}"
            raise InputError(f"{both} may both be the column {name!r}: rename one", path, first)
        if name in needed and not matches:
            raise InputError(f"no column {name!r}; the columns are: {shown}", path, first)
        indices.append(names.index(matches[0]) if matches else None)
    for line, cells in rows:
        chosen = [None if index is None else cells[index] for index in indices]
        yield line, [*chosen, dict(zip(names, cells, strict=True))] if with_all else chosen


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
    """Return the rows as lines with columns two blanks apart.

    The first `left` are left-aligned, others right-aligned.

    >>> print(aligned([("label", "of"), ("NP", "10")]), end="")
    label  of
    NP     10
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"{{:{'<' if i < left else '>'}{width}}}" for i, width in enumerate(widths))
    return "".join(line.format(*row).rstrip() + "\n" for row in rows)
