"""Two seconds of numerics that tell a sound DyNet from a broken one, on the device in use.

Models rely on three things: autobatching gives the values that one-by-one evaluation gives, it can
be switched for each graph, and memory grows where a graph outgrows what was set aside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rnng_dy.engine import Settings, dy

TOLERANCE = 1e-4
BARRED = -1e9


@dataclass(frozen=True)
class Check:
    """One result, and what was seen."""

    name: str
    passed: bool
    seen: str

    @classmethod
    def of_difference(cls, name: str, measure: Callable[[], float]) -> Check:
        """Passed where the largest relative difference is at most TOLERANCE; never with nan."""
        try:
            difference = measure()
        except (RuntimeError, ValueError) as error:
            return cls(name, False, f"DyNet fails: {error}")
        seen = f"largest relative difference {difference:.1e}, limit {TOLERANCE:.0e}"
        return cls(name, difference <= TOLERANCE, seen)


def run() -> list[Check]:
    """All checks, on the device that DyNet was started on."""
    switched = switches()
    effect = "it changes the order of evaluation" if switched else "it has no effect"
    return [
        Check("autobatching can be switched", switched, effect),
        Check.of_difference("autobatched equals one by one", autobatching_difference),
        Check.of_difference("memory grows under autobatching", growth_difference),
    ]


def relative_difference(values: list[np.ndarray], reference: list[np.ndarray]) -> float:
    """The largest difference, each array's relative to its reference's largest entry.

    >>> relative_difference([np.array([1.0, 3.0])], [np.array([1.0, 4.0])])
    0.25
    """
    return max(
        float(np.abs(value - known).max() / (np.abs(known).max() or 1.0))
        for value, known in zip(values, reference, strict=True)
    )


def switches() -> bool:
    """Whether `renew_cg(autobatching=…)` takes effect.

    Two dropouts draw from one random stream in the order in which they are evaluated: one by one
    that is the order of their construction, autobatched the shallower one is first.
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


def autobatching_difference(seed: int = 1) -> float:
    """How far loss and gradients of a small tagger are apart with and without autobatching."""
    rng = np.random.default_rng(seed)
    lengths = (1, 3, 9, 4, 9)
    sentences = [rng.integers(_Tagger.WORDS, size=length) for length in lengths]
    # each step bars some tags, never the gold tag 0
    masks = [np.where(rng.random((n, _Tagger.TAGS)) < 0.5, BARRED, 0.0) for n in lengths]
    for mask in masks:
        mask[:, 0] = 0.0
    results = []
    for autobatching in (True, False):
        collection = dy.ParameterCollection()
        tagger = _Tagger(collection, np.random.default_rng(seed))
        dy.renew_cg(autobatching=autobatching)
        loss = tagger.loss(sentences, masks)
        results.append([np.array(loss.value())])
        loss.backward()
        stored = [*collection.parameters_list(), *collection.lookup_parameters_list()]
        results[-1] += [parameter.grad_as_array() for parameter in stored]
    return relative_difference(*results)


class _Tagger:
    """Lookup, coupled LSTM, affine transformation, rectifier, masked softmax: as in the models."""

    WORDS, TAGS, SIZE = 20, 7, 32

    def __init__(self, collection: dy.ParameterCollection, rng: np.random.Generator):
        self.words = collection.add_lookup_parameters((self.WORDS, self.SIZE))
        self.lstm = dy.CoupledLSTMBuilder(2, self.SIZE, self.SIZE, collection)
        self.hidden = collection.add_parameters((self.SIZE, self.SIZE))
        self.hidden_bias = collection.add_parameters(self.SIZE)
        self.output = collection.add_parameters((self.TAGS, self.SIZE))
        self.output_bias = collection.add_parameters(self.TAGS)
        for parameter in collection.parameters_list():
            parameter.set_value(rng.uniform(-0.3, 0.3, parameter.shape()))
        self.words.init_from_array(rng.uniform(-0.3, 0.3, (self.WORDS, self.SIZE)))

    def loss(self, sentences: list[np.ndarray], masks: list[np.ndarray]) -> dy.Expression:
        """The negative log likelihood of tag 0 everywhere."""
        losses = []
        for sentence, mask in zip(sentences, masks, strict=True):
            state = self.lstm.initial_state()
            for word, barred in zip(sentence, mask, strict=True):
                state = state.add_input(self.words[int(word)])
                inner = dy.affine_transform([self.hidden_bias, self.hidden, state.output()])
                logits = dy.affine_transform([self.output_bias, self.output, dy.rectify(inner)])
                losses.append(dy.pickneglogsoftmax(logits + dy.inputVector(barred), 0))
        return dy.esum(losses)


def growth_difference(megabytes: int = Settings.memory) -> float:
    """How far a gradient is from its known value in a graph larger than the first memory pools.

    Two kinds of node feed one kind, whose batch has to gather them: there backward takes memory for
    a moment and gives it back, which without our patch fails once a pool has grown.
    """
    size = 1 << 18
    # a vector takes a megabyte, a pair below four of them
    pairs = 3 * megabytes // 8
    collection = dy.ParameterCollection()
    weights = collection.parameters_from_numpy(np.full(size, 0.5, dtype=np.float32))
    dy.renew_cg(autobatching=True)
    doubled = [weights + weights for _ in range(pairs)]
    tripled = [weights * 3.0 for _ in range(pairs)]
    loss = dy.sum_elems(dy.esum([dy.rectify(x) for x in doubled + tripled])) * (1.0 / size)
    value = loss.value()
    loss.backward()
    # five times a half, and five, a pair
    expected = [np.array(2.5 * pairs), np.full(size, 5.0 * pairs / size)]
    difference = relative_difference([np.array(value), weights.grad_as_array()], expected)
    dy.renew_cg()
    return difference
