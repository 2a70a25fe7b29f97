"""Sums of gradients over the replicas of a model, computed at each update through a file or a network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

Rows = Mapping[str, set[int]]
"""Rows of lookup tables, by the table's name."""


def union(several: Iterable[Rows]) -> Rows:
    """Return the union of several sets of rows."""
    whole: dict[str, set[int]] = {}
    for rows in several:
        for name, ids in rows.items():
            whole.setdefault(name, set()).update(ids)
    return whole


class PartialLoss(NamedTuple):
    """The loss of a minibatch or of one replica's part of it, and the extent of its gradient."""

    loss: float
    """Loss in nats."""
    left_out: tuple[int, ...]
    """Indices of examples whose graphs do not fit into memory; they do not count in loss and gradient."""
    rows: Rows
    """Lookup rows that have a gradient."""
    noted: Rows
    """Lookup rows that its graphs have noted: as in the original they decay, with or without a gradient."""


class Update(NamedTuple):
    """The result of an update: loss in nats, whether the gradient was clipped, and examples left out."""

    loss: float
    clipped: bool
    left_out: tuple[int, ...]


class GradientAllReduce(Protocol):
    """One replica's part in adding up the gradients of all replicas of a model."""

    rank: int
    replicas: int

    def add_up(self, part: PartialLoss) -> PartialLoss:
        """Replace the gradients in this replica's store by the sum over all replicas; return the parts as one."""


class ReplicaGroup(Protocol):
    """The replicas, as the leading one sees them."""

    def update(self, members: Sequence[int], number: int, rate: float) -> Update:
        """See `Updater.update`; all replicas make the update."""

    def close(self) -> None:
        """Release the other replicas; the leading updater works alone again."""


class Gradients:
    """The gradients in a model's store as one row of numbers: dense parameters first, then selected lookup rows."""

    def __init__(self, store: ParameterStore):
        self._dense = [p.grad_view().ravel(order="K") for p in store.dense.values()]
        self._tables = {name: (t, t.grad_view()) for name, t in store.lookups.items()}
        self.most = store.count()
        """Length of the row if every lookup row is selected."""

    def count(self, rows: Rows) -> int:
        """Return the length of the row with these lookup rows."""
        of_rows = sum(len(ids) * gradients.shape[1] for _, gradients, ids in self._given(rows))
        return sum(gradient.size for gradient in self._dense) + of_rows

    def write(self, row: np.ndarray, rows: Rows) -> None:
        """Copy the gradients to the beginning of a float32 array."""
        start = 0
        for gradient in self._dense:
            row[start : start + gradient.size] = gradient
            start += gradient.size
        for _, gradients, ids in self._given(rows):
            values = gradients[ids]
            row[start : start + values.size] = values.ravel()
            start += values.size

    def read(self, rows: Rows, get: Callable[[slice, np.ndarray], None]) -> None:
        """Replace the gradients: `get(part, out)` writes a part of the row into an array of its size."""
        start = 0
        for gradient in self._dense:
            get(slice(start, start + gradient.size), gradient)
            start += gradient.size
        for table, gradients, ids in self._given(rows):
            values = np.empty((len(ids), gradients.shape[1]), np.float32)
            get(slice(start, start + values.size), values.reshape(-1))
            gradients[ids] = values
            table.touch(ids)
            start += values.size

    def _given(self, rows: Rows) -> list[tuple[dy.LookupParameters, np.ndarray, list[int]]]:
        return [(*self._tables[name], sorted(ids)) for name, ids in rows.items() if ids]


def add_in_order(parts: np.ndarray, out: np.ndarray) -> None:
    """Write the sum of rows into `out`, added in order, so that every replica gets the same bits."""
    np.copyto(out, parts[0])
    for part in parts[1:]:
        out += part


def total_loss(parts: Sequence[PartialLoss]) -> PartialLoss:
    """Combine the parts of all replicas, in the order of their ranks, into one."""
    left_out = sum((s.left_out for s in parts), ())
    rows, noted = union(s.rows for s in parts), union(s.noted for s in parts)
    return PartialLoss(sum(s.loss for s in parts), left_out, rows, noted)
