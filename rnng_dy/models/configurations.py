"""Configurations: a state of the transition system with a model's view of stack, actions and words.

They are immutable and made of rows of blocks (`rnng_dy.rows`), so that many are computed together.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from oracle.transitions import State
from rnng_dy.rows import Row


class SentenceGraph:
    """What all configurations of a sentence share: its constituents, each computed once in a graph.

    Where a constituent's vector depends on label and children alone, the many trees of a sentence that are sampled,
    scored or searched together share most of them.
    """

    def __init__(self):
        self.constituents: dict[tuple, tuple[int, Row]] = {}
        """Name and vector of each constituent, by its label and the names of its children."""
        self._names = count()

    def new_name(self) -> int:
        """What tells a word or constituent from all others of the sentence."""
        return next(self._names)


class Words:
    """The words before a configuration, generated or taken off the buffer; those with the same ones share it."""

    __slots__ = ("context", "following", "name", "position", "vector")

    def __init__(self, position: int, context: Row | None, vector: Row | None, name: int):
        self.position = position
        """How many they are."""
        self.context = context
        """Of the context LSTM: it reads what is left on the buffer (parser) or what was generated (generator)."""
        self.vector, self.name = vector, name
        """The last word's vector for the stack, None before the first, and its name there."""
        self.following: dict[int | None, Words] = {}
        """By the id of the next word; the parser's only next one has None."""

    @property
    def rows(self) -> list[Row]:
        """What is computed of them."""
        return [row for row in (self.context, self.vector) if row is not None]

    @property
    def is_usable(self) -> bool:
        """Whether that is of the current graph, or kept."""
        return all(row.is_usable for row in self.rows)


class StackCell(NamedTuple):
    """A stack, seen from its top item; pushing makes a new cell, popping is going to `below`."""

    below: StackCell | None
    lstm: Row | None
    """The state of the stack LSTM after this item."""
    vector: Row | None
    """The item's embedding."""
    label: int | None = None
    """The nonterminal's id where the item is an open nonterminal, else None."""
    name: int | None = None
    """It tells a word or constituent from the others of its sentence."""


class Configuration(NamedTuple):
    """A state of the transition system with the model's view of it; rows of LSTMs that u leaves out are None.

    Without the stack, its cell is the one at the bottom all along.
    """

    graph: SentenceGraph
    state: State
    stack: StackCell
    actions: Row | None
    """The state of the action LSTM."""
    words: Words
    u: Row | None = None
    """The parser state, shape (hidden,), where a composition depends on it; else it is computed when it is needed."""


class Push(NamedTuple):
    """An item for the stack of configuration number `owner`."""

    owner: int
    below: StackCell
    vector: Row
    label: int | None
    name: int | None


def rows_of(configurations: Iterable[Configuration]) -> list[Row]:
    """All rows that configurations go on from."""
    rows, seen = [], set()
    for c in configurations:
        rows += [c.actions, c.u]
        cell, words = c.stack, [c.words]
        while cell is not None and id(cell) not in seen:
            seen.add(id(cell))
            rows += [cell.lstm, cell.vector]
            cell = cell.below
        while words:
            read = words.pop()
            if id(read) not in seen and read.is_usable:
                seen.add(id(read))
                words += read.following.values()
                rows += read.rows
    return [row for row in rows if row is not None]
