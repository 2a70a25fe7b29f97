"""A constituent's vector from its label and children (Dyer et al. 2016, section 4.1 and figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rnng_dy.engine import dy
from rnng_dy.models.lstm import Lstm
from rnng_dy.parameters import ParameterStore


class Reduction(NamedTuple):
    """What a composition may look at."""

    label: dy.Expression
    """NT_up: the label's vector in the table `nonterminal`."""
    opened: dy.Expression
    """The vector of the open nonterminal, as it stood on the stack."""
    children: Sequence[dy.Expression]
    """From left to right."""
    state: dy.Expression | None
    """u, from which the REDUCE was predicted; None where the composition does not depend on it."""


class CorrectedComposition:
    """A bidirectional LSTM over label and children, as the corrigendum describes it."""

    name: ClassVar[str] = "corrected"
    depends_on_state: ClassVar[bool] = False
    """Whether the vector depends on more than label and children; if not, it may be computed once and shared."""

    def __init__(self, store: ParameterStore, layers: int, size: int):
        self._forward = Lstm(store, "compose_forward", layers, size, size)
        self._backward = Lstm(store, "compose_backward", layers, size, size)
        self._weights = store.matrix("compose_weights", size, 2 * size)
        self._bias = store.vector("compose_bias", size)

    @staticmethod
    def readings(reduction: Reduction) -> tuple[list[dy.Expression], list[dy.Expression]]:
        """What the two LSTMs read, in order."""
        label, children = reduction.label, reduction.children
        return [label, *reversed(children)], [label, *children]

    def __call__(self, reduction: Reduction, dropout: float = 0.0) -> dy.Expression:
        """The composed vector, shape (size,)."""
        summaries = []
        for lstm, inputs in zip(
            (self._forward, self._backward), self.readings(reduction), strict=True
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

    name = "buggy"

    @staticmethod
    def readings(reduction: Reduction) -> tuple[list[dy.Expression], list[dy.Expression]]:
        label, opened, seen = reduction.label, reduction.opened, reduction.children[:-1]
        return [label, *reversed(seen), opened], [label, opened, *seen]


COMPOSITIONS = {kind.name: kind for kind in (CorrectedComposition, BuggyComposition)}
"""By name, the default first: the one list of compositions."""
DEFAULT = next(iter(COMPOSITIONS))
