"""Vectors that are described first and computed later, many of them as one batch.

>>> from rnng_dy.models.lstm import Lstm
>>> store = ParameterStore(seed=1)
>>> table, lstm = LookupTable(store, "word", rows=3, size=2), Lstm(store, "words", 1, 2, 4)
>>> one, two = lstm.read([table[0], table[1]]), lstm.read([table[2]])  # three pending states
>>> graph = dy.renew_cg()
>>> lstm.outputs([one[1], two[0]]).npvalue().shape  # 3 rows, then 2 first states, then a second
(4, 2)
>>> one[0].batch is two[0].batch, [state.index for state in (*one, *two)]  # all in one batch
(True, [0, 2, 1])
>>> keep(one)
>>> graph = dy.renew_cg()
>>> len(pending(one)), len(pending(two))  # states that are not kept are computed again
(0, 1)

A `Vector` says what it is made of: an embedding of a row, an LSTM state of the state before it and
an input, a constituent of its children. At first it is pending. A graph that needs it computes it,
together with others of its sort, as one batched expression of DyNet; then the vector is element
`index` of that `batch`. DyNet has one graph at a time, which `renew_cg` ends. Vectors of earlier
graphs are pending again, and computed again if a later graph needs them. But the values of vectors
that are carried over (`keep`) enter later graphs as inputs, and their descriptions are no longer
needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

Losses: TypeAlias = "tuple[list[dy.Expression], np.ndarray]"
"""Batched expressions of scalars; and for all their batch elements, in order, the owner's index.

An owner's loss is the sum of its elements.
"""

NO_GRAPH, EVERY_GRAPH = -1, -2
"""The graph of vectors that none has computed, and of those that are carried over."""


class Batch:
    """Vectors that a graph has computed together.

    An embedding has one expression, an LSTM state one per layer; each has one batch element per
    vector.
    """

    __slots__ = ("expressions", "graph")

    def __init__(self, expressions: Sequence[dy.Expression]):
        self.expressions = expressions
        self.graph = dy.cg_version() if expressions else NO_GRAPH


UNCOMPUTED = Batch(())
"""The batch of vectors that no graph has computed yet."""


class CarriedOver:
    """The values of vectors that were computed together, which enter later graphs as inputs."""

    __slots__ = ("_graph", "_inputs", "_values")
    graph = EVERY_GRAPH

    def __init__(self, values: Sequence[np.ndarray]):
        """Hold an array for each expression of the vectors: shape (vectors, dimension)."""
        self._values, self._graph = values, NO_GRAPH
        self._inputs: dict[int, tuple[Batch, int]] = {}

    def in_graph(self, elements: Sequence[int]) -> list[tuple[Batch, int]]:
        """Return where the current graph has some vectors: the batch of each, and its element."""
        if self._graph != dy.cg_version():
            self._graph, self._inputs = dy.cg_version(), {}
        if entering := [e for e in dict.fromkeys(elements) if e not in self._inputs]:
            batch = Batch([dy.inputTensor(x[entering].T, batched=True) for x in self._values])
            self._inputs |= {e: (batch, index) for index, e in enumerate(entering)}
        return [self._inputs[e] for e in elements]


class Vector:
    """A vector; it is element `index` of `batch`, once it is computed or carried over."""

    __slots__ = ("batch", "index")
    batch: Batch | CarriedOver
    index: int
    level = 0
    """The length of the longest chain of compositions that makes the vector, its own included."""


class Embedding(Vector):
    """A row of a source: of a table, or of a layer over tables."""

    __slots__ = ("row", "source")

    def __init__(self, source: Callable[[Sequence[Any]], dy.Expression], row: object = None):
        """`source` returns the vectors of some rows, shape (size,): one batch element each."""
        self.batch, self.source, self.row = UNCOMPUTED, source, row

    @classmethod
    def of_parameter(cls, parameter: dy.Parameters) -> Embedding:
        """Return the embedding of a trainable vector."""
        return cls(lambda _: parameter)


class LookupTable:
    """A trainable table of embeddings; it tells the parameter store which rows are used."""

    def __init__(self, store: ParameterStore, name: str, rows: int, size: int):
        self.parameters = store.lookup(name, rows, size)
        self._used = store.used.setdefault(name, {})

    def __getitem__(self, row: int) -> Embedding:
        """Return the newest embedding of a row, a new one if the store has forgotten it."""
        try:
            return self._used[row]
        except KeyError:
            return self.occurrence(row)

    def occurrence(self, row: int) -> Embedding:
        """Return a new embedding of a row, for one word of one sentence."""
        embedding = self._used[row] = Embedding(self, row)
        return embedding

    def __call__(self, rows: Sequence[int]) -> dy.Expression:
        """Return the vectors of some rows (see `Embedding`)."""
        return dy.lookup_batch(self.parameters, rows)


# which vectors the current graph has


def usable_graphs() -> tuple[int, int]:
    """Return the numbers of the graphs whose vectors can be used in the current one."""
    return dy.cg_version(), EVERY_GRAPH


def pending(vectors: Iterable[Vector]) -> list[Vector]:
    """Return the vectors that the current graph has not computed, in order, each once."""
    usable = usable_graphs()
    return list(dict.fromkeys([v for v in vectors if v.batch.graph not in usable]))


def mark_computed(vectors: Iterable[Vector], batch: Batch | CarriedOver) -> None:
    """Make vectors the elements of a batch, in order."""
    for index, vector in enumerate(vectors):
        vector.batch, vector.index = batch, index


def set_computed(
    vectors: Sequence[Vector], part: object, computed: object, size: int | None = None
) -> None:
    """Make vectors the batch elements of what a part has computed; raises as `require_shape`."""
    require_shape(part, computed, size, len(vectors))
    mark_computed(vectors, Batch([computed]))


def keep(vectors: Iterable[Vector]) -> None:
    """Carry computed vectors over to later graphs; reads their values, which runs the graph."""
    by_batch: dict[Batch, dict[Vector, None]] = defaultdict(dict)
    for vector in vectors:
        if vector.batch.graph != EVERY_GRAPH:
            by_batch[vector.batch][vector] = None
    for batch, kept in by_batch.items():
        elements = [v.index for v in kept]
        mark_computed(kept, CarriedOver([as_rows(x)[elements] for x in batch.expressions]))


# their expressions


def gather(vectors: Sequence[Vector], first: int = 0, rows: int = 0) -> Sequence[dy.Expression]:
    """Return the expressions of vectors, one batch element each.

    Pending embeddings are looked up first. All vectors have the same number of expressions, of
    which those from number `first` are returned, -1 for the last one. `rows` limits each vector to
    its first numbers. Raises ValueError if there are no vectors.
    """
    if not vectors:
        raise ValueError("no vectors to gather")
    _look_up(pending(vectors))
    batches, elements = [v.batch for v in vectors], [v.index for v in vectors]
    for carried in [batch for batch in dict.fromkeys(batches) if batch.graph == EVERY_GRAPH]:
        members = [k for k, batch in enumerate(batches) if batch is carried]
        entered = carried.in_graph([elements[k] for k in members])
        for k, (batch, element) in zip(members, entered, strict=True):
            batches[k], elements[k] = batch, element
    # DyNet takes the different batches, the number of each vector's batch among these, and its
    # element there
    distinct, numbers = numbered(batches)
    expressions = [batch.expressions[first:] for batch in distinct]
    if len(expressions) == 1 and not rows and _are_all(elements, expressions[0][0]):
        return expressions[0]
    columns = zip(*expressions, strict=True)
    return [dy.gather_batch_elems(list(xs), numbers, elements, rows) for xs in columns]


def numbered(items: Iterable[Hashable]) -> tuple[list[Any], list[int]]:
    """Return the distinct items, and for each item its index among these."""
    numbers: dict[Hashable, int] = {}
    indices = [numbers.setdefault(item, len(numbers)) for item in items]
    return list(numbers), indices


def _look_up(embeddings: Iterable[Embedding]) -> None:
    by_source = defaultdict(list)
    for embedding in embeddings:
        by_source[embedding.source].append(embedding)
    for source, rows in by_source.items():
        set_computed(rows, source, source([embedding.row for embedding in rows]))


def require_shape(part: object, vectors: object, size: int | None, count: int) -> None:
    """Raise ValueError if a plugin's part does not return `count` vectors of `size` values.

    A size of None stands for any.
    """
    gives = repr(vectors)[:60]
    if isinstance(vectors, dy.Expression):
        shape, batch = vectors.dim()
        size = shape[0] if size is None and len(shape) == 1 else size
        gives = f"shape {shape} in a batch of {batch}"
    needed = f"shape {(size or 'size',)} in a batch of {count}"
    if gives != needed:
        raise ValueError(f"{type(part).__name__} gives {gives}, and {needed} is needed")


def value_of(vectors: Sequence[Vector]) -> dy.Expression:
    """Return vectors of one expression each, such as embeddings: one batch element each."""
    return gather(vectors)[0]


def pick(vectors: dy.Expression, elements: Sequence[int]) -> dy.Expression:
    """Return some batch elements; makes no node if these are all of them, in order."""
    elements = list(elements)
    return vectors if _are_all(elements, vectors) else dy.pick_batch_elems(vectors, elements)


def _are_all(elements: list[int], vectors: dy.Expression) -> bool:
    size = vectors.dim()[1]
    return len(elements) == size and elements == list(range(size))


def dropped(vectors: dy.Expression, dropout: float) -> dy.Expression:
    """Return vectors, each of whose numbers is dropped with probability `dropout`."""
    return dy.dropout(vectors, dropout) if dropout else vectors


def join(batches: Sequence[dy.Expression]) -> dy.Expression:
    """Return the batch elements of all batches, one after another."""
    return batches[0] if len(batches) == 1 else dy.concatenate_to_batch(list(batches))


def as_rows(vectors: dy.Expression) -> np.ndarray:
    """Return the values of vectors, shape (batch elements, size); runs the graph."""
    return vectors.npvalue().reshape(vectors.dim()[0][0], -1).T


def owned_log_probs(losses: Sequence[dy.Expression], owners: Sequence[int]) -> np.ndarray:
    """Return the log probability in nats of each owner: minus the sum of its losses, float64.

    Runs the graph. `losses` are batched expressions of scalars. `owners` has, for all their batch
    elements in order, the owner's index.
    """
    values = dy.concatenate_to_batch(losses).npvalue().ravel()
    return -np.bincount(owners, values.astype(np.float64))


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return the log softmax over the last axis in float64; logits near -1e30 stay there."""
    logits = logits.astype(np.float64)
    logits -= logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
