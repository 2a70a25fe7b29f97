"""Words in drawings: escapes for characters that cannot be seen."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Control characters, ends of lines, changes of direction, lone surrogates, and what is no character."""


def visible(text: str) -> str:
    r"""Return the text with escapes for characters that control a terminal, turn the text, or do not fit into XML.

    >>> print(visible("a\x1b[31m"), visible("caf\udce9"), visible("中文"))
    a\x1b[31m caf\udce9 中文
    """
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
