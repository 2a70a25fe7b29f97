"""Long commands for kills, signals, full disks and locks: how each is run, and what it must write."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scripts.torture.commands import ADAM, PARSER, REPRODUCE, RNNG_SIZES, SIZES
from scripts.torture.processes import RUN, Started, link_data, run_to_its_end

SAVING_OFTEN = """
import importlib
importlib.import_module("rnng_dy.cli.clusters").SAVE_EVERY = 0.02
"""
MOMENTARY = ("seconds", "sentences_per_second", "seconds_left")
# parts that hold times or messages
CHANGING = {
    *("about.json", "stages.json", "hashes.json", "logs"),
    *("README.md", "report.json", "report.md", "report.html"),
}


class Job(NamedTuple):
    """A long command."""

    name: str
    command: str
    output: str
    resume: str = "--resume"
    """The option that makes the same command resume."""
    program: str = RUN

    def words(self, data: Path, resume: bool = False) -> str:
        """Return the words of the command, to start or to resume."""
        return f"{self.command} {self.resume if resume else ''}".format(data=data)

    def start(
        self, data: Path, folder: Path, resume: bool = False, program: str = "", **options: object
    ) -> Started:
        """Start the command in a process, by default with its usual program."""
        return Started(self.words(data, resume), folder, program or self.program, **options)


_TRAINING = (
    "--first-evaluation 100 --evaluate-every 150 --checkpoint-every 20 --report-every 50 --epochs 1"
)
_SURPRISAL = "surprisal --model generator many.trees --beam 8 --fast-track 1 --word-beam 3 --end"
_WORDS = (
    "--train many.gen.oracle --dev dev.gen.oracle --clusters reference.clusters.paths "
    f"--evaluate-from-epoch 0 {_TRAINING} --model new"
)
_PARSER = (
    f"train discriminative --train many.oracle --dev dev.oracle {PARSER} {_TRAINING} --model new"
)
JOBS = [
    Job("train discriminative", _PARSER, "new"),
    Job(
        "train discriminative in two processes",
        f"{_PARSER} --preset fast --batch-size 8 --jobs 2",
        "new",
    ),
    Job("train generative", f"train generative {_WORDS} {RNNG_SIZES}", "new"),
    Job("train lstm-lm", f"train lstm-lm {_WORDS} {SIZES} {ADAM}", "new"),
    Job("parse", "parse --model parser many.trees -o out", "out"),
    Job("sample", "sample --model parser --samples 3 some.trees -o out", "out"),
    Job("sample in two processes", "sample --model parser --samples 3 --jobs 2 some.trees -o out", "out"),
    Job("score", "score --model generator many.trees -o out", "out"),
    Job("surprisal", f"{_SURPRISAL} -o out", "out"),
    Job("surprisal in two processes", f"{_SURPRISAL} --jobs 2 -o out", "out"),
    Job("clusters", "clusters many.gen.oracle -c 12 --refine -o out", "out", program=SAVING_OFTEN + RUN),
    Job("tag", "tag many.trees --jackknife 4 --json out.json -o out", "out", resume=""),
    Job("tag in two processes", "tag many.trees --jackknife 4 --jobs 2 -o out", "out", resume=""),
]  # fmt: skip
REPRODUCTION = Job("reproduce", f"{REPRODUCE} --jobs 2", "results", resume="")


@dataclass
class Straight:
    """An uninterrupted run of a job: its folder and its duration."""

    job: Job
    folder: Path
    seconds: float


def straight_run(job: Job, data: Path, folder: Path) -> Straight:
    """Run a job to its end, which must be a success."""
    link_data(data, folder)
    begun = time.monotonic()
    run_to_its_end(job.words(data), folder, job.program)
    return Straight(job, folder, time.monotonic() - begun)


def unfinished_under_its_name(straight: Straight, folder: Path) -> str | None:
    """Return a file that has its final name in `folder` although it is incomplete."""
    output = straight.job.output
    if not (folder / output).exists():
        return None
    if not (folder / output).is_dir():
        return None if difference(straight, folder) is None else output
    for path in sorted((folder / output).rglob("*")):
        if path.is_file() and not path.name.startswith(".") and not _is_readable(path):
            return str(path.relative_to(folder))
    return None


def _is_readable(path: Path) -> bool:
    """Return whether a file that changes while a command runs is whole at the moment."""
    try:
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".npz":
            _arrays(path)
    except Exception:
        return False
    return True


def difference(straight: Straight, folder: Path) -> str | None:
    """Return the first file in which a finished run differs from the uninterrupted one."""
    output = straight.job.output
    expected, found = straight.folder / output, folder / output
    if expected.is_file():
        return None if _content(expected) == _content(found) else output
    names = {path.relative_to(expected) for path in _files(expected)}
    if names != (others := {path.relative_to(found) for path in _files(found)}):
        return f"{output}/{min(map(str, names ^ others))}"
    for name in sorted(names):
        if not _are_equal(expected / name, found / name):
            return f"{output}/{name}"
    return None


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and not CHANGING & set(path.relative_to(folder).parts):
            yield path


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _are_equal(expected: Path, found: Path) -> bool:
    if expected.suffix == ".jsonl":
        return _records(expected) == _records(found)
    if expected.suffix != ".npz":
        return expected.read_bytes() == found.read_bytes()
    ours, others = _arrays(expected), _arrays(found)
    # the state of training contains times
    ours.pop("state", None), others.pop("state", None)
    return ours.keys() == others.keys() and all(
        ours[name].tobytes() == others[name].tobytes() for name in ours
    )


def _arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _records(path: Path) -> list[dict]:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{k: v for k, v in r.items() if k not in MOMENTARY} for r in records]
