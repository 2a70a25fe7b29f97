"""The smallest content that still shows a failure, by leaving out ever smaller pieces (delta debugging)."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 20.0
MOST_BYTES = 3000
"""Of a content that is tried byte by byte."""


def minimized(
    content: bytes, still_fails: Callable[[bytes], bool], seconds: float = SECONDS
) -> bytes:
    """Fewer lines, then fewer bytes, for which `still_fails` is true; `content` itself where none are.

    >>> minimized(b"a\\nbcd\\ne\\n", lambda c: b"c" in c)
    b'c'
    """
    until = time.monotonic() + seconds
    content = _without_pieces(content.splitlines(keepends=True), still_fails, until)
    size = len(content) // (MOST_BYTES + 1) + 1
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    return _without_pieces(pieces, still_fails, until)


def _without_pieces(
    pieces: list[bytes], still_fails: Callable[[bytes], bool], until: float
) -> bytes:
    """Leave out runs of pieces, ever shorter ones, until no single piece can be left out."""
    size = len(pieces)
    while size:
        start, before = 0, len(pieces)
        while start < len(pieces) and time.monotonic() < until:
            rest = [*pieces[:start], *pieces[start + size :]]
            if still_fails(b"".join(rest)):
                pieces = rest
            else:
                start += size
        size = size // 2 if size > 1 else int(len(pieces) < before)
    return b"".join(pieces)
