"""Tables of text: aligned for people, with tabs or as CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

TSV, CSV = "tsv", "csv"


def joined(cells: Sequence[str], style: str = TSV) -> str:
    r"""Return a line of a table, without its line feed.

    TSV separates cells, which must have no tabs, by tabs and adds no quotation marks. CSV follows RFC 4180: cells may
    have any content, and lines end with a carriage return, too.

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
    return "".join(
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in rows
    )
