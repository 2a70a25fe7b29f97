"""What each composition, parser state and transition system costs, beside the corrected composition of the paper."""

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
        "sizes, for each composition, parser state and transition system; and the share of that of the corrected "
        "composition with the full state, top-down. They take turns, and the fastest of their turns counts.",
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
    from oracle.transitions import DEFAULT as TOP_DOWN
    from oracle.transitions import SYSTEMS
    from rnng_dy.models.composition import COMPOSITIONS
    from rnng_dy.models.composition import DEFAULT as COMPOSITION
    from rnng_dy.search.scoring import example_log_probs
    from rnng_dy.training.presets import PRESETS
    from rnng_dy.training.updates import Updater

    base, _ = new_model(kind, folder)
    states = list(type(base).states)
    systems = [(composition, states[0], TOP_DOWN) for composition in COMPOSITIONS]
    systems += [(COMPOSITION, state, TOP_DOWN) for state in states[1:]]
    systems += [(COMPOSITION, states[0], transitions) for transitions in SYSTEMS][1:]
    examples = examples_of(base, "train", folder)[:BATCH]
    for composition, state, transitions in systems:
        model = type(base)(
            base.vocabulary, base.sizes, composition, state=state, transitions=transitions
        )
        own = [e._replace(actions=_translated(e.actions, base, model)) for e in examples]
        updater = Updater(model, own, PRESETS["fast", kind])
        yield (
            f"{composition}, {state}, {transitions}",
            (
                lambda updater=updater: updater.update(range(BATCH), 0, 1e-4),
                lambda model=model, own=own: example_log_probs(model, own),
            ),
        )


def _translated(actions: Sequence[int], model, other) -> list[int]:
    """The ids of the actions that build the same tree in another model's transition system."""
    names = model.transitions.decode(actions)
    tree = model.transitions.tree_of(names, ["w"] * names.count("SHIFT"))
    return other.transitions.encode(other.transitions.actions_of(tree, preterminals=False))


def _processor_time(work: Callable) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _print(fastest: dict[str, Sequence[float]]) -> None:
    print(f"{'':40} {'train ms':>9} {'share':>6} {'score ms':>9} {'share':>6}   (a sentence)")
    first = next(iter(fastest.values()))
    for name, seconds in fastest.items():
        shares = (part / whole for part, whole in zip(seconds, first, strict=True))
        ms = (1e3 * part / BATCH for part in seconds)
        cells = chain.from_iterable(zip(ms, shares, strict=True))
        print(f"{name:40} {'{:9.2f} {:6.2f} {:9.2f} {:6.2f}'.format(*cells)}")
