"""The records that training leaves in a model folder: what of them can be read, whatever happened to the file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from oracle.errors import InputError
from oracle.regular_files import read_regular
from oracle.streams import from_json

LOG = "log.jsonl"
EVALUATION, PROGRESS, LEFT_OUT, ENDED_EARLY = "evaluation", "progress", "left_out", "ended_early"
"""Events. The last one ends the log of a training that patience ended."""

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
