"""What `train` commands learn from: oracles that are given, or a treebank whose oracles the model folder keeps."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import click

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
    make_training_data,
    oracle_of,
    trees_of,
)
from oracle.transitions import DEFAULT
from oracle.treebank import format_tree
from oracle.unknown import RULES
from rnng_dy.cli.paths import require_read_once
from rnng_dy.cli.progress import ByteProgress, Progress
from rnng_dy.cli.quiet import say
from rnng_dy.cli.stopping import tidy
from rnng_dy.execution.outputs import content_hash
from rnng_dy.folders import writing

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


def goes_on(options: Mapping[str, object]) -> bool:
    """Whether --resume has a folder to go on with. Raises RnngError for a folder that is in the way."""
    folder = Path(options["folder"])
    if folder.exists() and not options["resume"]:
        raise RnngError(f"{folder} exists: go on with --resume, or name another --model folder")
    return folder.exists()


@contextmanager
def training_data(
    kind: str, options: Mapping[str, object], base: object | None = None
) -> Iterator[TrainingData]:
    """The data of a kind of model from the command's options, as long as it is in use.

    `base` is the model that training goes on from: trees become oracles as it knows them. What is made of --trees goes
    where `TrainingData.keep` puts it, else away. Until the command ends no other one can write the model folder.

    Raises UsageError for options that contradict each other.
    """
    _require_sense(kind, options)
    click.get_current_context().with_resource(writing(options["folder"]))
    resumes = goes_on(options)
    if options["trees_path"] is None:
        with tidy():
            data = _given(kind, options)
        yield data
        return
    folder = Path(options["folder"])
    if resumes:
        yield _kept(kind, options, folder)
        return
    waiting = folder.parent / f".{folder.name}.{DATA}"
    with tidy():
        # what a killed run has left
        shutil.rmtree(waiting, ignore_errors=True)
        waiting.mkdir(parents=True)
        try:
            yield _made(kind, options, base, waiting)
        except KeyboardInterrupt as stop:
            if waiting.exists():
                message = f"stopped before there was {folder}: the same command begins anew"
                raise type(stop)(message) from None
            raise
        finally:
            shutil.rmtree(waiting, ignore_errors=True)


def _require_sense(kind: str, options: Mapping[str, object]) -> None:
    """Raise UsageError, saying what to give, where the options do not name data and processes in one way."""
    if options["mpi"] and options["jobs"] is not None:
        raise click.UsageError("with --mpi, mpirun says how many processes: leave --jobs out")
    if options["trees_path"] is None and options["train_path"] is None:
        raise click.UsageError(
            "give --trees with --dev-trees or --hold-out, or oracles as --train and --dev"
        )
    if options["trees_path"] is None:
        _require_oracles(kind, options)
    else:
        _require_trees(options)


def _require_oracles(kind: str, options: Mapping[str, object]) -> None:
    """Raise UsageError where options do not go with --train."""
    if options["dev_path"] is None:
        raise click.UsageError("--train needs the development oracle: give --dev")
    with_trees = {
        "--hold-out": options["hold_out"],
        "--unk": options["unk"],
        "--skip-preterminals": options["skip_preterminals"] or None,
    }
    if given := _first_given(with_trees):
        raise click.UsageError(f"{given} goes with --trees: an oracle is made already")
    needs_golds = kind == "discriminative"
    if needs_golds and options["dev_trees"] is None:
        raise click.UsageError("--dev needs its trees, for F1: give --dev-trees")
    if not needs_golds and options["dev_trees"] is not None:
        raise click.UsageError("--dev-trees goes with --trees; with --train, --dev is enough")


def _require_trees(options: Mapping[str, object]) -> None:
    """Raise UsageError where options do not go with --trees."""
    if given := _first_given({"--train": options["train_path"], "--dev": options["dev_path"]}):
        raise click.UsageError(
            f"{given} names an oracle, and --trees makes oracles: give --trees with --dev-trees or --hold-out, or "
            "--train with --dev"
        )
    if (options["dev_trees"] is None) == (options["hold_out"] is None):
        raise click.UsageError("--trees needs one of --dev-trees and --hold-out, such as 0.1")
    require_read_once(options["trees_path"], options["dev_trees"])


def _first_given(values: Mapping[str, object]) -> str | None:
    return next((name for name, value in values.items() if value is not None), None)


def _given(kind: str, options: Mapping[str, object]) -> TrainingData:
    """Oracles that are given."""
    from rnng_dy.training.development import read_golds

    train_path, dev_path = options["train_path"], options["dev_path"]
    train, dev = _encoded(train_path, train_path), read_oracle(dev_path)
    inputs = {"--train": train.source, "--dev": content_hash(dev)}
    golds = None
    if kind == "discriminative":
        for sentences, path in ((train, train_path), (dev, dev_path)):
            _require_tags(sentences, path)
        golds = read_golds(options["dev_trees"], dev, dev_path)
        inputs["--dev-trees"] = content_hash(list(map(format_tree, golds)))
    return TrainingData(train, dev, train_path, dev_path, train_path, dev_path, golds, inputs)


def _encoded(path: str | Path, shown: str) -> EncodedOracle:
    """An oracle to train on, whose sentences are encoded now if nobody has done it."""
    progress = None

    def show() -> None:
        nonlocal progress
        progress = progress or Progress(f"encoding {shown}", None)
        progress.advance()

    oracle = read_encoded(path, show, say)
    if progress and oracle.folder:
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
    kind: str, options: Mapping[str, object], base: object | None, waiting: Path
) -> TrainingData:
    """Oracles that are made now."""
    skips = options["skip_preterminals"]
    trees, dev = (
        None if path is None else TreesFile(path, skips, _progress(path).advance)
        for path in (options["trees_path"], options["dev_trees"])
    )
    recipe = _recipe(kind, options, base)
    files, progress = [file for file in (trees, dev) if file], None

    def show() -> None:
        nonlocal progress
        progress = progress or Progress("oracles", sum(file.left for file in files), "trees")
        progress.advance()

    make_training_data(waiting, trees, dev or _share(options), recipe, show)
    progress.finish()
    for file in files:
        say(
            f"{file.path}: {file.read} trees read, {file.changed} cleaned, {file.emptied} emptied, "
            f"{file.skipped} preterminals skipped"
        )
    if dev and dev.hash == trees.hash:
        click.echo(
            f"{dev.path} has what is trained on: its score says nothing of other sentences",
            err=True,
        )
    hashes = {"--trees": trees.hash, "--dev-trees": dev and dev.hash, "--unk": recipe.unk}
    return _read(kind, options, waiting, hashes, waiting)


def _progress(path: str) -> ByteProgress:
    return ByteProgress(f"reading {path}", path)


def _recipe(kind: str, options: Mapping[str, object], base: object | None) -> Recipe:
    """As the options say, or the model that training goes on from."""
    rules, transitions = RULES[0], DEFAULT
    if base is not None:
        rules = base.vocabulary.unknown.rules
        if options["unk"] not in (None, rules):
            raise click.UsageError(f"--init {options['init']} has --unk {rules}: leave --unk out")
        transitions = base.config().get("transitions", DEFAULT)
    return Recipe(
        options["unk"] or rules, options["transitions"] or transitions, kind != "discriminative"
    )


def _share(options: Mapping[str, object]) -> Fraction:
    # the digits that were typed: 0.1 is a tenth, which its float is not
    return Fraction(str(options["hold_out"]))


def _kept(kind: str, options: Mapping[str, object], folder: Path) -> TrainingData:
    """Oracles that the model folder keeps; whether they are those of the same files, `inputs` says."""
    if not (folder / DATA).is_dir():
        raise RnngError(
            f"{folder} has no {DATA} made of --trees: resume with the options that it was trained with"
        )
    given = {"--trees": options["trees_path"], "--dev-trees": options["dev_trees"]}
    hashes = {name: path and file_hash(path) for name, path in given.items()}
    if options["unk"] is not None:
        hashes["--unk"] = options["unk"]
    return _read(kind, options, folder / DATA, hashes)


def _read(
    kind: str,
    options: Mapping[str, object],
    place: Path,
    sources: Mapping[str, object],
    made: Path | None = None,
) -> TrainingData:
    """What `place` holds; `sources` are the inputs that it was made of."""
    from rnng_dy.training.development import read_golds

    shown = Path(options["folder"]) / DATA
    paths = [str(oracle_of(shown, part)) for part in PARTS]
    train, dev = _encoded(oracle_of(place, "train"), paths[0]), read_oracle(oracle_of(place, "dev"))
    golds = None
    if kind == "discriminative":
        golds = read_golds(str(trees_of(place, "dev")), dev, paths[1])
    # a run with oracles that are given has other data, and this one has for it
    inputs = {"--train": None, "--dev": None, "--hold-out": options["hold_out"], **sources}
    inputs["--skip-preterminals"] = options["skip_preterminals"]
    hashes = train.source, file_hash(oracle_of(place, "dev"))
    for part, found in zip(PARTS, hashes, strict=True):
        inputs[str(oracle_of(Path(DATA), part))] = found
    given = options["trees_path"], options["dev_trees"] or options["trees_path"]
    return TrainingData(train, dev, *paths, *given, golds, inputs, made)
