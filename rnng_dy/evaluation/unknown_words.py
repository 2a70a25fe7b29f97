"""Words that a model does not know: messages on them, or an error before any work is done."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from oracle.common.errors import InputError, listed
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import WordRecord

SHOWN_WORDS = 10
"""The most words that a message lists."""


def require_known(model, path: str, sentences: Sequence[SourceSentence]) -> None:
    """Raise InputError, with the first line, for words of a file that a model does not know."""
    read = with_words_as_read(model, [sentence for sentence in sentences if sentence.tokens])
    for sentence in read:
        for token, word in zip(sentence.tokens, sentence.unkified, strict=True):
            if token != word:
                what = f"the model does not know {token!r}, and reads it as {word}"
                remedy = "replace these words, or leave out --unknown error"
                raise InputError(f"{what} ({unknown_in(read)}): {remedy}", path, sentence.line)


def unknown_in(sentences: Iterable[SourceSentence]) -> str | None:
    """Return a message with the words that a model reads as classes, if any."""
    return unknown_words(pair for s in sentences for pair in zip(s.tokens, s.unkified, strict=True))


def with_words_as_read(model, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """Return sentences with their words as the model reads them; some scorers must score them."""
    if model.unknown is not None:
        words = [s.unkified or model.unknown.unkify(s.tokens, True) for s in sentences]
    else:
        records = model.records_of([s.tokens for s in sentences], [s.unkified for s in sentences])
        words = [[r.unk for r in rows if r.token is not None] for rows in records]
    return [replace(s, unkified=tuple(w)) for s, w in zip(sentences, words, strict=True)]


def unknown_words(pairs: Iterable[tuple[str, str | None]]) -> str | None:
    """Return a message on unknown words, their number and the most frequent; None without any.

    `pairs` are words as written and as the model reads them.

    >>> unknown_words([("the", "the"), ("cat", "UNK-LC"), ("cat", "UNK-LC")])
    "words outside the model's vocabulary: 2 of 3, cat (2)"
    """
    words, unknown = 0, Counter[str]()
    for token, unk in pairs:
        words += 1
        unknown.update([token] if token != unk else ())
    shown = shown_counts(unknown)
    count = f"{unknown.total()} of {words}"
    return f"words outside the model's vocabulary: {count}, {shown}" if unknown else None


def unknown_words_of(records: Iterable[WordRecord]) -> str | None:
    """Return the message of `unknown_words` on records; words without a number are not counted."""
    return unknown_words(
        (r.token, r.unk)
        for r in records
        if r.token is not None and r.unk is not None and not math.isnan(r.surprisal)
    )


def shown_counts(counts: Counter[str]) -> str:
    """Return the most frequent keys with their counts for a message.

    >>> shown_counts(Counter({"cat": 2, "dog": 1}))
    'cat (2), dog (1)'
    """
    return listed([f"{word:.40} ({n})" for word, n in counts.most_common()], SHOWN_WORDS)
