"""Words that a model does not know, found before any work is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from oracle.blocks import OracleSentence
from oracle.errors import InputError
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import shown_counts, unknown_words


class LocatedSentence(NamedTuple):
    """A sentence with its place in a file."""

    path: str
    line: int | None
    """Its line, or None if that is unknown."""
    tokens: Sequence[str]
    unkified: Sequence[str] | None = None
    """The words as the model should read them; None derives them."""
    part: str = ""
    """The part of the file, such as `item 3`, if there is no line."""


def require_known(model, sentences: Sequence[LocatedSentence]) -> None:
    """Raise InputError for words that a model does not know; it names the place of the first."""
    sentences = [sentence for sentence in sentences if sentence.tokens]
    unknown: Counter[str] = Counter()
    first = None
    for sentence, words in zip(sentences, as_read(model, sentences), strict=True):
        found = [pair for pair in zip(sentence.tokens, words, strict=True) if pair[0] != pair[1]]
        if found and first is None:
            first = sentence, *found[0]
        unknown.update(token for token, _ in found)
    if first is not None:
        sentence, token, word = first
        part = f"{sentence.part}: " if sentence.part else ""
        raise InputError(
            f"{part}the model does not know {token!r}, and reads it as {word}; unknown in all {shown_counts(unknown)}: "
            "replace these words, or leave out --unknown error",
            sentence.path,
            sentence.line,
        )


def unknown_in(sentences: Iterable[OracleSentence]) -> str | None:
    """Return a message with the words of an oracle that are classes of unknown words there; None if there are none."""
    return unknown_words(pair for s in sentences for pair in zip(s.tokens, s.unkified, strict=True))


def as_read(
    model, sentences: Sequence[LocatedSentence | SourceSentence]
) -> list[Sequence[str | None]]:
    """Return the words as the model reads them. A scorer that does not say it has to score the sentences."""
    reader = model if hasattr(model, "unkify") else getattr(model, "vocabulary", None)
    unkify = getattr(reader, "unkify", None)
    if unkify is not None:
        return [s.unkified or unkify(s.tokens) for s in sentences]
    records = model.records_of([s.tokens for s in sentences], [s.unkified for s in sentences])
    return [[r.unk for r in of if r.token is not None] for of in records]
