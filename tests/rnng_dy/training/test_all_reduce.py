"""What replicas add up: gradients in a row, added in one order."""

from __future__ import annotations

import numpy as np

from rnng_dy.engine import dy
from rnng_dy.training.updates import Gradients, PartialLoss, total_loss

from ..conftest import make_parser


def test_shares_are_added_in_the_order_of_ranks():
    parts = [
        PartialLoss(1e16, (4,), {"word": {1}}, {"word": {1, 2}}),
        PartialLoss(1.0, (), {}, {}),
        PartialLoss(-1e16, (2, 1), {"word": {3}, "tag": {0}}, {"tag": {0}}),
    ]
    assert total_loss(parts) == PartialLoss(
        0.0, (4, 2, 1), {"word": {1, 3}, "tag": {0}}, {"word": {1, 2}, "tag": {0}}
    )


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
    gradients.read(2 * row[:count], rows)
    for name, values in before.items():
        assert np.array_equal(tables[name].grad_as_array(), 2 * values), name
