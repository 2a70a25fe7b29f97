"""JSON on one line."""

from __future__ import annotations

import json
import re

# lone surrogates, bytes that are not UTF-8, are no text, and some readers end a line at the others
_NOT_IN_LINES = re.compile("[\ud800-\udfff\x7f\x85\u2028\u2029]")


def one_line(content: object) -> str:
    r"""JSON that is valid UTF-8 and one line for every reader.

    >>> print(one_line({"word": "caf\udce9 中"}))
    {"word": "caf\udce9 中"}
    """
    text = json.dumps(content, ensure_ascii=False)
    return _NOT_IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
