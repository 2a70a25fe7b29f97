"""Sentences with their parse trees, as JSON lines."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oracle.files import one_line, open_text, reading
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
    def read(cls, text: str, path: str | os.PathLike, line: int) -> ParsedSentence:
        """Return the sentence of a line of a file. Raises InputError for anything else than `to_json` writes."""
        with reading(path, line, "no line of JSON as `rnng-dy parse -o FILE.jsonl` writes it"):
            content = json.loads(text)
            tokens = content["tokens"]
            tags = tuple(token["tag"] for token in tokens)
            spans = tuple((token["start"], token["end"]) for token in tokens if "start" in token)
            source = SourceSentence(
                tuple(token["token"] for token in tokens),
                None if None in tags else tags,
                None,
                content["line"],
                spans or None,
                content["text"],
            )
            trees = [
                ScoredTree(
                    tree["tree"] + "",
                    tree["log_prob"] and float(tree["log_prob"]),
                    tree.get("posteriors"),
                )
                for tree in content["trees"]
            ]
            return cls(content["sentence"], source, trees)


def _number(log_prob: float | None) -> float | None:
    """Round to the digits of a samples file; None in place of infinities, which JSON lacks."""
    return float(f"{log_prob:.9g}") if log_prob is not None and math.isfinite(log_prob) else None


def read_parsed(path: str | os.PathLike) -> Iterator[ParsedSentence]:
    """Yield the sentences of a file of `ParsedSentence.to_json` lines. Raises InputError for any other line."""
    with reading(path), open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            yield ParsedSentence.read(line, path, number)
