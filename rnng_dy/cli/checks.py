"""Checks of DyNet's numbers, which `rnng-dy doctor` prints."""

from collections.abc import Iterator

import numpy as np

from rnng_dy.engine import MEMORY, dy
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.vectors import Embedding
from rnng_dy.parameters import ParameterStore

TOLERANCE = 1e-4
"""The largest relative difference of a check that passes."""
# from the equations of the original's `cnn::LSTMBuilder` in float64
LSTM_VALUE, LSTM_SLOPE = -0.78873103133, -0.40492839238


def differences() -> Iterator[tuple[str, float]]:
    """Yield each check with its relative difference, on the device that DyNet was started on.

    Models rely on two properties. A step of the project's LSTM cell, and its gradient, equal the
    original's. Memory pools grow when a graph outgrows them. The checks take a few seconds.

    The differences of a two-layer LSTM after three steps are those of a sum of its outputs, and of
    the sum's derivative along the parameters.
    """
    store = ParameterStore(1)
    lstm = Lstm(store, "x", 2, 48, 16)
    random = store.arrays().items()
    arrays = {name: _waves(array.shape, start) / 2 for start, (name, array) in enumerate(random)}
    store.load(arrays)
    dy.renew_cg()
    state = lstm.start
    for step in (1, 2, 3):
        vector = Embedding(lambda steps: dy.inputTensor(_waves((48,), *steps)), step)
        state = LstmState(state, vector)
        output = lstm.outputs([state])
    total = dy.dot_product(output, dy.inputTensor(_waves((16,), 0)))
    value = total.value()
    total.backward()
    slope = sum((store.dense[n].grad_as_array() * values).sum() for n, values in arrays.items())
    yield "LSTM steps, values", abs(value / LSTM_VALUE - 1)
    yield "LSTM steps, gradients", abs(slope / LSTM_SLOPE - 1)
    yield "a graph larger than the memory pools", growth_difference()


def _waves(shape: tuple[int, ...], start: int) -> np.ndarray:
    return np.cos(start + np.arange(np.prod(shape))).reshape(shape)


def growth_difference(megabytes: int = MEMORY) -> float:
    """Return the relative error of a gradient in a graph larger than the first memory pools.

    Two kinds of nodes feed one kind, whose batch has to gather them. There backward allocates
    memory and frees it soon, which without our patch fails once a pool has grown.
    """
    size = 1 << 18
    # a vector takes a megabyte, a pair below takes four
    pairs = 3 * megabytes // 8
    collection = dy.ParameterCollection()
    weights = collection.parameters_from_numpy(np.full(size, 0.5, dtype=np.float32))
    dy.renew_cg(autobatching=True)
    doubled = [weights + weights for _ in range(pairs)]
    tripled = [weights * 3.0 for _ in range(pairs)]
    loss = dy.sum_elems(dy.esum([dy.rectify(x) for x in doubled + tripled])) * (1.0 / size)
    value = loss.value()
    loss.backward()
    # per pair, the value is five times a half and the gradient five
    value_off = abs(value / (2.5 * pairs) - 1)
    gradient_off = np.abs(weights.grad_as_array() * size / (5.0 * pairs) - 1)
    dy.renew_cg()
    return float(np.max([value_off, gradient_off.max()]))
