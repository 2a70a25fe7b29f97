"""The LSTM of the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rnng_dy.engine import dy
from rnng_dy.models.derivations import Forest
from rnng_dy.parameters import ParameterStore
from rnng_dy.rows import LAST, Block, Row, gather

LstmState = tuple
"""[h; c] of each layer, bottom first, None before the first input; any number of states can follow one."""


class Lstm:
    """Layers of `cnn::LSTMBuilder` (coupled gates, full peepholes) with its dropout.

    The original draws a fresh mask at every step for the input of every layer, never for h or c. DyNet's multi-layer
    builder ties masks over time and drops h too, so each layer is a cell of its own here.
    """

    def __init__(self, store: ParameterStore, name: str, layers: int, inputs: int, hidden: int):
        self._hidden = hidden
        self._cells = [
            store.lstm_cell(f"{name}.{i}", inputs if i == 0 else hidden, hidden)
            for i in range(layers)
        ]

    def start(self) -> LstmState:
        """The state before the first input."""
        return (None,) * len(self._cells)

    def step(self, state: LstmState, x: dy.Expression, dropout: float = 0.0) -> LstmState:
        """The state after reading x; both may have a batch element for each of several sequences."""
        after = []
        for cell, before in zip(self._cells, state, strict=True):
            # a layer reads the h of the state below it
            x = cell.step(x, before, dropout)
            after.append(x)
        return tuple(after)

    def states(
        self,
        forest: Forest,
        numbers: Iterable[int],
        vectors: Mapping[int, Row],
        dropout: float = 0.0,
    ) -> list[Row]:
        """Some states of sequences that are known in advance, by number; all of them read `vectors` by theirs."""
        levels = forest.by_level()
        [x] = gather([vectors[number] for number in levels.inputs])
        layers = []
        for cell in self._cells:
            x = cell.forest(x, levels.parents, levels.ends, dropout)
            layers.append(x)
        block = Block(layers, len(levels.inputs))
        return [Row(block, levels.places[number]) for number in numbers]

    def outputs(self, states: Sequence[Row]) -> dy.Expression:
        """The top layer's h of rows that hold states: shape (hidden,), one batch element each."""
        return gather(states, LAST, self._hidden)[0]

    def output(self, state: LstmState) -> dy.Expression:
        """The top layer's h, shape (hidden,); batched as the state is."""
        return dy.pick_range(state[-1], 0, self._hidden)
