"""What each composition and parser state costs, beside the corrected composition with the full state."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from rnng_dy import engine
from scripts.benchmark_data import examples_of, new_model, write_data

BATCH = 16


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="bench_systems",
        description="Processor time of training and of scoring gold trees, one core, minibatches of 16, at the paper's "
        "sizes, for each composition and parser state; and the share of that of the corrected composition with the "
        "full state. They take turns, and the fastest of their turns counts.",
    )
    parser.add_argument(
        "kind", nargs="?", choices=["discriminative", "generative"], default="generative"
    )
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    engine.start()
    with tempfile.TemporaryDirectory() as folder:
        print(write_data(Path(folder)))
        works = dict(_works(options.kind, Path(folder)))
    fastest: dict[str, list[float]] = {}
    for turn in range(options.turns + 1):
        for name, (train, score) in works.items():
            seconds = [_processor_time(train), _processor_time(score)]
            # the first turn warms up
            if turn:
                fastest[name] = list(map(min, seconds, fastest.get(name, seconds)))
    _print(fastest)


def _works(kind: str, folder: Path) -> Iterator[tuple[str, tuple[Callable, Callable]]]:
    """Name and what to measure of each system: an update and the scores of the same minibatch."""
    from rnng_dy.models.composition import COMPOSITIONS
    from rnng_dy.models.composition import DEFAULT as COMPOSITION
    from rnng_dy.search.scoring import example_log_probs
    from rnng_dy.training.presets import PRESETS
    from rnng_dy.training.updates import Updater

    base, _ = new_model(kind, folder)
    states = list(type(base).states)
    systems = [(composition, states[0]) for composition in COMPOSITIONS]
    systems += [(COMPOSITION, state) for state in states[1:]]
    examples = examples_of(base, "train", folder)[:BATCH]
    for composition, state in systems:
        model = type(base)(base.vocabulary, base.sizes, composition, state=state)
        updater = Updater(model, examples, PRESETS["fast", kind])
        yield (
            f"{composition}, {state}",
            (
                lambda updater=updater: updater.update(range(BATCH), 0, 1e-4),
                lambda model=model: example_log_probs(model, examples),
            ),
        )


def _processor_time(work: Callable) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _print(fastest: dict[str, Sequence[float]]) -> None:
    print(f"{'':32} {'train ms':>9} {'share':>6} {'score ms':>9} {'share':>6}   (a sentence)")
    first = next(iter(fastest.values()))
    for name, seconds in fastest.items():
        shares = (part / whole for part, whole in zip(seconds, first, strict=True))
        ms = (1e3 * part / BATCH for part in seconds)
        cells = chain.from_iterable(zip(ms, shares, strict=True))
        print(f"{name:32} {'{:9.2f} {:6.2f} {:9.2f} {:6.2f}'.format(*cells)}")
