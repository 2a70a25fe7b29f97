"""Where a training step spends its time: construction, scheduling, forward, backward, update."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from rnng_dy import engine
from scripts.benchmark_data import examples_of, new_model, write_data

# DyNet's name of a node, without its arguments, from rows such as `12.3  4% FWD coupled_lstm_step(arg0,p=0.2)`
ROW = re.compile(r"^\s*([\d.e+-]+)\t\s*[\d.e+-]+%\t(FWD|BWD) (.*)$")


def main() -> None:
    """Print ms a sentence of each part of a step, and of each kind of node."""
    parser = argparse.ArgumentParser(
        prog="profile",
        description="Milliseconds a sentence that each part of a training step takes at the paper's sizes, dropout "
        "included, and what forward and backward passes spend on each kind of node.",
    )
    parser.add_argument(
        "kind", nargs="?", choices=["discriminative", "generative"], default="discriminative"
    )
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--sentences", type=int, default=160)
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N [default: cpu]")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder:
        _measure(options, Path(options.folder))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(write_data(Path(folder)))
        command = [sys.executable, *sys.argv, "--folder", folder]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    _print_table(output, options.sentences)


def _measure(options: argparse.Namespace, folder: Path) -> None:
    """Steps of a new model; DyNet prints its own times when the process ends."""
    engine.start(options.device, profiling=True)
    from rnng_dy.engine import dy
    from rnng_dy.training.presets import PRESETS
    from rnng_dy.training.updates import Updater

    model, _ = new_model(options.kind, folder)
    settings = PRESETS["paper", options.kind]
    examples = examples_of(model, "train", folder)
    order = np.random.default_rng(1).permutation(len(examples))[: options.sentences]
    updater = Updater(model, examples, settings)
    seconds: Counter = Counter()
    for start in range(0, len(order), options.batch_size):
        batch = [examples[i] for i in order[start : start + options.batch_size]]
        times = [time.perf_counter()]
        dy.renew_cg()
        model.store.forget_noted()
        loss = model.training_loss(batch, settings.dropout)
        times.append(time.perf_counter())
        loss.value()
        times.append(time.perf_counter())
        loss.backward()
        # a GPU is only asked by then
        dy.synchronize()
        times.append(time.perf_counter())
        norm = model.store.gradient_norm()
        updater.optimizer.step(0.01, norm, model.store.noted_rows())
        dy.synchronize()
        times.append(time.perf_counter())
        for name, spent in zip(
            ("construction", "FWD", "BWD", "update"), np.diff(times), strict=True
        ):
            seconds[name] += spent
    for name, spent in seconds.items():
        print(f"{1000 * spent}\t0%\ttotal {name}")


def _print_table(output: str, sentences: int) -> None:
    totals = {
        m[2]: float(m[1]) for m in re.finditer(r"^([\d.e+-]+)\t0%\ttotal (\w+)$", output, re.M)
    }
    nodes: Counter = Counter()
    for line in output.splitlines():
        if row := ROW.match(line):
            # operators stand between their arguments
            name = re.match(r"[a-z_]+(?=\()", row[3])
            nodes[row[2], name[0] if name else re.sub(r"arg\d+|[-\d.e]+", "_", row[3])] += float(
                row[1]
            )
    inside = {way: sum(ms for (w, _), ms in nodes.items() if w == way) for way in ("FWD", "BWD")}
    rows = {
        "construction (Python)": totals["construction"],
        "scheduling, memory": totals["FWD"] - inside["FWD"],
        "forward": inside["FWD"],
        "backward": inside["BWD"],
        "backward, outside of nodes": totals["BWD"] - inside["BWD"],
        "norm and update": totals["update"],
    }
    whole = sum(rows.values())
    print(f"{'ms/sentence':>40} {'share':>7}")
    for name, ms in [*rows.items(), ("all", whole)]:
        print(f"{name:28} {ms / sentences:11.3f} {ms / whole:7.1%}")
    print()
    for (way, name), ms in nodes.most_common(16):
        print(f"{way} {name:24.24} {ms / sentences:11.3f} {ms / whole:7.1%}")
