"""A constituent's vector from label and children (Dyer et al. 2016, section 4.1 and figure 4; Kuncoro et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import ClassVar

from oracle.transitions import StackItem
from rnng_dy.engine import dy
from rnng_dy.models.derivations import Constituent, Forest
from rnng_dy.models.lstm import Lstm
from rnng_dy.parameters import ParameterStore
from rnng_dy.rows import Row, gather, join

Parts = tuple[StackItem, Sequence[StackItem], Row | None]
"""The open nonterminal and the children as stack items with a `vector`, and u."""

LABELS = "nonterminal"
"""The table of labels as a composition reads them."""


class Reduction:
    """What a composition may look at, for several constituents with the same number of children.

    Every expression has a batch element for each of them.
    """

    def __init__(self, labels: dy.LookupParameters, constituents: Sequence[Parts]):
        self._constituents = constituents
        self.labels = [opened.label for opened, *_ in constituents]
        """Their numbers."""
        self.label = dy.lookup_batch(labels, self.labels)
        """NT_up: the labels' vectors in the table `nonterminal`."""
        self.child_rows = [[child.vector for child in children] for _, children, _ in constituents]
        """Of each constituent, from left to right."""

    @cached_property
    def children(self) -> list[dy.Expression]:
        """From left to right."""
        return [gather(column)[0] for column in zip(*self.child_rows, strict=True)]

    @property
    def state(self) -> dy.Expression | None:
        """u, from which the REDUCE was predicted; None where the composition does not depend on it."""
        states = [u for _, _, u in self._constituents]
        return None if states[0] is None else gather(states)[0]


class Composition:
    """What all compositions have: an LSTM for each direction, and the layer that gives the constituent's vector."""

    name: ClassVar[str]
    """In config.json and on the command line."""
    depends_on_state: ClassVar[bool] = False
    """Whether the vector depends on more than label and children; if not, it may be computed once and shared."""
    together: ClassVar[Callable[..., dy.Expression] | None] = None
    """The vectors of constituents with any numbers of children, given what they are made of by number; it comes in
    place of a call, and has the trees of training and scoring computed at once. None where there are calls alone."""
    mixed: ClassVar[Callable[..., dy.Expression] | None] = None
    """A call for several reductions, with other numbers of children each, one after the other; None where each is
    called for."""
    label_width: ClassVar[int] = 1
    """Of a label's vector, in sizes of a child's."""
    label_tables: ClassVar[tuple[str, ...]] = (LABELS,)
    """Those in which the original looks up every constituent's label, so that its row decays even where no graph reads
    it: for a root's."""

    def __init__(self, store: ParameterStore, layers: int, size: int, hidden: int, labels: int):
        """Constituents have `size` values, u has `hidden`; `labels` is their number."""
        names = ("compose_forward", "compose_backward")
        self._lstms = [Lstm(store, name, layers, size, size) for name in names]
        self._weights = store.matrix("compose_weights", size, 2 * size)
        self._bias = store.vector("compose_bias", size)

    def __call__(self, reduction: Reduction, dropout: float = 0.0) -> dy.Expression:
        """The composed vectors, shape (size,)."""
        raise NotImplementedError

    def _composed(self, both: dy.Expression) -> dy.Expression:
        return dy.rectify(dy.affine_transform([self._bias, self._weights, both]))


class CorrectedComposition(Composition):
    """A bidirectional LSTM over label and children, as the corrigendum describes it."""

    name = "corrected"

    @staticmethod
    def readings(constituent: Constituent) -> tuple[list[int], list[int]]:
        """The numbers of what the two LSTMs read, in order."""
        label, children = constituent.label, constituent.children
        return [label, *reversed(children)], [label, *children]

    def together(
        self,
        constituents: Iterable[Constituent],
        vectors: Mapping[int, Row],
        dropout: float = 0.0,
    ) -> dy.Expression:
        """See `Composition`."""
        outputs = []
        readings = zip(*map(self.readings, constituents), strict=True)
        for lstm, sequences in zip(self._lstms, readings, strict=True):
            forest = Forest()
            last = [forest.add_chain(inputs)[-1] for inputs in sequences]
            output = lstm.outputs(lstm.states(forest, last, vectors, dropout))
            outputs.append(_dropped(output, dropout))
        return self._composed(dy.concatenate(outputs))


class BuggyComposition(CorrectedComposition):
    """The composition of the paper's first version: the right-most child is lost.

    The embedding of the open nonterminal comes in its place, so a unary constituent does not see its child at all.
    """

    name = "buggy"

    @staticmethod
    def readings(constituent: Constituent) -> tuple[list[int], list[int]]:
        """See `CorrectedComposition`."""
        label, opened, seen = constituent.label, constituent.opened, constituent.children[:-1]
        return [label, *reversed(seen), opened], [label, opened, *seen]


class GatedAttention(Composition):
    """Attention over the children and a gate between them and the label (Kuncoro et al. 2017, section 4).

    The query is made of label and u, so that a constituent depends on all that is below it on the stack.
    """

    name = "gated-attention"
    depends_on_state = True
    label_width = 2
    label_tables = (LABELS, "query_nonterminal")

    def __init__(self, store: ParameterStore, layers: int, size: int, hidden: int, labels: int):
        super().__init__(store, layers, size, hidden, labels)
        self._query_weights = store.matrix("query_weights", 2 * size, size + hidden)
        self._query_bias = store.vector("query_bias", 2 * size)
        self._gate_label = store.matrix("gate_label", 2 * size, 2 * size)
        self._gate_children = store.matrix("gate_children", 2 * size, 2 * size)
        self._gate_bias = store.vector("gate_bias", 2 * size)
        self._query_table = store.lookup("query_nonterminal", labels, size)

    def __call__(self, reduction: Reduction, dropout: float = 0.0) -> dy.Expression:
        """See `Composition`."""
        return self.mixed([reduction], dropout)

    def mixed(self, reductions: Sequence[Reduction], dropout: float = 0.0) -> dy.Expression:
        """See `Composition`: each product is one for all of them."""
        summed_up = [read * weights for read, weights in self._attended(reductions, dropout)]
        # one mask each, for gate and mixture
        children = _dropped(join(summed_up), dropout)
        label = _dropped(join([reduction.label for reduction in reductions]), dropout)
        gate = dy.logistic(
            dy.affine_transform(
                [self._gate_bias, self._gate_label, label, self._gate_children, children]
            )
        )
        return self._composed(dy.cmult(gate, label) + dy.cmult(1 - gate, children))

    def weights(self, reduction: Reduction) -> dy.Expression:
        """How much of each child goes into the constituents: shape (children,), they sum to 1."""
        [(_, weights)] = self._attended([reduction], 0.0)
        return weights

    def _attended(
        self, reductions: Sequence[Reduction], dropout: float
    ) -> Iterator[tuple[dy.Expression, dy.Expression]]:
        """Of each reduction the children in their contexts, shape (2 size, children), and their weights."""
        labels = [label for reduction in reductions for label in reduction.labels]
        asking = [
            dy.lookup_batch(self._query_table, labels),
            join([reduction.state for reduction in reductions]),
        ]
        query = dy.affine_transform([self._query_bias, self._query_weights, dy.concatenate(asking)])
        of_constituent = self._contexts([r for of in reductions for r in of.child_rows], dropout)
        begin = 0
        for reduction in reductions:
            group = range(begin, begin + len(reduction.labels))
            begin = group.stop
            columns = zip(*(of_constituent[i] for i in group), strict=True)
            read = dy.concatenate_cols([self._outputs(column) for column in columns])
            yield read, dy.softmax(dy.transpose(read) * dy.pick_batch_elems(query, list(group)))

    def _contexts(
        self, sequences: Sequence[Sequence[Row]], dropout: float
    ) -> list[list[tuple[Row, Row]]]:
        """The states of both LSTMs after each child of each constituent; they do not read the label."""
        vectors = dict(enumerate(chain(*sequences)))
        numbers = iter(vectors)
        numbered = [list(islice(numbers, len(rows))) for rows in sequences]
        found = []
        for lstm, order in zip(self._lstms, (slice(None), slice(None, None, -1)), strict=True):
            forest = Forest()
            chains = [forest.add_chain(children[order])[order] for children in numbered]
            states = iter(lstm.states(forest, chain(*chains), vectors, dropout))
            found.append([list(islice(states, len(of_children))) for of_children in chains])
        return [list(zip(*both, strict=True)) for both in zip(*found, strict=True)]

    def _outputs(self, states: Iterable[tuple[Row, Row]]) -> dy.Expression:
        """What both LSTMs say after some children: shape (2 size,), one batch element each."""
        columns = zip(self._lstms, zip(*states, strict=True), strict=True)
        return dy.concatenate([lstm.outputs(rows) for lstm, rows in columns])


def _dropped(vector: dy.Expression, dropout: float) -> dy.Expression:
    return dy.dropout(vector, dropout) if dropout else vector


COMPOSITIONS = {
    kind.name: kind for kind in (CorrectedComposition, BuggyComposition, GatedAttention)
}
"""By name, the default first: the one list of compositions."""
DEFAULT = next(iter(COMPOSITIONS))
