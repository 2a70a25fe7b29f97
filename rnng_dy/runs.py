"""Past and running trainings, read from their logs and model folders."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oracle.archives import Member, read_regular
from oracle.errors import InputError
from oracle.files import from_json
from rnng_dy import checkpoint, registry
from rnng_dy.known_models import located

LOG = "log.jsonl"
EVALUATION, PROGRESS, LEFT_OUT, ENDED_EARLY = "evaluation", "progress", "left_out", "ended_early"
"""Events of records. `ended_early` is the last record of a training that patience ended."""
PATIENCE_S = 60.0
"""Seconds without a write, besides three times the longest gap between records, after which a run seems stopped."""

Record = Mapping[str, object]


@dataclass(frozen=True)
class Log:
    """The records of a log, and its damaged lines."""

    path: Path
    records: tuple[Record, ...]
    damaged: Mapping[int, str]
    """Why a line is no record, by line number from 1."""
    half_line: int | None
    """Number of the damaged line without an end, which may be half written; None if there is none."""

    @classmethod
    def read(cls, path: Path) -> Log:
        """Read a log. Raises OSError if it cannot be read."""
        *lines, rest = read_regular(path).decode("utf-8", "replace").split("\n")
        records, damaged = [], {}
        for number, line in enumerate([*lines, rest] if rest else lines, 1):
            try:
                records.append(_record(line))
            except ValueError as error:
                damaged[number] = str(error)
        last = len(lines) + 1
        return cls(path, tuple(records), damaged, last if last in damaged else None)

    def require_whole(self) -> None:
        """Raise InputError for the first damaged line."""
        for number, why in self.damaged.items():
            raise InputError(f"no record of a training: {why}", self.path, number)

    def of(self, event: str) -> Iterator[Record]:
        """Return the records of an event, in order."""
        return (record for record in self.records if record["event"] == event)


def number_of(record: Record, key: str) -> float:
    """Return a number in a record; NaN if the key is missing or holds no number."""
    value = record.get(key)
    if type(value) is int:
        # an integer of hundreds of digits does not fit into a float
        return float(value) if abs(value) < 2**63 else math.inf
    return value if type(value) is float else math.nan


def _record(line: str) -> Record:
    """Parse a record. Raises ValueError for a line that training cannot have written."""
    record = from_json(line)
    if not isinstance(record, dict) or not isinstance(record.get("event"), str):
        raise ValueError("it has no event")
    for key in ("epoch", "sentences", "seconds"):
        if not 0 <= number_of(record, key) < math.inf:
            raise ValueError(f"it has no {key}")
    return record


@dataclass(frozen=True)
class Run:
    """A training as its model folder shows it, without loading the model."""

    name: str
    kind: registry.Kind
    log: Log | None
    settings: Mapping[str, object]
    """Settings by name, from config.json and, if there is one, from the training state."""
    progress: Mapping[str, object]
    """Progress in the last saved training state; empty if there is no state."""
    heard: float
    """Time of the last write to the folder, in seconds since 1970."""
    problems: Sequence[str]
    """Descriptions of the files and lines that cannot be read."""

    @classmethod
    def read(cls, folder: Path, name: str) -> Run:
        """Read the run of a folder, to be called `name`. Raises RnngError if it is no model folder."""
        config, kind = checkpoint.read_config(folder), registry.kind_of(folder)
        place = located(folder)
        if isinstance(place, Member):
            raise InputError("an archive has no record of its training: name the folder", place)
        names = ("composition", "transitions", "state")
        settings = {name: config[name] for name in names if config.get(name)}
        settings |= config["sizes"]
        files = [place / file for file in (LOG, checkpoint.TRAINING, checkpoint.CONFIG)]
        there = [path for path in files if path.exists()]
        log = Log.read(files[0]) if files[0] in there else None
        state, problems = {}, []
        if files[1] in there:
            try:
                state = checkpoint.training_state(folder)
                settings |= state["settings"]
                state["progress"]["epoch"]
            except (InputError, KeyError, TypeError) as error:
                state, problems = {}, [f"{files[1]}: damaged ({error}): its settings are not shown"]
        if log:
            for number, why in log.damaged.items():
                if number != log.half_line:
                    line = f"{log.path}:{number}"
                    problems.append(f"{line}: no record of a training, left out: {why}")
        heard = max(path.stat().st_mtime for path in there)
        return cls(name, kind, log, settings, state.get("progress", {}), heard, problems)

    @property
    def records(self) -> Sequence[Record]:
        """Return all records of the log."""
        return self.log.records if self.log else ()

    def curve(self, event: str, x: str, y: str) -> list[tuple[float, float]]:
        """Return the pair of numbers `x`, `y` of each record of an event; pairs that are not finite are left out."""
        records = self.log.of(event) if self.log else ()
        points = ((number_of(record, x), number_of(record, y)) for record in records)
        return [point for point in points if all(map(math.isfinite, point))]

    def best(self) -> Record | None:
        """Return the evaluation with the highest score, or the first of several; None if there is none."""
        evaluations = list(self.log.of(EVALUATION)) if self.log else []
        scored = [r for r in evaluations if not math.isnan(number_of(r, "score"))]
        return max(scored, key=lambda record: number_of(record, "score"), default=None)

    def diverged(self) -> float | None:
        """Return the epoch from which on the loss is not finite; None if the last loss is finite."""
        epoch = None
        for record in self.log.of(PROGRESS) if self.log else ():
            if math.isfinite(number_of(record, "loss_per_word")):
                epoch = None
            elif epoch is None:
                epoch = number_of(record, "epoch")
        return epoch

    def speed(self) -> float:
        """Return the mean number of sentences per second since the start; NaN if it is unknown."""
        last = self.records[-1] if self.records else {}
        seconds = number_of(last, "seconds")
        return number_of(last, "sentences") / seconds if seconds > 0 else math.nan

    def has_ended_early(self) -> bool:
        """Return whether patience has ended the training."""
        return bool(self.records) and self.records[-1]["event"] == ENDED_EARLY

    def is_going_on(self) -> bool:
        """Return whether the training is unfinished, so that it is running or can be resumed."""
        return bool(self.progress) and not (self.has_all_epochs() or self.has_ended_early())

    def has_all_epochs(self) -> bool:
        """Return whether training is at the end of its last epoch and the model is evaluated."""
        done, wanted = (
            number_of(of, k) for of, k in ((self.progress, "epoch"), (self.settings, "epochs"))
        )
        at, evaluated = (number_of(self.progress, key) for key in ("sentences", "evaluated"))
        return done >= wanted and at == evaluated

    def is_silent(self, now: float) -> bool:
        """Return whether the last write was so long before `now` that training seems stopped."""
        times = [number_of(record, "seconds") for record in self.records]
        longest = max((b - a for a, b in zip([0.0, *times], times, strict=False)), default=0.0)
        return now - self.heard > PATIENCE_S + 3 * longest

    def seconds_left(self) -> float:
        """Return the estimate of the remaining seconds in the last progress record; NaN if there is none."""
        last = next((r for r in reversed(self.records) if r["event"] == PROGRESS), {})
        return number_of(last, "seconds_left")


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """Read the runs of distinct folders. Raises RnngError for a folder that holds no model."""
    # errors show the folders as the user wrote them
    given = {_resolved(folder): folder for folder in reversed(folders)}
    distinct = list(dict.fromkeys(map(_resolved, folders)))
    names = distinct_names(distinct)
    return [Run.read(given[f], name) for f, name in zip(distinct, names, strict=True)]


def _resolved(folder: Path) -> Path:
    # Path.resolve raises RuntimeError for circular links
    return Path(os.path.realpath(folder))


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """Return short names of folders, with as many parent folders as make each name distinct.

    >>> distinct_names([Path("/a/parser"), Path("/b/parser"), Path("/b/lm")])
    ['a/parser', 'b/parser', 'lm']
    """
    names = []
    for folder in folders:
        others = [other.parts for other in folders if other != folder]
        length = next(
            n
            for n in range(1, len(folder.parts) + 1)
            if n == len(folder.parts) or all(o[-n:] != folder.parts[-n:] for o in others)
        )
        names.append("/".join(folder.parts[-length:]).replace("//", "/"))
    return names
