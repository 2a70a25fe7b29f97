"""The data of a training: oracles that are given, or a treebank whose oracles the model folder keeps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from oracle.encoded import EncodedOracle
from oracle.encoding import read_encoded
from oracle.errors import InputError, RnngError
from oracle.files import OracleSentence, read_oracle
from oracle.lazy import nltk
from oracle.streams import file_hash
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
from oracle.treebank import format_tree
from oracle.unknown import RULES
from rnng_dy.execution.outputs import content_hash
from rnng_dy.registry import Kind
from rnng_dy.training.development import read_golds
from rnng_dy.training.listener import Listener
from rnng_dy.training.options import ContradictionError, TrainingOptions, Trees, is_path

DATA = "data"
"""The folder within a model folder that holds what was made of its trees."""


@dataclass(frozen=True)
class TrainingData:
    """Oracle sentences of both parts, and what messages and --resume need to know of them."""

    train: EncodedOracle
    dev: list[OracleSentence]
    train_path: str
    """For messages about one of the sentences."""
    dev_path: str
    source: str
    """The file that the user gave for training, for messages about all of it."""
    dev_source: str
    golds: list[nltk.Tree] | None
    """The development trees, where they are asked for."""
    inputs: dict[str, object]
    """What decides the data, files as hashes, by option."""
    made: Path | None = None
    """Where files wait that are to be kept in the model folder."""

    def keep(self, folder: Path) -> None:
        """Move the files that were made into the model folder, which gets its name when it is complete."""
        if self.made is not None:
            self.made.rename(folder / DATA)
            # other processes look for the arrays only then
            self.train.is_now_in(Path(self.train_path).parent)


class Counted:
    """Progress that begins with the first item, when its total is known."""

    def __init__(self, begin: Callable[[], object]):
        self._begin, self._progress = begin, None

    def advance(self, *_) -> None:
        """One more item is done."""
        self._progress = self._progress or self._begin()
        self._progress.advance()

    def finish(self) -> None:
        """All of them are, if there were any."""
        if self._progress:
            self._progress.finish()


@contextmanager
def training_data(
    kind: Kind, options: TrainingOptions, base: object | None, listener: Listener
) -> Iterator[TrainingData]:
    """The data of a kind of model, as long as it is in use.

    `base` is the model that training goes on from: trees become oracles as it knows them. What is made of trees goes
    where `TrainingData.keep` puts it, else away.
    """
    if options.trees is None:
        yield _given(kind, options, listener)
    elif options.resumes:
        yield _kept(kind, options, listener)
    else:
        folder = options.place
        waiting = folder.parent / f".{folder.name}.{DATA}"
        # what a killed run has left
        shutil.rmtree(waiting, ignore_errors=True)
        waiting.mkdir(parents=True)
        try:
            yield _made(kind, options, base, waiting, listener)
        finally:
            shutil.rmtree(waiting, ignore_errors=True)


def _given(kind: Kind, options: TrainingOptions, listener: Listener) -> TrainingData:
    """Oracles that are given."""
    train_path, dev_path = options.train, options.dev
    train, dev = _encoded(train_path, train_path, listener), read_oracle(dev_path)
    inputs = {"--train": train.source, "--dev": content_hash(dev)}
    golds = None
    if not kind.generates_words:
        for sentences, path in ((train, train_path), (dev, dev_path)):
            _require_tags(sentences, path)
        golds = read_golds(options.dev_trees, dev, dev_path)
        inputs["--dev-trees"] = content_hash(list(map(format_tree, golds)))
    return TrainingData(train, dev, train_path, dev_path, train_path, dev_path, golds, inputs)


def _encoded(path: str | Path, shown: str, listener: Listener) -> EncodedOracle:
    """An oracle to train on, whose sentences are encoded now if nobody has done it."""
    progress = Counted(lambda: listener.progress(f"encoding {shown}", None))
    oracle = read_encoded(path, progress.advance, listener.say)
    if oracle.folder:
        progress.finish()
    return oracle


def _require_tags(sentences: Sequence[OracleSentence], path: str) -> None:
    if sentences[0].tags is None:
        raise InputError(
            "this is a generative oracle; the parser needs one made without --generative",
            path,
            sentences[0].line,
        )


def _made(
    kind: Kind, options: TrainingOptions, base: object | None, waiting: Path, listener: Listener
) -> TrainingData:
    """Oracles that are made now."""
    trees, dev = (_trees_file(options, name, listener) for name in ("trees", "dev_trees"))
    recipe = _recipe(kind, options, base)
    files = [file for file in (trees, dev) if file]
    progress = Counted(
        lambda: listener.progress("oracles", sum(file.left for file in files), "trees")
    )
    # the digits that were typed: 0.1 is a tenth, which its float is not
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
    """What messages call trees: their file, or the argument that they were given as."""
    return os.fspath(given) if is_path(given) else name


def _recipe(kind: Kind, options: TrainingOptions, base: object | None) -> Recipe:
    """As the options say, or the model that training goes on from."""
    rules, transitions = RULES[0], DEFAULT
    if base is not None:
        rules = base.vocabulary.unknown.rules
        if options.unk not in (None, rules):
            raise ContradictionError(f"--init {options.init} has --unk {rules}: leave --unk out")
        transitions = base.config().get("transitions", DEFAULT)
    return Recipe(options.unk or rules, options.transitions or transitions, kind.generates_words)


def _kept(kind: Kind, options: TrainingOptions, listener: Listener) -> TrainingData:
    """Oracles that the model folder keeps; whether they are those of the same files, `inputs` says."""
    folder = options.place
    if not (folder / DATA).is_dir():
        raise RnngError(
            f"{folder} has no {DATA} made of --trees: resume with the options that it was trained with"
        )
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
    """What `place` holds; `sources` are the inputs that it was made of."""
    shown = options.place / DATA
    paths = [str(oracle_of(shown, part)) for part in PARTS]
    train = _encoded(oracle_of(place, "train"), paths[0], listener)
    dev = read_oracle(oracle_of(place, "dev"))
    golds = None
    if not kind.generates_words:
        golds = read_golds(str(trees_of(place, "dev")), dev, paths[1])
    # a run with oracles that are given has other data, and this one has for it
    inputs = {"--train": None, "--dev": None, "--hold-out": options.hold_out, **sources}
    inputs["--skip-preterminals"] = options.skip_preterminals
    hashes = train.source, file_hash(oracle_of(place, "dev"))
    for part, found in zip(PARTS, hashes, strict=True):
        inputs[str(oracle_of(Path(DATA), part))] = found
    source = _shown(options.trees, "trees")
    dev_source = source if options.dev_trees is None else _shown(options.dev_trees, "dev_trees")
    return TrainingData(train, dev, *paths, source, dev_source, golds, inputs, made)
