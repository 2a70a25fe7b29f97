"""Numerical checks of the installed DyNet, on the device in use; they take a few seconds.

Models rely on two properties. A step of the project's LSTM cell, and its gradient, equal the original's. Memory pools
grow when a graph outgrows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from rnng_dy.engine import MEMORY, dy
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.vectors import Embedding
from rnng_dy.parameters import LSTM_PARTS, ParameterStore

TOLERANCE = 1e-4
"""The largest relative difference of a check that passes."""


def differences() -> Iterator[tuple[str, float]]:
    """Yield each check with its relative difference, on the device that DyNet was started on."""
    values, gradients = cell_differences()
    yield "LSTM steps, values", values
    yield "LSTM steps, gradients", gradients
    yield "a graph larger than the memory pools", growth_difference()


def relative_difference(values: list[np.ndarray], reference: list[np.ndarray]) -> float:
    """Return the largest difference, each relative to the largest entry of its reference array.

    >>> relative_difference([np.array([1.0, 3.0])], [np.array([1.0, 4.0])])
    0.25
    """
    differences = [
        np.abs(value - known).max() / (np.abs(known).max() or 1.0)
        for value, known in zip(values, reference, strict=True)
    ]
    # numpy's maximum is NaN if any value is NaN; Python's may not be
    return float(np.max(differences))


def cell_differences(seed: int = 1) -> tuple[float, float]:
    """Return how far three steps of a two-layer LSTM differ from the original's equations, in values and gradients.

    Both are relative differences. The gradient is compared along a random direction in the space of all parameters,
    with a central difference of the equations in float64.
    """
    rng = np.random.default_rng(seed)
    inputs, hidden = 48, 16
    store = ParameterStore(seed)
    lstm = Lstm(store, "x", 2, inputs, hidden)
    xs = rng.normal(size=(3, inputs)).astype(np.float32)
    weights = rng.normal(size=(3, hidden))
    dy.renew_cg()
    state, outputs = lstm.start, []
    for x in xs:
        state = LstmState(state, Embedding(partial(_input, x)))
        outputs.append(lstm.outputs([state]))
    loss = dy.esum(
        [dy.dot_product(h, dy.inputTensor(w)) for h, w in zip(outputs, weights, strict=True)]
    )
    loss.forward()
    values = [h.npvalue() for h in outputs]
    loss.backward()
    arrays = {name: values.astype(np.float64) for name, values in store.arrays().items()}
    direction = {name: rng.normal(size=a.shape) for name, a in arrays.items()}
    along = sum((store.dense[n].grad_as_array() * d).sum() for n, d in direction.items())
    step = 1e-6
    ahead, behind = (
        (_lstm_outputs({n: a + e * direction[n] for n, a in arrays.items()}, xs) * weights).sum()
        for e in (step, -step)
    )
    slope = np.array([(ahead - behind) / (2 * step)])
    expected = list(_lstm_outputs(arrays, xs))
    return relative_difference(values, expected), relative_difference([np.array([along])], [slope])


def _input(values: np.ndarray, _: object) -> dy.Expression:
    return dy.inputTensor(values)


def _lstm_outputs(arrays: dict[str, np.ndarray], xs: np.ndarray) -> np.ndarray:
    """Return h of the second layer after each input, in float64: coupled gates, full peepholes (`cnn::LSTMBuilder`)."""
    layers = [[arrays[f"x.{i}.{part}"] for part in LSTM_PARTS] for i in range(2)]
    states: list[tuple[np.ndarray, np.ndarray] | None] = [None, None]
    outputs = []
    for x in xs:
        for layer, (xi, hi, ci, bi, xo, ho, co, bo, xc, hc, bc) in enumerate(layers):
            h, c = states[layer] or (np.zeros(len(bi)), np.zeros(len(bi)))
            i = 1 / (1 + np.exp(-(bi + xi @ x + hi @ h + ci @ c)))
            c = (1 - i) * c + i * np.tanh(bc + xc @ x + hc @ h)
            o = 1 / (1 + np.exp(-(bo + xo @ x + ho @ h + co @ c)))
            x = o * np.tanh(c)
            states[layer] = x, c
        outputs.append(x)
    return np.array(outputs)


def growth_difference(megabytes: int = MEMORY) -> float:
    """Return the relative error of a gradient in a graph that is larger than the first memory pools.

    Two kinds of nodes feed one kind, whose batch has to gather them. There backward allocates memory and frees it soon,
    which without our patch fails once a pool has grown.
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
    expected = [np.array(2.5 * pairs), np.full(size, 5.0 * pairs / size)]
    difference = relative_difference([np.array(value), weights.grad_as_array()], expected)
    dy.renew_cg()
    return difference
