"""Sentences a second, microseconds a state and peak memory of the models, each measured in a process of its own."""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from oracle.files import read_samples
from oracle.transitions import TOP_DOWN
from rnng_dy import engine, registry
from rnng_dy.execution.memory import peak_memory
from scripts.benchmark_data import examples_of, new_model, write_data

COMMAND = str(Path(sys.executable).with_name("rnng-dy"))
KINDS = ("discriminative", "generative")
TRAINED = {"discriminative": 3000, "generative": 1000}
BATCH_SIZES = (1, 4, 16, 32)
LENGTHS = (10, 25, 50, 100, 200, 300)
SENTENCES = 100
SEARCHES = {
    "beam 100/5/10": (),
    "beam 20/2/5": ("beam=20", "fast-track=2", "word-beam=5"),
    "1000 particles": ("search=particles",),
    "variable, 1000": ("search=variable",),
}
"""Of `surprisal`, with the options of each."""


def main() -> None:
    """Print a table and write JSON."""
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Speed and memory of training, parsing, sampling and scoring at the paper's sizes, on NLTK's "
        "treebank sample or, without it, the package's own trees; growth with minibatch size, number of samples and "
        "sentence length. A few minutes.",
    )
    parser.add_argument("-o", "--output", default="bench.json", help="[default: bench.json]")
    parser.add_argument("--compare", metavar="OLD.json", help="print ratios to an earlier run")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N [default: cpu]")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--quick", action="store_true", help="a tenth of the sentences")
    parser.add_argument("--tiny", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        name, *arguments = options.part
        print(json.dumps(PARTS[name](options, *arguments)))
        return
    old = json.loads(Path(options.compare).read_text())["rows"] if options.compare else {}
    with tempfile.TemporaryDirectory() as folder:
        data = write_data(Path(folder))
        print(f"{data}; {platform.processor() or platform.machine()}, {options.device}")
        rows = {}
        print(f"{'':44} {'per s':>9} {'us/state':>9} {'peak MB':>8}{'  ratio' if old else ''}")
        for name, row in _rows(options, folder):
            rows[name] = row
            _print_row(name, row, old.get(name))
    result = {"data": data, "device": options.device, "rows": rows}
    Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


def _rows(options: argparse.Namespace, folder: str) -> Iterator[tuple[str, dict]]:
    """Every measurement, the faster ones first."""
    share = 10 if options.quick else 50 if options.tiny else 1
    batch_sizes = (16,) if options.tiny else BATCH_SIZES
    lengths = (10,) if options.tiny else LENGTHS
    sample_counts = (10,) if options.tiny else (1, 10, 100)

    def part(*arguments: object) -> dict:
        command = [sys.executable, sys.argv[0], "--device", options.device]
        command += ["--jobs", str(options.jobs), "--part", *map(str, arguments)]
        return json.loads(subprocess.check_output(command).splitlines()[-1])

    most = sample_counts[-1]
    jobs = options.jobs if options.device == "cpu" else 1
    for kind in KINDS:
        count = TRAINED[kind] // share
        yield (
            f"train {kind}, batches of 16, {jobs} jobs",
            part("train", folder, kind, 16, jobs, count),
        )
        for size in batch_sizes:
            count = max(size, min(10 * size, SENTENCES) // share)
            yield f"train {kind}, batches of {size}", part("train", folder, kind, size, 1, count)
        for words in lengths:
            yield f"train {kind}, {words} words", part("length", folder, kind, words)
    yield "parse", part("parse", folder, SENTENCES // share)
    for samples in sample_counts:
        yield f"sample {samples}", part("sample", folder, samples, 1, SENTENCES // 2 // share)
    for words in lengths:
        yield f"sample 10, {words} words", part("sample_length", folder, words)
    yield f"sample {most}, {jobs} jobs", part("sample", folder, most, jobs, SENTENCES // share)
    for name, search in SEARCHES.items():
        for n in dict.fromkeys((1, jobs)):
            row = part("search", folder, n, SENTENCES // 2 // share, *search)
            yield f"surprisal, {name}, {n} jobs", row
    for n in dict.fromkeys((1, jobs)):
        yield f"score those, {n} jobs" if n > 1 else "score those", part("score", folder, n)


def _train(options, folder: str, kind: str, batch_size: str, jobs: str, count: str) -> dict:
    """Training; the first run of a kind leaves the model that the other parts use."""
    from rnng_dy.training.loop import TrainingLoop
    from rnng_dy.training.presets import PRESETS

    engine.start(options.device)
    place = Path(folder)
    first = not (place / kind).exists()
    # of another model
    shutil.rmtree(place / "again", ignore_errors=True)
    model = new_model(kind, place)[0] if first else registry.load(place / kind)
    examples = examples_of(model, "train", place)[: int(count)]
    settings = replace(PRESETS["fast", kind], batch_size=int(batch_size), jobs=int(jobs), epochs=1)
    # no evaluation but the one at the end
    settings = replace(settings, first_evaluation=10**9, checkpoint_every=10**9)
    run = TrainingLoop(
        model, examples, lambda: {"score": 0.0}, settings, place / (kind if first else "again")
    )
    run.create_folder()
    run.run()
    states = sum(len(example.actions) for example in examples)
    return _row(len(examples), states, run.state.seconds)


def _length(options, folder: str, kind: str, words: str) -> dict:
    """Training with one sentence of a length."""
    from rnng_dy.training.presets import PRESETS
    from rnng_dy.training.updates import Updater

    engine.start(options.device)
    model = registry.load(Path(folder) / kind)
    examples = examples_of(model, f"words{words}", Path(folder))
    updater = Updater(model, examples, PRESETS["fast", kind])
    updater.update([0], 0, 1e-3)
    start = time.perf_counter()
    for i in range(len(examples)):
        updater.update([i], i, 1e-3)
    states = sum(len(example.actions) for example in examples)
    return _row(len(examples), states, time.perf_counter() - start)


def _parse(options, folder: str, count: str) -> dict:
    """Greedy parsing."""
    from rnng_dy.search.greedy import parse_all

    parser, tokens = _parser(options, folder, "test", count)
    start = time.perf_counter()
    results = parse_all(parser, tokens, [len(t.words) for t in tokens])
    states = sum(len(actions) for actions, _ in results)
    return _row(len(tokens), states, time.perf_counter() - start)


def _sample_length(options, folder: str, words: str) -> dict:
    """Ten samples of sentences of a length."""
    from rnng_dy.search.sampling import sample_batch

    parser, tokens = _parser(options, folder, f"words{words}", "2")
    start = time.perf_counter()
    drawn = [sample_batch(parser, [t], 10, 0.8, [[i]])[0] for i, t in enumerate(tokens)]
    states = sum(len(actions) for samples in drawn for actions, _ in samples)
    return _row(len(tokens), states, time.perf_counter() - start)


def _parser(options, folder: str, part: str, count: str):

    engine.start(options.device)
    parser = registry.load(Path(folder) / "discriminative")
    return parser, [e.tokens for e in examples_of(parser, part, Path(folder))[: int(count)]]


def _sample(options, folder: str, samples: str, jobs: str, count: str) -> dict:
    """The command; per state of all samples, equal ones too."""
    place = Path(folder)
    blocks = (place / "test.oracle").read_text(encoding="utf-8").split("\n\n")[: int(count)]
    (place / "part.oracle").write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    seconds = _command(
        options, "sample", "--model", place / "discriminative", "--samples", samples,
        "--jobs", jobs, place / "part.oracle", "-o", place / "part.props",
    )  # fmt: skip
    return _row(len(blocks), _states(place), seconds)


def _score(options, folder: str, jobs: str) -> dict:
    """The command; sentences a second, and per state of all their samples."""
    place = Path(folder)
    model = place / "generative"
    seconds = _command(
        options,
        "score",
        "--model",
        model,
        "--jobs",
        jobs,
        place / "part.props",
        "-o",
        place / "out",
    )
    sentences = len({sample.index for sample in read_samples(place / "part.props")})
    return _row(sentences, _states(place), seconds)


def _search(options, folder: str, jobs: str, count: str, *search: str) -> dict:
    """Words a second of `surprisal`, and per action that it carries out."""
    place = Path(folder)
    blocks = (place / "test.gen.oracle").read_text(encoding="utf-8").split("\n\n")
    part = place / "part.gen.oracle"
    part.write_text("\n\n".join(blocks[: max(1, int(count))]) + "\n\n", encoding="utf-8")
    seconds = _command(
        options, "surprisal", "--model", place / "generative", "--jobs", jobs, part,
        "-o", place / "part.tsv", *(f"--{option}" for option in search),
    )  # fmt: skip
    with (place / "part.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return _row(len(rows), sum(int(row["actions"]) for row in rows), seconds)


def _states(place: Path) -> int:
    trees = (sample.tree for sample in read_samples(place / "part.props"))
    return sum(len(TOP_DOWN.actions_of(tree, preterminals=False)) for tree in trees)


def _command(options, name: str, *arguments: object) -> float:
    """Seconds of an rnng-dy command but for its start, as it says itself."""
    command = [COMMAND, name, "--device", options.device, *map(str, arguments)]
    done = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
    # it says tenths
    return max(0.05, float(re.search(rf"^{name}: .* in ([\d.]+) s", done.stderr, re.MULTILINE)[1]))


def _row(items: int, states: int, seconds: float) -> dict:
    return {
        "per_second": items / seconds,
        "us_per_state": 1e6 * seconds / states,
        "peak_mb": peak_memory() / 1e6,
    }


PARTS = {
    "train": _train,
    "length": _length,
    "parse": _parse,
    "sample": _sample,
    "sample_length": _sample_length,
    "score": _score,
    "search": _search,
}


def _print_row(name: str, row: dict, old: dict | None) -> None:
    ratio = f"{row['per_second'] / old['per_second']:7.2f}" if old else ""
    print(
        f"{name:44} {row['per_second']:9.1f} {row['us_per_state']:9.1f} {row['peak_mb']:8.0f}{ratio}",
        flush=True,
    )
