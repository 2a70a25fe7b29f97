"""Rows of text as a table: aligned for people, with tabs or as CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

TSV, CSV = "tsv", "csv"


def joined(cells: Sequence[str], style: str = TSV) -> str:
    r"""A line of a table, without its line feed.

    TSV has tabs between cells, which must hold none, and no quotation marks of its own. CSV is that of RFC 4180: cells
    may hold anything, and lines end with a carriage return, too.

    >>> joined(["1", "a,b"], CSV)
    '1,"a,b"\r'
    """
    if style == TSV:
        return "\t".join(cells)
    text = io.StringIO(newline="")
    csv.writer(text).writerow(cells)
    return text.getvalue().removesuffix("\n")


def as_csv(rows: Iterable[Sequence[str]]) -> str:
    """The rows as CSV."""
    return "".join(f"{joined(cells, CSV)}\n" for cells in rows)


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """The rows as lines with columns two blanks apart: the first `left` ones begin, the others end together.

    >>> print(aligned([("label", "of"), ("NP", "10")]), end="")
    label  of
    NP     10
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + "\n"
        for row in rows
    )
