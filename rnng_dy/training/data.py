"""The data of a training: the user's oracles, or oracles made from the user's trees and kept in the model folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from oracle.archives import open_regular
from oracle.blocks import OracleSentence, read_oracle
from oracle.brackets import format_tree
from oracle.encoded import EncodedOracle
from oracle.encoding import read_encoded
from oracle.errors import InputError, RnngError
from oracle.files import file_hash
from oracle.lazy import nltk
from oracle.training_data import (
    PARTS,
    Recipe,
    TreesFile,
    hash_of_trees,
    make_training_data,
    oracle_of,
    trees_of,
)
from oracle.transitions import DEFAULT
from oracle.unknown import RULES
from rnng_dy.registry import Kind
from rnng_dy.results import content_hash
from rnng_dy.training.development import read_golds
from rnng_dy.training.listener import Listener, Progress
from rnng_dy.training.options import ContradictionError, TrainingOptions, Trees, is_path

DATA = "data"
"""The subfolder of a model folder that holds the oracles made from the user's trees."""


@dataclass(frozen=True)
class TrainingData:
    """The oracle sentences of both parts, with their sources for messages and hashes for --resume."""

    train: EncodedOracle
    dev: list[OracleSentence]
    train_path: str
    """Path for messages about a single sentence."""
    dev_path: str
    source: str
    """The user's training file, for messages about the whole file."""
    dev_source: str
    golds: list[nltk.Tree] | None
    """The development trees, which only a parser needs."""
    inputs: dict[str, object]
    """Everything that determines the data, by option; files as hashes."""
    made: Path | None = None
    """Temporary folder of files to be kept in the model folder."""

    def keep(self, folder: Path) -> None:
        """Move the files in `made` into the model folder, which gets its final name when it is complete."""
        if self.made is not None:
            self.made.rename(folder / DATA)
            # other processes open the arrays only after the folder has its final name
            self.train.is_now_in(Path(self.train_path).parent)


class Counted:
    """Progress that starts with the first item, since the total is known only then."""

    def __init__(self, begin: Callable[..., Progress]):
        """`begin` gets the arguments of the first `advance`."""
        self._begin, self._progress = begin, None

    def advance(self, *arguments) -> None:
        """Count one more item as done."""
        self._progress = self._progress or self._begin(*arguments)
        self._progress.advance()

    def finish(self) -> None:
        """End the progress, if there was any item."""
        if self._progress:
            self._progress.finish()


@contextmanager
def training_data(
    kind: Kind, options: TrainingOptions, base: object | None, listener: Listener
) -> Iterator[TrainingData]:
    """Yield the data of a kind of model.

    `base` is the model of --init: its rules for unknown words and its transition system apply to oracles made from
    trees. After the block, files made from trees are removed unless `TrainingData.keep` has moved them.
    """
    if options.trees is None:
        yield _given(kind, options, listener)
    elif options.resumes:
        yield _kept(kind, options, listener)
    else:
        folder = options.place
        waiting = folder.parent / f".{folder.name}.{DATA}"
        # a killed run may have left it
        shutil.rmtree(waiting, ignore_errors=True)
        waiting.mkdir(parents=True)
        try:
            yield _made(kind, options, base, waiting, listener)
        finally:
            shutil.rmtree(waiting, ignore_errors=True)


def _given(kind: Kind, options: TrainingOptions, listener: Listener) -> TrainingData:
    """Read the user's oracles."""
    train_path, dev_path = options.train, options.dev
    train, dev = _encoded(train_path, train_path, listener), read_oracle(dev_path)
    inputs = {"--train": train.source, "--dev": content_hash(dev)}
    golds = None
    if not kind.generates_words:
        for sentences, path in ((train, train_path), (dev, dev_path)):
            if sentences[0].tags is None:
                message = (
                    "this is a generative oracle; the parser needs one made without --generative"
                )
                raise InputError(message, path, sentences[0].line)
        golds = read_golds(options.dev_trees, dev, dev_path)
        inputs["--dev-trees"] = content_hash(list(map(format_tree, golds)))
    return TrainingData(train, dev, train_path, dev_path, train_path, dev_path, golds, inputs)


def _encoded(path: str | Path, shown: str, listener: Listener) -> EncodedOracle:
    """Read a training oracle; its sentences are encoded now unless an earlier run has done so."""
    progress = Counted(lambda: listener.progress(f"encoding {shown}", None))
    oracle = read_encoded(path, progress.advance, listener.say)
    if oracle.folder:
        progress.finish()
    return oracle


def _made(
    kind: Kind, options: TrainingOptions, base: object | None, waiting: Path, listener: Listener
) -> TrainingData:
    """Make oracles from the user's trees."""
    trees, dev = (_trees_file(options, name, listener) for name in ("trees", "dev_trees"))
    recipe = _recipe(kind, options, base)
    files = [file for file in (trees, dev) if file]
    progress = Counted(
        lambda: listener.progress("oracles", sum(file.left for file in files), "trees")
    )
    # via the typed digits: 0.1 is exactly a tenth, but its float is not
    share = dev or Fraction(str(options.hold_out))
    make_training_data(waiting, trees, share, recipe, progress.advance)
    progress.finish()
    for file in files:
        listener.say(
            f"{file.path}: {file.read} trees read, {file.changed} cleaned, {file.emptied} emptied, "
            f"{file.skipped} preterminals skipped"
        )
    if dev and dev.hash == trees.hash:
        listener.warn(
            f"{dev.path} has what is trained on: its score says nothing of other sentences"
        )
    hashes = {"--trees": trees.hash, "--dev-trees": dev and dev.hash, "--unk": recipe.unk}
    return _read(kind, options, waiting, hashes, listener, waiting)


def _trees_file(options: TrainingOptions, name: str, listener: Listener) -> TreesFile | None:
    given = getattr(options, name)
    if given is None:
        return None
    path = _shown(given, name)
    on_bytes = listener.reading(path) if is_path(given) else lambda size: None
    return TreesFile(path, options.skip_preterminals, on_bytes, None if is_path(given) else given)


def _shown(given: Trees, name: str) -> str:
    """Return the name of trees in messages: their file, or the argument that holds them."""
    return os.fspath(given) if is_path(given) else name


def _recipe(kind: Kind, options: TrainingOptions, base: object | None) -> Recipe:
    """Return how to make oracles, according to the options or to the model of --init."""
    rules, transitions = RULES[0], DEFAULT
    if base is not None:
        rules = base.vocabulary.unknown.rules
        if options.unk not in (None, rules):
            raise ContradictionError(f"--init {options.init} has --unk {rules}: leave --unk out")
        transitions = base.config().get("transitions", DEFAULT)
    return Recipe(options.unk or rules, options.transitions or transitions, kind.generates_words)


def _kept(kind: Kind, options: TrainingOptions, listener: Listener) -> TrainingData:
    """Read the oracles in the model folder; hashes of the user's files go into `inputs`, which resuming compares."""
    folder = options.place
    if not (folder / DATA).is_dir():
        raise RnngError(
            f"{folder} has no {DATA} made of --trees: resume with the options that it was trained with"
        )
    for path in (folder / DATA).iterdir():
        if not path.is_dir():
            # a pipe would wait for a writer
            open_regular(path).close()
    given = {"--trees": options.trees, "--dev-trees": options.dev_trees}
    hashes = {name: None if trees is None else _hash(trees) for name, trees in given.items()}
    if options.unk is not None:
        hashes["--unk"] = options.unk
    return _read(kind, options, folder / DATA, hashes, listener)


def _hash(trees: Trees) -> str:
    return file_hash(trees) if is_path(trees) else hash_of_trees(trees)


def _read(
    kind: Kind,
    options: TrainingOptions,
    place: Path,
    sources: Mapping[str, object],
    listener: Listener,
    made: Path | None = None,
) -> TrainingData:
    """Read the data in the folder `place`; `sources` are the inputs that it was made from."""
    shown = options.place / DATA
    paths = [str(oracle_of(shown, part)) for part in PARTS]
    train = _encoded(oracle_of(place, "train"), paths[0], listener)
    dev = read_oracle(oracle_of(place, "dev"))
    golds = None
    if not kind.generates_words:
        golds = read_golds(str(trees_of(place, "dev")), dev, paths[1])
    # None for --train and --dev, so that a resumed run with oracles of the user differs
    inputs = {"--train": None, "--dev": None, "--hold-out": options.hold_out, **sources}
    inputs["--skip-preterminals"] = options.skip_preterminals
    hashes = train.source, file_hash(oracle_of(place, "dev"))
    for part, digest in zip(PARTS, hashes, strict=True):
        inputs[str(oracle_of(Path(DATA), part))] = digest
    source = _shown(options.trees, "trees")
    dev_source = source if options.dev_trees is None else _shown(options.dev_trees, "dev_trees")
    return TrainingData(train, dev, *paths, source, dev_source, golds, inputs, made)
