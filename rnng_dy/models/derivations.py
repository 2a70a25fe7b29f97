"""Action sequences that are known in advance, as what depends on what.

Searches advance configurations action by action. Where the actions are given, all states of an LSTM for all sentences
of a minibatch are one node of the graph, and constituents of one height are composed together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from oracle.transitions import REDUCE, SHIFT, State, TransitionSystem
from rnng_dy.search.trace import FIRST, Beginnings, beginnings

NEW = -1
"""In place of a state to go on from."""
START = -1
"""In place of an item or action: what an LSTM reads first."""


class Forest:
    """States of an LSTM, each of which goes on from another one or begins anew; numbered as they are added."""

    def __init__(self):
        self.inputs: list = []
        """What each state reads."""
        self._parents: list[int] = []
        self._levels: list[int] = []

    def add(self, parent: int, read: object) -> int:
        """The number of a state that reads something after state `parent`."""
        number = len(self._parents)
        self._levels.append(0 if parent == NEW else self._levels[parent] + 1)
        self._parents.append(parent)
        self.inputs.append(read)
        return number

    def add_chain(self, inputs: Sequence) -> range:
        """The numbers of the states that read a sequence one after the other."""
        first, length = len(self._parents), len(inputs)
        if length:
            self._levels.extend(range(length))
            self._parents.append(NEW)
            self._parents.extend(range(first, first + length - 1))
            self.inputs.extend(inputs)
        return range(first, first + length)

    def by_level(self) -> Levels:
        """The states in an order in which each comes after those that it depends on."""
        levels = np.array(self._levels, int)
        order = np.argsort(levels, kind="stable")
        # the last place is for NEW
        places = np.full(len(order) + 1, NEW)
        places[order] = np.arange(len(order))
        return Levels(
            list(map(self.inputs.__getitem__, order.tolist())),
            places[np.array(self._parents, int)[order]].tolist(),
            np.bincount(levels).cumsum().tolist(),
            places[:-1].tolist(),
        )


class Levels(NamedTuple):
    """The states of a forest sorted by level: those of the first go on from none, others from levels before."""

    inputs: list
    parents: list[int]
    """Places of the states that they go on from."""
    ends: list[int]
    """Where each level ends."""
    places: list[int]
    """Of each state, by its number."""


class Item(NamedTuple):
    """An item of a stack that is a linked list; `number` is that of its vector."""

    below: Item | None
    label: int | None
    number: int
    state: int
    """Of the stack LSTM after it."""


class Place(NamedTuple):
    """A configuration: where it stands in the forests."""

    state: State
    stack: Item
    actions: int
    """State of the action LSTM."""
    position: int
    """Words read."""


class Constituent(NamedTuple):
    """What REDUCE makes a vector of: numbers of vectors."""

    label: int
    opened: int
    children: tuple[int, ...]


class Choice(NamedTuple):
    """An action, the number of the mask that allowed it, and the word that it generates."""

    mask: int
    action: int
    word: int | None


class Derivations:
    """Action sequences of some sentences; equal beginnings of those of a sentence are one."""

    def __init__(self, transitions: TransitionSystem):
        self.transitions = transitions
        self.stacks, self.actions, self.contexts = Forest(), Forest(), Forest()
        """What they read: vectors on stacks, ids of actions, words; START comes before them."""
        self.words: list[int] = []
        """Numbers of the vectors of the words of all sentences, one after the other."""
        self.opened: dict[int, int] = {}
        """Of open nonterminals, by label."""
        self.labels: dict[int, int] = {}
        """Of labels of constituents."""
        self.constituents: list[dict[int, Constituent]] = []
        """By height, then by number."""
        self.choices: list[Choice] = []
        self.read: list[tuple[int, int, int]] = []
        """For each choice what is known before it: states of the LSTMs over stack, actions and words."""
        self.paths: list[list[int]] = []
        """Of each sequence, the indices of its choices."""
        self._heights: dict[int, int] = {}
        self._numbers = count()

    def add(
        self,
        length: int,
        sequences: Iterable[Sequence[int]],
        generated: Sequence[int] | None,
        reads_backwards: bool,
    ) -> None:
        """A sentence of `length` words, or those of a generator, and the ids of action sequences over it.

        The LSTM over words reads them from the last to the first where it has what is left on the buffer.
        Raises ValueError where an action is not valid.
        """
        words = [next(self._numbers) for _ in range(length)]
        self.words += words
        first = len(self.choices)
        found = beginnings([sequences])
        _Sentence(self, words, generated, reads_backwards).take(found)
        self.paths += [[first + number for number in path] for path in found.paths]

    def open(self, label: int) -> int:
        """The number of the vector of an open nonterminal."""
        if label not in self.opened:
            self.opened[label] = next(self._numbers)
        return self.opened[label]

    def reduce(self, label: int, opened: int, children: tuple[int, ...]) -> int:
        """The number of the vector of a new constituent."""
        # Adam moves the rows that are looked up: not that of a root, which nothing is made of
        if label not in self.labels:
            self.labels[label] = next(self._numbers)
        number = next(self._numbers)
        height = max((self._heights.get(child, 0) for child in children), default=0)
        self._heights[number] = height + 1
        if height == len(self.constituents):
            self.constituents.append({})
        self.constituents[height][number] = Constituent(self.labels[label], opened, children)
        return number


class _Sentence:
    """The derivations of one sentence."""

    def __init__(
        self,
        all_of_them: Derivations,
        words: list[int],
        generated: Sequence[int] | None,
        reads_backwards: bool,
    ):
        self._all, self._words, self._generated = all_of_them, words, generated
        self._transitions = all_of_them.transitions
        read = reversed(words) if reads_backwards else words
        contexts = all_of_them.contexts.add_chain([START, *read])
        self._contexts = contexts[::-1] if reads_backwards else contexts
        """The state of the LSTM over words, by the number of words taken."""
        self._known: dict[tuple, int] = {}
        left = None if generated is not None else len(words)
        guard = Item(None, None, START, all_of_them.stacks.add(NEW, START))
        place = Place(self._transitions.start(left), guard, all_of_them.actions.add(NEW, START), 0)
        self._places = {FIRST: place}
        """After the beginnings that something follows."""

    def take(self, found: Beginnings) -> None:
        """Take the last action of each beginning. Raises ValueError where it is not valid."""
        for before, action in zip(found.before, found.actions, strict=True):
            if before not in self._places:
                # nothing is computed for the end of a sequence
                place = self._places[found.before[before]]
                self._places[before] = self._after(place, found.actions[before])
            self._choose(self._places[before], action)

    def _choose(self, place: Place, action: int) -> None:
        mask = self._transitions.mask_number(place.state)
        if not self._transitions.allows(mask, action):
            raise ValueError(f"action {action} is not valid in {place.state}")
        generates = self._generated is not None and action == SHIFT
        word = self._generated[place.position] if generates else None
        self._all.choices.append(Choice(mask, action, word))
        self._all.read.append((place.stack.state, place.actions, self._contexts[place.position]))

    def _after(self, place: Place, action: int) -> Place:
        state, stack, actions, position = place
        label = self._transitions.label(action)
        if action == SHIFT:
            stack = self._push(stack, None, self._words[position])
            position += 1
        elif label is not None:
            stack = self._push(stack, label, self._all.open(label))
        elif action == REDUCE:
            opened, children, below = self._transitions.constituent(stack)
            numbers = tuple(child.number for child in children)
            key = (opened.label, numbers)
            if key not in self._known:
                self._known[key] = self._all.reduce(opened.label, opened.number, numbers)
            stack = self._push(below, None, self._known[key])
        return Place(state.after(action), stack, self._all.actions.add(actions, action), position)

    def _push(self, below: Item, label: int | None, number: int) -> Item:
        return Item(below, label, number, self._all.stacks.add(below.state, number))
