"""The data of a training: the user's oracles, or oracles made from the user's trees, and a model's examples of them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from oracle.blocks import STORED, OracleSentence, StoredSentences, read_oracle, stored_oracle
from oracle.brackets import parse_line, read_trees
from oracle.common.errors import ImpossibleError, InputError, RnngError
from oracle.common.files import placed
from oracle.common.lazy import nltk
from oracle.training_data import TreesFile, make_training_data
from oracle.transitions import DEFAULT, SYSTEMS
from oracle.treebank import words
from oracle.unknown import RULES

Trees = str | os.PathLike[str] | Iterable["nltk.Tree"]

SHOWN_WORDS = 8
"""How many words of a sentence a warning shows."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Data:
    """The oracle sentences of both parts, with the names of their files."""

    train: StoredSentences
    dev: Sequence[OracleSentence]
    golds: list[nltk.Tree]
    """The development trees, which only a parser needs."""
    source: str
    """The user's training file, for messages."""
    dev_source: str
    rules: str = RULES[0]
    """The rules for unknown words, where the sentences leave a choice."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """What to train on: trees, or oracles."""

    trees: Trees | None
    dev_trees: Trees | None
    train: str | None
    dev: str | None
    hold_out: float | None
    unk: str | None

    def require_whole(self, parses: bool) -> None:
        """Raise RnngError unless there is a training and a development part, for a model that parses or not."""
        is_dev_given = self.dev_trees is not None
        fits_trees = self.trees is not None and (is_dev_given or self.hold_out is not None)
        if not (fits_trees or (self.train is not None and is_dev_given == parses)):
            raise RnngError(
                "give `trees` with `dev_trees` or `hold_out`, or oracles as `train` and `dev`, and the `dev_trees` of "
                "a parser with them"
            )
        if self.hold_out is not None and not 0 < self.hold_out < 1:
            raise RnngError(
                f"`hold_out` is a share of the trees between 0 and 1, not {self.hold_out}"
            )

    def read(
        self, model: Any, origin: object, transitions: str | None, generative: bool, folder: Path
    ) -> Data:
        """Return the sentences, of which those to train on stay in a folder.

        A model from `origin`, unless it is None, has rules for unknown words and a transition
        system. Raises InputError for what cannot be read, or is not for this kind of model.
        """
        if self.trees is None:
            return self._of_oracles(folder)
        rules, system = RULES[0], DEFAULT
        if model is not None:
            rules, system = model.unknown.rules, model.config().get("transitions", DEFAULT)
            if self.unk not in (None, rules):
                raise RnngError(f"{origin} has `unk` {rules}: leave it out")
        return self._of_trees(self.unk or rules, transitions or system, generative, folder)

    def _of_oracles(self, folder: Path) -> Data:
        sentences, dev = stored_oracle(self.train, folder / STORED), read_oracle(self.dev)
        golds = []
        if self.dev_trees is not None:
            for path, first in ((self.train, sentences[0]), (self.dev, dev[0])):
                if first.tags is None:
                    message = "this is a generative oracle: make the parser's without --generative"
                    raise InputError(message, path, first.line)
            golds = _golds(self.dev_trees, dev, self.dev)
        return Data(sentences, dev, golds, str(self.train), str(self.dev))

    def _of_trees(self, unk: str, transitions: str, generative: bool, folder: Path) -> Data:
        train = dev = _trees_file(self.trees, "trees")
        # via the typed digits: 0.1 is exactly a tenth, but its float is not
        part: Fraction | TreesFile = Fraction(str(self.hold_out or 0))
        if self.dev_trees is not None:
            part = dev = _trees_file(self.dev_trees, "dev_trees")
        sentences, of_dev = make_training_data(folder, train, part, unk, transitions, generative)
        for file in dict.fromkeys([train, dev]):
            _log.info(
                f"{file.path}: {file.read} trees read, {file.changed} cleaned, {file.emptied} emptied"
            )
        golds = [] if generative else [parse_line(sentence.tree) for sentence in of_dev]
        return Data(sentences, of_dev, golds, train.path, dev.path, unk)


def _trees_file(trees: Trees, name: str) -> TreesFile:
    if isinstance(trees, (str, os.PathLike)):
        return TreesFile(os.fspath(trees))
    return TreesFile(name, trees=trees)


def _golds(path: str, dev: Sequence[OracleSentence], dev_path: str) -> list[nltk.Tree]:
    """Read the development trees. Raises InputError if their words are not those of the development oracle."""
    golds = list(read_trees(path))
    for gold, sentence in zip_longest(golds, dev):
        if not (gold and sentence) or tuple(words(gold.tree)) != sentence.tokens:
            message = f"its words are not those of this sentence in {dev_path}"
            raise InputError(message, path, gold.line if gold else None)
    return [gold.tree for gold in golds]


@dataclass(eq=False, repr=False)
class Examples(Sequence):
    """The examples of sentences that a model can learn."""

    model: Any
    sentences: Sequence[OracleSentence]
    members: np.ndarray
    """The indices of the sentences that it can learn."""

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: int) -> Any:
        return self.model.encode_training(self.sentences[self.members[index]])

    def repeated(self, first: int, times: int) -> Examples:
        """Return the examples with those of the first sentences several times each."""
        of_first = np.searchsorted(self.members, first)
        parts = np.repeat(self.members[:of_first], times), self.members[of_first:]
        return replace(self, members=np.concatenate(parts))

    def tokens(self, index: int) -> tuple[str, ...]:
        """Return the words of an example's sentence."""
        return self.sentences[self.members[index]].tokens


def examples_of(model: Any, sentences: Sequence[OracleSentence], source: str) -> Examples:
    """Return the examples; warns of sentences that have p = 0, which are left out.

    Raises InputError that names the file `source` if none is left, or for another transition system
    than the model's.
    """
    members = []
    with placed(source):
        require_transitions(model, {sentence.transitions for sentence in sentences})
    for i, sentence in enumerate(sentences):
        try:
            model.encode_training(sentence)
            members.append(i)
        except ImpossibleError as error:
            words = " ".join(sentence.tokens[:SHOWN_WORDS])
            _log.warning(f"{source}: left out, since {error}: {words} ...")
    if len(members) < len(sentences):
        left_out = len(sentences) - len(members)
        _log.warning(f"{source}: {left_out} of {len(sentences)} sentences left out")
    if not members:
        raise InputError("every sentence has p = 0", source)
    return Examples(model, sentences, np.array(members, np.int64))


def require_transitions(model: Any, systems: Iterable[str]) -> None:
    """Raise RnngError if sentences have actions of another transition system than the model's."""
    own = getattr(model, "transitions", None)
    for name in systems if own else ():
        # systems may write the same oracles; the name is then that of the first such system
        if name not in SYSTEMS or not own.writes_like(SYSTEMS[name]):
            raise RnngError(
                f"the model's transitions are {own.name}, these {name}: make the oracle with --transitions {own.name}"
            )
