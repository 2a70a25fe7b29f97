"""The base class of models, which are loaded from and saved as folders."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeAlias, TypeVar, cast, overload

import nltk
import numpy as np

from oracle.common import plugins
from oracle.common.errors import InputError, RnngError
from oracle.common.files import reading
from oracle.sentences import Token, split_tokens
from oracle.tagging import Tagger
from oracle.transitions import TransitionSystem
from oracle.unknown import UnknownWords
from rnng_dy import checkpoint, companions, model_folder, travelling
from rnng_dy.engine import dy, one_graph
from rnng_dy.model_folder import CONFIG, PLUGINS, VECTORS, VOCABULARY, About, Folder, located
from rnng_dy.parameters import ParameterStore, are_usable
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
    """Keys of config.json besides kind and sizes, with their values for older folders that lack them."""
    sizes_type: ClassVar[type[Any]]
    vocabulary_type: ClassVar[type[Any]]
    network_type: ClassVar[type[Any]]
    updates: int | None = 0
    """Number of updates that the parameters have had: 0 if they are random, None if it is unknown."""
    tagger: Tagger | None = None
    """The tagger that gives words the POS tags that a parser reads; None if the model has none."""
    spelling: SpellingModel | None = None
    """The probabilities of strings, by which a model that generates words has an open vocabulary."""
    # Any stands for None, which a model without a card has
    about: About | Any = None
    """Where the model comes from; None if this is not recorded."""
    saved_in: tuple[str, Sequence[object], Segmenter | None] | None = None
    """The folder that has the model, and the companions that are there (see `travelling`)."""

    def __init__(self, vocabulary: Any, sizes: Any = None, **parts: Any):
        """Make a model with random parameters; `network_type` describes the arguments."""
        self.vocabulary = vocabulary
        self.sizes = self.sizes_type() if sizes is None else sizes
        self.network = self.network_type(vocabulary, self.sizes, **parts)
        self.store: ParameterStore = self.network.store

    @property
    def transitions(self) -> TransitionSystem:
        """The transition system of a model of trees; AttributeError for other models."""
        return cast(TransitionSystem, self.network.transitions)

    @property
    def unknown(self) -> UnknownWords:
        """The words that the model knows, and the rules for the classes of all others."""
        return cast(UnknownWords, self.vocabulary.unknown)

    @property
    def vectors(self) -> np.ndarray | None:
        """The pretrained vectors that a parser reads, shape (words, dimension)."""
        return getattr(self.network, "vectors", None)

    @cached_property
    def segmenter(self) -> Segmenter:
        """The segmenter that turns raw text into tokens as in training; guessed from the vocabulary if not recorded."""
        return Segmenter.of_words(self.vocabulary.words.symbols)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let pickle take the path of the folder. Raises RnngError unless the folder has the model as it is."""
        return travelling.as_path(self)

    def __copy__(self, memo: object = None) -> NoReturn:
        raise RnngError("a model is not copied: save() it, and load the folder again")

    __deepcopy__ = __copy__

    def __repr__(self) -> str:
        config = self.config()
        parts = {name: of for name, of in config.items() if name not in checkpoint.GENERAL}
        named = [f"{name} {value}" for name, value in (parts | config["sizes"]).items()]
        return f"<{type(self).__name__}: {', '.join(named)}; {self.store.count():,} parameters>"

    # Any stands for None, so that callers whose sentences fit into memory need no check
    @overload
    def __call__(self, text: str | Sequence[list[Token]]) -> list[nltk.Tree | Any]: ...

    @overload
    def __call__(self, text: Sequence[Token]) -> nltk.Tree | Any: ...

    def __call__(self, text: Any) -> Any:
        """Return the trees of a text or of a list of sentences, or the tree of one sentence of tokens.

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
        """Return a list of the constituents of a tree, inner ones first: pairs of the label and the children's weights.

        Raises ImpossibleError if the model cannot derive the tree, RnngError if the model has no
        such weights.
        """
        example = self.example_of(tree)
        dy.renew_cg(derivatives=False)
        return self.network.attention(example)

    def example_of(self, tree: nltk.Tree) -> Any:
        """Encode a tree. Raises ImpossibleError if it has p = 0, RnngError if the model has no trees."""
        raise RnngError(f"a {self.kind} model has no trees")

    def with_unknowns(self, example: Any, probability: float, random: np.random.Generator) -> Any:
        """Return the example unchanged, since a generative oracle has classes of unknown words already."""
        return example

    @staticmethod
    def length(example: Any) -> int:
        """Return the number of words of a training example."""
        return len(example.words)

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
        travelling.remember(self, str(folder))

    def export(
        self,
        path: str | os.PathLike[str],
        bits: int = 32,
        licence: str | None = None,
        data: str | None = None,
    ) -> None:
        """Write an archive of all that is needed to use the model, which `load` reads like a folder.

        Args:
            path: The archive.
            bits: The bits of a parameter: 32, 16 (float16), or 8 in matrices and 16 in vectors.
            licence: The terms of use, for the description.
            data: The origin of the training data and its terms, for the description.

        Raises:
            RnngError: Parameters are too large for float16, or `bits` is another number.
            OSError: The file cannot be written.
        """
        about = model_folder.exported(companions.true_about(self), self.kind, bits, licence, data)
        checkpoint.export(self, path, bits, about)

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
        place = located(folder)
        model = cls.build(place)
        checkpoint.load_parameters(model, place)
        travelling.remember(model, place)
        return model

    @classmethod
    def build(cls: type[M], folder: str | Folder) -> M:
        """Build the folder's model, with parameters that are all 0.

        Raises RnngError if there is no model, if it is of another kind, or if its files do not fit
        together.
        """
        place = located(folder)
        config, path = model_folder.read_config(place), place / CONFIG
        if config["kind"] != cls.kind:
            raise InputError(
                f"a {config['kind']} model; a {cls.kind} one is needed here", str(place).rstrip("/")
            )
        given = {**cls.config_defaults, **config}
        given = {k: v for k, v in given.items() if k not in checkpoint.GENERAL and v is not None}
        with reading(path):
            plugins.require(config.get(PLUGINS, ()), path)
            if unknown := given.keys() - cls.config_defaults.keys():
                raise ValueError(f"this version of rnng_dy does not know {min(unknown)!r}")
            if not all(isinstance(part, str) for part in given.values()):
                raise ValueError("the name of a part is no text")
            if not all(type(n) is int and 0 < n < 10**5 for n in config["sizes"].values()):
                raise ValueError("the sizes are no whole numbers from 1 to 99,999")
            sizes = cls.sizes_type(**config["sizes"])
        with reading(place / VOCABULARY, remedy="damaged: train the model again"):
            vocabulary = cls.vocabulary_type.from_json(checkpoint.read_vocabulary(place))
        if getattr(vocabulary, "pretrained", None) is not None:
            with reading(place / VECTORS):
                given["vectors"] = checkpoint.read_arrays(place / VECTORS)["vectors"]
                if not are_usable(given["vectors"]):
                    raise ValueError("no finite numbers")
        try:
            model: M = cast(Any, cls)(vocabulary, sizes, seed=None, **given)
        except RnngError as error:
            raise InputError(f"no model can be made of it: {error}", path) from None
        companions.read(model, place)
        return model
