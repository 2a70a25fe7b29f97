"""Limits of what strangers may ask of a server."""

from __future__ import annotations

from dataclasses import dataclass, field


def _limit(default: int, help: str) -> int:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class Limits:
    """Limits of a server, which are options of `rnng-dy serve`; they bind defaults, too."""

    words: int = _limit(100, "Most words of a sentence.")
    sentences: int = _limit(20, "Most sentences, or trees to score, of a request.")
    characters: int = _limit(5000, "Most characters of a text.")
    trees: int = _limit(20, "Most trees per sentence.")
    samples: int = _limit(500, "Most samples per sentence.")
    beam: int = _limit(500, "Most partial trees in a beam.")
    queue: int = _limit(200, "Most requests that wait; others get the status 503.")
