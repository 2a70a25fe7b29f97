"""What an update of the generative model leaves alone: words of classes not in it."""

import numpy as np
import pytest

from rnng_dy.engine import dy
from rnng_dy.training.updates import OPTIMIZERS, PartialLoss, Replicas, add_up

from ..conftest import make_generator


class Alone(Replicas):
    """The only replica, which remembers how many numbers it would exchange."""

    def gathered(self, message):
        return [message]

    def total(self, arrays):
        total = np.concatenate(arrays)
        self.size = len(total)
        return total


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_update_leaves_the_words_of_unused_clusters_alone(generative_sentences, optimizer):
    model = make_generator(generative_sentences, seed=5)
    store = model.store
    example = min(map(model.encode_training, generative_sentences), key=lambda e: len(e.words))
    adam = OPTIMIZERS[optimizer](store, 5.0, 0.0)

    def gradient_of(examples):
        store.forget_used_rows()
        dy.renew_cg()
        model.training_loss(examples, 0.0).backward()
        return store.used_rows(), store.rows_with_gradient()

    # with moments from an update that uses all
    used, rows = gradient_of(list(map(model.encode_training, generative_sentences)))
    assert store.unused(used) == []
    adam.step(0.1, store.collection.gradient_l2_norm(), used)
    before = store.arrays()
    used, rows = gradient_of([example])
    unused = {name for name, p in store.dense.items() if p in store.unused(used)}
    assert 0 < len(unused) < sum(name.startswith("word_") for name in store.dense)
    # what is exchanged is without them
    replica = Alone()
    add_up(store, PartialLoss(0.0, rows, used), replica)
    size = sum(before[name].size for name in store.dense if name not in unused)
    rows_size = sum(len(ids) * before[name].shape[1] for name, ids in rows.items())
    assert replica.size == size + rows_size
    adam.step(0.1, store.collection.gradient_l2_norm(), used)
    after = store.arrays()
    assert {name for name in store.dense if np.array_equal(before[name], after[name])} == unused
