"""What replicas add up: gradients in a row, added in one order."""

from __future__ import annotations

import numpy as np
import pytest

from rnng_dy.engine import dy
from rnng_dy.training.replicas import add_in_order
from rnng_dy.training.updates import Gradients, PartialLoss, total_loss

from ..conftest import make_parser


@pytest.mark.parametrize("parts", [2, 3, 9])
def test_sums_are_those_of_one_order(parts):
    numbers = np.random.default_rng(1).normal(size=(parts, 17)).astype(np.float32)
    for width in (17, 1, 0):
        found = np.full(width, np.nan, np.float32)
        add_in_order(numbers[:, :width], found)
        one_by_one = numbers[0, :width].copy()
        for part in numbers[1:, :width]:
            one_by_one = one_by_one + part
        assert np.array_equal(found, one_by_one)


def test_the_sum_of_a_slice_is_a_slice_of_the_sum():
    numbers = np.random.default_rng(2).normal(size=(9, 40)).astype(np.float32)
    whole, sliced = np.empty(40, np.float32), np.empty(40, np.float32)
    add_in_order(numbers, whole)
    for part in (slice(0, 13), slice(13, 14), slice(14, 40)):
        add_in_order(numbers[:, part], sliced[part])
    assert np.array_equal(whole, sliced)


def test_shares_are_added_in_the_order_of_ranks():
    parts = [
        PartialLoss(1e16, (4,), {"word": {1}}, {"word": {1, 2}}),
        PartialLoss(1.0, (), {}, {}),
        PartialLoss(-1e16, (2, 1), {"word": {3}, "tag": {0}}, {"tag": {0}}),
    ]
    assert total_loss(parts) == PartialLoss(
        0.0, (4, 2, 1), {"word": {1, 3}, "tag": {0}}, {"word": {1, 2}, "tag": {0}}
    )


def test_rows_are_exchanged_in_the_order_of_their_numbers(sentences):
    """Sets of the same rows are gone through in an order of its own by each process."""
    model = make_parser(sentences)
    gradients = Gradients(model.store)
    orders = {"word": dict.fromkeys([3, 1, 2]).keys()}, {"word": dict.fromkeys([2, 3, 1]).keys()}
    table = model.store.lookups["word"].grad_view()
    table[[1, 2, 3]] = np.arange(3)[:, None]
    sent = []
    for rows in orders:
        row = np.empty(model.store.count(), np.float32)
        sent.append(row[: gradients.write(row, rows)])
    assert np.array_equal(*sent)
    gradients.read(orders[1], lambda part, out: np.copyto(out, sent[0][part]))
    assert table[[1, 2, 3], 0].tolist() == [0, 1, 2]


def test_a_row_has_dense_gradients_and_the_given_rows_alone(sentences):
    model = make_parser(sentences)
    example = model.encode_training(sentences[0])
    dy.renew_cg()
    loss = model.training_loss([example], 0.0)
    loss.forward()
    loss.backward()
    tables = {**model.store.dense, **model.store.lookups}
    before = {name: p.grad_as_array().copy() for name, p in tables.items()}
    rows = model.store.rows_with_gradient()
    gradients = Gradients(model.store)
    row = np.full(model.store.count(), np.nan, np.float32)
    count = gradients.write(row, rows)
    assert np.isfinite(row[:count]).all()
    assert np.isnan(row[count:]).all()
    assert len(row[count:]) > 100
    gradients.read(rows, lambda part, out: np.multiply(row[part], 2, out=out))
    for name, values in before.items():
        assert np.array_equal(tables[name].grad_as_array(), 2 * values), name
