"""A constituent's vector from its label and children (Dyer et al. 2016, section 4.1 and figure 4)."""

from __future__ import annotations

from collections.abc import Sequence

from rnng_dy.engine import dy
from rnng_dy.lstm import Lstm
from rnng_dy.parameters import ParameterStore


class CorrectedComposition:
    """A bidirectional LSTM over label and children, as the corrigendum describes it."""

    def __init__(self, store: ParameterStore, layers: int, size: int):
        self._forward = Lstm(store, "compose_forward", layers, size, size)
        self._backward = Lstm(store, "compose_backward", layers, size, size)
        self._weights = store.matrix("compose_weights", size, 2 * size)
        self._bias = store.vector("compose_bias", size)

    @staticmethod
    def readings(
        label: dy.Expression, opened: dy.Expression, children: Sequence[dy.Expression]
    ) -> tuple[list[dy.Expression], list[dy.Expression]]:
        """What the two LSTMs read, in order. Children are given left to right."""
        return [label, *reversed(children)], [label, *children]

    def __call__(
        self,
        label: dy.Expression,
        opened: dy.Expression,
        children: Sequence[dy.Expression],
        dropout: float = 0.0,
    ) -> dy.Expression:
        """The composed vector, shape (size,), from NT_up `label`, open-NT vector `opened` and the children."""
        summaries = []
        for lstm, inputs in zip(
            (self._forward, self._backward), self.readings(label, opened, children), strict=True
        ):
            state = lstm.start()
            for x in inputs:
                state = lstm.step(state, x, dropout)
            output = lstm.output(state)
            summaries.append(dy.dropout(output, dropout) if dropout else output)
        both = dy.concatenate(summaries)
        return dy.rectify(dy.affine_transform([self._bias, self._weights, both]))


class BuggyComposition(CorrectedComposition):
    """The composition of the paper's first version: the right-most child is lost.

    The embedding of the open nonterminal comes in its place, so a unary constituent does not see its child at all.
    """

    @staticmethod
    def readings(
        label: dy.Expression, opened: dy.Expression, children: Sequence[dy.Expression]
    ) -> tuple[list[dy.Expression], list[dy.Expression]]:
        seen = children[:-1]
        return [label, *reversed(seen), opened], [label, opened, *seen]


COMPOSITIONS = {"corrected": CorrectedComposition, "buggy": BuggyComposition}
