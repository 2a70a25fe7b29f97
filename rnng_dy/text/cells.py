"""Rows of cells from CSV and TSV files, as spreadsheets and programs write them."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from oracle.errors import InputError
from oracle.streams import read_lines

_DELIMITERS = ",;\t"


def read_cells(path: str, quoted_tsv: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield the line, from 1, and the cells of each row that is not empty.

    The first row that is not empty decides whether commas, semicolons or tabs separate cells. Quotation marks may
    enclose a cell; between tabs only if `quoted_tsv`. Raises InputError, with the line, for a file that is not UTF-8,
    and for quotation marks that do not match.
    """
    texts = [text for _, text in read_lines(path)]
    header = next((text for text in texts if text.strip()), "")
    delimiter = max(
        _DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), []))
    )
    quoting = csv.QUOTE_MINIMAL if quoted_tsv or delimiter != "\t" else csv.QUOTE_NONE
    rows = csv.reader(texts, delimiter=delimiter, quoting=quoting, strict=True)
    line = 1
    try:
        for cells in rows:
            if any(map(str.strip, cells)):
                yield line, cells
            line = rows.line_num + 1
    except csv.Error as error:
        message = f"no CSV: {error}; write a quotation mark inside of quotation marks twice"
        raise InputError(message, path, line) from None
