"""JSON as text, with null in place of NaN and infinities, which JSON lacks."""

from __future__ import annotations

import json
import math
import re

# lone surrogates (bytes that are not UTF-8) are not valid text; some readers end a line at the others
_NOT_IN_LINES = re.compile("[\ud800-\udfff\x7f\x85\u2028\u2029]")


def finite(value: object) -> object:
    """Return the value with None in place of NaN and infinities, at any depth of lists and dictionaries."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def indented(content: object) -> str:
    """Return JSON of several lines, with null for NaN and infinities."""
    return json.dumps(finite(content), indent=2, ensure_ascii=False) + "\n"


def one_line(content: object) -> str:
    r"""Return JSON that is valid UTF-8 and a single line for every reader.

    >>> print(one_line({"word": "caf\udce9 中"}))
    {"word": "caf\udce9 中"}
    """
    text = json.dumps(finite(content), ensure_ascii=False)
    return _NOT_IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
