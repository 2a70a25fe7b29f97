"""The order in which an epoch goes through the training data, tied to the seed and the number of the epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnng_dy.training.examples import sizes_of
from rnng_dy.training.presets import Settings

BATCHES = 50
"""Whose sentences are sorted together: enough for batches of like sentences, few enough for new ones in each epoch."""


def order_of_epoch(examples: Sequence, settings: Settings, epoch: int) -> np.ndarray:
    """Indices of the examples, batch after batch; the last batch may be a smaller one."""
    order = np.random.default_rng([settings.seed, 0, epoch]).permutation(len(examples))
    if not settings.bucket:
        return order
    random = np.random.default_rng([settings.seed, 3, epoch])
    return in_buckets(order, sizes_of(examples), settings.batch_size, random)


def in_buckets(
    order: np.ndarray, sizes: np.ndarray, batch_size: int, random: np.random.Generator
) -> np.ndarray:
    """The order with like sizes in each batch: those of BATCHES batches are sorted, then all batches are shuffled.

    What is left for no whole batch stays at the end.

    >>> order, sizes = np.arange(5), np.array([9, 1, 8, 2, 5])
    >>> in_buckets(order, sizes, 2, np.random.default_rng(1)).tolist()
    [1, 3, 2, 0, 4]
    """
    whole = len(order) - len(order) % batch_size
    chunk = np.arange(whole) // (BATCHES * batch_size)
    batches = order[np.lexsort((sizes[order[:whole]], chunk))].reshape(-1, batch_size)
    return np.concatenate([random.permutation(batches).ravel(), order[whole:]])
