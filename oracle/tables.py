"""Tables whose first row names the columns: CSV and TSV, as spreadsheets and programs write them."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from oracle.errors import InputError
from oracle.streams import read_lines

_DELIMITERS = ",;\t"


def read_cells(
    path: str | os.PathLike[str], quoted_tsv: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line, from 1, and the cells of each row that is not empty.

    The first of these rows decides whether commas, semicolons or tabs separate cells. Quotation marks may enclose a
    cell; between tabs only if `quoted_tsv`, or if the first row begins with one. Raises InputError, with the line, for
    a file that is not UTF-8, and for quotation marks that do not match.
    """
    texts, line = (text for _, text in read_lines(path)), 1
    for header in texts:
        if header.strip():
            break
        line += 1
    else:
        return
    delimiter = max(
        _DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), []))
    )
    is_quoted = quoted_tsv or delimiter != "\t" or header.startswith('"')
    quoting = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    rows = csv.reader(chain([header], texts), delimiter=delimiter, quoting=quoting, strict=True)
    before = line
    try:
        for cells in rows:
            if any(map(str.strip, cells)):
                yield line, cells
            line = rows.line_num + before
    except csv.Error as error:
        message = f"no CSV: {error}; write a quotation mark inside of quotation marks twice"
        raise InputError(message, path, line) from None


def read_columns(
    path: str | os.PathLike[str], needed: Sequence[str], optional: Sequence[str | None] = ()
) -> Iterator[tuple[int, list[Any]]]:
    """Yield each row's line, from 1, and its cells in the needed, then the optional columns; None for a missing one.

    Raises InputError, with the line, for what `read_cells` does not read, a missing or repeated column, and a row of
    another length.
    """
    lines = read_cells(path)
    first, names = next(lines, (1, []))
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"two columns are called {twice[0]!r}: rename one", path, first)
    for name in needed:
        if name not in names:
            shown = ", ".join(names) or "none"
            raise InputError(f"no column {name!r}; the columns are: {shown}", path, first)
    wanted = (*needed, *optional)
    places = [names.index(name) if name in names else None for name in wanted]
    for line, cells in lines:
        if len(cells) != len(names):
            message = f"{len(cells)} columns, and the first line has {len(names)}"
            raise InputError(message, path, line)
        yield line, [None if place is None else cells[place] for place in places]
