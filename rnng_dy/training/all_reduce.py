"""The sums that replicas of a model make at each update, through a file or a network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

Rows = Mapping[str, set[int]]
"""Rows of lookup tables, by the table's name."""


def union(several: Iterable[Rows]) -> Rows:
    """The rows that are in any of them."""
    whole: dict[str, set[int]] = {}
    for rows in several:
        for name, ids in rows.items():
            whole.setdefault(name, set()).update(ids)
    return whole


class PartialLoss(NamedTuple):
    """The loss of a minibatch or of one replica's part of it, and what its gradient has and has not."""

    loss: float
    """Nats."""
    left_out: tuple[int, ...]
    """Indices of examples whose graphs do not fit into memory; they have no part in loss and gradient."""
    rows: Rows
    """Lookup rows that have a gradient."""
    noted: Rows
    """Lookup rows that its graphs have noted: the original looks them up, so they decay, with a gradient or without."""


class Update(NamedTuple):
    """What an update did."""

    loss: float
    clipped: bool
    left_out: tuple[int, ...]


class GradientAllReduce(Protocol):
    """How one of the replicas of a model adds its gradients to those of the others."""

    rank: int
    replicas: int

    def add_up(self, part: PartialLoss) -> PartialLoss:
        """Replace the gradients in this replica's store by the sum over all; the same for the rest."""


class ReplicaGroup(Protocol):
    """The replicas, seen from the one that leads them."""

    def update(self, members: Sequence[int], number: int, rate: float) -> Update:
        """See `Updater.update`; all replicas make it."""

    def close(self) -> None:
        """Let the others go; the updater of the one that leads works alone again."""


class Gradients:
    """The gradients in a model's store as numbers in a row: all dense ones, then those of given lookup rows."""

    def __init__(self, store: ParameterStore):
        self._dense = [p.grad_view().ravel(order="K") for p in store.dense.values()]
        self._tables = {name: (t, t.grad_view()) for name, t in store.lookups.items()}
        self.most = store.count()
        """Numbers that there are where every row is given."""

    def count(self, rows: Rows) -> int:
        """Numbers in the row."""
        of_rows = sum(len(ids) * gradients.shape[1] for _, gradients, ids in self._given(rows))
        return sum(gradient.size for gradient in self._dense) + of_rows

    def write(self, row: np.ndarray, rows: Rows) -> None:
        """Put them into a float32 array from its beginning."""
        start = 0
        for gradient in self._dense:
            row[start : start + gradient.size] = gradient
            start += gradient.size
        for _, gradients, ids in self._given(rows):
            values = gradients[ids]
            row[start : start + values.size] = values.ravel()
            start += values.size

    def read(self, rows: Rows, get: Callable[[slice, np.ndarray], None]) -> None:
        """Replace them: `get(part, out)` writes a part of the row into an array of its size."""
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
    """Write the sum of rows into `out`, the first one plus the second one and so on: the same bits everywhere."""
    np.copyto(out, parts[0])
    for part in parts[1:]:
        out += part


def total_loss(parts: Sequence[PartialLoss]) -> PartialLoss:
    """The parts of all replicas, in the order of their ranks, as one."""
    left_out = sum((s.left_out for s in parts), ())
    rows, noted = union(s.rows for s in parts), union(s.noted for s in parts)
    return PartialLoss(sum(s.loss for s in parts), left_out, rows, noted)
