"""The options of a training, from the command line or from Python."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from oracle.blocks import begins_oracle
from oracle.errors import RnngError
from oracle.files import open_text
from oracle.lazy import nltk
from oracle.transitions import SYSTEMS
from oracle.unknown import RULES
from rnng_dy import checkpoint
from rnng_dy.model_paths import located
from rnng_dy.registry import KINDS, Kind
from rnng_dy.results import content_hash
from rnng_dy.settings import mistake, option_name
from rnng_dy.training.presets import NAMES, Settings

Trees = str | os.PathLike[str] | Iterable["nltk.Tree"]


class ContradictionError(RnngError):
    """Options that exclude each other; the message names them as the command line does."""


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """The options of the `train` commands, under the same names; `rnng-dy train KIND --help` explains them."""

    folder: str | os.PathLike
    """The model folder; it must not exist unless `resume` is true."""
    trees: Trees | None = None
    """A file of bracketed trees, or the trees themselves."""
    dev_trees: Trees | None = None
    hold_out: float | None = None
    unk: str | None = None
    skip_preterminals: bool = False
    train: str | None = None
    dev: str | None = None
    resume: bool = False
    init: str | os.PathLike | None = None
    extend: bool = False
    composition: str | None = None
    transitions: str | None = None
    state: str | None = None
    preset: str = "paper"
    pos: bool = False
    tagger: bool = True
    """Whether a new parser that reads tags gets its own tagger."""
    pretrained: str | None = None
    clusters: str | None = None
    open: bool = False
    """Whether a new model gets a spelling model, and so an open vocabulary."""
    device: str | None = None
    world: object | None = None
    """The ranks of MPI (`training.mpi.World`) with --mpi."""
    command: str | None = None
    """The command line, for the model card."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Values by field of `Settings` that replace those of the preset."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Dimensions by field that replace those of the preset."""

    @classmethod
    def of(cls, kind: Kind, sizes: type, given: Mapping[str, object]) -> TrainingOptions:
        """Return the options of a training; options that are None count as absent.

        `given` has options, settings and dimensions (fields of `sizes`) by the names that users see. Raises RnngError
        for an unknown name, suggesting the nearest, and for a value out of its range.
        """
        of_other_kinds = {name for other in KINDS.values() for name in other.options}
        own = {of.name for of in fields(cls)} - {"settings", "sizes"}
        own -= of_other_kinds.difference(kind.options)
        # numpy's numbers are those of Python
        given = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in given.items()
            if value is not None
        }
        parts = {"settings": Settings, "sizes": sizes}
        tables = {part: {option_name(of): of for of in fields(t)} for part, t in parts.items()}
        for name in given.keys() - own.union(*tables.values()):
            near = get_close_matches(name, own.union(*tables.values()), 1)
            suggestion = "".join(f": did you mean {other!r}?" for other in near)
            raise RnngError(f"no setting of a {kind.name} training is called {name!r}{suggestion}")
        chosen = {
            part: {
                of.name: _checked(of, given[name]) for name, of in table.items() if name in given
            }
            for part, table in tables.items()
        }
        options = cls(**{name: given[name] for name in own & given.keys()}, **chosen)
        options._require_sense(kind)
        return options

    @property
    def place(self) -> Path:
        """Return the model folder."""
        return Path(self.folder)

    @property
    def resumes(self) -> bool:
        """Return whether there is a training to resume."""
        return self.resume and self.place.exists()

    def require_free_folder(self) -> None:
        """Raise RnngError if the folder exists and is not to be resumed."""
        if self.place.exists() and not self.resume:
            raise RnngError(
                f"{self.folder} exists: continue with --resume, or name another --model folder"
            )

    @property
    def initial_hash(self) -> dict[str, object]:
        """Return the hash of the initial model for --resume, without its parameters: it may have been trained since.

        Returns nothing if the initial model has been removed, since resuming does not need it.
        """
        if self.init is None:
            return {"--init": None}
        files = [located(self.init) / name for name in (checkpoint.CONFIG, checkpoint.VOCABULARY)]
        return {"--init": content_hash(*files)} if all(file.is_file() for file in files) else {}

    def _require_sense(self, kind: Kind) -> None:
        """Raise ContradictionError, which says how to fix the options, if they exclude each other."""
        for of in fields(self):
            if of.type == "bool" and type(value := getattr(self, of.name)) is not bool:
                raise RnngError(f"{of.name}: {value!r} is not a valid boolean.")
        for what, name, names in (
            ("preset", self.preset, NAMES),
            ("rule for unknown words", self.unk, RULES),
            ("transition system", self.transitions, SYSTEMS),
        ):
            if name is not None and name not in names:
                raise RnngError(f"no {what} is called {name!r}: {', '.join(names)}")
        if not kind.has_trees and (self.composition or self.transitions or self.state):
            raise ContradictionError(
                "--composition and --transitions are for RNNGs: a sequential model has neither"
            )
        self._require_initial(kind)
        if "tag" in self.sizes and not (self.pos or self.resume or self.init):
            raise ContradictionError("--tag-size is for parsers that read tags: add --pos")
        if self.world and "jobs" in self.settings:
            raise ContradictionError("with --mpi, mpirun says how many processes: leave --jobs out")
        if "gold_weight" in self.settings and not self.settings.get("gold"):
            raise ContradictionError("--gold-weight needs --gold, the number of gold sentences")
        if self.trees is None and self.train is None:
            raise ContradictionError(
                "give --trees with --dev-trees or --hold-out, or oracles as --train and --dev"
            )
        if self.trees is None:
            self._require_oracles(kind)
        elif given := _first_given({"--train": self.train, "--dev": self.dev}):
            raise ContradictionError(
                f"{given} names an oracle, and --trees makes oracles: give --trees with --dev-trees or --hold-out, or "
                "--train with --dev"
            )
        elif (self.dev_trees is None) == (self.hold_out is None):
            raise ContradictionError("--trees needs one of --dev-trees and --hold-out, such as 0.1")
        elif self.hold_out is not None and not (
            isinstance(self.hold_out, (int, float)) and 0 < self.hold_out < 1
        ):
            raise RnngError(f"hold_out: {self.hold_out!r} is not in the range 0<x<1.")

    def _require_initial(self, kind: Kind) -> None:
        """Raise ContradictionError for options that --init excludes."""
        if self.init is None:
            if self.extend:
                raise ContradictionError("--extend adds to the model of --init: give that")
            return
        if given := _first_given({"pretrained": self.pretrained, "clusters": self.clusters}):
            raise ContradictionError(f"--{given} is for a new model: with --init it is the model's")
        if self.extend and not kind.has_trees:
            raise ContradictionError(
                "--extend adds nonterminals and tags: a sequential model has none"
            )
        if os.path.realpath(self.init) == os.path.realpath(self.folder):
            raise ContradictionError(
                "--init and --model name one folder: name a new one for the model that is made, or continue with the "
                "old training by --resume without --init"
            )

    def _require_oracles(self, kind: Kind) -> None:
        """Raise ContradictionError for options that --train excludes, or if one that it needs is missing."""
        if self.dev is None:
            raise ContradictionError("--train needs the development oracle: give --dev")
        with_trees = {
            "--hold-out": self.hold_out,
            "--unk": self.unk,
            "--skip-preterminals": self.skip_preterminals or None,
        }
        if given := _first_given(with_trees):
            raise ContradictionError(f"{given} goes with --trees: an oracle is made already")
        if self.dev_trees is None and not kind.generates_words:
            raise ContradictionError("--dev needs its trees, for F1: give --dev-trees")
        if not (self.dev_trees is None or is_path(self.dev_trees)):
            raise ContradictionError("--dev-trees is a file where --dev is an oracle")
        if self.dev_trees is not None and kind.generates_words:
            raise ContradictionError("--dev-trees goes with --trees; with --train, --dev is enough")


@contextmanager
def naming_arguments(applies: bool) -> Iterator[None]:
    """If it applies, name arguments of Python instead of options of the command in an RnngError from the block."""
    try:
        yield
    except RnngError as error:
        if applies:
            # what is quoted already is a command
            error.args = (
                re.sub(r"`[^`]*`|(?<![\w/.-])--([a-z-]+)(?: (\d+))?", _argument, str(error)),
            )
        raise


def _argument(option: re.Match) -> str:
    if not option[1]:
        return option[0]
    name = {"model": "folder"}.get(option[1], option[1].replace("-", "_"))
    is_flag = TrainingOptions.__annotations__.get(name) == "bool"
    value = "=True" if is_flag else option[2] and f"={option[2]}"
    return f"`{name}{value or ''}`"


def is_path(given: object) -> bool:
    """Return whether a value is the name of a file or folder."""
    return isinstance(given, (str, os.PathLike))


def is_oracle(given: object) -> bool:
    """Return whether a value is the name of a file that begins like an oracle."""
    if not is_path(given) or not os.path.isfile(given):
        return False
    with open_text(given) as stream:
        return begins_oracle(next(filter(str.strip, stream), ""))


def _checked(of: object, value: object) -> object:
    if why := mistake(of, value):
        raise RnngError(f"{option_name(of)}: {why}")
    return value


def _first_given(values: Mapping[str, object]) -> str | None:
    return next((name for name, value in values.items() if value is not None), None)
