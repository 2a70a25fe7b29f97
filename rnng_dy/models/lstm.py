"""The LSTM of the original, and the stack that it reads (Dyer et al. 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

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
        """The state after reading x."""
        after = []
        for cell, before in zip(self._cells, state, strict=True):
            # a layer reads the h of the state below it
            x = cell.step(x, before, dropout)
            after.append(x)
        return tuple(after)

    def outputs(self, states: Sequence[LstmState]) -> dy.Expression:
        """The top layer's h: shape (hidden,), one batch element a state."""
        tops = [state[-1] for state in states]
        return dy.pick_range(dy.concatenate_to_batch(tops), 0, self._hidden)

    def output(self, state: LstmState) -> dy.Expression:
        """The top layer's h, shape (hidden,)."""
        return dy.pick_range(state[-1], 0, self._hidden)


class StackCell(NamedTuple):
    """A stack, seen from its top item; pushing makes a new cell, popping is going to `below`.

    `vector` is the item's embedding, `label` the nonterminal's id where the item is an open nonterminal, else None.
    `name` tells a word or constituent from the others of its sentence.
    """

    below: StackCell | None
    lstm: LstmState
    vector: dy.Expression | None
    label: int | None
    name: int | None
