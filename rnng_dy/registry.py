"""The kinds of models by name; their classes are imported when they are needed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from oracle.errors import RnngError
from oracle.files import reading
from rnng_dy import checkpoint
from rnng_dy.model_paths import CONFIG, located

_CLASSES = {
    "discriminative": ("rnng_dy.parser", "DiscriminativeParser"),
    "generative": ("rnng_dy.generator", "GenerativeModel"),
    "lstm-lm": ("rnng_dy.baselines.lstm_lm", "LstmLanguageModel"),
}
KINDS = tuple(_CLASSES)
"""The names of the kinds, in config.json and on the command line."""


def kind(name: str) -> type[Any]:
    """Return the class of the kind called `name`, which says how it differs. Raises RnngError if there is none."""
    if name not in KINDS:
        raise RnngError(f"no kind of model is called {name!r}: {', '.join(KINDS)}")
    module, of_kind = _CLASSES[name]
    found: type[Any] = getattr(importlib.import_module(module), of_kind)
    return found


def kind_of(folder: str | Path) -> type[Any]:
    """Return the class of a folder's model. Raises RnngError if it holds no model of a known kind."""
    config = checkpoint.read_config(folder)
    with reading(located(folder) / CONFIG):
        return kind(config["kind"])


def kind_of_words(folder: str | Path) -> type[Any]:
    """Return the class of a folder's model. Raises RnngError unless it gives words a probability."""
    found = kind_of(folder)
    if not found.generates_words:
        raise RnngError(
            f"{folder} is a parser, which gives words no probability: name a generative or LSTM model"
        )
    return found


def load(folder: str | Path, name: str | None = None) -> Any:
    """Load the model of a folder, of any kind or of the kind `name`. Raises RnngError as `Model.load` does."""
    return (kind(name) if name else kind_of(folder)).load(folder)
