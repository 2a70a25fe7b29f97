"""Times the commands of this checkout, alone or in turns with another checkout or other programs.

    python3 -m scripts.benchmark
    python3 -m scripts.benchmark ../other-checkout
    python3 -m scripts.benchmark --peers FOLDER

A row is the work of a command without its start: the command does all of its work and a part of it,
and the difference counts. In every other turn the programs come in the opposite order. Cells are
medians over the turns; the ratios are those of each turn to the first program of the row.

Each file of FOLDER is another program. In the folder of the data `FILE prepare` writes
the names of the rows that it has into the file `rows`, a name per line. `FILE ROW more` and
`FILE ROW less` then do all and a part of the work.
"""

import scripts.in_venv  # noqa: F401  # isort: skip

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent
KINDS = {"discriminative": "oracle", "generative": "gen.oracle"}
"""Kinds of models, and the endings of their oracles."""
INPUTS = {"discriminative": "--dev-trees dev.trees", "generative": "--clusters clusters"}
TRAININGS = ("--batch-size 1", "--batch-size 16", "--batch-size 16 --jobs 2", "--batch-size 128")
TEST = {"few": 8, "some": 24, "many": 80}
"""Parts of the test sentences. The last is ten times the first, as for memory."""
PARSED = {"part": 200, "parsed": 2000}
SEARCHES = {
    "parse": "parse --model discriminative {}.oracle -o out.trees",
    "sample": "sample --model discriminative --samples 100 {}.oracle -o out",
    "score": "score --model generative {}.props -o out",
    "surprisal": "surprisal --model generative {}.gen.oracle -o out.tsv",
}
LENGTHS = {10: 160, 100: 16}
"""Words per sentence, and sentences per update of the training."""
VOCABULARIES = 10_000, 60_000
DASK = """import subprocess, sys
from distributed import LocalCluster
with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
    sys.exit(subprocess.call([*sys.argv[1:], "--jobs", cluster.scheduler_address]))"""
HEAD = """| per sentence or word | program | cpu ms | ms | peak MB | of a part | cpu ratio | ratio |
|---|---|---|---|---|---|---|---|"""
ROW = "| {} | {} | {:.3g} | {:.3g} | {:.0f} | {:.0f} | {:.3f} | {:.3f} |"


class Usage(NamedTuple):
    """Processor time and time in ms, and the peak megabytes of one process."""

    processor: float
    wall: float
    memory: float
    of_part: float = 0.0
    """The peak of the command that does a part of the work."""


class Program(NamedTuple):
    """Two commands; the first does more of the work, by some sentences or words."""

    name: str
    more: Sequence[str]
    less: Sequence[str]
    units: int

    def measure(self, folder: Path) -> Usage:
        """Return the difference of the commands, per sentence or word."""
        large, small = (run(words, folder) for words in (self.more, self.less))
        times = ((a - b) / self.units for a, b in zip(large[:2], small[:2], strict=True))
        return Usage(*times, large.memory, small.memory)


Rows = Iterator[tuple[str, list[Program]]]


def run(words: Sequence[str], folder: Path) -> Usage:
    """Run a command; end with its messages if it fails."""
    shutil.rmtree(folder / "tried", ignore_errors=True)
    begun = time.perf_counter()
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, cwd=folder, text=True, **pipes) as process:
        messages = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        # Popen has not seen the end
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)}: exit code {process.returncode}\n{messages}")
    return Usage(1e3 * (usage.ru_utime + usage.ru_stime), 1e3 * seconds, usage.ru_maxrss / 1e3)


def ours(command: str, checkout: Path = CHECKOUT) -> list[str]:
    """Return a command of a checkout, run by the Python of its environment, if any."""
    python = checkout / ".venv" / "bin" / "python"
    start = ["env", f"PYTHONPATH={checkout}", str(python) if python.exists() else sys.executable]
    return [*start, "-m", "rnng_dy", *command.split()]


def training(kind: str, data: str, how: str, more: str = "", dev: str = "dev") -> str:
    """Return a command, without the number of epochs, that evaluates the model at its end alone."""
    files = f"--train {data}.{KINDS[kind]} --dev {dev}.{KINDS[kind]} {more or INPUTS[kind]}"
    return f"train {kind} {files} --preset fast --set first_evaluation=1000000000 {how} --epochs"


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python3 -m scripts.benchmark", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("other", nargs="?", type=Path, help="another checkout")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="a folder of other programs")
    parser.add_argument("--turns", type=int, default=3, help="[default: 3]")
    parser.add_argument("--only", default="", help="rows whose names have this text")
    parser.add_argument("--sentences", type=int, default=400, help="of training [default: 400]")
    options = parser.parse_args()
    if missing := [p for p in (options.other, options.peers) if p and not p.is_dir()]:
        sys.exit(f"{missing[0]}: no such folder")
    peers = sorted(options.peers.resolve().iterdir()) if options.peers else []
    checkouts = [options.other.resolve(), CHECKOUT] if options.other else [CHECKOUT]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, options.sentences)
        grown = () if options.other else growth(folder, options.only)
        print(HEAD, flush=True)
        for row, programs in chain(works(folder, checkouts, peers), grown):
            if options.only in row:
                compare(row, programs, folder, options.turns)


def prepare(folder: Path, sentences: int) -> None:
    """Write oracles of NLTK's sample, or of the package's trees, with models and samples."""
    sample = ours("prepare --from nltk -o all.trees")
    if subprocess.run(sample, cwd=folder, capture_output=True).returncode:
        print("NLTK's treebank sample is not here: the package's own trees", flush=True)
        shutil.copy(CHECKOUT / "oracle" / "data" / "tiny.trees", folder / "all.trees")
    trees = read(folder, "all")
    parts = {"train": trees[:sentences], "all": trees, "dev": trees[:2]}
    parts |= {part: trees[:number] for part, number in PARSED.items()}
    parts |= {part: trees[-number:] for part, number in TEST.items()}
    for length in LENGTHS:
        # joined, ten sentences of ten words have the same words
        ten = [tree.strip() for tree in trees if len(re.findall(r" [^() ]+\)", tree)) == 10]
        groups = zip(*[iter(ten)] * (length // 10), strict=False)
        lines = [f"(S {' '.join(group)})\n" for group in groups]
        parts |= {f"ten{length}": 10 * lines, f"whole{length}": lines}
        parts[f"hundred{length}"] = lines[: 100 // length]
    for part, lines in parts.items():
        (folder / f"{part}.trees").write_text("".join(lines), encoding="utf-8")
        for suffix, option in zip(KINDS.values(), ("", "--generative"), strict=True):
            command = f"oracle --train train.trees {part}.trees {option} -o {part}.{suffix}"
            run(ours(command), folder)
    run(ours("clusters train.gen.oracle -c 140 -o clusters"), folder)
    for kind in KINDS:
        run(ours(f"{training(kind, 'train', f'--model {kind}')} 5"), folder)
    for part in ("few", "some"):
        command = f"sample --model discriminative --samples 100 {part}.oracle -o {part}.props"
        run(ours(command), folder)


def read(folder: Path, part: str) -> list[str]:
    """Return the trees of a part of the data, a line each."""
    return (folder / f"{part}.trees").read_text(encoding="utf-8").splitlines(keepends=True)


def search(name: str, more: str = "some") -> tuple[str, str, int]:
    """Return commands that search in more and in few sentences, and the difference."""
    more, less, sizes = ("parsed", "part", PARSED) if name == "parse" else (more, "few", TEST)
    return SEARCHES[name].format(more), SEARCHES[name].format(less), sizes[more] - sizes[less]


def works(folder: Path, checkouts: Sequence[Path], peers: Sequence[Path]) -> Rows:
    """Yield rows: the same work by several programs."""
    sentences, commands = len(read(folder, "train")), {}
    for kind in KINDS:
        for how in TRAININGS:
            command = training(kind, "train", f"--model tried {how}")
            commands[f"train {kind} {how}"] = f"{command} 2", f"{command} 1", sentences
    commands |= {name: search(name) for name in SEARCHES}
    has = []
    for peer in peers:
        run([str(peer), "prepare"], folder)
        has += [(peer, row) for row in (folder / "rows").read_text(encoding="utf-8").splitlines()]
    for row, (more, less, units) in commands.items():
        programs = [Program(c.name, ours(more, c), ours(less, c), units) for c in checkouts]
        for peer in (peer for peer, name in has if name == row):
            pair = ([str(peer), row, amount] for amount in ("more", "less"))
            programs.append(Program(peer.name, *pair, units))
        yield row, programs


def growth(folder: Path, only: str) -> Rows:
    """Yield rows: the same work in processes, by lengths of sentences and by vocabularies."""
    dask = [sys.executable, "-c", DASK]
    for name in ("parse", "sample", "surprisal"):
        more, less, units = search(name, "many")
        more, less = ours(more), ours(less)
        two = ([*command, "--jobs", "2"] for command in (more, less))
        programs = [Program("one process", more, less, units), Program("two", *two, units)]
        programs.append(Program("Dask", [*dask, *more], [*dask, *less], units))
        yield f"{name}, in processes", programs
    words = 100 * len(read(folder, "whole100"))
    train = training("generative", "ten{0}", "--model tried --batch-size {1}")
    parse, surprisal = (SEARCHES[name].format for name in ("parse", "surprisal"))
    for name, more, less, units in (
        ("train generative", f"{train} 2", f"{train} 1", 10 * words),
        ("parse", parse("ten{0}"), parse("whole{0}"), 9 * words),
        ("surprisal", surprisal("whole{0}"), surprisal("hundred{0}"), words - 100),
    ):
        pairs = ((ours(c.format(*length)) for c in (more, less)) for length in LENGTHS.items())
        programs = [Program(str(n), *pair, units) for n, pair in zip(LENGTHS, pairs, strict=True)]
        yield f"{name}, a word by length", programs
    if only in (row := "train generative, by vocabulary"):
        yield row, [with_vocabulary(folder, size) for size in VOCABULARIES]


def with_vocabulary(folder: Path, size: int) -> Program:
    """Make a model that knows `size` words, few of them frequent, and return its training."""
    clusters = [f"{i % round(size**0.5):b}\tw{i}\t1\n" for i in range(size)]
    (folder / f"clusters{size}").write_text("".join(clusters), encoding="utf-8")
    draw = random.Random(1).random

    def block(numbers: Iterable[int], actions: Iterable[str]) -> str:
        words = " ".join(f"w{number}" for number in numbers)
        return "\n".join(["# (S)", words, words, *actions, "\n"])

    for part in ("dev", "train"):
        text = (folder / f"{part}.gen.oracle").read_text(encoding="utf-8")
        rows = [lines.split("\n") for lines in text.split("\n\n")[:-1]]
        drawn = [block([int(size ** draw()) for _ in row[1].split()], row[3:]) for row in rows]
        (folder / f"{part}{size}.gen.oracle").write_text("".join(drawn), encoding="utf-8")
    flat = ["NT(S)", *20 * ["SHIFT"], "REDUCE"]
    every = [block(range(i, i + 20), flat) for i in range(0, size, 20)]
    (folder / f"every{size}.gen.oracle").write_text("".join([*drawn, *every]), encoding="utf-8")
    start, dev = f"--clusters clusters{size} --model known{size}", f"dev{size}"
    run(ours(f"{training('generative', f'every{size}', '', start, dev)} 1"), folder)
    how, start = "--model tried --batch-size 16", f"--init known{size}"
    train = training("generative", f"train{size}", how, start, dev)
    pair = (ours(f"{train} {epochs}") for epochs in (2, 1))
    return Program(f"{size:,} words", *pair, len(read(folder, "train")))


def compare(row: str, programs: Sequence[Program], folder: Path, turns: int) -> None:
    """Print a row of the table for each program."""
    measured: list[list[Usage]] = []
    for turn in range(turns):
        order = programs[:: -1 if turn % 2 else 1]
        usages = {program.name: program.measure(folder) for program in order}
        measured.append([usages[program.name] for program in programs])
    for program, *usages in zip(programs, *measured, strict=True):
        cells = map(median, zip(*usages, strict=True))
        pairs = [*zip(usages, (turn[0] for turn in measured), strict=True)]
        ratios = (median(usage[i] / first[i] for usage, first in pairs) for i in range(2))
        print(ROW.format(row, program.name, *cells, *ratios), flush=True)


if __name__ == "__main__":
    main()
