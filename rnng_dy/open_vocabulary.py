"""Words as strings: the classes and spellings of a model's spelling model beside the model's own probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from oracle.errors import RnngError
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
