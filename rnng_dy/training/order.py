"""The order of the training data in an epoch, which depends on the seed and the number of the epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnng_dy.training.examples import sizes_of
from rnng_dy.training.presets import Settings

BATCHES = 50
"""Batches that are sorted together: enough for sentences of like size per batch, few enough to vary over epochs."""


def order_of_epoch(examples: Sequence, settings: Settings, epoch: int) -> np.ndarray:
    """Return the indices of the examples, batch after batch; the last batch may be smaller."""
    order = np.random.default_rng([settings.seed, 0, epoch]).permutation(len(examples))
    if not settings.bucket:
        return order
    random = np.random.default_rng([settings.seed, 3, epoch])
    return in_buckets(order, sizes_of(examples), settings.batch_size, random)


def in_buckets(
    order: np.ndarray, sizes: np.ndarray, batch_size: int, random: np.random.Generator
) -> np.ndarray:
    """Return the order with like sizes in each batch: sorts each BATCHES batches by size, then shuffles all batches.

    The rest that fills no whole batch stays at the end.

    >>> order, sizes = np.arange(5), np.array([9, 1, 8, 2, 5])
    >>> in_buckets(order, sizes, 2, np.random.default_rng(1)).tolist()
    [1, 3, 2, 0, 4]
    """
    whole = len(order) - len(order) % batch_size
    chunk = np.arange(whole) // (BATCHES * batch_size)
    batches = order[np.lexsort((sizes[order[:whole]], chunk))].reshape(-1, batch_size)
    return np.concatenate([random.permutation(batches).ravel(), order[whole:]])
