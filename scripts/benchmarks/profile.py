"""A profile of training steps: construction, scheduling, forward, backward, update."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from pathlib import Path

import click
import numpy as np

from rnng_dy import engine
from rnng_dy.engine import dy
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater
from scripts.benchmarks.data import examples_of, new_model, write_data
from scripts.benchmarks.measuring import KINDS, print_row, printed_by

# DyNet's name of a node, without its arguments, from rows such as `12.3  4% FWD coupled_lstm_step(arg0,p=0.2)`
ROW = re.compile(r"^\s*([\d.e+-]+)\t\s*[\d.e+-]+%\t(FWD|BWD|total) (.*)$")


@click.command("profile")
@click.argument("kind", type=click.Choice(KINDS), default="discriminative")
@click.option("--batch-size", default=16, show_default=True)
@click.option("--sentences", default=160, show_default=True)
@click.option("--device", default="cpu", help="cpu, cuda or cuda:N.", show_default=True)
def main(kind: str, batch_size: int, sentences: int, device: str) -> None:
    """Milliseconds a sentence that each part of a training step takes.

    At the paper's sizes, dropout included; and what forward and backward passes spend on each kind of node.
    """
    with tempfile.TemporaryDirectory() as folder:
        print(write_data(Path(folder)))
        lines = printed_by(measure, kind, batch_size, sentences, device, folder)
    _print_table(lines, sentences)


def measure(kind: str, batch_size: int, sentences: int, device: str, folder: str) -> None:
    """Profile steps of a new model; DyNet prints its own times when the process ends."""
    engine.start(device, profiling=True)
    model = new_model(kind, Path(folder))
    settings = PRESETS["paper", kind]
    examples = examples_of(model, "train", Path(folder))
    order = np.random.default_rng(1).permutation(len(examples))[:sentences]
    updater = Updater(model, examples, settings)
    seconds: Counter = Counter()
    last = 0.0

    def spent_on(part: str) -> None:
        nonlocal last
        before, last = last, time.perf_counter()
        seconds[part] += last - before

    for start in range(0, len(order), batch_size):
        batch = [examples[i] for i in order[start : start + batch_size]]
        last = time.perf_counter()
        dy.renew_cg()
        model.store.forget_noted()
        loss = model.training_loss(batch, settings.dropout)
        spent_on("construction")
        loss.value()
        spent_on("FWD")
        loss.backward()
        # so far a GPU has only queued the work
        dy.synchronize()
        spent_on("BWD")
        norm = model.store.gradient_norm()
        updater.optimizer.step(0.01, norm, model.store.noted_rows())
        dy.synchronize()
        spent_on("update")
    for name, spent in seconds.items():
        print(f"{1000 * spent}\t0%\ttotal {name}")


def _print_table(lines: list[str], sentences: int) -> None:
    nodes: Counter = Counter()
    for row in filter(None, map(ROW.match, lines)):
        # operators stand between their arguments
        name = row[3] if row[2] == "total" else re.match(r"[a-z_]+(?=\()|", row[3])[0]
        nodes[row[2], name or re.sub(r"arg\d+|[-\d.e]+", "_", row[3])] += float(row[1])
    totals = {name: nodes.pop((way, name)) for way, name in list(nodes) if way == "total"}
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
    print_row("{:>40} {:>7}", "ms/sentence", "share")
    for name, ms in [*rows.items(), ("all", whole)]:
        print_row("{:28} {:11.3f} {:7.1%}", name, ms / sentences, ms / whole)
    print()
    for (way, name), ms in nodes.most_common(16):
        print_row("{} {:24.24} {:11.3f} {:7.1%}", way, name, ms / sentences, ms / whole)
