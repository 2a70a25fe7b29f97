"""The LSTM of the original, and the stack that it reads (Dyer et al. 2015)."""

from __future__ import annotations

from typing import NamedTuple

from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

LstmState = tuple
"""One dynet state a layer, bottom first; immutable, so that any number of states can follow one."""


class Lstm:
    """Layers of `cnn::LSTMBuilder` (coupled gates, full peepholes) with its dropout.

    The original draws a fresh mask at every step for the input of every layer, never for h or c. DyNet's multi-layer
    builder ties masks over time and drops h too, so each layer is a builder of its own here.
    """

    def __init__(self, store: ParameterStore, name: str, layers: int, inputs: int, hidden: int):
        self._layers = [
            store.lstm_layer(f"{name}.{i}", inputs if i == 0 else hidden, hidden)
            for i in range(layers)
        ]

    def start(self) -> LstmState:
        """The state before the first input of the current graph."""
        return tuple(layer.initial_state() for layer in self._layers)

    @staticmethod
    def step(state: LstmState, x: dy.Expression, dropout: float = 0.0) -> LstmState:
        """The state after reading x."""
        after = []
        for layer in state:
            layer = layer.add_input(dy.dropout(x, dropout) if dropout else x)
            x = layer.output()
            after.append(layer)
        return tuple(after)

    @staticmethod
    def output(state: LstmState) -> dy.Expression:
        """The top layer's h, shape (hidden,)."""
        return state[-1].output()


class StackCell(NamedTuple):
    """A stack, seen from its top item; pushing makes a new cell, popping is going to `below`.

    `vector` is the item's embedding, `label` the nonterminal's id where the item is an open nonterminal, else None.
    """

    below: StackCell | None
    lstm: LstmState
    vector: dy.Expression | None
    label: int | None
