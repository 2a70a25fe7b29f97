"""Nodes of DyNet that the patches wrote anew, against numpy: values, and gradients by differences."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from rnng_dy.engine import dy


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape)


def rows(batch: np.ndarray) -> np.ndarray:
    """The elements of a batch (its last dimension) as DyNet lays them out in memory."""
    return batch.reshape(-1, batch.shape[-1], order="F").T


def graph(function, arrays, batches):
    """The function of arrays as parameters; those numbered in `batches` are rows of lookup tables."""
    dy.renew_cg()
    collection, read, kept = dy.ParameterCollection(), [], []
    for number, array in enumerate(arrays):
        if number in batches:
            kept.append(collection.lookup_parameters_from_numpy(rows(array)))
            looked_up = dy.lookup_batch(kept[-1], range(array.shape[-1]))
            read.append(dy.reshape(looked_up, array.shape[:-1], array.shape[-1]))
        else:
            kept.append(collection.parameters_from_numpy(array))
            read.append(kept[-1])
    return function(*read), kept, collection


def weighted(values: np.ndarray) -> float:
    """Some sum of all values, in which each has another weight."""
    return float((values * np.cos(np.arange(values.size)).reshape(values.shape)).sum())


def check(function, expected, *arrays: np.ndarray, batches: tuple[int, ...] = ()) -> None:
    """Compare a function with `expected`, and its gradients with differences of that."""
    value, kept, _collection = graph(function, arrays, batches)
    wanted = expected(*arrays)
    assert value.npvalue() == pytest.approx(wanted, abs=1e-5)
    dim, size = value.dim()
    weights = np.cos(np.arange(wanted.size)).reshape(*dim, *[size] * (size > 1))
    product = dy.cmult(value, dy.inputTensor(weights, batched=size > 1))
    dy.sum_batches(dy.sum_elems(product)).backward()
    for number, parameters in enumerate(kept):
        gradient = differences(expected, arrays, number)
        wanted = rows(gradient) if number in batches else gradient
        assert parameters.grad_as_array() == pytest.approx(wanted, abs=1e-4)


def differences(function, arrays, number: int) -> np.ndarray:
    """The gradient of the weighted sum in one of the arrays, by central differences."""
    gradient = np.empty_like(arrays[number])
    for place in np.ndindex(gradient.shape):
        around = []
        for step in (1e-4, -1e-4):
            moved = [array.copy() for array in arrays]
            moved[number][place] += step
            around.append(weighted(function(*moved)))
        gradient[place] = (around[0] - around[1]) / 2e-4
    return gradient


@pytest.mark.parametrize(
    ("tensor", "vector", "bias", "sums", "batches"),
    [
        ((2, 3, 4), (4,), (2, 3), "ijk,k->ij", ()),
        ((2, 3, 4), (4, 5), (2, 3, 5), "ijk,kb->ijb", (1, 2)),
        ((2, 3, 4, 5), (4,), (2, 3, 5), "ijkb,k->ijb", (0, 2)),
        ((2, 3, 4, 5), (4, 5), (2, 3, 5), "ijkb,kb->ijb", (0, 1, 2)),
    ],
)
def test_a_tensor_times_a_vector(tensor, vector, bias, sums, batches):
    arrays = random(*tensor), random(*vector)

    def product(a, b, c=0.0):
        return np.einsum(sums, a, b) + c

    check(dy.contract3d_1d, product, *arrays, batches=batches)
    check(dy.contract3d_1d_bias, product, *arrays, random(*bias), batches=batches)


def test_a_tensor_times_two_vectors():
    arrays = random(2, 3, 4), random(4), random(3)

    def product(a, b, c, d=0.0):
        return np.einsum("ijk,k,j->i", a, b, c) + d

    check(dy.contract3d_1d_1d, product, *arrays)
    check(dy.contract3d_1d_1d_bias, product, *arrays, random(2))


def convolution(
    x: np.ndarray, f: np.ndarray, stride: tuple[int, int], is_valid: bool
) -> np.ndarray:
    """Rows, columns, channels and batch of `x` with the filters `f`, term by term."""
    if not is_valid:
        sizes = [-(-x.shape[k] // stride[k]) for k in (0, 1)]
        missing = [max(0, (sizes[k] - 1) * stride[k] + f.shape[k] - x.shape[k]) for k in (0, 1)]
        x = np.pad(x, [*((m // 2, m - m // 2) for m in missing), (0, 0), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(x, f.shape[:2], axis=(0, 1))
    return np.einsum("ijcbuv,uvco->ijob", windows[:: stride[0], :: stride[1]], f)


@pytest.mark.parametrize("is_valid", [True, False])
@pytest.mark.parametrize(
    ("size", "stride"), [((2, 3), (1, 1)), ((3, 2), (2, 1)), ((1, 2), (1, 3)), ((1, 1), (2, 2))]
)
def test_a_convolution(size, stride, is_valid):
    arrays = random(5, 4, 2, 3), random(*size, 2, 2)

    def expected(x, f, bias=0.0):
        return convolution(x, f, stride, is_valid) + np.reshape(bias, (-1, 1))

    check(lambda x, f: dy.conv2d(x, f, stride, is_valid), expected, *arrays, batches=(0,))
    with_bias = functools.partial(dy.conv2d_bias, stride=stride, is_valid=is_valid)
    check(with_bias, expected, *arrays, random(2), batches=(0,))


def test_the_orthonormal_initializer_gives_an_orthonormal_matrix():
    collection = dy.ParameterCollection()
    matrix = collection.add_parameters((30, 30), init=dy.SaxeInitializer(2.0)).as_array()
    assert matrix.T @ matrix == pytest.approx(4 * np.eye(30), abs=1e-4)
