"""The kinds of models, and how they differ outside the model classes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracle.errors import InputError, RnngError
from rnng_dy import checkpoint
from rnng_dy.model_paths import CONFIG, located


@dataclass(frozen=True)
class Kind:
    """A kind of model. Classes may be written as `module:name`, which is imported when needed."""

    name: str
    """Name in config.json and on the command line."""
    model: str | type[Any]
    """The subclass of `Model`."""
    title: str
    """Title of the model card."""
    use: str
    """Example in Python for the model card, with MODEL as the folder."""
    plural: str
    score: str
    """Key, in a record of the log, of the score on development data that is shown to users."""
    score_name: str
    score_title: str
    """Name of the score with the events that it covers, such as words and trees."""
    generates_words: bool
    """Whether the model gives probabilities of words, and is trained on generative oracles."""
    has_trees: bool = True
    presets: str | None = None
    """The kind whose presets it uses; None means its own."""

    @property
    def model_class(self) -> type[Any]:
        """Return the class of the models, imported if needed."""
        return _imported(self.model)


def _imported(given: str | type[Any]) -> type[Any]:
    # imported when needed: not every command loads DyNet
    if isinstance(given, type):
        return given
    module, _, name = given.partition(":")
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


_SURPRISALS = (
    'model = rnng_dy.load("MODEL")  # this model\n'
    'print(model.surprisals_of("It works. So it does."))  # in bits, word by word'
)
_KINDS = (
    Kind(
        "discriminative",
        "rnng_dy.parser:DiscriminativeParser",
        title="Parser q(y | x) of a recurrent neural network grammar",
        use='parser = rnng_dy.load("MODEL")  # this model\n'
        'print(parser("It works. So it does."))  # a tree for each sentence',
        plural="Parsers",
        score="f1",
        score_name="F1",
        score_title="F1",
        generates_words=False,
    ),
    Kind(
        "generative",
        "rnng_dy.language_model:GenerativeModel",
        title="Recurrent neural network grammar p(x, y)",
        use=_SURPRISALS,
        plural="Generative models",
        score="perplexity",
        score_name="perplexity",
        score_title="perplexity of words and trees",
        generates_words=True,
    ),
    Kind(
        "lstm-lm",
        "rnng_dy.baselines.lstm_lm:LstmLanguageModel",
        title="LSTM language model",
        use=_SURPRISALS,
        plural="LSTM language models",
        score="perplexity",
        score_name="perplexity",
        score_title="perplexity",
        generates_words=True,
        has_trees=False,
    ),
)
KINDS = {kind.name: kind for kind in _KINDS}
"""All kinds by name. `rnng_dy.train` and `rnng_dy.load` also accept kinds that are added here."""


def kind(name: str) -> Kind:
    """Return the kind called `name`. Raises RnngError, which lists the kinds, if there is none."""
    if name not in KINDS:
        raise RnngError(f"no kind of model is called {name!r}: {', '.join(KINDS)}")
    return KINDS[name]


def kind_of(folder: str | Path) -> Kind:
    """Return the kind of a folder's model. Raises RnngError if it holds none of KINDS."""
    name = checkpoint.kind_of(folder)
    if name not in KINDS:
        raise InputError(f"no kind of model is called {name!r}", located(folder) / CONFIG)
    return KINDS[name]


def kind_of_words(folder: str | Path) -> Kind:
    """Return the kind of a folder's model. Raises RnngError unless it gives words a probability."""
    found = kind_of(folder)
    if not found.generates_words:
        raise RnngError(
            f"{folder} is a parser, which gives words no probability: name a generative or LSTM model"
        )
    return found


def load(folder: str | Path, name: str | None = None) -> Any:
    """Load the model of a folder, of any kind or of the kind `name`. Raises RnngError as `Model.load` does."""
    return (kind(name) if name else kind_of(folder)).model_class.load(folder)
