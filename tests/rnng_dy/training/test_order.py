"""The order of an epoch: all sentences once, tied to the seed, and with --bucket like sentences together."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from rnng_dy.training.examples import BATCHES, order_of_epoch
from rnng_dy.training.presets import PRESETS

from ..conftest import make_parser
from .trainings import Training

SETTINGS = replace(PRESETS["fast", "discriminative"], bucket=True, batch_size=4)


class Sizes(list):
    """What examples are to the order."""

    @property
    def sizes(self):
        return np.array(self)


EXAMPLES = Sizes(np.random.default_rng(1).integers(5, 200, 1003).tolist())


def sizes(order):
    return [EXAMPLES[i] for i in order]


def test_without_buckets_it_is_the_permutation_of_before():
    order = order_of_epoch(EXAMPLES, replace(SETTINGS, bucket=False), 2)
    assert order.tolist() == np.random.default_rng([1, 0, 2]).permutation(1003).tolist()


def test_with_buckets_it_is_the_order_of_before():
    """A run that an older version began goes on in its order."""
    order = np.random.default_rng([1, 0, 2]).permutation(1003).tolist()
    chunks = [order[i : i + 200] for i in range(0, 1000, 200)]
    sorted_by_size = [i for chunk in chunks for i in sorted(chunk, key=EXAMPLES.__getitem__)]
    batches = np.random.default_rng([1, 3, 2]).permutation(np.reshape(sorted_by_size, (-1, 4)))
    expected = [*batches.ravel().tolist(), *order[1000:]]
    assert order_of_epoch(EXAMPLES, SETTINGS, 2).tolist() == expected


@pytest.mark.parametrize("batch_size", [1, 4, 16, 2000])
def test_every_sentence_comes_once(batch_size):
    order = order_of_epoch(EXAMPLES, replace(SETTINGS, batch_size=batch_size), 0)
    assert sorted(order.tolist()) == list(range(1003))


def test_the_sentences_of_a_batch_are_of_like_length():
    def spread(settings):
        order = order_of_epoch(EXAMPLES, settings, 0)[:1000]
        return np.ptp(np.reshape(sizes(order), (-1, 4)), axis=1).mean()

    assert spread(SETTINGS) < 0.05 * spread(replace(SETTINGS, bucket=False))


def test_long_and_short_batches_take_turns():
    first, second = np.split(np.array(sizes(order_of_epoch(EXAMPLES, SETTINGS, 0)))[:1000], 2)
    assert abs(first.mean() - second.mean()) < 15


def test_epochs_and_seeds_differ_and_repeat():
    def order(**changes):
        epoch = changes.pop("epoch", 0)
        return order_of_epoch(EXAMPLES, replace(SETTINGS, **changes), epoch).tolist()

    assert order() == order()
    assert order() != order(epoch=1)
    assert order() != order(seed=2)
    batches = [
        {tuple(sorted(o[i : i + 4])) for i in range(0, 1000, 4)} for o in (order(), order(epoch=1))
    ]
    assert len(batches[0] & batches[1]) < len(batches[0]) / BATCHES


def test_a_resumed_training_goes_on_in_the_same_order(sentences, tmp_path):
    changes = {**asdict(SETTINGS), "epochs": 1, "checkpoint_every": 1, "optimizer": "sgd"}

    def run(folder, stop_after):
        parser = make_parser(sentences)
        training = Training(parser, sentences[:30], tmp_path / folder, **changes)
        if (tmp_path / folder).exists():
            training.resume()
        else:
            training.create_folder()
        training.run(lambda: training.progress.updates == stop_after)
        return parser.store.arrays()

    whole = run("whole", None)
    run("stopped", 3)
    for name, values in run("stopped", None).items():
        assert np.array_equal(values, whole[name]), name
