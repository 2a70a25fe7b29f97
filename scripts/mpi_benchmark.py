"""Training by ranks of MPI against local processes; and what many ranks on a network would reach, by a cost model."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
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

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
MPIRUN = shutil.which("mpirun", path=PATH) or "mpirun"
KINDS = ("discriminative", "generative")
BATCH = 16
BATCHES, TIMES, RATE = 4, 6, 1e-9
"""How many minibatches are measured, how many times each, and the learning rate, which changes next to nothing."""
A_RANK = 8
"""Sentences of a rank in the prediction."""
RANKS = (1, 2, 4, 16, 64)
NETWORK, LATENCY = 10e9 / 8, 50e-6
"""Bytes a second of 10 Gbit/s, in each direction, and what a message between two machines is taken to need."""
TCP = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}
TCP |= {"FI_TCP_IFACE": "lo", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"}
WAYS = {
    "--jobs 1": (1, 0, {}),
    "--jobs 2": (2, 0, {}),
    "1 rank": (1, 1, {}),
    "2 ranks": (2, 2, {}),
    "2 ranks, TCP": (2, 2, TCP),
}
"""To train: processes, ranks (0: without mpirun) and environment."""


def main() -> None:
    """Print what was measured, and what is a prediction."""
    parser = argparse.ArgumentParser(
        prog="bench_mpi",
        description="Sentences a second of `train --preset fast` with local processes and with ranks of MPI, in turns; "
        "latency and bandwidth of the loopback; and by these a prediction for more ranks on 10 Gbit/s. Needs mpirun, "
        "and two processors that have nothing else to do; some minutes.",
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
        print("loopback (TCP): {:.0f} us, {:.2f} GB/s".format(*_part(2, TCP, "network")))
        kinds, ways = KINDS, list(WAYS)
        if options.tiny:
            kinds, ways = KINDS[:1], [ways[0], ways[-1]]
        for kind in kinds:
            new_model(kind, Path(folder))[0].save(Path(folder) / kind)
            _compare(options.rounds, ways, folder, kind)
            _predict(options.rounds, folder, kind)


def _compare(rounds: int, ways: list[str], folder: str, kind: str) -> None:
    """Print the speeds of ways, and their ratios to one process in the same round."""
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, of_way in found.items():
            jobs, ranks, environment = WAYS[way]
            of_way.append(_part(ranks, environment, "train", folder, kind, jobs, BATCH))
    print(f"{kind}, batches of {BATCH}, best of {rounds} rounds; median of ratios to one process")
    print(f"  {'':14} {'sentences/s':>11} {'ratio':>7} {'ms without sentences':>21}")
    for way, of_way in found.items():
        speeds, alone = zip(*of_way, strict=True)
        one = [speed for speed, _ in found["--jobs 1"]]
        ratio = statistics.median(a / b for a, b in zip(speeds, one, strict=True))
        print(f"  {way:14} {max(speeds):11.1f} {ratio:7.2f} {1e3 * min(alone):21.1f}", flush=True)


def _predict(rounds: int, folder: str, kind: str) -> None:
    """Print what each number of ranks would reach, each on a processor and a connection of its own."""
    runs = [_part(0, {}, "train", folder, kind, 1, A_RANK) for _ in range(rounds)]
    speed, alone = max(speed for speed, _ in runs), min(alone for _, alone in runs)
    numbers, adding = _part(0, {}, "update", folder, kind)
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
    """Of an update, and how many of them go into sending gradients, and into waiting for messages."""
    computing = (A_RANK / speed - alone) * _slowest(lengths, A_RANK * ranks, ranks)
    if ranks == 1:
        return computing + alone, 0.0, 0.0
    # a slice goes to each other rank and comes from it, and so do sums
    sending = 2 * 4 * numbers * (ranks - 1) / ranks / NETWORK
    # and three times something small goes to or comes from all, in a tree
    waiting = LATENCY * (2 * (ranks - 1) + 3 * math.ceil(math.log2(ranks)))
    return computing + alone + adding + sending + waiting, sending, waiting


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
        command = [MPIRUN, "-n", str(ranks), *command]
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


def _train(folder: str, kind: str, jobs: str, batch: str, world) -> tuple[float, float]:
    """Sentences a second, and seconds of an update without sentences; the fastest of some times each."""
    from rnng_dy.training.loop import TrainingLoop
    from rnng_dy.training.replicas import Replicas
    from rnng_dy.training.updates import Updater

    engine.start()
    model, size = registry.load(Path(folder) / kind), int(batch)
    examples = examples_of(model, "train", Path(folder))[: BATCHES * size]
    settings = replace(PRESETS["fast", kind], batch_size=size)
    updater = Updater(model, examples, settings)
    batches = [range(i, i + size) for i in range(0, len(examples), size)]
    with tempfile.TemporaryDirectory() as place:
        group, make = None, updater.update
        if int(jobs) > 1:
            # the helpers of this machine read it
            TrainingLoop(model, examples, dict, settings, Path(place) / "m").create_folder()
            group = (world.group if world else Replicas)(updater, Path(place) / "m", int(jobs))
            make = group.update
        make(batches[0], 0, RATE)
        seconds = sum(_best(partial(make, members, 1, RATE), TIMES) for members in batches)
        alone = _best(partial(make, [], 1, RATE), 100)
        if group:
            group.close()
    return len(examples) / seconds, alone


def _update(folder: str, kind: str, world) -> tuple[int, float]:
    """How many numbers a minibatch's gradient has, and seconds that a rank needs for adding them up."""
    from rnng_dy.training.all_reduce import Gradients, add_in_order

    engine.start()
    model = registry.load(Path(folder) / kind)
    examples = examples_of(model, "train", Path(folder))[:BATCH]
    model.walk(map(model.derived, examples))
    rows, gradients = model.store.noted_rows(), Gradients(model.store)
    numbers = gradients.count(rows)
    row = np.zeros(gradients.most, np.float32)

    def add_up() -> None:
        gradients.write(row, rows)
        # slices of each of any number of ranks are together as long as a row
        halves = row[: numbers // 2 * 2].reshape(2, -1)
        add_in_order(halves, row[: numbers // 2])
        gradients.read(rows, lambda part, out: np.copyto(out, row[part]))

    return numbers, _best(add_up)


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
