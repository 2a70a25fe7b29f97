"""The kinds of models, and all that differs between them but for the models themselves."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from oracle.errors import InputError, named
from rnng_dy import checkpoint


@dataclass(frozen=True)
class Kind:
    """A kind of model. Classes may be given as `module:name`, to be imported when they are needed."""

    name: str
    """In config.json, and on the command line."""
    model: str | type
    """The subclass of `Model`."""
    training: str | type
    """Its part of a training, see `training.kinds`."""
    title: str
    """On the model card."""
    use: str
    """An example in Python, on the model card; the folder is called MODEL."""
    plural: str
    score: str
    """The number of an evaluation on development data that people look at: its key in a record of the log."""
    score_name: str
    score_title: str
    """The same, with all that it is a number of."""
    generates_words: bool
    """Whether it gives words probabilities, and learns from generative oracles."""
    has_trees: bool = True
    options: tuple[str, ...] = ()
    """Options of its training that some other kinds do not have."""
    presets: str | None = None
    """The kind whose presets it trains by; None is itself."""

    @property
    def model_class(self) -> type:
        """The class of the models."""
        return _imported(self.model)

    @property
    def training_class(self) -> type:
        """The class of the kind's part of a training."""
        return _imported(self.training)


def _imported(given: str | type) -> type:
    # when it is needed: not every command loads DyNet
    if isinstance(given, type):
        return given
    module, _, name = given.partition(":")
    return getattr(importlib.import_module(module), name)


_SURPRISALS = (
    'model = rnng_dy.load("MODEL")  # this folder\n'
    'print(model.surprisals_of("It works. So it does."))  # in bits, word by word'
)
_KINDS = (
    Kind(
        "discriminative",
        "rnng_dy.parser:DiscriminativeParser",
        "rnng_dy.training.kinds:ParserTraining",
        title="Parser q(y | x) of a recurrent neural network grammar",
        use='parser = rnng_dy.load("MODEL")  # this folder\n'
        'print(parser("It works. So it does."))  # a tree for each sentence',
        plural="Parsers",
        score="f1",
        score_name="F1",
        score_title="F1",
        generates_words=False,
        options=("pos", "tagger", "pretrained"),
    ),
    Kind(
        "generative",
        "rnng_dy.language_model:GenerativeModel",
        "rnng_dy.training.kinds:GeneratorTraining",
        title="Recurrent neural network grammar p(x, y)",
        use=_SURPRISALS,
        plural="Generative models",
        score="perplexity",
        score_name="perplexity",
        score_title="perplexity of words and trees",
        generates_words=True,
        options=("clusters",),
    ),
    Kind(
        "lstm-lm",
        "rnng_dy.baselines.lstm_lm:LstmLanguageModel",
        "rnng_dy.training.kinds:LanguageModelTraining",
        title="LSTM language model",
        use=_SURPRISALS,
        plural="LSTM language models",
        score="perplexity",
        score_name="perplexity",
        score_title="perplexity",
        generates_words=True,
        options=("clusters",),
        has_trees=False,
    ),
)
KINDS = {kind.name: kind for kind in _KINDS}
"""By name. `rnng_dy.train` and `rnng_dy.load` take one that is added, too."""


def kind(name: str) -> Kind:
    """Return the kind of a name. Raises RnngError where there is none, with those that there are."""
    return named("kind of model", name, KINDS)


def kind_of(folder: str | Path) -> Kind:
    """Return the kind of a folder's model. Raises RnngError where it holds none of KINDS."""
    name = checkpoint.kind_of(folder)
    if name not in KINDS:
        raise InputError(f"no kind of model is called {name!r}", Path(folder) / checkpoint.CONFIG)
    return KINDS[name]


def load(folder: str | Path, name: str | None = None):
    """Return the model of a folder, of whatever kind or of that of a name. Raises RnngError as its `load` does."""
    return (kind(name) if name else kind_of(folder)).model_class.load(folder)
