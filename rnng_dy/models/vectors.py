"""Vectors that are noted first and computed later, many of them as one batch of the current DyNet graph.

A note says what a vector is made of. The graph that computes it gives it a place among batched vectors: expressions
with one batch element per vector. A graph ends with `renew_cg`. A vector that is needed later is computed again from
its note, unless `keep` has carried its values over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

NEVER, KEPT = -1, -2
"""Stand-ins for the number of a graph: NEVER marks vectors in no graph, KEPT vectors in every graph."""


class BatchedVectors:
    """Vectors side by side: expressions, such as the layers of an LSTM, with one batch element per vector."""

    __slots__ = ("expressions", "graph")

    def __init__(self, expressions: Sequence[dy.Expression]):
        self.expressions = expressions
        self.graph = dy.cg_version() if expressions else NEVER


class KeptVectors:
    """Values of vectors side by side; a vector enters a graph when it is needed there, once."""

    __slots__ = ("_graph", "_places", "_values")
    graph = KEPT

    def __init__(self, values: Sequence[np.ndarray]):
        """Hold an array for each expression of the vectors: shape (vectors, dimension)."""
        self._values, self._graph = values, NEVER
        self._places: dict[int, tuple[BatchedVectors, int]] = {}

    def places(self, elements: Sequence[int]) -> list[tuple[BatchedVectors, int]]:
        """Return the place of each of some vectors in the current graph: a batch, and the element there."""
        if self._graph != dy.cg_version():
            self._graph, self._places = dy.cg_version(), {}
        if entering := [e for e in dict.fromkeys(elements) if e not in self._places]:
            inputs = [dy.inputTensor(x[entering].T, batched=True) for x in self._values]
            batch = BatchedVectors(inputs)
            self._places |= {e: (batch, index) for index, e in enumerate(entering)}
        return [self._places[e] for e in elements]


NOWHERE = BatchedVectors(())


class Vector:
    """A noted vector; once computed, it is batch element `index` of `batch`, and before that it has no `index`."""

    __slots__ = ("batch", "index")
    batch: BatchedVectors | KeptVectors
    index: int
    level = 0
    """The length of the longest chain of compositions that makes the vector, its own included."""


class Embedding(Vector):
    """A row of a source: of a table, or of a layer over tables."""

    __slots__ = ("row", "source")

    def __init__(self, source: Callable[[Sequence[Any]], dy.Expression], row: object = None):
        """`source` returns the vectors of some rows, shape (size,): one batch element each."""
        self.batch, self.source, self.row = NOWHERE, source, row

    @classmethod
    def of_parameter(cls, parameter: dy.Parameters) -> Embedding:
        """Return the embedding of a trainable vector."""
        return cls(lambda _: parameter)


class LookupTable:
    """A trainable table of embeddings; it reports every noted row to the parameter store."""

    def __init__(self, store: ParameterStore, name: str, rows: int, size: int):
        self.parameters = store.lookup(name, rows, size)
        self._noted = store.noted.setdefault(name, {})

    def __getitem__(self, row: int) -> Embedding:
        """Return the embedding of a row, always the same object."""
        try:
            return self._noted[row]
        except KeyError:
            return self.occurrence(row)

    def occurrence(self, row: int) -> Embedding:
        """Return a new embedding of a row, for one word of one sentence."""
        found = self._noted[row] = Embedding(self, row)
        return found

    def __call__(self, rows: Sequence[int]) -> dy.Expression:
        """Return the vectors of some rows (see `Embedding`)."""
        return dy.lookup_batch(self.parameters, rows)


def usable_graphs() -> tuple[int, int]:
    """Return the numbers of the graphs whose vectors can be used in the current one."""
    return dy.cg_version(), KEPT


def pending(vectors: Iterable[Vector]) -> list[Vector]:
    """Return the vectors that the current graph lacks, in order, each once."""
    usable = usable_graphs()
    return list(dict.fromkeys([v for v in vectors if v.batch.graph not in usable]))


def mark_computed(vectors: Iterable[Vector], batch: BatchedVectors | KeptVectors) -> None:
    """Mark vectors as computed: they are the elements of a batch, in order."""
    for index, vector in enumerate(vectors):
        vector.batch, vector.index = batch, index


def gather(vectors: Sequence[Vector], first: int = 0, rows: int = 0) -> Sequence[dy.Expression]:
    """Return the expressions of vectors, one batch element each; embeddings are looked up first.

    All batches have the same number of expressions, of which those from number `first` are returned, -1 for the last
    one. `rows` limits each vector to its first numbers. Raises ValueError if there are no vectors.
    """
    if not vectors:
        raise ValueError("no vectors to gather")
    _look_up(pending(vectors))
    batches, elements = [v.batch for v in vectors], [v.index for v in vectors]
    for kept in [batch for batch in dict.fromkeys(batches) if batch.graph == KEPT]:
        at = [k for k, batch in enumerate(batches) if batch is kept]
        places = kept.places([elements[k] for k in at])
        for k, place in zip(at, places, strict=True):
            batches[k], elements[k] = place
    numbers: dict[BatchedVectors, int] = {}
    arguments = [numbers.setdefault(batch, len(numbers)) for batch in batches]
    found = [batch.expressions[first:] for batch in numbers]
    if len(found) == 1 and not rows and _are_all(elements, found[0][0]):
        return found[0]
    columns = zip(*found, strict=True)
    return [dy.gather_batch_elems(list(xs), arguments, elements, rows) for xs in columns]


def _look_up(embeddings: Iterable[Embedding]) -> None:
    by_source = defaultdict(list)
    for embedding in embeddings:
        by_source[embedding.source].append(embedding)
    for source, of_source in by_source.items():
        mark_computed(of_source, BatchedVectors([source([e.row for e in of_source])]))


def value_of(vectors: Sequence[Vector]) -> dy.Expression:
    """Return vectors of one expression each, such as embeddings: shape (size,), one batch element each."""
    return gather(vectors)[0]


def pick(vectors: dy.Expression, elements: Sequence[int]) -> dy.Expression:
    """Return some batch elements; makes no node if these are all of them, in order."""
    elements = list(elements)
    return vectors if _are_all(elements, vectors) else dy.pick_batch_elems(vectors, elements)


def _are_all(elements: list[int], vectors: dy.Expression) -> bool:
    size = vectors.dim()[1]
    return len(elements) == size and elements == list(range(size))


def dropped(vectors: dy.Expression, dropout: float) -> dy.Expression:
    """Return vectors of which each number is dropped with probability `dropout`; makes no node for 0."""
    return dy.dropout(vectors, dropout) if dropout else vectors


def join(parts: Sequence[dy.Expression]) -> dy.Expression:
    """Return the batch elements of all parts, one after another."""
    return parts[0] if len(parts) == 1 else dy.concatenate_to_batch(list(parts))


def keep(vectors: Iterable[Vector]) -> None:
    """Let computed vectors outlive the current graph; reads their values, which runs the graph."""
    of_batch: dict[BatchedVectors, dict[Vector, None]] = defaultdict(dict)
    for vector in vectors:
        if vector.batch.graph != KEPT:
            of_batch[vector.batch][vector] = None
    for batch, kept in of_batch.items():
        elements = [v.index for v in kept]
        mark_computed(kept, KeptVectors([as_rows(x)[elements] for x in batch.expressions]))


def as_rows(vectors: dy.Expression) -> np.ndarray:
    """Return the values of vectors, shape (batch elements, size); runs the graph."""
    size = vectors.dim()[0][0]
    return vectors.npvalue().reshape(size, -1).T
