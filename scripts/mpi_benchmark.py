"""Training by ranks of MPI against local processes; and what many ranks on a network would reach, by a cost model."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from rnng_dy import engine, registry
from rnng_dy.training.presets import PRESETS
from scripts.benchmark_data import examples_of, new_model, write_data

KINDS = {"discriminative": 640, "generative": 256}
"""With how many sentences are trained on in each round."""
BATCH = 16
A_RANK = 8
"""Sentences of a rank in the prediction."""
RANKS = (1, 2, 4, 16, 64)
NETWORK = 10e9 / 8
"""Bytes a second of 10 Gbit/s, in each direction."""
TCP = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}
TCP |= {"FI_TCP_IFACE": "lo", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"}
WAYS = {
    "--jobs 1": ("train", 1, 0, {}),
    "--jobs 2": ("train", 2, 0, {}),
    "1 rank": ("train", 1, 1, {}),
    "2 ranks": ("train", 2, 2, {}),
    "2 ranks, TCP": ("train", 2, 2, TCP),
}
"""What is measured, processes, ranks (0: without mpirun) and environment."""


def main() -> None:
    """Print what was measured, and what is a prediction."""
    parser = argparse.ArgumentParser(
        prog="bench_mpi",
        description="Sentences a second of `train --preset fast` with local processes and with ranks of MPI, in turns; "
        "latency and bandwidth of the loopback; and by these a prediction for more ranks on 10 Gbit/s. Needs mpirun "
        "on the path, and two processors that have nothing else to do; some minutes.",
    )
    parser.add_argument("--rounds", type=int, default=5, help="[default: 5]")
    parser.add_argument("--tiny", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        name, *arguments = options.part
        if name == "network":
            _network()
        else:
            _in_world(partial(PARTS[name], *arguments))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(write_data(Path(folder)))
        network = _part(2, TCP, "network")
        print("loopback (TCP): {:.0f} us, {:.2f} GB/s".format(*network))
        for kind, count in KINDS.items():
            new_model(kind, Path(folder))[0].save(Path(folder) / kind)
            count = 32 if options.tiny else count
            _compare(options.rounds, folder, kind, count)
            _predict(folder, kind, count, network[0] * 1e-6)


def _compare(rounds: int, folder: str, kind: str, count: int) -> None:
    """Print the speeds of all ways, and their ratios to one process in the same round."""
    speeds: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, (name, jobs, ranks, environment) in WAYS.items():
            speeds[way].append(_part(ranks, environment, name, folder, kind, jobs, BATCH, count))
    print(
        f"{kind}, batches of {BATCH}: sentences/s, best of {rounds}; ratio to one process, median"
    )
    for way, found in speeds.items():
        ratios = [a / b for a, b in zip(found, speeds["--jobs 1"], strict=True)]
        print(f"  {way:14} {max(found):8.1f} {statistics.median(ratios):8.2f}")


def _predict(folder: str, kind: str, count: int, latency: float) -> None:
    """Print what each number of ranks would reach, each on a processor and a connection of its own."""
    speed = max(_part(0, {}, "train", folder, kind, 1, A_RANK, count) for _ in range(2))
    numbers, alone, adding = _part(0, {}, "update", folder, kind)
    print(f"{kind}: {4 * numbers / 1e6:.1f} MB of gradients with {BATCH} sentences")
    print(f"  {1e3 * alone:.1f} ms an update without sentences, {1e3 * adding:.1f} ms to add up")
    print(f"  predicted for {A_RANK} sentences a rank and 10 Gbit/s:")
    model = registry.load(Path(folder) / kind)
    lengths = [model.length(example) for example in examples_of(model, "train", Path(folder))]
    of_sentences = A_RANK / speed - alone
    for ranks in RANKS:
        slowest = _slowest(lengths, A_RANK * ranks, ranks) * of_sentences
        # slices go to each rank and come from each, and so do sums; two rounds of small messages in a tree
        sending = 2 * 4 * numbers * (ranks - 1) / ranks / NETWORK
        waiting = latency * (2 * (ranks - 1) + 3 * np.ceil(np.log2(ranks)))
        seconds = slowest + alone + (ranks > 1) * adding + sending + waiting
        print(
            f"  {ranks:3} ranks: {A_RANK * ranks / seconds:9.1f} sentences/s, "
            f"{A_RANK / seconds / speed:5.0%} of {ranks} times one; "
            f"{1e3 * sending:.1f} ms sending, {1e3 * waiting:.1f} ms waiting"
        )


def _slowest(lengths: list[int], batch: int, ranks: int) -> float:
    """The largest part of a batch over the mean of its parts, on average."""
    from rnng_dy.training.updates import parts_of_like_size

    random = np.random.default_rng(1)
    found = []
    for _ in range(200):
        drawn = dict(enumerate(random.choice(lengths, batch).tolist()))
        sums = [sum(drawn[i] for i in part) for part in parts_of_like_size(drawn, ranks)]
        found.append(max(sums) / np.mean(sums))
    return float(np.mean(found))


def _part(ranks: int, environment: Mapping[str, str], *arguments: object):
    """What a part finds, in a process or in ranks of its own."""
    command = [sys.executable, sys.argv[0], "--part", *map(str, arguments)]
    if ranks:
        command = ["mpirun", "-n", str(ranks), *command]
    environment = {**os.environ, **environment}
    return json.loads(subprocess.check_output(command, env=environment).splitlines()[-1])


def _in_world(part: Callable) -> None:
    """Do a part, in the first rank where mpirun has started several, and print what it finds."""
    if not any(name in os.environ for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE")):
        print(json.dumps(part(None)))
        return
    from rnng_dy.training.mpi import World

    world = World(sys.argv)
    if world.rank:
        world.help()
        return
    with world.leading():
        print(json.dumps(part(world)))


def _train(folder: str, kind: str, jobs: str, batch: str, count: str, world) -> float:
    """Sentences a second of an epoch."""
    from rnng_dy.training.loop import Training

    engine.start()
    model = registry.load(Path(folder) / kind)
    examples = examples_of(model, "train", Path(folder))[: int(count)]
    never = {"first_evaluation": 10**9, "checkpoint_every": 10**9}
    settings = replace(PRESETS["fast", kind], batch_size=int(batch), jobs=int(jobs), epochs=1)
    with tempfile.TemporaryDirectory() as place:
        run = Training(
            model,
            examples,
            lambda: {"score": 0.0},
            replace(settings, **never),
            Path(place) / "m",
            team=world and world.team,
        )
        run.create_folder()
        run.run()
    return len(examples) / run.standing.seconds


def _update(folder: str, kind: str, world) -> tuple[int, float, float]:
    """How many numbers a batch's gradient has; seconds of an update without sentences, and of adding up."""
    from rnng_dy.training.exchange import Gradients, add_in_order
    from rnng_dy.training.updates import Updater

    engine.start()
    model = registry.load(Path(folder) / kind)
    examples = examples_of(model, "train", Path(folder))[:BATCH]
    updater = Updater(model, examples, PRESETS["fast", kind])
    updater.update(range(BATCH), 0, 1e-3)
    rows, gradients = model.touched_rows(examples), Gradients(model.store)
    numbers = gradients.count(rows)
    row = np.zeros(gradients.most, np.float32)

    def add_up() -> None:
        gradients.write(row, rows)
        # a slice of each of any number of ranks, together as long as a row
        half = row[: numbers // 2 * 2].reshape(2, -1)
        add_in_order(half, row[: numbers // 2])
        gradients.read(rows, lambda part, out: np.copyto(out, row[part]))

    return numbers, _best(lambda: updater.update([], 1, 1e-9)), _best(add_up)


def _network() -> None:
    """Print microseconds of a small message from one rank to another, and gigabytes a second of a large one."""
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
    latency = _best(lambda: there_and_back(small), 2000) / 2
    bandwidth = large.nbytes / (_best(lambda: there_and_back(large)) / 2)
    if comm.rank == 0:
        print(json.dumps((1e6 * latency, bandwidth / 1e9)))


def _best(call: Callable[[], object], calls: int = 30) -> float:
    """Seconds of the fastest of some calls."""
    found = []
    for _ in range(calls):
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return min(found)


PARTS = {"train": _train, "update": _update}
