"""The spelling model of a model that generates words, learnt from the words that it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oracle.errors import RnngError
from oracle.files import locked
from rnng_dy import registry
from rnng_dy.spelling import SPELLING, SpellingModel


def spelling_of(model: Any, words: Mapping[str, int]) -> SpellingModel:
    """Return a spelling model learnt from words and their counts. Raises RnngError if the model knows all of them."""
    spelling = SpellingModel(model.vocabulary.unknown, model.vocabulary.ids, words)
    if not spelling.words:
        raise RnngError(
            "the model knows every word of this text, so it shows no unknown words to learn spelling from"
        )
    return spelling


def model_without_spelling(folder: str) -> Any:
    """Build the model of a folder that needs a spelling model. Raises RnngError for a parser, and if it has one."""
    model = registry.kind_of_words(folder).model_class.build(folder)
    if model.spelling is not None:
        raise RnngError(f"{folder} has a spelling model: remove {Path(folder, SPELLING)} first")
    return model


def keep_spelling(spelling: SpellingModel, folder: str) -> None:
    """Write a spelling model into a model folder; it appears there only when complete."""
    with locked(folder):
        spelling.save(Path(folder, SPELLING))
