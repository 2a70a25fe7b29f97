"""Items put together so that one graph holds a bounded number of states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size_of: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    """Neighbouring items together while their sizes add up to at most `limit` (one item at least).

    >>> list(batches(["a", "bb", "cccc", "d"], len, 3))
    [['a', 'bb'], ['cccc'], ['d']]
    """
    batch: list[T] = []
    size = 0
    for item in items:
        if batch and size + size_of(item) > limit:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += size_of(item)
    if batch:
        yield batch
