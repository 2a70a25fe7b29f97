"""Sentences with their parse trees, as JSON lines."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oracle.json_lines import one_line
from oracle.sentences import SourceSentence
from oracle.streams import open_input


class ScoredTree(NamedTuple):
    """A tree of a sentence, with its score."""

    tree: str
    """Bracketed, on one line."""
    log_prob: float | None
    """In nats: log q(y | x) from a parser, log p(x, y) from a generative model."""


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
        trees = [{"tree": tree, "log_prob": _number(log_prob)} for tree, log_prob in self.trees]
        content = {"sentence": self.number, "line": source.line, "text": source.text}
        return one_line({**content, "tokens": tokens, "trees": trees})

    @classmethod
    def from_json(cls, line: str) -> ParsedSentence:
        """Return the sentence that `to_json` wrote."""
        content = json.loads(line)
        tokens = content["tokens"]
        tags = tuple(token["tag"] for token in tokens)
        spans = tuple((token["start"], token["end"]) for token in tokens if "start" in token)
        words = tuple(token["token"] for token in tokens)
        found_tags = None if None in tags else tags
        source = SourceSentence(
            words, found_tags, None, content["line"], spans or None, content["text"]
        )
        trees = [ScoredTree(tree["tree"], tree["log_prob"]) for tree in content["trees"]]
        return cls(content["sentence"], source, trees)


def _number(log_prob: float | None) -> float | None:
    """Round to the digits of a samples file; None in place of infinities, which JSON lacks."""
    return float(f"{log_prob:.9g}") if log_prob is not None and math.isfinite(log_prob) else None


def read_parsed(path: str | os.PathLike) -> Iterator[ParsedSentence]:
    """Yield the sentences of a file of `ParsedSentence.to_json` lines."""
    with open_input(path) as lines:
        yield from map(ParsedSentence.from_json, lines)
