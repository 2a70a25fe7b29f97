"""Named trainable parameters: initialised as in the original, and exported to numpy arrays."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from oracle.common.errors import RnngError
from rnng_dy import engine
from rnng_dy.engine import dy

# the order of DyNet's CoupledLSTMBuilder, and of the original's checkpoints
LSTM_WEIGHTS = ("x2i", "h2i", "c2i", "bi", "x2o", "h2o", "c2o", "bo", "x2c", "h2c", "bc")

LARGEST = 1e9
"""Largest absolute value allowed in a model: products of larger values would overflow float32."""


def are_usable(values: np.ndarray) -> bool:
    """Return whether an array holds floats that are finite, and not over LARGEST."""
    if not np.issubdtype(values.dtype, np.floating):
        return False
    # as Python's floats: float16 cannot hold LARGEST; the extremes are NaN if any value is
    least, most = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    return -LARGEST <= least <= most <= LARGEST


class ParameterStore:
    """The parameters of one model under stable names such as `stack.0.x2i`.

    Initial values are uniform in +-sqrt(6 / sum of dimensions), biases included, and in +-sqrt(6 /
    dimension) for lookup rows. This follows `cnn::Parameters` of the original; DyNet's own defaults
    differ. numpy draws the values, so that a seed gives the same model with every build and on
    every device. Without a seed the values are 0, until `load` sets them.
    """

    def __init__(self, seed: int | None):
        self.collection = dy.ParameterCollection()
        self.dense: dict[str, dy.Parameters] = {}
        self.lookups: dict[str, dy.LookupParameters] = {}
        self.used: dict[str, dict[int, Any]] = {}
        """By table, the embeddings of the rows that are used, computed or pending (see
        `LookupTable`); and the numbers of groups of parameters (see `group`)."""
        self._groups: dict[tuple[str, int], tuple[dy.Parameters, ...]] = {}
        # a table must not outlive its collection: DyNet would read freed memory
        self._constants = dy.ParameterCollection()
        self._random = None if seed is None else np.random.default_rng(seed)

    def matrix(self, name: str, rows: int, columns: int) -> dy.Parameters:
        """Add a trainable matrix."""
        return self._add(name, (rows, columns))

    def vector(self, name: str, size: int) -> dy.Parameters:
        """Add a trainable vector."""
        return self._add(name, (size,))

    def lookup(self, name: str, rows: int, size: int) -> dy.LookupParameters:
        """Add a trainable table of `rows` embeddings."""
        zero = dy.ConstInitializer(0)
        self.lookups[name] = table = self.collection.add_lookup_parameters((rows, size), zero)
        if self._random is not None:
            table.init_from_array(self._uniform((rows, size), size))
        return table

    def group(self, name: str, number: int, *parameters: dy.Parameters) -> None:
        """Declare that a graph uses the parameters only if it notes this number in `used[name]`."""
        self._groups[name, number] = parameters

    def unused(self, rows: Mapping[str, Collection[int]]) -> list[dy.Parameters]:
        """Return the parameters of the groups that are not among these rows and numbers."""
        groups = self._groups.items()
        return [p for (name, n), group in groups if n not in rows.get(name, ()) for p in group]

    @contextmanager
    def only_used(self, rows: Mapping[str, Collection[int]]) -> Iterator[None]:
        """Let DyNet's trainers leave the parameters of all other groups alone, in a block.

        A minibatch uses few clusters of a large vocabulary.
        """
        unused = self.unused(rows)
        for parameter in unused:
            parameter.set_updated(False)
        try:
            yield
        finally:
            for parameter in unused:
                parameter.set_updated(True)

    def constant(self, values: np.ndarray) -> dy.LookupParameters:
        """Make a lookup table that is neither trained nor saved; look it up with `update=False`."""
        values = np.ascontiguousarray(values, np.float32)
        return self._constants.lookup_parameters_from_numpy(values)

    def lstm_cell(self, name: str, inputs: int, hidden: int) -> dy.CoupledLSTMCell:
        """Add a one-layer LSTM with coupled gates and full peepholes (`cnn::LSTMBuilder`)."""
        columns = {"x": (inputs,), "h": (hidden,), "c": (hidden,), "b": ()}
        shapes = {gate: (hidden, *columns[gate[0]]) for gate in LSTM_WEIGHTS}
        return dy.CoupledLSTMCell([self._add(f"{name}.{x}", shape) for x, shape in shapes.items()])

    def _add(self, name: str, shape: tuple[int, ...]) -> dy.Parameters:
        self.dense[name] = parameter = self.collection.add_parameters(shape, dy.ConstInitializer(0))
        if self._random is not None:
            parameter.set_value(self._uniform(shape, sum(shape)))
        return parameter

    def _uniform(self, shape: tuple[int, ...], fan: int) -> np.ndarray:
        bound = np.sqrt(6.0 / fan)
        return self._random.uniform(-bound, bound, shape).astype(np.float32)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return copies of all values, float32, by name."""
        parameters = {**self.dense, **self.lookups}
        # as_array makes several copies
        read = "view" if engine.device() == engine.CPU else "as_array"
        return {n: np.array(getattr(p, read)(), np.float32) for n, p in parameters.items()}

    def hash(self) -> str:
        """Return a SHA-256 of all values."""
        digest = hashlib.sha256()
        for name, values in self.arrays().items():
            digest.update(name.encode() + values.tobytes())
        return digest.hexdigest()

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Set all values.

        Raises RnngError naming one that is missing, unexpected, unusable or of another shape.
        """
        parameters = {**self.dense, **self.lookups}
        if wrong := parameters.keys() ^ arrays.keys():
            raise RnngError(
                f"parameter {min(wrong)} is missing, or the model has no such parameter"
            )
        for name, parameter in parameters.items():
            shape = tuple(parameter.shape())
            if arrays[name].shape != shape:
                raise RnngError(f"parameter {name} has shape {arrays[name].shape}, needs {shape}")
            if not are_usable(arrays[name]):
                raise RnngError(f"parameter {name} holds no finite numbers up to {LARGEST:g}")
        for name, parameter in parameters.items():
            values = np.ascontiguousarray(arrays[name], np.float32)
            if engine.device() == engine.CPU:
                # the others make several copies
                parameter.view()[...] = values
            elif name in self.dense:
                parameter.set_value(values)
            else:
                parameter.init_from_array(values)

    def count(self) -> int:
        """Return the number of trainable values."""
        return sum(math.prod(p.shape()) for p in (*self.dense.values(), *self.lookups.values()))

    def rows_with_gradient(self) -> dict[str, set[int]]:
        """Return the rows by table that have received gradients since the last update."""
        return {name: set(table.touched()) for name, table in self.lookups.items()}

    def used_rows(self) -> dict[str, set[int]]:
        """Return the rows by table, and groups, that have been used since `forget_used_rows`."""
        return {name: set(rows) for name, rows in self.used.items()}

    def forget_used_rows(self) -> None:
        """Forget which rows have been used."""
        for rows in self.used.values():
            rows.clear()

    def decay(self, rate: float) -> None:
        """Shrink every matrix and vector by the factor 1 - rate."""
        for parameter in self.dense.values():
            parameter.scale(1.0 - rate)

    def row_penalty(self, rows: Mapping[str, Collection[int]]) -> dy.Expression:
        """Return half the sum of squares of lookup rows, which are its gradient; without groups."""
        terms = [
            dy.sum_batches(dy.squared_norm(dy.lookup_batch(self.lookups[name], sorted(ids))))
            for name, ids in rows.items()
            if ids and name in self.lookups
        ]
        return 0.5 * dy.esum(terms)
