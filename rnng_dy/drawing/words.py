"""Words in drawings: escapes for characters that cannot be seen, and widths."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_HIDDEN = ("Cc", "Cs", "Cn", "Zl", "Zp")
"""Categories of control characters, lone surrogates, unassigned codes, and ends of lines and paragraphs."""
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them."""


def visible(text: str) -> str:
    r"""Return the text with escapes for characters that control a terminal, turn the text, or do not fit into XML.

    >>> print(visible("a\x1b[31m"), visible("caf\udce9"), visible("中文"))
    a\x1b[31m caf\udce9 中文
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


@lru_cache(maxsize=100_000)
def _shown(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN and character not in _TURNING:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@lru_cache(maxsize=100_000)
def cells(text: str) -> int:
    r"""Return the columns of a terminal that a text takes: two for a wide character, none for a combining one.

    >>> cells("cat"), cells("中文"), cells("e\u0301")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
