"""Sentences with their parse trees, as JSON lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from oracle.files import one_line
from oracle.sentences import SourceSentence


class ScoredTree(NamedTuple):
    """A tree of a sentence, with its score."""

    tree: str
    """Bracketed, on one line."""
    log_prob: float | None
    """In nats: log q(y | x) from a parser, log p(x, y) from a generative model."""
    posteriors: Sequence[float] | None = None
    """Probabilities of the constituents in the sentence's samples, from the top down and from left to right."""

    def to_json(self) -> dict[str, object]:
        """Return an object for JSON; without samples it has no `posteriors`."""
        content = {"tree": self.tree, "log_prob": _number(self.log_prob)}
        if self.posteriors is None:
            return content
        return {**content, "posteriors": [round(p, 6) for p in self.posteriors]}


def json_line(number: int, source: SourceSentence, trees: Sequence[ScoredTree]) -> str:
    """Return a sentence with its trees, best first or as drawn, as a JSON object on one line.

    `number` counts from 1, with empty lines. If the sentence comes from raw text, each token has its start and end
    there, in characters.
    """
    tags = source.tags or [None] * len(source.tokens)
    tokens = [{"token": x, "tag": tag} for x, tag in zip(source.tokens, tags, strict=True)]
    for token, (start, end) in zip(tokens, source.spans or (), strict=False):
        token |= {"start": start, "end": end}
    content = {"sentence": number, "line": source.line, "text": source.text, "tokens": tokens}
    return one_line({**content, "trees": [tree.to_json() for tree in trees]})


def _number(log_prob: float | None) -> float | None:
    """Round to the digits of a samples file; None in place of infinities, which JSON lacks."""
    return float(f"{log_prob:.9g}") if log_prob is not None and math.isfinite(log_prob) else None
