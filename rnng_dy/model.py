"""The base class of models, which are loaded from and saved as folders."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypeVar, cast, overload

import nltk
import numpy as np

from oracle.common import plugins
from oracle.common.errors import RnngError
from oracle.common.files import FileName
from oracle.sentences import Token, split_tokens
from oracle.tagging import Tagger
from oracle.transitions import TransitionSystem
from oracle.unknown import UnknownWords
from rnng_dy import checkpoint, model_folder
from rnng_dy.engine import dy, one_graph
from rnng_dy.model_folder import PLUGINS, About, Folder, located
from rnng_dy.parameters import ParameterStore
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.spelling import SpellingModel

M = TypeVar("M", bound="Model")
ParseResult: TypeAlias = tuple[nltk.Tree | None, str]
"""A sentence's tree and an empty string, or None and the reason why it has no tree."""
TOO_LONG = "it does not fit into memory"


class Model:
    """Base class of models, each of which holds a network and all else that it is saved with.

    A model that is as it was saved travels to another process as the path of its folder; each
    process has its own.
    """

    kind: ClassVar[str]
    """Name in config.json and on the command line."""
    generates_words: ClassVar[bool] = True
    """Whether the model gives probabilities of words, and is trained on generative oracles."""
    has_trees: ClassVar[bool] = True
    config_defaults: ClassVar[Mapping[str, object]] = {}
    """Keys of config.json besides kind and sizes, with their values for older folders."""
    sizes_type: ClassVar[type[Any]]
    vocabulary_type: ClassVar[type[Any]]
    network_type: ClassVar[type[Any]]
    updates: int | None = 0
    """Number of updates of the parameters: 0 if they are random, None if it is unknown."""
    tagger: Tagger | None = None
    """The tagger that gives words the POS tags that a parser reads; None if the model has none."""
    spelling: SpellingModel | None = None
    """The probabilities of strings, for an open vocabulary of a model that generates words."""
    # Any stands for None, which a model without a card has
    about: About | Any = None
    """Where the model comes from; None if this is not recorded."""
    transitions: TransitionSystem
    """The transition system of a model that has trees."""
    _saved: tuple[str, Sequence[object], Segmenter | None] = ("", (), None)
    """The folder that has the model, and what it has besides the parameters."""

    def __init__(self, vocabulary: Any, sizes: Any = None, **parts: Any):
        """Make a model with random parameters; `network_type` describes the arguments."""
        self.vocabulary = vocabulary
        self.sizes = self.sizes_type() if sizes is None else sizes
        self.network = self.network_type(vocabulary, self.sizes, **parts)
        self.store: ParameterStore = self.network.store
        if self.has_trees:
            self.transitions = self.network.transitions

    @property
    def unknown(self) -> UnknownWords:
        """The words that the model knows, and the rules for the classes of all others."""
        return cast(UnknownWords, self.vocabulary.unknown)

    @property
    def vectors(self) -> np.ndarray | None:
        """The pretrained vectors that a parser reads, shape (words, dimension)."""
        return None if self.generates_words else cast(np.ndarray | None, self.network.vectors)

    @cached_property
    def segmenter(self) -> Segmenter:
        """The segmenter that turns raw text into tokens as in training.

        It is guessed from the vocabulary if it is not recorded.
        """
        return Segmenter.of_words(self.vocabulary.words.symbols)

    def _is_saved(self, folder: str | Folder) -> None:
        """Note that the folder or archive has the model as it is now."""
        # a segmenter that the folder lacks is made when it is needed
        segmenter = vars(self).get("segmenter")
        self._saved = os.path.realpath(str(folder).rstrip("/")), self._companions(), segmenter

    def _companions(self) -> tuple[object, ...]:
        return self.vocabulary, self.tagger, self.spelling, self.updates

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Let pickle and copy take the path of the folder.

        Raises RnngError unless the folder has the model as it is.
        """
        folder, companions, segmenter = self._saved
        is_same = companions == self._companions() and segmenter in (None, self.segmenter)
        if not (is_same and checkpoint.has_parameters(folder, self.store)):
            has = "which does not have this one as it is: save() it first"
            raise RnngError(f"a model travels as the path of its folder, {has}")
        return _loaded, (type(self), folder, dict(plugins.loaded))

    def __repr__(self) -> str:
        config = self.config()
        parts = {n: value for n, value in config.items() if n not in model_folder.GENERAL}
        named = [f"{name} {value}" for name, value in (parts | config["sizes"]).items()]
        return f"<{type(self).__name__}: {', '.join(named)}; {self.store.count():,} parameters>"

    # Any stands for None, so that callers whose sentences fit into memory need no check
    @overload
    def __call__(self, text: str | Sequence[list[Token]]) -> list[nltk.Tree | Any]: ...

    @overload
    def __call__(self, text: Sequence[Token]) -> nltk.Tree | Any: ...

    def __call__(self, text: Any) -> Any:
        """Return the trees of a text or of several sentences, or the tree of one sentence.

        A parser returns greedy trees, a generative model the best trees of its beam.

        Args:
            text: Running text, a list of sentences, or one sentence of tokens; see
                `Segmenter.sentences_in`.

        Returns:
            A list of trees, or one tree for one sentence of tokens. A sentence that does not fit
            into memory or has p = 0 gives None; a warning names it.

        Raises:
            RnngError: A token is invalid, or the model gives no trees.
        """
        sentences, several = self.segmenter.sentences_in(text)
        trees = []
        for tokens, (tree, reason) in zip(sentences, self.best_trees(sentences), strict=True):
            trees.append(tree)
            if tree is None:
                words, _ = split_tokens(tokens)
                shown = " ".join(words[:5]) + (f" ..., {len(words)} words" if words[5:] else "")
                message = f"sentence {len(trees)} ({shown}) has no tree: {reason}"
                warnings.warn(message, stacklevel=2)
        return trees if several else trees[0]

    def best_trees(self, sentences: Sequence[Sequence[Token]]) -> Iterator[ParseResult]:
        """Yield the best tree per sentence, or the reason why it has none."""
        raise RnngError(f"a {self.kind} model gives no trees: ask for `surprisals_of(text)`")

    @one_graph
    def attention(self, tree: nltk.Tree) -> Any:
        """Return the label and the children's weights of each constituent, inner ones first.

        Raises ImpossibleError if the model cannot derive the tree, RnngError if the model has no
        such weights.
        """
        dy.renew_cg(derivatives=False)
        return self.network.attention(self.example_of(tree))

    def example_of(self, tree: nltk.Tree) -> Any:
        """Encode a tree. Raises ImpossibleError for p = 0, RnngError if the model has no trees."""
        raise RnngError(f"a {self.kind} model has no trees")

    def with_unknowns(self, example: Any, probability: float, random: np.random.Generator) -> Any:
        """Return the example unchanged: a generative oracle has the classes already."""
        return example

    def config(self) -> dict[str, Any]:
        """Return the content of config.json."""
        parts = self.network.parts
        config = {"kind": self.kind, "sizes": vars(self.sizes)}
        config |= {name: part.name for name, part in parts.items()}
        needed = plugins.files_of(parts.values())
        return config | ({PLUGINS: needed} if needed else {})

    def training_loss(self, examples: Sequence[Any], dropout: float) -> dy.Expression:
        """Return the sum of the negative log probabilities in nats of a minibatch, as one graph."""
        losses, *_ = self.network.example_losses(examples, dropout)
        return dy.esum([dy.sum_batches(loss) for loss in losses])

    def save(self, folder: str | Path) -> None:
        """Write a model folder, or replace one.

        Args:
            folder: If it is a model folder, files that are not the model's stay in it.

        Raises:
            RnngError: The folder is no model folder, holds the training of another model, or is
                being written.
        """
        checkpoint.save(self, folder)
        self._is_saved(str(folder))

    def export(
        self, path: FileName, bits: int = 32, licence: str | None = None, data: str | None = None
    ) -> None:
        """Write an archive with all that is needed to use the model; `load` reads it.

        Args:
            path: The archive.
            bits: The bits of a parameter: 32, 16 (float16), or 8 in matrices and 16 in vectors.
            licence: The terms of use, for the description.
            data: The origin of the training data and its terms, for the description.

        Raises:
            RnngError: Parameters are too large for float16, or `bits` is another number.
            OSError: The file cannot be written.
        """
        checkpoint.export(self, path, bits, model_folder.exported(self, bits, licence, data))

    @classmethod
    def load(cls: type[M], folder: str | Folder) -> M:
        """Read a model folder or an archive.

        Args:
            folder: A folder that `train` or `save` wrote, an archive that `export` wrote, or a
                model's name.

        Raises:
            RnngError: A file is damaged, or belongs to another kind of model; the message names it.
            OSError: A file of the folder is missing.
        """
        location = located(folder)
        model: M = checkpoint.build(cls, location)
        checkpoint.load_parameters(model, location)
        model._is_saved(location)
        return model


def _loaded(kind: type[M], folder: str, texts: Mapping[str, str]) -> M:
    """Return the model of a folder in another process, with the texts of its plugins by path."""
    plugins.load_sent(texts)
    return kind.load(folder)
