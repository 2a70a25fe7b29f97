"""Compositions: a constituent's vector from its label and children.

Dyer et al. (2016), section 4.1 and figure 4; Kuncoro et al. (2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import ClassVar

import numpy as np

from oracle.common.plugins import Registry
from rnng_dy.engine import dy
from rnng_dy.models import vectors
from rnng_dy.models.configuration import Constituent
from rnng_dy.models.lstm import Lstm
from rnng_dy.models.vectors import Embedding, LookupTable, Vector, dropped, pick, value_of
from rnng_dy.parameters import ParameterStore


class Composition:
    """A function from constituents to vectors, with its parameters."""

    name: ClassVar[str]
    """Name in config.json and on the command line."""
    reads_state: ClassVar[bool] = False
    """Whether the composition reads the parser state u.

    If not, equal constituents of a sentence are composed once.
    """
    has_weights: ClassVar[bool] = False
    """Whether the method `weights` reports how much each child contributes to a constituent."""

    def __init__(self, store: ParameterStore, layers: int, size: int, hidden: int, labels: int):
        """Create the parameters.

        Vectors of constituents have `size` values, u has `hidden`. `labels` is the number of
        nonterminals.
        """

    def add_labels(self, store: ParameterStore, labels: int, size: int) -> None:
        """Create the table of labels, of `size` values, after the network's other parameters."""
        self._labels = LookupTable(store, "nonterminal", labels, size)

    def embeddings(self, label: int) -> tuple[Embedding, ...]:
        """Return the embeddings of a label for `Constituent.embeddings`."""
        return (self._labels[label],)

    def __call__(self, constituents: Sequence[Constituent], dropout: float = 0.0) -> dy.Expression:
        """Return the composed vectors, shape (size,): one batch element per constituent.

        Constituents are sorted by their number of children, and their children are computed.
        `dropout` is the probability of dropping a number in training.
        """
        raise NotImplementedError


def by_children(
    vectors: dy.Expression, constituents: Sequence[Constituent]
) -> Iterator[tuple[list[int], dy.Expression]]:
    """Yield a matrix with a column per child for each group of constituents with as many children.

    `vectors` has one batch element, shape (size,), per child of each constituent, in order. A
    matrix, shape (size, children), has one per constituent of its group, and comes with the indices
    of these constituents.
    """
    [size], first = vectors.dim()[0], 0
    counts = [len(c.children) for c in constituents]
    for count, group in groupby(range(len(counts)), counts.__getitem__):
        members = list(group)
        children = range(first, first + count * len(members))
        first = children.stop
        yield members, dy.reshape(pick(vectors, children), (size, count), batch_size=len(members))


class BidirectionalComposition(Composition):
    """An LSTM in each direction, and a layer that computes the constituent's vector from both."""

    def __init__(self, store: ParameterStore, layers: int, size: int, hidden: int, labels: int):
        names = ("compose_forward", "compose_backward")
        self._lstms = [Lstm(store, name, layers, size, size) for name in names]
        self._weights = store.matrix("compose_weights", size, 2 * size)
        self._bias = store.vector("compose_bias", size)

    def _composed(self, both: dy.Expression) -> dy.Expression:
        return dy.rectify(dy.affine_transform([self._bias, self._weights, both]))


class CorrectedComposition(BidirectionalComposition):
    """The composition of the corrigendum: a bidirectional LSTM over label and children."""

    name = "corrected"

    @staticmethod
    def sequences(constituent: Constituent) -> tuple[list[Vector], list[Vector]]:
        """Return the inputs of the LSTMs: the first reads children from the right."""
        [label], children = constituent.embeddings, constituent.children
        return [label, *reversed(children)], [label, *children]

    def __call__(self, constituents: Sequence[Constituent], dropout: float = 0.0) -> dy.Expression:
        """Return the composed vectors, from the last output of each LSTM."""
        outputs = []
        inputs = zip(*map(self.sequences, constituents), strict=True)
        for lstm, sequences in zip(self._lstms, inputs, strict=True):
            ends = [lstm.read(sequence, shared=not dropout)[-1] for sequence in sequences]
            outputs.append(dropped(lstm.outputs(ends, dropout), dropout))
        return self._composed(dy.concatenate(outputs))


class BuggyComposition(CorrectedComposition):
    """The composition of the paper's first version, which loses the right-most child.

    The embedding of the open nonterminal takes its place, so a unary constituent does not see its
    child at all.
    """

    name = "buggy"

    @staticmethod
    def sequences(constituent: Constituent) -> tuple[list[Vector], list[Vector]]:
        """Return the inputs of the LSTMs, with the open nonterminal in place of the last child."""
        [label], opened = constituent.embeddings, constituent.opened
        children = constituent.children[:-1]
        return [label, *reversed(children), opened], [label, opened, *children]


class GatedAttention(BidirectionalComposition):
    """Attention over the children, and a gate between them and the label.

    Kuncoro et al. (2017), section 4. The query consists of label and u, so a constituent depends on
    everything below it on the stack.
    """

    name = "gated-attention"
    reads_state = has_weights = True

    def __init__(self, store: ParameterStore, layers: int, size: int, hidden: int, labels: int):
        super().__init__(store, layers, size, hidden, labels)
        self._query_weights = store.matrix("query_weights", 2 * size, size + hidden)
        self._query_bias = store.vector("query_bias", 2 * size)
        self._gate_label = store.matrix("gate_label", 2 * size, 2 * size)
        self._gate_children = store.matrix("gate_children", 2 * size, 2 * size)
        self._gate_bias = store.vector("gate_bias", 2 * size)
        self._queries = LookupTable(store, "query_nonterminal", labels, size)

    def add_labels(self, store: ParameterStore, labels: int, size: int) -> None:
        """Create the table of labels, whose embeddings are as wide as those of both LSTMs."""
        super().add_labels(store, labels, 2 * size)

    def embeddings(self, label: int) -> tuple[Embedding, ...]:
        """Return the embedding of a label, and that of its query."""
        return self._labels[label], self._queries[label]

    def __call__(self, constituents: Sequence[Constituent], dropout: float = 0.0) -> dy.Expression:
        """Return the composed vectors, from the label and the weighted mean of the children."""
        means = [children * weights for children, weights in self._attended(constituents, dropout)]
        # one dropout mask each, shared by gate and mixture
        children = dropped(vectors.join(means), dropout)
        label = dropped(value_of([c.embeddings[0] for c in constituents]), dropout)
        terms = [self._gate_bias, self._gate_label, label, self._gate_children, children]
        gate = dy.logistic(dy.affine_transform(terms))
        return self._composed(dy.cmult(gate, label) + dy.cmult(1 - gate, children))

    def weights(self, constituents: Sequence[Constituent]) -> list[np.ndarray]:
        """Return the attention weights of each constituent's children, shape (children,); sum 1."""
        groups = self._attended(constituents, 0.0)
        return [row for _, weights in groups for row in vectors.as_rows(weights)]

    def _attended(
        self, constituents: Sequence[Constituent], dropout: float
    ) -> Iterator[tuple[dy.Expression, dy.Expression]]:
        """Yield contexts, shape (2 size, children), and weights, per number of children."""
        label = value_of([c.embeddings[1] for c in constituents])
        both = dy.concatenate([label, value_of([c.configuration for c in constituents])])
        query = dy.affine_transform([self._query_bias, self._query_weights, both])
        right, left = self._lstms
        shared = not dropout
        rightward = [right.read(c.children, shared) for c in constituents]
        leftward = [left.read(reversed(c.children), shared)[::-1] for c in constituents]
        directions = ((right, rightward), (left, leftward))
        contexts = [lstm.outputs(list(chain(*states)), dropout) for lstm, states in directions]
        for members, children in by_children(dy.concatenate(contexts), constituents):
            yield children, dy.softmax(dy.transpose(children) * pick(query, members))


COMPOSITIONS: Registry[type[Composition]] = Registry(
    "composition", Composition, CorrectedComposition, BuggyComposition, GatedAttention
)
