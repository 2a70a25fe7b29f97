"""The data of a training: the user's oracles, or oracles made from the user's trees."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

from oracle.blocks import OracleSentence, read_oracle
from oracle.brackets import format_tree, parse_line, read_trees
from oracle.errors import InputError, RnngError
from oracle.lazy import nltk
from oracle.stored import STORED, stored_oracle
from oracle.training_data import Recipe, TreesFile, make_training_data
from oracle.treebank import words
from oracle.unknown import RULES
from rnng_dy.results import content_hash

Trees = str | os.PathLike[str] | Iterable["nltk.Tree"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Data:
    """The oracle sentences of both parts, with the names of their files and hashes for --resume."""

    train: Sequence[OracleSentence]
    dev: Sequence[OracleSentence]
    golds: list[nltk.Tree]
    """The development trees, which only a parser needs."""
    source: str
    """The user's training file, for messages."""
    dev_source: str
    inputs: dict[str, Any]
    """Everything that determines the data, by option; files as hashes."""


def require_sources(
    trees: Trees | None,
    dev_trees: Trees | None,
    train: str | None,
    dev: str | None,
    hold_out: float | None,
    unk: str | None,
    parses: bool,
) -> None:
    """Raise RnngError, which says what to give, for options that exclude each other or are missing."""
    by_trees = trees is not None
    if (
        by_trees == (train is not None)
        or (train is None) != (dev is None)
        or (by_trees and (dev_trees is None) == (hold_out is None))
    ):
        raise RnngError(
            "give --trees with --dev-trees or --hold-out, or oracles as --train and --dev"
        )
    if not by_trees and (hold_out is not None or unk):
        raise RnngError("--hold-out and --unk go with --trees")
    if not by_trees and parses != (dev_trees is not None):
        raise RnngError(
            "--dev-trees goes with --trees and with the --dev of a parser, which needs it"
        )
    if hold_out is not None and not 0 < hold_out < 1:
        raise RnngError("--hold-out is not in the range 0<x<1")
    if unk not in (None, *RULES):
        raise RnngError(f"--unk is one of {', '.join(RULES)}")


def data_of_oracles(train: str, dev: str, dev_trees: str | None, folder: Path) -> Data:
    """Read oracles, and the trees of a parser; the training sentences stay in a folder.

    Raises InputError for what is no oracle of this kind of model.
    """
    sentences, dev_sentences = stored_oracle(train, folder / STORED), read_oracle(dev)
    inputs = {"--train": sentences.hash, "--dev": content_hash(dev_sentences)}
    golds = []
    if dev_trees is not None:
        for path, first in ((train, sentences[0]), (dev, dev_sentences[0])):
            if first.tags is None:
                message = (
                    "this is a generative oracle; the parser needs one made without --generative"
                )
                raise InputError(message, path, first.line)
        golds = _golds(dev_trees, dev_sentences, dev)
        inputs["--dev-trees"] = content_hash(list(map(format_tree, golds)))
    return Data(sentences, dev_sentences, golds, str(train), str(dev), inputs)


def data_of_trees(
    trees: Trees, dev_trees: Trees | None, hold_out: float | None, recipe: Recipe, folder: Path
) -> Data:
    """Make oracles from trees; the training sentences stay in a folder.

    Raises InputError for what is no tree, or if no tree is left.
    """
    train = dev = _trees_file(trees, "trees")
    # via the typed digits: 0.1 is exactly a tenth, but its float is not
    part: Fraction | TreesFile = Fraction(str(hold_out or 0))
    if dev_trees is not None:
        part = dev = _trees_file(dev_trees, "dev_trees")
    sentences, dev_sentences = make_training_data(folder, train, part, recipe)
    files = [train] if dev is train else [train, dev]
    for file in files:
        _log.info(
            f"{file.path}: {file.read} trees read, {file.changed} cleaned, {file.emptied} emptied"
        )
    if len({file.hash for file in files}) < len(files):
        _log.warning(
            f"{dev.path} has what is trained on: its score says nothing of other sentences"
        )
    inputs = {"--dev-trees": None if dev is train else dev.hash, "--trees": train.hash}
    inputs |= {"--hold-out": hold_out, "--unk": recipe.unk}
    golds = [] if recipe.generative else [parse_line(sentence.tree) for sentence in dev_sentences]
    return Data(sentences, dev_sentences, golds, train.path, dev.path, inputs)


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
