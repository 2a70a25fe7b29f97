"""The base class of models, which are loaded from and saved as folders."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import ClassVar, TypeVar

import nltk
from nltk.tag.perceptron import PerceptronTagger

from oracle.errors import InputError, RnngError
from oracle.tagger_files import load_tagger, save_tagger
from oracle.tokens import Token, split_tokens
from rnng_dy import checkpoint, model_card, plugins
from rnng_dy.model_card import About
from rnng_dy.parameters import ParameterStore
from rnng_dy.search.parse_result import ParseResult
from rnng_dy.text.segmenter import TEXT, Segmenter

T = TypeVar("T")

TAGGER = "tagger"
"""The subfolder of a parser's folder that holds its POS tagger."""
SHOWN_WORDS = 5
"""How many words of a sentence a warning shows."""


class Model:
    """Base class of models: `load` and `save` for users, and the interface that `checkpoint` needs.

    Pickling or copying a model writes and reads the files of its folder, without a training state.
    """

    kind: ClassVar[str]
    config_defaults: ClassVar[Mapping[str, object]] = {}
    """Keys of config.json besides kind and sizes, with their values for older folders that lack them."""
    sizes_type: ClassVar[type]
    vocabulary_type: ClassVar[type]
    store: ParameterStore
    updates: int | None = 0
    """Number of updates that the parameters have had: 0 if they are random, None if it is unknown."""
    tagger: PerceptronTagger | None = None
    """The tagger that gives words the POS tags that a parser reads; None if the model has none."""
    about: About | None = None
    """Where the model comes from; None if this is not recorded."""

    _segmenter: Segmenter | None = None

    @property
    def segmenter(self) -> Segmenter:
        """The segmenter that turns raw text into tokens as in training; guessed from the vocabulary if not recorded."""
        if self._segmenter is None:
            self._segmenter = Segmenter.of_words(self.vocabulary.words.symbols)
        return self._segmenter

    @segmenter.setter
    def segmenter(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {'; '.join(self._described())}>"

    def _described(self) -> Iterator[str]:
        config, about = self.config(), self.about or {}
        named = [f"{name} {config[name]}" for name in config if name not in checkpoint.GENERAL]
        sizes = [f"{name} {size}" for name, size in config["sizes"].items()]
        yield from (", ".join(part) for part in (named, sizes) if part)
        yield f"{self.store.count():,} parameters"
        corpus, score = model_card.trained_on(about), model_card.best_score(about)
        if self.updates == 0:
            yield "not trained"
        elif corpus:
            yield f"trained on {corpus}"
        # the score must be that of these parameters: a killed training may have written newer ones
        if score and about["scores"].get("updates") == self.updates:
            yield score

    def __call__(
        self, text: str | Sequence[Token] | Sequence[list[Token]]
    ) -> list[nltk.Tree | None] | nltk.Tree | None:
        """Return the trees of a text or of a list of sentences, or the tree of one sentence of tokens.

        Types distinguish them: a str is a text. Inside a sequence, a str is a word, a tuple a pair of word and tag, and
        a list a sentence of words or pairs.

        A parser returns greedy trees, a generative model the best trees of its beam. The result is None for a sentence
        that does not fit into memory or has p = 0; a warning names the sentence.

        Raises RnngError for invalid tokens, and for a model that gives no trees.
        """
        several = isinstance(text, str)
        if isinstance(text, Sequence) and not several:
            several = any(isinstance(item, list) for item in text)
        sentences = self.tokens_of(text if several else [text])
        trees = []
        for tokens, (tree, reason) in zip(sentences, self.best_trees(sentences), strict=True):
            trees.append(tree)
            if tree is None:
                words, _ = split_tokens(tokens)
                shown = " ".join(words[:SHOWN_WORDS])
                shown += f" ..., {len(words)} words" if len(words) > SHOWN_WORDS else ""
                message = f"sentence {len(trees)} ({shown}) has no tree: {reason}"
                warnings.warn(message, stacklevel=2)
        return trees if several else trees[0]

    def best_trees(self, sentences: Sequence[Sequence[Token]]) -> Iterator[ParseResult]:
        """Yield the best tree per sentence, or the reason why it has none."""
        raise RnngError(f"a {self.kind} model gives no trees: ask for `surprisals_of(text)`")

    def tokens_of(self, text: str | T) -> Sequence[Sequence[str]] | T:
        """Return the tokens per sentence of a text; return sentences of tokens unchanged."""
        if not isinstance(text, str):
            return text
        return [sentence.tokens for sentence in self.segmenter.sentences(text)]

    def config(self) -> dict[str, object]:
        """Return the content of config.json."""
        return {"kind": self.kind, "sizes": vars(self.sizes)}

    def save(self, folder: str | Path) -> None:
        """Write a model folder, or replace one; see `checkpoint.save`."""
        checkpoint.save(self, folder)

    def __reduce__(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent) / "model"
            self.save(folder)
            paths = sorted(path for path in folder.rglob("*") if path.is_file())
            files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        return _from_files, (type(self), files)

    @classmethod
    def load(cls, folder: str | Path) -> Model:
        """Read a model folder. Raises RnngError naming the file if it is damaged, missing or of another kind."""
        model = cls.build(folder)
        try:
            arrays = checkpoint.read_arrays(Path(folder) / checkpoint.PARAMETERS)
            model.updates = checkpoint.take_updates(arrays)
            model.store.load(arrays)
        except InputError:
            raise
        except RnngError as error:
            raise InputError(str(error), Path(folder) / checkpoint.PARAMETERS) from None
        return model

    @classmethod
    def build(cls, folder: str | Path) -> Model:
        """Build the folder's model with its initial, untrained parameters.

        Raises RnngError if there is no model, if it is of another kind, or if its files do not fit together.
        """
        contents = checkpoint.read(folder, cls.kind, cls.config_defaults)
        config, place = contents.config, Path(folder) / checkpoint.CONFIG
        plugins.require(config.get(checkpoint.PLUGINS), place)
        unknown = set(config["sizes"]) - {field.name for field in fields(cls.sizes_type)}
        if unknown:
            raise InputError(f"unknown size {min(unknown)!r}: this version cannot read it", place)
        for name, size in config["sizes"].items():
            if type(size) is not int or size < 1:
                raise InputError(f"the size {name} is {size!r}, no whole number from 1 on", place)
        with contents.blamed():
            vocabulary = cls.vocabulary_type.from_json(contents.vocabulary)
        given = {name: config[name] for name in cls.config_defaults if config[name] is not None}
        constants = {name: contents.constant(name) for name in cls.constants_of(vocabulary)}
        try:
            with plugins.blamed():
                model = cls(vocabulary, cls.sizes_type(**config["sizes"]), **given, **constants)
        except (RnngError, TypeError) as error:
            raise InputError(f"no model can be made of it: {error}", place) from None
        model.read_companions(Path(folder))
        return model

    def write_companions(self, folder: Path) -> None:
        """Write tagger, model card and segmenter into a folder that is being made."""
        if self.tagger is not None:
            save_tagger(self.tagger, folder / TAGGER)
        if self.about is not None:
            model_card.write(folder, self.about)
        if self._segmenter is not None:
            self._segmenter.save(folder / TEXT)

    @staticmethod
    def companions_in(folder: Path) -> set[str]:
        """Return the names that `write_companions` may have written; README.md only if about.json exists."""
        card = {model_card.CARD} if (folder / model_card.ABOUT).exists() else set()
        return {TAGGER, TEXT, model_card.ABOUT} | card

    def read_companions(self, folder: Path) -> None:
        """Read the files that `write_companions` wrote; attributes that an older folder lacks keep their values.

        Raises InputError naming a damaged file.
        """
        if os.path.lexists(folder / TAGGER):
            self.tagger = load_tagger(folder / TAGGER)
        self.about = model_card.read(folder)
        if os.path.lexists(folder / TEXT):
            self.segmenter = Segmenter.load(folder / TEXT)

    @staticmethod
    def constants_of(vocabulary) -> tuple[str, ...]:
        """Return the names of arrays that are not trained; they are arguments and attributes of the model."""
        return ()


def _from_files(kind: type[Model], files: Mapping[str, bytes]) -> Model:
    """Load a model from the contents of its folder's files, by file name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return kind.load(folder)
