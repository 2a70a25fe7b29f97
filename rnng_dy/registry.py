"""The kinds of models by name; their classes are imported when they are needed."""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from oracle.errors import RnngError
from oracle.files import reading
from rnng_dy import checkpoint, engine
from rnng_dy.model_folder import CONFIG, located

if TYPE_CHECKING:
    from nltk import Tree

    from rnng_dy.baselines.lstm_lm import LstmLanguageModel
    from rnng_dy.evaluation.records import WordRecord
    from rnng_dy.generator import GenerativeModel
    from rnng_dy.parser import DiscriminativeParser

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


def kind_of(folder: str | os.PathLike[str]) -> type[Any]:
    """Return the class of a folder's model. Raises RnngError if it holds no model of a known kind."""
    config = checkpoint.read_config(os.fspath(folder))
    with reading(located(os.fspath(folder)) / CONFIG):
        return kind(config["kind"])


def kind_of_words(folder: str) -> type[Any]:
    """Return the class of a folder's model. Raises RnngError unless it gives words a probability."""
    found = kind_of(folder)
    if not found.generates_words:
        raise RnngError(
            f"{folder} is a parser, which gives words no probability: name a generative or LSTM model"
        )
    return found


def load(
    folder: str | os.PathLike[str], device: str | None = None
) -> DiscriminativeParser | GenerativeModel | LstmLanguageModel:
    """Load the model of a folder or an archive, whatever its kind.

    Args:
        folder: A model folder, as `train` writes it, an archive, or a name that `rnng-dy models` lists.
        device: `cpu`, `cuda` or `cuda:N`; all models of a process share it. None means the device that the process uses
            already, or else `cpu`.

    Returns:
        The parser, generative model or LSTM language model.

    Raises:
        RnngError: The folder holds no model or a damaged one, or the device cannot be used.

    Examples:
        >>> load("no/such/folder")
        Traceback (most recent call last):
        oracle.errors.RnngError: there is no folder no/such/folder: name one that `rnng-dy train` or `import-clab` wrote
    """
    # before DyNet is loaded
    found = kind_of(folder)
    engine.start(device)
    return found.load(os.fspath(folder))  # type: ignore[no-any-return]


def parse(text: Any) -> list[Tree] | Tree:
    """Parse by the package's English parser, which stays loaded.

    Args:
        text: Running text, a list of sentences, or one sentence of tokens, as a model's call takes it.

    Returns:
        A list of trees, or one tree for one sentence of tokens.

    Raises:
        RnngError: A token is invalid.
    """
    return _of_package("english")(text)


def surprisals(text: Any) -> list[list[WordRecord]]:
    """Measure surprisals in bits by the package's English generative model, which stays loaded.

    Args:
        text: Running text, a list of sentences, or one sentence of tokens.

    Returns:
        A list of `WordRecord` for each sentence.

    Raises:
        RnngError: A token is invalid.
    """
    return _of_package("english-generative").surprisals_of(text)  # type: ignore[no-any-return]


@cache
def _of_package(name: str) -> Any:
    return load(name)
