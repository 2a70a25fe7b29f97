"""Models as folders: each class builds itself from what its folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import ClassVar

from nltk.tag.perceptron import PerceptronTagger

from oracle.errors import InputError, RnngError
from oracle.tagger_files import load_tagger, save_tagger
from rnng_dy import checkpoint
from rnng_dy.parameters import ParameterStore
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.text_files import TEXT, read_segmenter, write_segmenter

TAGGER = "tagger"
"""The folder, in that of a parser, of its POS tagger."""


class SavedModel:
    """What `checkpoint` needs of a model, and `load` and `save` for users."""

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

    def config(self) -> dict[str, object]:
        """The content of config.json."""
        return {"kind": self.kind, "sizes": vars(self.sizes)}

    def save(self, folder: str | Path) -> None:
        """Write a model folder, replacing one that is there only when the new one is complete."""
        checkpoint.save(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> SavedModel:
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
    def build(cls, folder: str | Path) -> SavedModel:
        """The folder's model with parameters as they are before training.

        Raises RnngError where there is none, where it is of another kind, or where its files do not fit together.
        """
        contents = checkpoint.read(folder, cls.kind, cls.config_defaults)
        config, place = contents.config, Path(folder) / checkpoint.CONFIG
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
            model = cls(vocabulary, cls.sizes_type(**config["sizes"]), **given, **constants)
        except (RnngError, TypeError) as error:
            raise InputError(f"no model can be made of it: {error}", place) from None
        model.read_companions(Path(folder))
        return model

    def write_companions(self, folder: Path) -> None:
        """Write what belongs to the model besides vocabulary and parameters into a folder that is being made."""
        if self.tagger is not None:
            save_tagger(self.tagger, folder / TAGGER)
        if self._segmenter is not None:
            write_segmenter(self._segmenter, folder / TEXT)

    def read_companions(self, folder: Path) -> None:
        """Take up what `write_companions` wrote; what an older folder has not stays as it is.

        Raises InputError naming a file that is damaged.
        """
        if (folder / TAGGER).exists():
            self.tagger = load_tagger(folder / TAGGER)
        if (folder / TEXT).exists():
            self.segmenter = read_segmenter(folder / TEXT)

    @staticmethod
    def constants_of(vocabulary) -> tuple[str, ...]:
        """Names of arrays that are not trained, which are arguments and attributes of the model."""
        return ()
