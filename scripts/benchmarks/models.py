"""Speed and peak memory of the models, each measured in a process of its own."""

from __future__ import annotations

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

import click

from oracle.samples import read_samples
from oracle.transitions import TOP_DOWN
from rnng_dy import engine, registry
from rnng_dy.memory import peak_memory
from rnng_dy.search.greedy import parse_all
from rnng_dy.training.loop import TrainingLoop
from rnng_dy.training.presets import PRESETS
from scripts.benchmarks.data import examples_of, new_model, write_data, write_first
from scripts.benchmarks.measuring import KINDS, apart, print_row

TRAINED = {"discriminative": 3000, "generative": 1000}
BATCH_SIZES = (1, 16)
SENTENCES = 100
SEARCHES = {
    "beam 100/5/10": (),
    "beam 20/2/5": ("--beam=20", "--fast-track=2", "--word-beam=5"),
    "1000 particles": ("--search=particles",),
    "variable, 1000": ("--search=variable",),
}
"""Searches of `surprisal`, with their options."""
HEAD, RATIO = "{:44} {:>9} {:>9} {:>8}", "{:>7}"
ROW = "{:44} {per_second:9.1f} {us_per_state:9.1f} {peak_mb:8.0f}"


@click.command("models")
@click.option("-o", "--output", default="bench.json", show_default=True)
@click.option("--compare", metavar="OLD.json", help="Print ratios to an earlier run.")
@click.option("--device", default="cpu", help="cpu, cuda or cuda:N.", show_default=True)
@click.option("--jobs", default=len(os.sched_getaffinity(0)), show_default="all processors")
@click.option("--quick", is_flag=True, help="A tenth of the sentences.")
@click.option("--tiny", is_flag=True, hidden=True)
def main(output: str, compare: str | None, device: str, jobs: int, quick: bool, tiny: bool) -> None:
    """Speed and memory of training, parsing, sampling and scoring.

    At the paper's sizes, on NLTK's treebank sample or, without it, the package's own trees. A few minutes.
    """
    old = json.loads(Path(compare).read_text())["rows"] if compare else {}
    with tempfile.TemporaryDirectory() as folder:
        data = apart(write_data, folder)
        print(f"{data}; {platform.processor() or platform.machine()}, {device}")
        rows = {}
        ratio = [RATIO.format("ratio")] if old else []
        print_row(HEAD + "{}" * len(ratio), "", "per s", "us/state", "peak MB", *ratio)
        for name, work, *arguments in _works(jobs, device, 10 if quick else 50 if tiny else 1):
            rows[name] = row = apart(work, folder, device, *arguments)
            ratio = row["per_second"] / old[name]["per_second"] if name in old else None
            print_row(ROW + (f"{ratio:7.2f}" if ratio else ""), name, **row)
    result = {"data": data, "device": device, "rows": rows}
    Path(output).write_text(json.dumps(result, indent=1) + "\n")


def _works(jobs: int, device: str, share: int) -> Iterator[tuple]:
    """Yield the name, function and arguments of every measurement, the faster ones first."""
    few = share > 10
    local = jobs if device == "cpu" else 1
    for kind in KINDS:
        name = f"train {kind}"
        yield f"{name}, batches of 16, {local} jobs", train, kind, 16, local, TRAINED[kind] // share
        for size in BATCH_SIZES[1:] if few else BATCH_SIZES:
            count = max(size, min(10 * size, SENTENCES) // share)
            yield f"{name}, batches of {size}", train, kind, size, 1, count
    yield "parse", parse, SENTENCES // share
    samples = 20 if few else 100
    for n in dict.fromkeys((1, local)):
        yield f"sample 100, {n} jobs", sample, samples, n, SENTENCES // share
    for name, options in SEARCHES.items():
        for n in dict.fromkeys((1, local)):
            yield f"surprisal, {name}, {n} jobs", search, n, SENTENCES // 2 // share, *options
    for n in dict.fromkeys((1, local)):
        yield f"score those, {n} jobs" if n > 1 else "score those", score, n


def train(folder: str, device: str, kind: str, batch_size: int, jobs: int, count: int) -> dict:
    """Measure training; the first run of a kind leaves the model that the other measurements use."""
    engine.start(device)
    place = Path(folder)
    first = not (place / kind).exists()
    # the folder of an earlier model
    shutil.rmtree(place / "again", ignore_errors=True)
    model = new_model(kind, place) if first else registry.load(place / kind)
    examples = examples_of(model, "train", place)[:count]
    settings = replace(PRESETS["fast", kind], batch_size=batch_size, jobs=jobs, epochs=1)
    # only one evaluation, at the end
    settings = replace(settings, first_evaluation=10**9, checkpoint_every=10**9)
    made = place / (kind if first else "again")
    run = TrainingLoop(model, examples, lambda: {"score": 0.0}, settings, made)
    run.create_folder()
    run.run()
    states = sum(len(example.actions) for example in examples)
    return _row(len(examples), states, run.state.seconds)


def parse(folder: str, device: str, count: int) -> dict:
    """Measure greedy parsing."""
    engine.start(device)
    parser = registry.load(Path(folder, "discriminative"))
    tokens = [e.tokens for e in examples_of(parser, "test", Path(folder))[:count]]
    start = time.perf_counter()
    results = parse_all(parser, tokens, [len(t.words) for t in tokens])
    states = sum(len(actions) for actions, _ in results)
    return _row(len(tokens), states, time.perf_counter() - start)


def sample(folder: str, device: str, samples: int, jobs: int, count: int) -> dict:
    """Measure the command; time per state counts those of all samples, even equal ones."""
    begun = write_first(count, Path(folder, "test.oracle"), Path(folder, "part.oracle"))
    options = f"--model discriminative --samples {samples} --jobs {jobs} part.oracle -o part.props"
    seconds = _command(folder, device, "sample", *options.split())
    return _row(begun, _states(folder), seconds)


def score(folder: str, device: str, jobs: int) -> dict:
    """Measure the command: sentences per second, and time per state of all their samples."""
    options = f"--model generative --jobs {jobs} part.props -o out"
    seconds = _command(folder, device, "score", *options.split())
    sentences = len({sample.index for sample in read_samples(Path(folder, "part.props"))})
    return _row(sentences, _states(folder), seconds)


def search(folder: str, device: str, jobs: int, count: int, *search: str) -> dict:
    """Measure words per second of `surprisal`, and time per action that it carries out."""
    write_first(max(1, count), Path(folder, "test.gen.oracle"), Path(folder, "part.gen.oracle"))
    options = f"--model generative --jobs {jobs} part.gen.oracle -o part.tsv"
    seconds = _command(folder, device, "surprisal", *options.split(), *search)
    with Path(folder, "part.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return _row(len(rows), sum(int(row["actions"]) for row in rows), seconds)


def _states(folder: str) -> int:
    trees = (sample.tree for sample in read_samples(Path(folder, "part.props")))
    return sum(len(TOP_DOWN.actions_of(tree, preterminals=False)) for tree in trees)


def _command(folder: str, device: str, name: str, *options: str) -> float:
    """Return the seconds of an rnng-dy command without its start, as it reports them."""
    command = [sys.executable, "-m", "rnng_dy", name, "--device", device, *options]
    done = subprocess.run(command, cwd=folder, check=True, stderr=subprocess.PIPE, text=True)
    # it prints tenths of seconds
    return max(0.05, float(re.search(rf"^{name}: .* in ([\d.]+) s", done.stderr, re.MULTILINE)[1]))


def _row(items: int, states: int, seconds: float) -> dict:
    return {
        "per_second": items / seconds,
        "us_per_state": 1e6 * seconds / states,
        "peak_mb": peak_memory() / 1e6,
    }
