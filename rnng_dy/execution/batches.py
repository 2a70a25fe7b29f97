"""Items put together so that one graph holds a bounded number of states, and taken apart where it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


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


def split_on_memory_error(
    function: Callable[[Sequence[T]], list[R]], batch: Sequence[T]
) -> list[R | None]:
    """`function(batch)`, a result for each item; of halves where memory runs out, None for an item too large alone."""
    try:
        return function(batch)
    except MemoryError:
        if len(batch) == 1:
            return [None]
    half = len(batch) // 2
    halves = (batch[:half], batch[half:])
    return [result for part in halves for result in split_on_memory_error(function, part)]
