"""Sentences with their parse trees, as JSON lines."""

from __future__ import annotations

import json
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


class ParsedSentence(NamedTuple):
    """A sentence and its trees, best first or as drawn; without trees if the line is empty or the sentence skipped."""

    number: int
    """Number from 1, counting empty lines."""
    source: SourceSentence
    trees: Sequence[ScoredTree]

    def to_json(self) -> str:
        """Return a JSON object on one line.

        If the sentence comes from raw text, each token has its start and end there, in characters.
        """
        source = self.source
        tags = source.tags or [None] * len(source.tokens)
        tokens = [{"token": x, "tag": tag} for x, tag in zip(source.tokens, tags, strict=True)]
        for token, (start, end) in zip(tokens, source.spans or (), strict=False):
            token |= {"start": start, "end": end}
        trees = [tree.to_json() for tree in self.trees]
        content = {"sentence": self.number, "line": source.line, "text": source.text}
        return one_line({**content, "tokens": tokens, "trees": trees})

    @classmethod
    def read(cls, text: str) -> ParsedSentence:
        """Return the sentence of a line that `to_json` wrote."""
        content = json.loads(text)
        tokens = content["tokens"]
        words, tags = (tuple(token[key] for token in tokens) for key in ("token", "tag"))
        spans = tuple((token["start"], token["end"]) for token in tokens if "start" in token)
        where = content["line"], spans or None, content["text"]
        source = SourceSentence(words, None if None in tags else tags, None, *where)
        trees = [
            ScoredTree(t["tree"], t["log_prob"], t.get("posteriors")) for t in content["trees"]
        ]
        return cls(content["sentence"], source, trees)


def _number(log_prob: float | None) -> float | None:
    """Round to the digits of a samples file; None in place of infinities, which JSON lacks."""
    return float(f"{log_prob:.9g}") if log_prob is not None and math.isfinite(log_prob) else None
