"""Numerical checks of the installed DyNet, on the device in use; they take a few seconds.

Models rely on four properties. A step of the project's LSTM cell, and its gradient, equal the original's. Autobatching
gives the values of one-by-one evaluation. It can be switched per graph. Memory pools grow when a graph outgrows them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from rnng_dy.engine import Start, dy
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.vectors import Embedding
from rnng_dy.parameters import LSTM_PARTS, ParameterStore

TOLERANCE = 1e-4
"""The largest relative difference of a check that passes."""
BARRED = -1e9


@dataclass(frozen=True)
class Check:
    """The result of one check, with what was observed."""

    name: str
    passed: bool
    seen: str

    @classmethod
    def of_difference(cls, name: str, measure: Callable[[], float]) -> Check:
        """Return a check that passes if the relative difference is at most TOLERANCE; NaN fails."""
        try:
            difference = measure()
        except (RuntimeError, ValueError) as error:
            return cls(name, False, f"DyNet fails: {error}")
        seen = f"largest relative difference {difference:.1e}, limit {TOLERANCE:.0e}"
        return cls(name, difference <= TOLERANCE, seen)


def run() -> list[Check]:
    """Run all checks on the device that DyNet was started on."""
    switched = switches()
    effect = "it changes the order of evaluation" if switched else "it has no effect"
    return [
        Check("autobatching can be switched", switched, effect),
        Check.of_difference("LSTM steps, values", lambda: cell_differences()[0]),
        Check.of_difference("LSTM steps, gradients", lambda: cell_differences()[1]),
        Check.of_difference("autobatched equals one by one", autobatching_difference),
        Check.of_difference("memory grows under autobatching", growth_difference),
    ]


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


def switches() -> bool:
    """Return whether `renew_cg(autobatching=…)` takes effect.

    Two dropouts draw from one random stream in the order of their evaluation. One by one, this is the order of
    construction; autobatched, the shallower dropout is first.
    """
    masks = []
    for autobatching in (True, False):
        dy.renew_cg(autobatching=autobatching)
        dy.reset_random_seed(1)
        ones = dy.inputVector([1.0] * 64)
        deep = dy.dropout(dy.rectify(dy.tanh(dy.rectify(ones))), 0.5)
        shallow = dy.dropout(ones, 0.5)
        dy.concatenate([deep, shallow]).forward()
        masks.append(deep.npvalue() > 0)
    return not np.array_equal(*masks)


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


def autobatching_difference(seed: int = 1) -> float:
    """Return the relative difference of a small tagger's loss and gradients with and without autobatching."""
    rng = np.random.default_rng(seed)
    lengths = (1, 3, 9, 4, 9)
    sentences = [rng.integers(_Tagger.WORDS, size=length) for length in lengths]
    # each step bars some tags, never the gold tag 0
    masks = [np.where(rng.random((n, _Tagger.TAGS)) < 0.5, BARRED, 0.0) for n in lengths]
    for mask in masks:
        mask[:, 0] = 0.0
    results = []
    for autobatching in (True, False):
        tagger = _Tagger(seed)
        dy.renew_cg(autobatching=autobatching)
        loss = tagger.loss(sentences, masks)
        results.append([np.array(loss.value())])
        loss.backward()
        stored = [*tagger.store.dense.values(), *tagger.store.lookups.values()]
        results[-1] += [parameter.grad_as_array() for parameter in stored]
    return relative_difference(*results)


class _Tagger:
    """A small tagger of the models' parts: lookup, LSTM, affine transformation, rectifier, masked softmax."""

    WORDS, TAGS, SIZE = 20, 7, 32

    def __init__(self, seed: int):
        self.store = store = ParameterStore(seed)
        self.cells = [store.lstm_cell(f"lstm.{i}", self.SIZE, self.SIZE) for i in range(2)]
        self.words = store.lookup("word", self.WORDS, self.SIZE)
        self.hidden = store.matrix("hidden", self.SIZE, self.SIZE)
        self.hidden_bias = store.vector("hidden_bias", self.SIZE)
        self.output = store.matrix("output", self.TAGS, self.SIZE)
        self.output_bias = store.vector("output_bias", self.TAGS)

    def loss(self, sentences: list[np.ndarray], masks: list[np.ndarray]) -> dy.Expression:
        """Return the negative log likelihood, in nats, of tag 0 at every word."""
        losses = []
        for sentence, mask in zip(sentences, masks, strict=True):
            state = [None] * len(self.cells)
            for word, barred in zip(sentence, mask, strict=True):
                x = dy.lookup(self.words, int(word))
                for layer, cell in enumerate(self.cells):
                    x = state[layer] = cell.step(x, state[layer])
                summary = dy.pick_range(x, 0, self.SIZE)
                inner = dy.affine_transform([self.hidden_bias, self.hidden, summary])
                logits = dy.affine_transform([self.output_bias, self.output, dy.rectify(inner)])
                losses.append(dy.pickneglogsoftmax(logits + dy.inputVector(barred), 0))
        return dy.esum(losses)


def growth_difference(megabytes: int = Start.memory) -> float:
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
