"""Words in drawings: escapes for characters that cannot be seen."""

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
