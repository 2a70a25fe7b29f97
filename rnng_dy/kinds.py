"""The kinds of models, three classes, and folders of models of any kind.

The classes say how they differ by `generates_words` and `has_trees`.
"""

from __future__ import annotations

import os
from itertools import chain
from typing import Any, NamedTuple

from oracle.common import plugins
from oracle.common.errors import RnngError
from oracle.common.files import reading
from rnng_dy.model_folder import ABOUT, CONFIG, Folder, located, model_files, read_config


def kind(name: str) -> type[Any]:
    """Return the class of the kind called `name`. Raises RnngError if there is none."""
    # imported when they are needed, since they load NLTK
    from rnng_dy.baselines.lstm_lm import LstmLanguageModel
    from rnng_dy.generator import GenerativeModel
    from rnng_dy.parser import DiscriminativeParser

    kinds = {k.kind: k for k in (DiscriminativeParser, GenerativeModel, LstmLanguageModel)}
    if name not in kinds:
        raise RnngError(f"no kind of model is called {name!r}: {', '.join(kinds)}")
    return kinds[name]


def kind_of(folder: str | os.PathLike[str]) -> type[Any]:
    """Return the class of a folder's model.

    Raises RnngError if it holds no model of a known kind.
    """
    config = read_config(os.fspath(folder))
    with reading(located(os.fspath(folder)) / CONFIG):
        return kind(config["kind"])


def kind_of_words(folder: str) -> type[Any]:
    """Return the class of a folder's model.

    Raises RnngError unless it gives words a probability.
    """
    words_kind = kind_of(folder)
    if not words_kind.generates_words:
        others = "name a generative or LSTM model"
        raise RnngError(f"{folder} is a parser, which gives words no probability: {others}")
    return words_kind


def load(folder: str | os.PathLike[str], device: str | None = None) -> Any:
    """Load the model of a folder or an archive, whatever its kind.

    Args:
        folder: A model folder, as `train` writes it, an archive, or a name that `rnng-dy models`
            lists.
        device: `cpu`, `cuda` or `cuda:N`; all models of a process share it. None means the device
            that the process uses already, or else `cpu`.

    Returns:
        The parser, generative model or LSTM language model.

    Raises:
        RnngError: The folder holds no model or a damaged one, or the device cannot be used.

    Examples:
        >>> load("no/such/folder")
        Traceback (most recent call last):
        oracle.common.errors.RnngError: there is no folder no/such/folder: name one that
        `rnng-dy train` or `import-clab` wrote
    """
    # imported here, since help and completion need not wait for them
    from rnng_dy import checkpoint, engine

    # before DyNet is loaded
    model_kind = kind_of(folder)
    engine.start(device)
    model = model_kind.load(os.fspath(folder))
    checkpoint.warn_of_model(model, folder)
    return model


class ModelFolder(NamedTuple):
    """A model that commands and their workers open; see `parallel.Workers`."""

    kind: str
    folder: str
    device: str = "cpu"

    @property
    def title(self) -> str:
        """Return its name in outputs."""
        return self.folder

    @property
    def has_trees(self) -> bool:
        """Whether a search finds its probabilities of words."""
        model_class = kind(self.kind)
        return bool(model_class.has_trees and model_class.generates_words)

    def open(self) -> Any:
        """Load the model in this process. Raises RnngError if device or folder cannot be used."""
        from rnng_dy import engine

        engine.start(self.device)
        return kind(self.kind).load(self.folder)

    def files(self) -> dict[str, Folder]:
        """Return the files that the model is read from, by their names in its folder."""
        return model_files(self.folder)

    def content(self) -> list[object]:
        """Return what determines the model's results, for `content_hash`: its files and plugins.

        about.json does not count.
        """
        files = [item for item in sorted(self.files().items()) if item[0] != ABOUT]
        return [*chain.from_iterable(files), *plugins.loaded.values()]

    def moved(self, folder: str) -> ModelFolder:
        """Return the model with its files in another folder."""
        return self._replace(folder=folder)
