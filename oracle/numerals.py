"""Whole numbers in files and options."""

from __future__ import annotations

MOST_DIGITS = 15
"""Digits that a float holds, too; Python refuses to read some thousands."""


def is_whole_number(text: str) -> bool:
    """Return whether a text is a whole number from 0 on, in ASCII digits.

    >>> list(map(is_whole_number, ["0", "12", "-1", "", "²", "1" * 16]))
    [True, True, False, False, False, False]
    """
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
