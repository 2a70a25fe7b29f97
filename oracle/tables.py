"""Tables whose first line names the columns: TSV without quotation marks as commands write it, or CSV."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator, Sequence

from oracle.errors import InputError
from oracle.streams import read_lines

_DELIMITERS = "\t,;"


def read_columns(
    path: str | os.PathLike[str], needed: Sequence[str], optional: Sequence[str | None] = ()
) -> Iterator[tuple[int, list[str | None]]]:
    """Yield each row's 1-based line and its cells in the needed, then the optional columns; None for a missing one.

    Tabs, commas or semicolons separate cells. With tabs nothing is quoted, unless the first line begins with a
    quotation mark.

    Raises InputError, with the line, for a missing or repeated column and for a row of another length.
    """
    lines = (text for _, text in read_lines(path))
    first = next(lines, "").rstrip("\r\n")
    delimiter = next((mark for mark in _DELIMITERS if mark in first), ",")
    is_quoted = delimiter != "\t" or first.startswith('"')
    quoting = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    [names] = csv.reader([first], delimiter=delimiter, quoting=quoting) if first else [[]]
    places = _places(names, needed, optional, path)
    rows = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    line = 2
    try:
        for cells in rows:
            if len(cells) != len(names):
                if not any(cells):
                    line = rows.line_num + 2
                    continue
                raise InputError(
                    f"{len(cells)} columns, and the first line has {len(names)}", path, line
                )
            yield line, [None if place is None else cells[place] for place in places]
            line = rows.line_num + 2
    except csv.Error as error:
        raise InputError(f"no table: {error}", path, line) from None


def _places(
    names: Sequence[str], needed: Sequence[str], optional: Sequence[str | None], path: object
) -> list[int | None]:
    """Return the index of each column; None for an optional column that the table lacks."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"two columns are called {twice[0]!r}: rename one", path, 1)
    for name in needed:
        if name not in names:
            shown = ", ".join(names) or "none"
            raise InputError(f"no column {name!r}; the columns are: {shown}", path, 1)
    return [names.index(name) if name in names else None for name in (*needed, *optional)]
