"""The smallest content that still shows a failure, by leaving out ever smaller pieces (delta debugging)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

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
    lines = _without_pieces(
        content.splitlines(keepends=True), lambda pieces: still_fails(b"".join(pieces)), until
    )
    content = b"".join(lines)
    pieces = [content[i : i + 1] for i in range(len(content))]
    if len(pieces) > MOST_BYTES:
        size = len(pieces) // MOST_BYTES + 1
        pieces = [content[i : i + size] for i in range(0, len(content), size)]
    return b"".join(_without_pieces(pieces, lambda kept: still_fails(b"".join(kept)), until))


def _without_pieces(
    pieces: Sequence[bytes], still_fails: Callable[[Sequence[bytes]], bool], until: float
) -> Sequence[bytes]:
    """Zeller's ddmin, complements only."""
    parts = 2
    while len(pieces) >= 1 and time.monotonic() < until:
        size = -(-len(pieces) // parts)
        for start in range(0, len(pieces), size):
            if time.monotonic() >= until:
                break
            rest = [*pieces[:start], *pieces[start + size :]]
            if still_fails(rest):
                pieces, parts = rest, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(pieces), 2 * parts)
    return pieces
