"""The LSTM of the original."""

from __future__ import annotations

from collections.abc import Sequence

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
        """The state after reading x; both may have a batch element for each of several sequences."""
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
        """The top layer's h, shape (hidden,); batched as the state is."""
        return dy.pick_range(state[-1], 0, self._hidden)
