"""Trainings seen from outside: their logs, and what a model folder tells of the one that made it, or is making it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oracle.errors import InputError
from oracle.regular_files import read_regular
from oracle.streams import from_json
from rnng_dy import checkpoint, registry

LOG = "log.jsonl"
EVALUATION, PROGRESS, LEFT_OUT, ENDED_EARLY = "evaluation", "progress", "left_out", "ended_early"
"""Events. The last one ends the log of a training that patience ended."""
PATIENCE_S = 60.0
"""Seconds without a sign of life that say nothing, besides three times the longest between two records."""

Record = Mapping[str, object]


@dataclass(frozen=True)
class Log:
    """The records of a log, and the lines that are none."""

    path: Path
    records: tuple[Record, ...]
    damaged: Mapping[int, str]
    """By number of line, from 1: why it is no record."""
    half_line: int | None
    """The one of them that has no end, as it is while it is written."""

    @classmethod
    def read(cls, path: Path) -> Log:
        """Read a log. Raises OSError where it cannot be read."""
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
        """Raise InputError for the first line that is no record."""
        for number, why in self.damaged.items():
            raise InputError(f"no record of a training: {why}", self.path, number)

    def of(self, event: str) -> Iterator[Record]:
        """The records of an event, in their order."""
        return (record for record in self.records if record["event"] == event)


def number_of(record: Record, key: str) -> float:
    """A number in a record; NaN where there is none."""
    value = record.get(key)
    if type(value) is int:
        # one of hundreds of digits is no float
        return float(value) if abs(value) < 2**63 else math.inf
    return value if type(value) is float else math.nan


def _record(line: str) -> Record:
    """Raises ValueError for what training has not written."""
    record = from_json(line)
    if not isinstance(record, dict) or not isinstance(record.get("event"), str):
        raise ValueError("it has no event")
    for key in ("epoch", "sentences", "seconds"):
        if not 0 <= number_of(record, key) < math.inf:
            raise ValueError(f"it has no {key}")
    return record


@dataclass(frozen=True)
class Run:
    """A model folder, read without loading the model."""

    name: str
    kind: registry.Kind
    log: Log | None
    settings: Mapping[str, object]
    """By name: of config.json and, where the folder has a training state, of the training."""
    progress: Mapping[str, object]
    """Where training stood when its state was saved last; empty where there is no state."""
    heard: float
    """When the folder was last written to, in seconds since the epoch."""
    problems: Sequence[str]
    """What of the folder cannot be read."""

    @classmethod
    def read(cls, folder: Path, name: str) -> Run:
        """The run of a folder, called `name`. Raises RnngError where it is no model folder."""
        config, kind = checkpoint.read_config(folder), registry.kind_of(folder)
        names = ("composition", "transitions", "state")
        settings = {name: config[name] for name in names if config.get(name)}
        settings |= config["sizes"]
        files = [folder / file for file in (LOG, checkpoint.TRAINING, checkpoint.CONFIG)]
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
        for number, why in (log.damaged if log else {}).items():
            if number != log.half_line:
                problems.append(f"{log.path}:{number}: no record of a training, left out: {why}")
        heard = max(path.stat().st_mtime for path in there)
        return cls(name, kind, log, settings, state.get("progress", {}), heard, problems)

    @property
    def records(self) -> Sequence[Record]:
        """All records of the log."""
        return self.log.records if self.log else ()

    def curve(self, event: str, x: str, y: str) -> list[tuple[float, float]]:
        """Two numbers of each record of an event; those that are not finite are left out."""
        records = self.log.of(event) if self.log else ()
        points = ((number_of(record, x), number_of(record, y)) for record in records)
        return [point for point in points if all(map(math.isfinite, point))]

    def best(self) -> Record | None:
        """The evaluation with the highest score, the first of equals."""
        evaluations = list(self.log.of(EVALUATION)) if self.log else []
        scored = [r for r in evaluations if not math.isnan(number_of(r, "score"))]
        return max(scored, key=lambda record: number_of(record, "score"), default=None)

    def diverged(self) -> float | None:
        """The epoch from which on the loss is no number; None where it is one to the end."""
        epoch = None
        for record in self.log.of(PROGRESS) if self.log else ():
            if math.isfinite(number_of(record, "loss_per_word")):
                epoch = None
            elif epoch is None:
                epoch = number_of(record, "epoch")
        return epoch

    def speed(self) -> float:
        """Sentences a second, from the beginning; NaN where nobody knows."""
        last = self.records[-1] if self.records else {}
        seconds = number_of(last, "seconds")
        return number_of(last, "sentences") / seconds if seconds > 0 else math.nan

    def has_ended_early(self) -> bool:
        """Has patience ended the training?"""
        return bool(self.records) and self.records[-1]["event"] == ENDED_EARLY

    def is_going_on(self) -> bool:
        """Is there more to come, in this process or after `--resume`?"""
        return bool(self.progress) and not (self.has_all_epochs() or self.has_ended_early())

    def has_all_epochs(self) -> bool:
        """Is training at the end of its last epoch, and the model evaluated?"""
        done, wanted = (
            number_of(of, k) for of, k in ((self.progress, "epoch"), (self.settings, "epochs"))
        )
        at, evaluated = (number_of(self.progress, key) for key in ("sentences", "evaluated"))
        return done >= wanted and at == evaluated

    def is_silent(self, now: float) -> bool:
        """Was the folder last written to so long before `now` that training has perhaps been stopped?"""
        times = [number_of(record, "seconds") for record in self.records]
        longest = max((b - a for a, b in zip([0.0, *times], times, strict=False)), default=0.0)
        return now - self.heard > PATIENCE_S + 3 * longest

    def seconds_left(self) -> float:
        """An estimate from the last record; NaN where there is none."""
        last = next((r for r in reversed(self.records) if r["event"] == PROGRESS), {})
        return number_of(last, "seconds_left")


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """The runs of folders, each once. Raises RnngError for what is no model folder."""
    # errors name them as they were given
    given = {_resolved(folder): folder for folder in reversed(folders)}
    distinct = list(dict.fromkeys(map(_resolved, folders)))
    names = distinct_names(distinct)
    return [Run.read(given[f], name) for f, name in zip(distinct, names, strict=True)]


def _resolved(folder: Path) -> Path:
    # Path.resolve raises RuntimeError for links that lead in a circle
    return Path(os.path.realpath(folder))


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """The names of folders, with as many of those above as tell each from the others.

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
