"""Batches of items with a bounded number of states in one graph; batches are split if memory does not suffice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def batches(items: Iterable[T], size_of: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    """Yield batches of neighbouring items, of total size at most `limit` or of a single item.

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


def split_on_memory_error(
    function: Callable[[Sequence[T]], list[R]], batch: Sequence[T]
) -> list[R | None]:
    """Return `function(batch)`, a result per item; halves batches when memory runs out, None for too large an item."""
    try:
        return function(batch)
    except MemoryError:
        if len(batch) == 1:
            return [None]
    half = len(batch) // 2
    halves = (batch[:half], batch[half:])
    return [result for part in halves for result in split_on_memory_error(function, part)]
