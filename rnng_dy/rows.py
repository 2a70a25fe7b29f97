"""Vectors of many configurations, computed together: what a configuration holds is a row of a block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from oracle.errors import RnngError
from rnng_dy.engine import dy

EVERY, LAST = slice(None), slice(-1, None)
"""Which of a block's expressions to gather."""


class Block:
    """Expressions of the current graph with one batch element a configuration, such as the layers of an LSTM.

    Rows that are kept outlive the graph: those that are gathered then go into the new graph as inputs.
    """

    __slots__ = ("_expressions", "_graph", "_places", "_values", "size")

    def __init__(self, expressions: Sequence[dy.Expression], size: int = 1):
        self._expressions = expressions
        self._graph = dy.cg_version()
        self._values: list[np.ndarray] = []
        self._places: dict[int, int] | None = None
        """Where the rows that are kept are in the values."""
        self.size = size
        """Batch elements."""

    def has(self, row: int) -> bool:
        """Whether a row is of the current graph, or kept."""
        if self._places is None:
            return self._graph == dy.cg_version()
        return row in self._places

    @property
    def is_kept(self) -> bool:
        """Whether some rows are kept, and only those."""
        return self._places is not None

    def expressions(self, rows: Sequence[int], which: slice) -> Sequence[dy.Expression]:
        """Expressions of the current graph: those of the block, or if it is kept those of `rows`, in order.

        Raises RnngError where these are not kept for it.
        """
        current = self._graph == dy.cg_version()
        if not (all(map(self.has, rows)) if self.is_kept else current):
            raise RnngError("a configuration of a graph that is gone")
        if self._places is None:
            return self._expressions[which]
        places = [self._places[row] for row in rows]
        return [_inputs(values[places]) for values in self._values[which]]

    def keep(self, rows: Sequence[int]) -> None:
        """Read the values of some rows, which runs the graph, for the graphs to come; the others go with this one."""
        if self._places is None:
            self._values = [as_rows(x)[rows].astype(np.float32) for x in self._expressions]
            self._places = {row: place for place, row in enumerate(rows)}
            self._expressions = ()


def _inputs(rows: np.ndarray) -> dy.Expression:
    """The rows of a matrix as batch elements."""
    return dy.inputTensor(rows.T, batched=True) if len(rows) > 1 else dy.inputTensor(rows[0])


class Row(NamedTuple):
    """What a block has for one configuration."""

    block: Block
    index: int

    @property
    def is_usable(self) -> bool:
        """Whether it is of the current graph, or kept."""
        return self.block.has(self.index)


def gather(rows: Sequence[Row], which: slice = EVERY, height: int = 0) -> Sequence[dy.Expression]:
    """The expressions of some rows, one batch element a row, of vectors the first `height` numbers where it is not 0.

    All blocks have the same number of expressions.
    """
    blocks, elements = map(list, zip(*rows, strict=True))
    number_of = {block: number for number, block in enumerate(dict.fromkeys(blocks))}
    # of a block that is kept these rows alone go into the graph
    given: dict[Block, list[int]] = {block: [] for block in number_of if block.is_kept}
    if given:
        for k, (block, index) in enumerate(rows):
            if block in given:
                elements[k] = len(given[block])
                given[block].append(index)
    found = [block.expressions(given.get(block, ()), which) for block in number_of]
    if len(found) == 1 and not height:
        size = len(given[blocks[0]]) if given else blocks[0].size
        if len(rows) == size and (size == 1 or elements == list(range(size))):
            return found[0]
    numbers = list(map(number_of.__getitem__, blocks))
    columns = zip(*found, strict=True)
    return [dy.gather_batch_elems(list(xs), numbers, elements, height) for xs in columns]


def numbered(numbers: Iterable[int], vectors: dy.Expression) -> dict[int, Row]:
    """Rows of the batch elements of `vectors`, by the numbers that they have."""
    numbers = list(numbers)
    return dict(zip(numbers, rows_of_block([vectors], len(numbers)), strict=True))


def rows_of_block(expressions: Sequence[dy.Expression], size: int) -> list[Row]:
    """The rows of a new block."""
    block = Block(expressions, size)
    return [Row(block, i) for i in range(size)]


def join(parts: Sequence[dy.Expression]) -> dy.Expression:
    """The batch elements of all parts, one after another."""
    return parts[0] if len(parts) == 1 else dy.concatenate_to_batch(list(parts))


def keep_rows(rows: Iterable[Row]) -> None:
    """Let rows outlive the current graph; other rows of the same blocks do not, unless they are kept already."""
    of_block: dict[Block, dict[int, None]] = {}
    for block, index in rows:
        of_block.setdefault(block, {})[index] = None
    for block, indices in of_block.items():
        block.keep(list(indices))


def as_rows(vectors: dy.Expression) -> np.ndarray:
    """The values of vectors, shape (batch elements, size); runs the graph."""
    size = vectors.dim()[0][0]
    return vectors.npvalue().reshape(size, -1).T
