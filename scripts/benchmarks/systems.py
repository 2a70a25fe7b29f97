"""The cost of each composition, parser state and transition system, relative to the paper's corrected composition."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import click

from oracle.transitions import DEFAULT as TOP_DOWN
from oracle.transitions import SYSTEMS
from rnng_dy import engine
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.composition import DEFAULT as COMPOSITION
from rnng_dy.search.scoring import example_log_probs
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater
from scripts.benchmarks.data import examples_of, new_model, write_data
from scripts.benchmarks.measuring import KINDS, in_turns, print_row, processor_time

BATCH = 16


@click.command("systems")
@click.argument("kind", type=click.Choice(KINDS), default="generative")
@click.option("--turns", default=5, show_default=True)
def main(kind: str, turns: int) -> None:
    """What compositions, parser states and transition systems cost.

    Processor time of training and of scoring gold trees, one core, minibatches of 16, at the paper's sizes, for each
    composition, parser state and transition system; and the share of that of the corrected composition with the full
    state, top-down. They take turns, and the fastest of their turns counts.
    """
    engine.start()
    with tempfile.TemporaryDirectory() as folder:
        print(write_data(Path(folder)))
        works = {
            name: lambda calls=calls: [processor_time(call) for call in calls]
            for name, calls in _works(kind, Path(folder))
        }
    # the first turn warms up
    turns_of = {name: found[1:] for name, found in in_turns(works, turns + 1).items()}
    print_row(
        "{:40} {:>9} {:>6} {:>9} {:>6}   (a sentence)", "", "train ms", "share", "score ms", "share"
    )
    whole = None
    for name, found in turns_of.items():
        seconds = [min(of_call) for of_call in zip(*found, strict=True)]
        whole = whole or seconds
        cells = chain(*((1e3 * s / BATCH, s / of) for s, of in zip(seconds, whole, strict=True)))
        print_row("{:40} {:9.2f} {:6.2f} {:9.2f} {:6.2f}", name, *cells)


def _works(kind: str, folder: Path) -> Iterator[tuple[str, tuple[Callable, Callable]]]:
    """Yield the name and measurements of each system: an update and the scores of the same minibatch."""
    base = new_model(kind, folder)
    full, *other_states = type(base).states
    systems = [(composition, full, TOP_DOWN) for composition in COMPOSITIONS]
    systems += [(COMPOSITION, state, TOP_DOWN) for state in other_states]
    systems += [(COMPOSITION, full, transitions) for transitions in SYSTEMS][1:]
    examples = examples_of(base, "train", folder)[:BATCH]
    for composition, state, transitions in systems:
        model = type(base)(
            base.vocabulary, base.sizes, composition, state=state, transitions=transitions
        )
        own = [e._replace(actions=_translated(e.actions, base, model)) for e in examples]
        update = Updater(model, own, PRESETS["fast", kind]).update
        calls = partial(update, range(BATCH), 0, 1e-4), partial(example_log_probs, model, own)
        yield f"{composition}, {state}, {transitions}", calls


def _translated(actions: Sequence[int], model, other) -> list[int]:
    """Return the ids of the actions that build the same tree in another model's transition system."""
    names = model.transitions.decode(actions)
    tree = model.transitions.tree_of(names, ["w"] * names.count("SHIFT"))
    return other.transitions.encode(other.transitions.actions_of(tree, preterminals=False))
