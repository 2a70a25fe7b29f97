"""Rows of text as a table."""

from __future__ import annotations

from collections.abc import Sequence


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
