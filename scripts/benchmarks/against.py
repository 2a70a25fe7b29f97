"""Speed and memory of this checkout's commands, as ratios to those of another checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from scripts.benchmarks.data import SUFFIXES, write_data, write_first, write_trees
from scripts.benchmarks.measuring import apart, in_turns, print_row

TRAINED = {"discriminative": 1600, "generative": 400}
"""Training sentences of the rows that measure training."""
INPUTS = {"discriminative": "--dev-trees dev.trees", "generative": "--clusters clusters"}
"""Further inputs of the trainings."""
SEARCHED = 25
"""Sentences of the rows that measure searches."""
TRIED = "tried"
"""Model folder of the rows that measure training."""
HEAD = "{:44} {:>9} {:>7} {:>9} {:>7} {:>8} {:>7}"
ROW = "{:44} {:9.2f} {:7.2f} {:9.2f} {:7.2f} {:8.0f} {:7.2f}"


class Program(NamedTuple):
    """A checkout and the Python that has its DyNet."""

    checkout: Path
    python: str


class Usage(NamedTuple):
    """Seconds of processor time, seconds, and peak megabytes of the largest process of a command."""

    processor: float
    wall: float
    memory: float


class Work(NamedTuple):
    """A command that does its work, and with other options less of it: the difference has no start-up."""

    name: str
    command: str
    more: str
    less: str


@click.command("against")
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--turns", default=3, show_default=True)
@click.option("--only", default="", metavar="TEXT", help="Only rows whose names have this text.")
def main(checkout: Path, turns: int, only: str) -> None:
    """Speed and memory as ratios to another CHECKOUT, which has its environment in .venv.

    Both run the same commands in turns, at the paper's sizes, with the same models, which CHECKOUT trains. Times are
    those of the work without the start of the command. The least of the turns counts.
    """
    python = checkout.resolve() / ".venv" / "bin" / "python"
    if not python.exists():
        raise click.UsageError(f"{checkout} has no .venv/bin/python: run `make setup` there")
    programs = [
        Program(checkout.resolve(), str(python)),
        Program(Path(__file__).parents[2], sys.executable),
    ]
    with tempfile.TemporaryDirectory() as folder:
        print(apart(write_data, folder))
        _prepare(programs[0], folder)
        print_row(HEAD, "", "cpu s", "ratio", "wall s", "ratio", "peak MB", "ratio")
        for work in _works():
            if only in work.name:
                works = {p: partial(_measured, p, work, folder) for p in programs}
                old, new = (
                    Usage(*map(min, zip(*found, strict=True)))
                    for found in in_turns(works, turns).values()
                )
                cells = (cell for n, o in zip(new, old, strict=True) for cell in (n, n / o))
                print_row(ROW, work.name, *cells)


def _works() -> Iterator[Work]:
    for kind, suffix in SUFFIXES.items():
        for options in ("--batch-size 1", "--batch-size 16", "--batch-size 16 --jobs 2"):
            command = _training(kind, f"few.{suffix}", TRIED) + f" {options}"
            yield Work(f"train {kind} {options}", command, "--epochs 2", "--epochs 1")
    searches = {
        "parse": "--model discriminative -o out",
        "sample": "--model discriminative --samples 100 -o out",
        "surprisal": "--model generative -o out",
    }
    for name, options in searches.items():
        suffix = SUFFIXES["generative" if name == "surprisal" else "discriminative"]
        yield Work(name, f"{name} {options}", f"some.{suffix}", f"one.{suffix}")
    score = "score --model generative -o out"
    yield Work("score", score, "some.props", "one.props")


def _prepare(program: Program, folder: str) -> None:
    """Write parts of the oracles, the models and the samples that the measured commands read."""
    place = Path(folder)
    for kind, suffix in SUFFIXES.items():
        parts = {"few": TRAINED[kind], "some": SEARCHED, "one": 1, "dev": 2}
        for part, count in parts.items():
            source = place / f"{'train' if part == 'few' else 'test'}.{suffix}"
            write_first(count, source, place / f"{part}.{suffix}")
    write_trees(place / "dev.oracle", place / "dev.trees")
    _run(program, f"clusters train.{SUFFIXES['generative']} -c 140 -o clusters", folder)
    for kind, suffix in SUFFIXES.items():
        _run(program, _training(kind, f"train.{suffix}", kind) + " --epochs 2", folder)
    for part in ("some", "one"):
        options = f"--model discriminative --samples 100 -o {part}.props"
        _run(program, f"sample {options} {part}.oracle", folder)


def _training(kind: str, data: str, model: str) -> str:
    """Return a command that trains without an evaluation before its end."""
    rare = "--first-evaluation 1000000000 --checkpoint-every 1000000000"
    files = f"--train {data} --dev dev.{SUFFIXES[kind]} --model {model} {INPUTS[kind]}"
    return f"train {kind} {files} --preset fast {rare}"


def _measured(program: Program, work: Work, folder: str) -> Usage:
    more, less = (
        _run(program, f"{work.command} {options}", folder) for options in (work.more, work.less)
    )
    return Usage(more.processor - less.processor, more.wall - less.wall, more.memory)


def _run(program: Program, command: str, folder: str) -> Usage:
    """Run a command in the folder; raise ClickException if it fails."""
    shutil.rmtree(Path(folder, TRIED), ignore_errors=True)
    begun = time.perf_counter()
    with subprocess.Popen(
        [program.python, "-m", "rnng_dy", *command.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(program.checkout)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        messages = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        code = os.waitstatus_to_exitcode(status)
        raise click.ClickException(f"{' '.join(process.args)}: exit code {code}\n{messages}")
    seconds = time.perf_counter() - begun
    # the system counts memory in units of 1,024 bytes
    return Usage(usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss * 1024 / 1e6)
