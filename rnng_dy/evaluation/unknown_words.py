"""Words that a model does not know, found before any work is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from oracle.blocks import OracleSentence
from oracle.errors import InputError
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import shown_counts, unknown_words


def require_known(model, path: str, sentences: Sequence[SourceSentence]) -> None:
    """Raise InputError, with the line of the first one, for words of a file that a model does not know."""
    sentences = [sentence for sentence in sentences if sentence.tokens]
    unknown: Counter[str] = Counter()
    first = None
    for sentence, words in zip(sentences, as_read(model, sentences), strict=True):
        pairs = [pair for pair in zip(sentence.tokens, words, strict=True) if pair[0] != pair[1]]
        unknown.update(token for token, _ in pairs)
        if pairs and first is None:
            first = sentence.line, *pairs[0]
    if first is not None:
        line, token, word = first
        raise InputError(
            f"the model does not know {token!r}, and reads it as {word}; unknown in all {shown_counts(unknown)}: "
            "replace these words, or leave out --unknown error",
            path,
            line,
        )


def unknown_in(sentences: Iterable[OracleSentence]) -> str | None:
    """Return a message with the words of an oracle that are classes of unknown words there; None if there are none."""
    return unknown_words(pair for s in sentences for pair in zip(s.tokens, s.unkified, strict=True))


def as_read(model, sentences: Sequence[SourceSentence]) -> list[Sequence[str | None]]:
    """Return the words as the model reads them. A scorer that does not say it has to score the sentences."""
    reader = model if hasattr(model, "unkify") else getattr(model, "vocabulary", None)
    unkify = getattr(reader, "unkify", None)
    if unkify is not None:
        return [s.unkified or unkify(s.tokens) for s in sentences]
    records = model.records_of([s.tokens for s in sentences], [s.unkified for s in sentences])
    return [[r.unk for r in of if r.token is not None] for of in records]


def with_words_as_read(model, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """Return sentences with their words as the model reads them."""
    words = as_read(model, sentences)
    return [replace(s, unkified=tuple(w)) for s, w in zip(sentences, words, strict=True)]
