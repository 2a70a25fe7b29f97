"""What replicas add up: gradients in a row, added in one order."""

from __future__ import annotations

import numpy as np
import pytest

from rnng_dy.engine import dy
from rnng_dy.training.updates import OPTIMIZERS, Gradients, PartialLoss, total_loss

from ..conftest import make_generator, make_parser


def test_shares_are_added_in_the_order_of_ranks():
    parts = [
        PartialLoss(1e16, {"word": {1}}, {"word": {1, 2}}),
        PartialLoss(1.0, {}, {}),
        PartialLoss(-1e16, {"word": {3}, "tag": {0}}, {"tag": {0}}),
    ]
    assert total_loss(parts) == PartialLoss(
        0.0, {"word": {1, 3}, "tag": {0}}, {"word": {1, 2}, "tag": {0}}
    )


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_update_leaves_the_words_of_unused_clusters_alone(generative_sentences, optimizer):
    model = make_generator(generative_sentences, seed=5)
    store = model.store
    example = min(map(model.encode_training, generative_sentences), key=lambda e: len(e.words))
    adam = OPTIMIZERS[optimizer](store, 5.0, 0.0)

    def gradient_of(examples):
        store.forget_used_rows()
        dy.renew_cg()
        loss = model.training_loss(examples, 0.0)
        loss.forward()
        loss.backward()
        return store.used_rows(), store.rows_with_gradient()

    # with moments from an update that uses all
    used, rows = gradient_of(list(map(model.encode_training, generative_sentences)))
    assert store.unused(used) == []
    adam.step(0.1, store.gradient_norm(), used)
    before = store.arrays()
    used, rows = gradient_of([example])
    unused = {name for name, p in store.dense.items() if p in store.unused(used)}
    assert 0 < len(unused) < sum(name.startswith("word_") for name in store.dense)
    # what is exchanged is without them
    row = np.zeros(store.count(), np.float32)
    count = Gradients(store).write(row, rows, used)
    size = sum(before[name].size for name in store.dense if name not in unused)
    assert count == size + sum(len(ids) * before[name].shape[1] for name, ids in rows.items())
    adam.step(0.1, store.gradient_norm(), used)
    after = store.arrays()
    same = {name for name in store.dense if np.array_equal(before[name], after[name])}
    assert same == unused


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
    count = gradients.write(row, rows, {})
    assert np.isfinite(row[:count]).all()
    assert np.isnan(row[count:]).all()
    assert len(row[count:]) > 100
    gradients.read(2 * row[:count], rows, {})
    for name, values in before.items():
        assert np.array_equal(tables[name].grad_as_array(), 2 * values), name
