"""Training by ranks of MPI compared with local processes, and a cost model's prediction for many ranks on a network."""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from rnng_dy import engine, registry
from rnng_dy.training.all_reduce import Gradients, add_in_order
from rnng_dy.training.loop import TrainingLoop
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.replicas import Replicas
from rnng_dy.training.updates import Updater, parts_of_like_size
from scripts.benchmarks.data import examples_of, new_model, write_data
from scripts.benchmarks.measuring import KINDS, apart, fastest, in_turns, print_row, printed_by

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
MPIRUN = shutil.which("mpirun", path=PATH) or "mpirun"
BATCH = 16
BATCHES, TIMES, RATE = 4, 6, 1e-9
"""Minibatches measured, repetitions of each, and a learning rate that hardly changes the parameters."""
A_RANK = 8
"""Sentences per rank in the prediction."""
RANKS = (1, 2, 4, 16, 64)
NETWORK, LATENCY = 10e9 / 8, 50e-6
"""Bytes per second of 10 Gbit/s in each direction, and the assumed seconds of a message between two machines."""
TCP = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}
TCP |= {"FI_TCP_IFACE": "lo", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"}
WAYS = {
    "--jobs 1": (1, 0, {}),
    "--jobs 2": (2, 0, {}),
    "1 rank": (1, 1, {}),
    "2 ranks": (2, 2, {}),
    "2 ranks, TCP": (2, 2, TCP),
}
"""Ways to train: processes, ranks (0: without mpirun) and environment."""


@click.command("mpi")
@click.option("--rounds", default=5, show_default=True)
@click.option("--tiny", is_flag=True, hidden=True)
def main(rounds: int, tiny: bool) -> None:
    """Speed of training with MPI, and what more ranks would reach.

    Sentences a second of `train --preset fast` with local processes and with ranks of MPI, in turns; latency and
    bandwidth of the loopback; and by these a prediction for more ranks on 10 Gbit/s. Needs mpirun, and two processors
    that have nothing else to do; some minutes.
    """
    with tempfile.TemporaryDirectory() as folder:
        print(write_data(Path(folder)))
        print_row("loopback (TCP): {:.0f} us, {:.2f} GB/s", *_by_ranks(2, TCP, network))
        ways = [*WAYS][:: len(WAYS) - 1] if tiny else [*WAYS]
        for kind in KINDS[:1] if tiny else KINDS:
            new_model(kind, Path(folder)).save(Path(folder) / kind)
            _compare(rounds, ways, folder, kind)
            _predict(rounds, folder, kind)


def _compare(rounds: int, ways: list[str], folder: str, kind: str) -> None:
    """Print the speeds of ways, and their ratios to one process in the same round."""

    def run(jobs: int, ranks: int, environment: dict[str, str]) -> tuple[float, float]:
        return _by_ranks(ranks, environment, train, folder, kind, jobs, BATCH)

    found = in_turns({way: partial(run, *WAYS[way]) for way in ways}, rounds)
    print(f"{kind}, batches of {BATCH}, best of {rounds} rounds; median of ratios to one process")
    print_row("  {:14} {:>11} {:>7} {:>21}", "", "sentences/s", "ratio", "ms without sentences")
    one = [speed for speed, _ in found["--jobs 1"]]
    for way, of_way in found.items():
        speeds, alone = zip(*of_way, strict=True)
        ratio = statistics.median(a / b for a, b in zip(speeds, one, strict=True))
        print_row("  {:14} {:11.1f} {:7.2f} {:21.1f}", way, max(speeds), ratio, 1e3 * min(alone))


def _predict(rounds: int, folder: str, kind: str) -> None:
    """Print the predicted speed of each number of ranks, each rank with its own processor and connection."""
    runs = [apart(train, folder, kind, 1, A_RANK) for _ in range(rounds)]
    speed, alone = max(speed for speed, _ in runs), min(alone for _, alone in runs)
    numbers, adding = apart(update, folder, kind)
    model = registry.load(Path(folder) / kind)
    lengths = [model.length(example) for example in examples_of(model, "train", Path(folder))]
    print(f"{kind}: {4 * numbers / 1e6:.1f} MB of gradients with {BATCH} sentences")
    print(f"  {speed:.1f} sentences/s in batches of {A_RANK}; an update without sentences", end="")
    print(f" {1e3 * alone:.1f} ms, adding up {1e3 * adding:.1f} ms")
    print(f"  predicted for {A_RANK} sentences a rank, 10 Gbit/s and {1e6 * LATENCY:.0f} us:")
    for ranks in RANKS:
        seconds, sending, waiting = _seconds(ranks, lengths, speed, numbers, alone, adding)
        print(
            f"  {ranks:3} ranks: {A_RANK * ranks / seconds:9.1f} sentences/s, "
            f"{A_RANK / seconds / speed:5.0%} of {ranks} times one; "
            f"{1e3 * sending:.1f} ms sending, {1e3 * waiting:.1f} ms waiting"
        )


def _seconds(
    ranks: int, lengths: list[int], speed: float, numbers: int, alone: float, adding: float
) -> tuple[float, float, float]:
    """Return the seconds of an update, the part for sending gradients, and the part for waiting for messages."""
    computing = (A_RANK / speed - alone) * _slowest(lengths, A_RANK * ranks, ranks)
    if ranks == 1:
        return computing + alone, 0.0, 0.0
    # each rank exchanges a slice with each other rank, and then the sums
    sending = 2 * 4 * numbers * (ranks - 1) / ranks / NETWORK
    # also three small messages to or from all ranks, in a tree
    waiting = LATENCY * (2 * (ranks - 1) + 3 * math.ceil(math.log2(ranks)))
    return computing + alone + adding + sending + waiting, sending, waiting


def _slowest(lengths: list[int], batch: int, ranks: int) -> float:
    """Return the largest part of a batch divided by the mean of its parts, on average."""
    random = np.random.default_rng(1)
    found = []
    for _ in range(200):
        drawn = dict(enumerate(random.choice(lengths, batch).tolist()))
        sums = [sum(drawn[i] for i in part) for part in parts_of_like_size(drawn, ranks)]
        found.append(max(sums) / np.mean(sums))
    return float(np.mean(found))


def _by_ranks(ranks: int, environment: dict[str, str], *work: Any) -> Any:
    """Return the result of a function, called in its own ranks or, without any, in a process."""
    if not ranks:
        return apart(*work)
    start = (MPIRUN, "-n", str(ranks))
    function, *arguments = work
    lines = printed_by(
        print_first, function.__name__, *arguments, start=start, environment=environment
    )
    return json.loads(lines[-1])


def print_first(name: str, *arguments: object) -> None:
    """Call a function of this module in the first rank, which prints its result; the others help."""
    if name == "network":
        network()
        return
    from rnng_dy.training.mpi import World

    world = World(sys.argv)
    if world.rank:
        world.help()
        return
    with world.leading():
        print(json.dumps(globals()[name](*arguments, world)))


def train(folder: str, kind: str, jobs: int, size: int, world=None) -> tuple[float, float]:
    """Return sentences per second and the seconds of an update without sentences, each the best of several."""
    engine.start()
    model = registry.load(Path(folder) / kind)
    examples = examples_of(model, "train", Path(folder))[: BATCHES * size]
    settings = replace(PRESETS["fast", kind], batch_size=size)
    updater = Updater(model, examples, settings)
    batches = [range(i, i + size) for i in range(0, len(examples), size)]
    with tempfile.TemporaryDirectory() as place:
        group, make = None, updater.update
        if jobs > 1:
            # the local helper processes read it
            TrainingLoop(model, examples, dict, settings, Path(place) / "m").create_folder()
            group = (world.group if world else Replicas)(updater, Path(place) / "m", jobs)
            make = group.update
        make(batches[0], 0, RATE)
        seconds = sum(fastest(partial(make, members, 1, RATE), TIMES) for members in batches)
        alone = fastest(partial(make, [], 1, RATE), 100)
        if group:
            group.close()
    return len(examples) / seconds, alone


def update(folder: str, kind: str) -> tuple[int, float]:
    """Return the number of values in a gradient, and the seconds in which a rank adds them up."""
    engine.start()
    model = registry.load(Path(folder) / kind)
    examples = examples_of(model, "train", Path(folder))[:BATCH]
    model.walk(map(model.derived, examples))
    rows, gradients = model.store.noted_rows(), Gradients(model.store)
    numbers = gradients.count(rows)
    row = np.zeros(gradients.most, np.float32)

    def add_up() -> None:
        gradients.write(row, rows)
        # the slices of all ranks together are as long as a row
        halves = row[: numbers // 2 * 2].reshape(2, -1)
        add_in_order(halves, row[: numbers // 2])
        gradients.read(rows, lambda part, out: np.copyto(out, row[part]))

    return numbers, fastest(add_up, 30)


def network() -> None:
    """Print microseconds of a small message from one rank to another, and gigabytes per second of a large one."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    other = 1 - comm.rank

    def there_and_back(message: np.ndarray) -> None:
        for turn in (0, 1):
            if comm.rank == turn:
                comm.Send(message, other)
            else:
                comm.Recv(message, other)

    small, large = np.zeros(1), np.zeros(2**22)
    latency = fastest(lambda: there_and_back(small), 2000) / 2
    bandwidth = large.nbytes / (fastest(lambda: there_and_back(large), 30) / 2)
    if comm.rank == 0:
        print(json.dumps((1e6 * latency, bandwidth / 1e9)))
