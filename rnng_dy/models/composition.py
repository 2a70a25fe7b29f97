"""A constituent's vector from its label and children (Dyer et al. 2016, section 4.1 and figure 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from oracle.transitions import StackItem
from rnng_dy.engine import dy
from rnng_dy.models.derivations import Constituent, Forest
from rnng_dy.models.lstm import Lstm
from rnng_dy.parameters import ParameterStore
from rnng_dy.rows import Row, gather

Parts = tuple[StackItem, Sequence[StackItem], Row | None]
"""The open nonterminal and the children as stack items with a `vector`, and u."""


class Reduction:
    """What a composition may look at, for several constituents with the same number of children.

    Every expression has a batch element for each of them.
    """

    def __init__(self, labels: dy.LookupParameters, constituents: Sequence[Parts]):
        self._constituents = constituents
        opened, children, _ = zip(*constituents, strict=True)
        self.label = dy.lookup_batch(labels, [item.label for item in opened])
        """NT_up: the labels' vectors in the table `nonterminal`."""
        self.children = [
            gather([item.vector for item in column])[0] for column in zip(*children, strict=True)
        ]
        """From left to right."""

    @property
    def opened(self) -> dy.Expression:
        """The vectors of the open nonterminals, as they stood on the stack."""
        return gather([opened.vector for opened, _, _ in self._constituents])[0]

    @property
    def state(self) -> dy.Expression | None:
        """u, from which the REDUCE was predicted; None where the composition does not depend on it."""
        states = [u for _, _, u in self._constituents]
        return None if states[0] is None else gather(states)[0]


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
    def readings(reduction: Reduction | Constituent) -> tuple[list, list]:
        """What the two LSTMs read, in order."""
        label, children = reduction.label, reduction.children
        return [label, *reversed(children)], [label, *children]

    def __call__(self, reduction: Reduction, dropout: float = 0.0) -> dy.Expression:
        """The composed vectors, shape (size,)."""
        outputs = []
        for lstm, inputs in zip(
            (self._forward, self._backward), self.readings(reduction), strict=True
        ):
            state = lstm.start()
            for x in inputs:
                state = lstm.step(state, x, dropout)
            outputs.append(lstm.output(state))
        return self._composed(outputs, dropout)

    def together(
        self,
        constituents: Iterable[Constituent],
        vectors: Mapping[int, Row],
        dropout: float = 0.0,
    ) -> dy.Expression:
        """The same for constituents that are known in advance, with any numbers of children, of vectors by number."""
        outputs = []
        readings = zip(*map(self.readings, constituents), strict=True)
        for lstm, sequences in zip((self._forward, self._backward), readings, strict=True):
            forest = Forest()
            last = [forest.add_chain(inputs)[-1] for inputs in sequences]
            states = lstm.states(forest, vectors, dropout)
            outputs.append(lstm.outputs([states[number] for number in last]))
        return self._composed(outputs, dropout)

    def _composed(self, outputs: Iterable[dy.Expression], dropout: float) -> dy.Expression:
        both = dy.concatenate([dy.dropout(x, dropout) if dropout else x for x in outputs])
        return dy.rectify(dy.affine_transform([self._bias, self._weights, both]))


class BuggyComposition(CorrectedComposition):
    """The composition of the paper's first version: the right-most child is lost.

    The embedding of the open nonterminal comes in its place, so a unary constituent does not see its child at all.
    """

    name = "buggy"

    @staticmethod
    def readings(reduction: Reduction | Constituent) -> tuple[list, list]:
        label, opened, seen = reduction.label, reduction.opened, reduction.children[:-1]
        return [label, *reversed(seen), opened], [label, opened, *seen]


COMPOSITIONS = {kind.name: kind for kind in (CorrectedComposition, BuggyComposition)}
"""By name, the default first: the one list of compositions."""
DEFAULT = next(iter(COMPOSITIONS))
