"""Words as strings: the classes and spellings of a model's spelling model beside the model's own probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from oracle.errors import RnngError
from oracle.tokens import split_tokens
from rnng_dy.evaluation.records import WordRecord, with_spellings
from rnng_dy.spelling import SpellingModel


def required_spelling(model: Any, name: str) -> SpellingModel:
    """Return the spelling model of a language model called `name`. Raises RnngError if it has none."""
    spelling: SpellingModel | None = getattr(model, "spelling", None)
    if spelling is None:
        raise RnngError(
            f"{name} has no spelling model, so it gives no probability to unknown words: "
            "`rnng-dy train --open` makes one"
        )
    return spelling


def with_open_classes(
    spelling: SpellingModel, sentences: Iterable[Any]
) -> tuple[list[Any], list[list[float]]]:
    """Return sentences with the spelling model's classes of unknown words, and log p of each word's spelling in nats.

    The sentences are those of an oracle or of another source; the classes that they have do not count.
    """
    read = [(sentence, spelling.read(sentence.tokens)) for sentence in sentences]
    seen = [
        replace(sentence, unkified=tuple(word.unk for word in words)) for sentence, words in read
    ]
    return seen, [[word.log_prob for word in words] for _, words in read]


def read_words(
    model: Any, words: Sequence[str], open_vocabulary: bool
) -> tuple[Sequence[str], float]:
    """Return words as the model reads them, and log p of their spelling in nats, 0 without an open vocabulary.

    Raises RnngError if the vocabulary is open and the model has no spelling model.
    """
    if not open_vocabulary:
        return model.vocabulary.unkify(words), 0.0
    read = required_spelling(model, "this model").read(words)
    return [word.unk for word in read], math.fsum(word.log_prob for word in read)


def open_records(
    model: Any,
    sentences: Iterable[Sequence[str]],
    measured: Callable[[list[list[str]]], Iterable[Sequence[WordRecord]]],
) -> list[list[WordRecord]]:
    """Return records of words as strings, per sentence; `measured` returns those of words as the model reads them.

    Raises RnngError if the model has no spelling model, or a token is invalid.
    """
    spelling = required_spelling(model, "this model")
    read = [spelling.read(split_tokens(tokens)[0]) for tokens in sentences]
    records = measured([[word.unk for word in words] for words in read])
    return [
        with_spellings(of_sentence, [word.log_prob for word in words])
        for of_sentence, words in zip(records, read, strict=True)
    ]
