"""JSON, which has no NaN and no infinities: null stands for them; and JSON on one line."""

from __future__ import annotations

import json
import math
import re

# lone surrogates, bytes that are not UTF-8, are no text, and some readers end a line at the others
_NOT_IN_LINES = re.compile("[\ud800-\udfff\x7f\x85\u2028\u2029]")


def finite(value: object) -> object:
    """The value with None for NaN and infinities, however deep in lists and dictionaries."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def one_line(content: object) -> str:
    r"""JSON that is valid UTF-8 and one line for every reader.

    >>> print(one_line({"word": "caf\udce9 中"}))
    {"word": "caf\udce9 中"}
    """
    text = json.dumps(finite(content), ensure_ascii=False)
    return _NOT_IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
