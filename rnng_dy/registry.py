"""The one list of kinds of models, each with its class."""

from __future__ import annotations

import importlib
from pathlib import Path

from oracle.errors import InputError, named
from rnng_dy import checkpoint

# imported when it is needed: not every command loads DyNet
KINDS = {
    "discriminative": "rnng_dy.parser:DiscriminativeParser",
    "generative": "rnng_dy.language_model:GenerativeModel",
    "lstm-lm": "rnng_dy.baselines.lstm_lm:LstmLanguageModel",
}


def class_of(kind: str) -> type:
    """The class of a kind of model."""
    module, _, name = named("kind of model", kind, KINDS).partition(":")
    return getattr(importlib.import_module(module), name)


def kind_of(folder: str | Path) -> str:
    """Which kind of model a folder holds. Raises RnngError where it holds none of KINDS."""
    kind = checkpoint.kind_of(folder)
    if kind not in KINDS:
        raise InputError(f"no kind of model is called {kind!r}", Path(folder) / checkpoint.CONFIG)
    return kind


def load(folder: str | Path, kind: str | None = None):
    """The model of a folder, whatever it is or, with `kind`, of that one. Raises RnngError as its `load` does."""
    return class_of(kind or kind_of(folder)).load(folder)
