"""The LSTM of the original; its states are described first and computed later (see `vectors`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate

import numpy as np

from rnng_dy import engine
from rnng_dy.engine import dy
from rnng_dy.models import vectors
from rnng_dy.models.vectors import UNCOMPUTED, Batch, Vector, gather, mark_computed, pending
from rnng_dy.parameters import ParameterStore


class LstmState(Vector):
    """The LSTM state after one more vector; it has [h; c] of each layer, bottom first."""

    __slots__ = ("before", "reads")

    def __init__(self, before: LstmState | None, reads: Vector | None):
        self.batch, self.before, self.reads = UNCOMPUTED, before, reads


Schedule = list[list[LstmState]]
"""States by level: the first continues computed states, the others those of earlier levels."""


class Lstm:
    """Layers of `cnn::LSTMBuilder` (coupled gates, full peepholes) with its dropout.

    The original draws a new mask at every step for the input of every layer, never for h or c.
    DyNet's multi-layer builder ties masks over time and drops h too, so each layer is a cell of its
    own here.
    """

    def __init__(self, store: ParameterStore, name: str, layers: int, inputs: int, hidden: int):
        self._hidden = hidden
        self._cells = [
            store.lstm_cell(f"{name}.{i}", inputs if i == 0 else hidden, hidden)
            for i in range(layers)
        ]
        self.start = LstmState(None, None)
        """The state before the first input: h = c = 0."""
        zeros = np.zeros((1, 2 * hidden), np.float32)
        mark_computed([self.start], vectors.CarriedOver([zeros] * layers))
        self._shared = cache(LstmState)
        self._graph_of_shared = vectors.NO_GRAPH

    def read(self, inputs: Iterable[Vector], shared: bool = False) -> list[LstmState]:
        """Return the states after each vector of a sequence that begins at `start`.

        If `shared`, sequences of the current graph that begin alike have the same states there,
        without dropout.
        """
        if shared and self._graph_of_shared != dy.cg_version():
            self._graph_of_shared, self._shared = dy.cg_version(), cache(LstmState)
        after = self._shared if shared else LstmState
        return list(accumulate(inputs, after, initial=self.start))[1:]

    @staticmethod
    def schedule(states: Iterable[LstmState]) -> Schedule:
        """Return the states that the current graph lacks, of these and their predecessors."""
        usable, states = vectors.usable_graphs(), pending(states)
        if all([state.before.batch.graph in usable for state in states]):
            # a step of a search: faster than the general case below
            return [states] if states else []
        levels: defaultdict[int, list[LstmState]] = defaultdict(list)
        level_of: dict[LstmState, int] = {}
        for state in states:
            chain = []
            while state.batch.graph not in usable and state not in level_of:
                chain.append(state)
                state = state.before
            for level, later in enumerate(reversed(chain), 1 + level_of.get(state, -1)):
                level_of[later] = level
                levels[level].append(later)
        # in order: a level begins with a state that continues one of the level before
        return list(levels.values())

    def compute(self, schedule: Schedule, dropout: float = 0.0) -> None:
        """Compute states with one node of the graph per layer.

        A node has [h; c], shape (2 hidden,), of each state as a batch element.
        `help(dy.CoupledLSTMCell)` documents the call of a cell.
        """
        if not schedule:
            return
        states = [state for level in schedule for state in level]
        for index, state in enumerate(states):
            state.index = index
        # a search multiplies once what several states read or continue
        in_search = not (dropout or dy.has_derivatives()) and engine.device() == engine.CPU
        numbered = vectors.numbered if in_search else _one_by_one
        first, parents = numbered([state.before for state in schedule[0]])
        parents += [state.before.index for state in states[len(parents) :]]
        ends = list(accumulate(map(len, schedule)))
        read, reads = numbered([state.reads for state in states])
        # the first step needs no products with h = c = 0
        begins = all(state is self.start for state in first)
        before = [None] * len(self._cells) if begins else gather(first)
        [x] = gather(read)

        layers = []
        for cell, start in zip(self._cells, before, strict=True):
            if in_search:
                x = cell.search(x, reads, parents, ends, start)
            # one step needs less memory than a forest
            elif len(schedule) == 1:
                x = cell.step(x, start, dropout)
            else:
                x = cell.forest(x, parents, ends, dropout, start)
            layers.append(x)
            # the layer above reads the h of each state
            reads = range(len(states))
        mark_computed(states, Batch(layers))

    def outputs(self, states: Sequence[LstmState], dropout: float = 0.0) -> dy.Expression:
        """Return the top layer's h of states, shape (hidden,), one batch element each.

        Missing states are computed. `dropout` applies to the LSTM's inputs, not to h.
        """
        self.compute(self.schedule(states), dropout)
        return gather(states, -1, self._hidden)[0]


def _one_by_one(several: list) -> tuple[list, list[int]]:
    """Return the vectors and their indices, without merging equal ones."""
    return several, list(range(len(several)))
