"""The data of a training: the user's oracles, or oracles made from the user's trees."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from oracle.blocks import OracleSentence, read_oracle
from oracle.brackets import format_tree, read_trees
from oracle.encoding import EncodedOracle, read_encoded
from oracle.errors import InputError, RnngError
from oracle.lazy import nltk
from oracle.training_data import Recipe, TreesFile, make_training_data, oracle_of, trees_of
from oracle.treebank import words
from oracle.unknown import RULES
from rnng_dy.results import content_hash

Trees = str | os.PathLike[str] | Iterable["nltk.Tree"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Data:
    """The oracle sentences of both parts, with the names of their files and hashes for --resume."""

    train: EncodedOracle
    dev: Sequence[OracleSentence]
    golds: list[nltk.Tree]
    """The development trees, which only a parser needs."""
    source: str
    """The user's training file, for messages."""
    dev_source: str
    inputs: dict[str, Any]
    """Everything that determines the data, by option; files as hashes."""


def require_data_options(
    trees: Trees | None,
    dev_trees: Trees | None,
    train: str | None,
    dev: str | None,
    hold_out: float | None,
    unk: str | None,
    skip_preterminals: bool,
    parses: bool,
) -> None:
    """Raise RnngError, which says what to give, for options on data that exclude each other or are missing."""
    mistakes = {
        "give --trees with --dev-trees or --hold-out, or oracles as --train and --dev": (
            trees is None and train is None
        ),
        "--trees makes oracles, and --train and --dev name oracles: give either": (
            trees is not None and (train or dev)
        ),
        "--trees needs one of --dev-trees and --hold-out, such as 0.1": (
            trees is not None and (dev_trees is None) == (hold_out is None)
        ),
        "--hold-out is not in the range 0<x<1": hold_out is not None and not 0 < hold_out < 1,
        "--train needs the development oracle: give --dev": train is not None and dev is None,
        "--hold-out, --unk and --skip-preterminals go with --trees: an oracle is made already": (
            train is not None and (hold_out is not None or unk or skip_preterminals)
        ),
        "--dev needs its trees, for F1: give --dev-trees": (
            train is not None and parses and dev_trees is None
        ),
        "--dev-trees goes with --trees; with --train, --dev is enough": (
            train is not None and not parses and dev_trees is not None
        ),
        f"--unk is one of {', '.join(RULES)}": unk not in (None, *RULES),
    }
    for message, is_made in mistakes.items():
        if is_made:
            raise RnngError(message)


def data_of_oracles(train: str, dev: str, dev_trees: str | None, parses: bool) -> Data:
    """Read oracles. Raises InputError for what is no oracle of this kind of model."""
    sentences, dev_sentences = read_encoded(train), read_oracle(dev)
    inputs = {"--train": sentences.source, "--dev": content_hash(dev_sentences)}
    golds = []
    if parses:
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
    trees: Trees,
    dev_trees: Trees | None,
    hold_out: float | None,
    skip_preterminals: bool,
    recipe: Recipe,
    folder: Path,
) -> Data:
    """Make oracles from trees in an empty folder, which is needed as long as the data is.

    Raises InputError for what is no tree, or if no tree is left.
    """
    files = {
        name: _trees_file(given, name, skip_preterminals)
        for name, given in (("--trees", trees), ("--dev-trees", dev_trees))
        if given is not None
    }
    # via the typed digits: 0.1 is exactly a tenth, but its float is not
    dev = files.get("--dev-trees") or Fraction(str(hold_out))
    make_training_data(folder, files["--trees"], dev, recipe)
    for file in files.values():
        _log.info(
            f"{file.path}: {file.read} trees read, {file.changed} cleaned, {file.emptied} emptied, "
            f"{file.skipped} preterminals skipped"
        )
    hashes = {name: file.hash for name, file in files.items()}
    if len(set(hashes.values())) < len(hashes):
        _log.warning(
            f"{dev.path} has what is trained on: its score says nothing of other sentences"
        )
    inputs = {"--dev-trees": None, **hashes, "--hold-out": hold_out, "--unk": recipe.unk}
    inputs["--skip-preterminals"] = skip_preterminals
    train, dev_oracle = (oracle_of(folder, part) for part in ("train", "dev"))
    sentences, dev_sentences = read_encoded(train), read_oracle(dev_oracle)
    golds = []
    if not recipe.generative:
        golds = [located.tree for located in read_trees(str(trees_of(folder, "dev")))]
    source = files["--trees"].path
    dev_source = source if dev_trees is None else dev.path
    return Data(sentences, dev_sentences, golds, source, dev_source, inputs)


def _trees_file(trees: Trees, option: str, skip_preterminals: bool) -> TreesFile:
    if isinstance(trees, (str, os.PathLike)):
        return TreesFile(os.fspath(trees), skip_preterminals)
    return TreesFile(option.strip("-").replace("-", "_"), skip_preterminals, trees=trees)


def _golds(path: str, dev: Sequence[OracleSentence], dev_path: str) -> list[nltk.Tree]:
    """Read the development trees. Raises InputError if their words are not those of the development oracle."""
    golds = list(read_trees(path))
    if len(golds) != len(dev):
        raise InputError(f"{len(golds)} trees, but {dev_path} has {len(dev)} sentences", path)
    for gold, sentence in zip(golds, dev, strict=True):
        if tuple(words(gold.tree)) != sentence.tokens:
            raise InputError(
                f"its words are not those of the sentence at {dev_path}:{sentence.line}",
                path,
                gold.line,
            )
    return [gold.tree for gold in golds]
