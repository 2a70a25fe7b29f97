"""Times the commands of this checkout, alone or in turns with those of another checkout.

    python3 -m scripts.benchmark
    python3 -m scripts.benchmark ../other-checkout

A row is the work of a command without its start: the command does all of its work and a part of it,
and the difference counts. In every other turn the second program comes first. Cells are medians
over the turns, ratios those of each turn.
"""

from __future__ import annotations

import scripts.in_venv  # noqa: F401  # isort: skip

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent
KINDS = {"discriminative": "oracle", "generative": "gen.oracle"}
"""Kinds of models, and the endings of their oracles."""
INPUTS = {"discriminative": "--dev-trees dev.trees", "generative": "--clusters clusters"}
TRAININGS = ("--batch-size 1", "--batch-size 16", "--batch-size 16 --jobs 2")
SEARCHED, TEST = 25, 245
SEARCHES = {
    "parse": "parse --model discriminative {part}.oracle -o out",
    "sample": "sample --model discriminative --samples 100 {part}.oracle -o out",
    "score": "score --model generative {part}.props -o out",
    "surprisal": "surprisal --model generative {part}.gen.oracle -o out",
}
HEAD = "| {:42} | {:>8} | {:>8} | {:>8} | {:>8} |\n|---|---|---|---|---|"
ROW = "| {:42} | {:8.2f} | {:8.2f} | {:8.0f} | {:>8} |"


class Usage(NamedTuple):
    """Processor time and time per sentence in ms, and the peak megabytes of one process."""

    processor: float
    wall: float
    memory: float


class Program(NamedTuple):
    """The commands of a checkout, run in a folder by the Python of its environment, if any."""

    checkout: Path
    folder: Path

    def run(self, command: str) -> Usage:
        """Run a command; end with its messages if it fails."""
        python = self.checkout / ".venv" / "bin" / "python"
        python = str(python) if python.exists() else sys.executable
        shutil.rmtree(self.folder / "tried", ignore_errors=True)
        environment = {**os.environ, "PYTHONPATH": str(self.checkout)}
        begun = time.perf_counter()
        with tempfile.TemporaryFile("w+") as messages:
            pipes = {"stdout": subprocess.DEVNULL, "stderr": messages}
            words = [python, "-m", "rnng_dy", *command.split()]
            process = subprocess.Popen(words, cwd=self.folder, env=environment, **pipes)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begun
            # Popen has not seen the end
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                messages.seek(0)
                sys.exit(f"rnng-dy {command}: exit code {process.returncode}\n{messages.read()}")
        return Usage(1e3 * (usage.ru_utime + usage.ru_stime), 1e3 * seconds, usage.ru_maxrss / 1e3)

    def measure(self, more: str, less: str, sentences: int) -> Usage:
        """Return the difference of two commands, per sentence."""
        large, small = self.run(more), self.run(less)
        times = ((a - b) / sentences for a, b in zip(large[:2], small[:2], strict=True))
        return Usage(*times, large.memory)


def training(kind: str, data: str, model: str) -> str:
    """Return a command that trains without an evaluation before its end."""
    suffix, rare = KINDS[kind], "--set first_evaluation=1000000000"
    files = f"--train {data}.{suffix} --dev dev.{suffix} {INPUTS[kind]} --model {model}"
    return f"train {kind} {files} --preset fast {rare}"


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python3 -m scripts.benchmark", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("other", nargs="?", type=Path, help="another checkout")
    parser.add_argument("--turns", type=int, default=3, help="[default: 3]")
    parser.add_argument("--only", default="", help="rows whose names have this text")
    parser.add_argument("--sentences", type=int, default=1600, help="of training [default: 1600]")
    options = parser.parse_args()
    if options.other and not options.other.is_dir():
        sys.exit(f"{options.other}: no such folder")
    with tempfile.TemporaryDirectory() as folder:
        here = Program(CHECKOUT, Path(folder))
        prepare(here, options.sentences)
        both = [Program(options.other.resolve(), here.folder)] if options.other else []
        compare([*both, here], options)


def prepare(program: Program, sentences: int) -> None:
    """Write oracles of NLTK's sample, or of the package's trees, with models and samples."""
    folder = program.folder
    sample = [sys.executable, "-m", "rnng_dy", "prepare", "--from", "nltk", "-o", "all.trees"]
    if subprocess.run(sample, cwd=folder, capture_output=True).returncode:
        print("NLTK's treebank sample is not here: the package's own trees", flush=True)
        shutil.copy(program.checkout / "oracle" / "data" / "tiny.trees", folder / "all.trees")
    trees = (folder / "all.trees").read_text(encoding="utf-8").splitlines(keepends=True)
    cut = max(len(trees) - TEST, len(trees) * 9 // 10)
    parts = {"train": trees[:cut][:sentences], "dev": trees[:2], "one": trees[cut : cut + 1]}
    parts["some"] = trees[cut : cut + SEARCHED]
    for part, lines in parts.items():
        (folder / f"{part}.trees").write_text("".join(lines), encoding="utf-8")
        for suffix, option in zip(KINDS.values(), ("", "--generative"), strict=True):
            program.run(f"oracle --train train.trees {part}.trees {option} -o {part}.{suffix}")
    program.run("clusters train.gen.oracle -c 140 -o clusters")
    for kind in KINDS:
        program.run(f"{training(kind, 'train', kind)} --epochs 1")
    for part in ("some", "one"):
        command = f"sample --model discriminative --samples 100 {part}.oracle -o {part}.props"
        program.run(command)


def compare(programs: list[Program], options: argparse.Namespace) -> None:
    """Print a row per command: the last program's medians, and the median ratio to the first."""
    print(HEAD.format("per sentence", "cpu ms", "ms", "peak MB", "ratio"), flush=True)
    works = {f"train {kind} {how}": (kind, how) for kind in KINDS for how in TRAININGS} | SEARCHES
    for name, work in works.items():
        if options.only not in name:
            continue
        turns: list[list[Usage]] = []
        for turn in range(options.turns):
            order = programs[:: -1 if turn % 2 else 1]
            usages = {program: _measured(program, work, options.sentences) for program in order}
            turns.append([usages[program] for program in programs])
        usage = map(median, zip(*(turn[-1] for turn in turns), strict=True))
        ratio = median(turn[-1].processor / turn[0].processor for turn in turns)
        print(ROW.format(name, *usage, f"{ratio:.3f}" if len(programs) > 1 else ""), flush=True)


def _measured(program: Program, work: str | tuple[str, str], sentences: int) -> Usage:
    if isinstance(work, str):
        more, less = (work.format(part=part) for part in ("some", "one"))
        return program.measure(more, less, SEARCHED - 1)
    kind, how = work
    command = f"{training(kind, 'train', 'tried')} {how} --epochs"
    return program.measure(f"{command} 2", f"{command} 1", sentences)


if __name__ == "__main__":
    main()
