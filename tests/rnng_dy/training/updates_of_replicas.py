"""Run as `-m … FOLDER HOW`: makes a few updates of every composition, and writes what they lead to.

HOW is `alone`, `processes` (two), or `ranks` under mpirun. `FOLDER/RANK.npz` gets the values before
and after, and what the optimizer remembers, by system.
"""

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from oracle.brackets import read_trees
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS, BidirectionalComposition
from rnng_dy.models.vectors import value_of
from rnng_dy.training.replicas import Processes, Ranks

from ..conftest import TINY, make_generator, make_parser, sentences_of
from .trainings import Training


class OwnTables(BidirectionalComposition):
    """A composition with two tables of its own, one of which is read as a whole."""

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


def chosen(kind):
    """A few sentences; the last two have a label of their own, and one is flat."""
    trees = [located for _, located in zip(range(120), read_trees(str(TINY)), strict=False)]
    every = sentences_of(trees, generative=kind == "generator")
    few = every[:8]
    used = {action for sentence in few for action in sentence.actions}
    label = next(a for s in every for a in s.actions if a not in used)
    flat = (label, *["SHIFT"] * len(few[7].tokens), "REDUCE")
    few[6] = replace(few[6], actions=(label, *few[6].actions[1:]))
    few[7] = replace(few[7], actions=flat)
    return every, few


def make_updates(folder, how):
    """Make all updates of all systems; return what each leads to."""
    arrays = {}
    for system in SYSTEMS:
        kind, composition, optimizer = system
        every, few = chosen(kind)
        model = MAKERS[kind](every, composition)
        before = {f"before/{name}": values for name, values in model.store.arrays().items()}
        changes = {"dropout": 0.0, "unknown_probability": 0.0, "l2": 1e-3}
        run = Training(model, few, Path(folder, how, *system), optimizer=optimizer, **changes)
        run.updater.settings = replace(run.updater.settings, jobs=2)
        replicas = nullcontext()
        if how == "processes":
            run.begin()
            replicas = Processes(run.updater, run.folder)
        elif how == "ranks":
            replicas = Ranks()
        with replicas:
            if how == "ranks":
                replicas.join(run.updater)
            if how != "ranks" or not replicas.rank:
                for number, members in enumerate(MINIBATCHES):
                    run.updater.update(members, number, 0.01)
        named = {**model.store.arrays(), **run.updater.optimizer.arrays(), **before}
        [label, *_] = run.updater.examples[6].actions
        named["root"] = model.transitions.label(label)
        arrays |= {"/".join([*system, name]): values for name, values in named.items()}
    return arrays


if __name__ == "__main__":
    folder, how = sys.argv[1:]
    rank = Ranks().rank if how == "ranks" else 0
    np.savez(Path(folder, f"{rank}.npz"), **make_updates(folder, how))
