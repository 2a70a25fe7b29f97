"""Words that a model does not know, found before any work is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from oracle.errors import InputError
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import unknown_words


def require_known(model, path: str, sentences: Sequence[SourceSentence]) -> None:
    """Raise InputError, with the line of the first one, for words of a file that a model does not know."""
    read = with_words_as_read(model, [sentence for sentence in sentences if sentence.tokens])
    for sentence in read:
        for token, word in zip(sentence.tokens, sentence.unkified, strict=True):
            if token != word:
                raise InputError(
                    f"the model does not know {token!r}, and reads it as {word} ({unknown_in(read)}): replace these "
                    "words, or leave out --unknown error",
                    path,
                    sentence.line,
                )


def unknown_in(sentences: Iterable[SourceSentence]) -> str | None:
    """Return a message with the words that a model reads as classes of unknown words; None if there are none."""
    return unknown_words(pair for s in sentences for pair in zip(s.tokens, s.unkified, strict=True))


def with_words_as_read(model, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """Return sentences with their words as the model reads them. A scorer that does not say it has to score them."""
    reader = model if hasattr(model, "unkify") else getattr(model, "vocabulary", None)
    if unkify := getattr(reader, "unkify", None):
        words = [s.unkified or unkify(s.tokens) for s in sentences]
    else:
        records = model.records_of([s.tokens for s in sentences], [s.unkified for s in sentences])
        words = [[r.unk for r in of if r.token is not None] for of in records]
    return [replace(s, unkified=tuple(w)) for s, w in zip(sentences, words, strict=True)]
