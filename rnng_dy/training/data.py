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
from oracle.errors import ImpossibleError, InputError, RnngError
from oracle.files import placed
from oracle.lazy import nltk
from oracle.training_data import TreesFile, make_training_data
from oracle.transitions import SYSTEMS
from oracle.treebank import words

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


def data_of_oracles(train: str, dev: str, dev_trees: str | None, folder: Path) -> Data:
    """Read oracles, and the trees of a parser; the training sentences stay in a folder.

    Raises InputError for what is no oracle of this kind of model.
    """
    sentences, dev_sentences = stored_oracle(train, folder / STORED), read_oracle(dev)
    golds = []
    if dev_trees is not None:
        for path, first in ((train, sentences[0]), (dev, dev_sentences[0])):
            if first.tags is None:
                message = "this is a generative oracle: make the parser's without --generative"
                raise InputError(message, path, first.line)
        golds = _golds(dev_trees, dev_sentences, dev)
    return Data(sentences, dev_sentences, golds, str(train), str(dev))


def data_of_trees(
    trees: Trees,
    dev_trees: Trees | None,
    hold_out: float | None,
    unk: str,
    transitions: str,
    generative: bool,
    folder: Path,
) -> Data:
    """Make oracles from trees; the training sentences stay in a folder.

    Raises InputError for what is no tree, or if no tree is left.
    """
    train = dev = _trees_file(trees, "trees")
    # via the typed digits: 0.1 is exactly a tenth, but its float is not
    part: Fraction | TreesFile = Fraction(str(hold_out or 0))
    if dev_trees is not None:
        part = dev = _trees_file(dev_trees, "dev_trees")
    sentences, dev_sentences = make_training_data(folder, train, part, unk, transitions, generative)
    for file in dict.fromkeys([train, dev]):
        _log.info(
            f"{file.path}: {file.read} trees read, {file.changed} cleaned, {file.emptied} emptied"
        )
    golds = [] if generative else [parse_line(sentence.tree) for sentence in dev_sentences]
    return Data(sentences, dev_sentences, golds, train.path, dev.path)


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

    Raises InputError that names the file `source` if none is left, or for another transition system than the model's.
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
