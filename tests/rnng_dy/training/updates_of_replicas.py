"""Run as `-m … FOLDER HOW`: makes a few updates of every composition, and writes what they lead to.

HOW is `alone`, `processes` (two), or `ranks` under mpirun. `FOLDER/RANK.npz` gets the values before and after, and
what the optimizer remembers, by system.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from oracle.brackets import read_trees
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS, BidirectionalComposition
from rnng_dy.models.vectors import value_of
from rnng_dy.training import loop
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.replicas import Replicas

from ..conftest import TINY, make_generator, make_parser, sentences_of


class OwnTables(BidirectionalComposition):
    """A composition with tables of its own, one looked up by the number of children and one read as a whole."""

    name = "own tables"

    def __init__(self, store, layers, size, hidden, labels):
        super().__init__(store, layers, size, hidden, labels)
        self._counts = store.lookup("counts", 60, size)
        self._whole = store.lookup("whole", 3, size)

    def __call__(self, constituents, dropout=0.0):
        """See `Composition`."""
        counts = [len(c.children) for c in constituents]
        read = dy.lookup_batch(self._counts, counts) + dy.sum_dim(self._whole, [1])
        labels = value_of([c.embeddings[0] for c in constituents])
        first = value_of([c.children[0] for c in constituents])
        return self._composed(dy.concatenate([labels, first + read]))


COMPOSITIONS[OwnTables.name] = OwnTables
MAKERS = {"parser": make_parser, "generator": make_generator}
SYSTEMS = [(kind, name, how) for kind in MAKERS for name in COMPOSITIONS for how in ("adam", "sgd")]
# the second of two processes has nothing to do in the update of one sentence
MINIBATCHES = [[0, 1, 2], [6], [3, 4, 5], [6, 7]]
UPDATERS = []


class Kept(loop.Updater):
    """An updater that can be asked for what it has led to when it is done."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        UPDATERS.append(self)
        self.before = self.model.store.arrays()


def chosen(kind):
    """A few sentences; the label of the last two's root is nowhere else, and one of them is flat."""
    trees = [located for _, located in zip(range(120), read_trees(str(TINY)), strict=False)]
    every = sentences_of(trees, generative=kind == "generator")
    few = every[:8]
    used = {action for sentence in few for action in sentence.actions}
    label = next(a for s in every for a in s.actions if a not in used)
    flat = (label, *["SHIFT"] * len(few[7].tokens), "REDUCE")
    few[6] = replace(few[6], actions=(label, *few[6].actions[1:]))
    few[7] = replace(few[7], actions=flat)
    return every, few


def make_updates(folder, how, world):
    """All updates of all systems; `world` has the ranks, where there are any."""
    for kind, composition, optimizer in SYSTEMS:
        every, few = chosen(kind)
        model = MAKERS[kind](every, composition)
        settings = replace(
            PRESETS["paper", model.kind],
            optimizer=optimizer,
            dropout=0.0,
            unknown_probability=0.0,
            l2=1e-3,
        )
        examples = [model.encode_training(sentence) for sentence in few]
        place = Path(folder, f"{kind} {composition} {optimizer}")
        run = loop.TrainingLoop(model, examples, lambda: {"score": 0.0}, settings, place)
        run.create_folder()
        group = run._updater
        if how == "processes":
            group = Replicas(run._updater, place, 2)
        elif world:
            group = world.group(run._updater, place, 2)
        for number, members in enumerate(MINIBATCHES):
            group.update(members, number, 0.01)
        if group is not run._updater:
            group.close()


def write(path):
    """What all updaters of this process have led to."""
    arrays = {}
    for system, updater in zip(SYSTEMS, UPDATERS, strict=True):
        named = {**updater.model.store.arrays(), **updater.optimizer.arrays()}
        named |= {f"before/{name}": values for name, values in updater.before.items()}
        [label, *_] = updater.examples[6].actions
        named["root"] = updater.model.transitions.label(label)
        arrays |= {"/".join([*system, name]): values for name, values in named.items()}
    np.savez(path, **arrays)


if __name__ == "__main__":
    folder, how = sys.argv[1:]
    loop.Updater = Kept
    world, rank = None, 0
    if how == "ranks":
        from rnng_dy.training import mpi

        mpi.Updater = Kept
        world = mpi.World(sys.argv[1:])
        rank = world.rank
    if rank:
        world.help()
    else:
        with world.leading() if world else nullcontext():
            make_updates(folder, how, world)
    write(Path(folder, f"{rank}.npz"))
