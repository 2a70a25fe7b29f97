"""Models as folders: each class builds itself from what its folder holds."""

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
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.text_files import TEXT, read_segmenter, write_segmenter

T = TypeVar("T")

TAGGER = "tagger"
"""The folder, in that of a parser, of its POS tagger."""
SHOWN_WORDS = 5
"""Of a sentence that a warning is about."""


class Model:
    """What `checkpoint` needs of a model, and `load` and `save` for users.

    Models are pickled, and copied, as the files of their folders, without a training state.
    """

    kind: ClassVar[str]
    config_defaults: ClassVar[Mapping[str, object]] = {}
    """Keys of config.json besides kind and sizes, with the values of folders that are older than they."""
    sizes_type: ClassVar[type]
    vocabulary_type: ClassVar[type]
    store: ParameterStore
    updates: int | None = 0
    """Updates that the parameters have had: 0 where they are random; None where nobody knows."""
    tagger: PerceptronTagger | None = None
    """Gives words the POS tags that a parser reads; None where the model has none."""
    about: About | None = None
    """Where the model comes from; None where nobody has said it."""

    _segmenter: Segmenter | None = None

    @property
    def segmenter(self) -> Segmenter:
        """Turns raw text into tokens as training had them; where nobody said how, as the model's words let see."""
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
        # of these parameters: a training that was killed may have written newer ones
        if score and about["scores"].get("updates") == self.updates:
            yield score

    def __call__(
        self, text: str | Sequence[Token] | Sequence[list[Token]]
    ) -> list[nltk.Tree | None] | nltk.Tree | None:
        """The trees of a text or of a list of sentences; the tree of one sentence that is given as its tokens.

        Types tell them apart: a str is a text, and inside a sequence a word; a tuple there is a pair of word and tag; a
        list there is a sentence of either.

        The trees of a parser are the greedy ones, those of a generative model the best that its beam finds. A sentence
        without a tree, since it does not fit into memory or has p = 0, has None in its place, and a warning says which
        it is.

        Raises RnngError for tokens that are none, and for a model that gives no trees.
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
        """The best tree of each sentence, and why one has none."""
        raise RnngError(f"a {self.kind} model gives no trees: ask for `surprisals_of(text)`")

    def tokens_of(self, text: str | T) -> Sequence[Sequence[str]] | T:
        """The sentences of a text as tokens; sentences that are tokens already as they are."""
        if not isinstance(text, str):
            return text
        return [sentence.tokens for sentence in self.segmenter.sentences(text)]

    def config(self) -> dict[str, object]:
        """The content of config.json."""
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
        """Read a model folder. Raises RnngError naming the file where it is none, or of another kind."""
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
        """The folder's model with parameters as they are before training.

        Raises RnngError where there is none, where it is of another kind, or where its files do not fit together.
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
        """Write what belongs to the model besides vocabulary and parameters into a folder that is being made."""
        if self.tagger is not None:
            save_tagger(self.tagger, folder / TAGGER)
        if self.about is not None:
            model_card.write(folder, self.about)
        if self._segmenter is not None:
            write_segmenter(self._segmenter, folder / TEXT)

    @staticmethod
    def companions_in(folder: Path) -> set[str]:
        """The names in a model folder of what `write_companions` may have written: without about.json no card."""
        card = {model_card.CARD} if (folder / model_card.ABOUT).exists() else set()
        return {TAGGER, TEXT, model_card.ABOUT} | card

    def read_companions(self, folder: Path) -> None:
        """Take up what `write_companions` wrote; what an older folder has not stays as it is.

        Raises InputError naming a file that is damaged.
        """
        if os.path.lexists(folder / TAGGER):
            self.tagger = load_tagger(folder / TAGGER)
        self.about = model_card.read(folder)
        if os.path.lexists(folder / TEXT):
            self.segmenter = read_segmenter(folder / TEXT)

    @staticmethod
    def constants_of(vocabulary) -> tuple[str, ...]:
        """Names of arrays that are not trained, which are arguments and attributes of the model."""
        return ()


def _from_files(kind: type[Model], files: Mapping[str, bytes]) -> Model:
    """The model of a folder's files by their names in it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return kind.load(folder)
