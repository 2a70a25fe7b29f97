"""Limits of what strangers may ask of a server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a server; they bind defaults of requests, too."""

    words: int = 100
    """Most words of a sentence."""
    sentences: int = 20
    """Most sentences of a request."""
    characters: int = 5000
    """Most characters of a text."""
    trees: int = 20
    """Most trees per sentence."""
    samples: int = 500
    """Most samples per sentence."""
    beam: int = 500
    """Most partial trees in a beam."""
    queue: int = 200
    """Most requests that wait; others get the status 503."""
