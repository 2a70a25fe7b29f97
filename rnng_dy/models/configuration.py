"""Configurations: a state of the transition system, with stack, actions and words as vectors.

Configurations are immutable, so any number of successors can branch off one. Making one computes
nothing: its vectors are pending (see `vectors`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oracle.transition_system import State
from rnng_dy.models.lstm import LstmState
from rnng_dy.models.vectors import UNCOMPUTED, Embedding, Vector


class StackCell(LstmState):
    """A stack, represented by its top item, and the state of the stack LSTM after that item.

    Pushing makes a new cell on top of this one; popping returns to `below`.
    """

    __slots__ = ("label", "level")
    below = LstmState.before
    """The stack without the top item, under the name that transition systems use."""

    def __init__(self, below: LstmState, item: Vector, label: int | None = None):
        """Put an item on a stack; `label` is the number of an open nonterminal's label."""
        self.batch, self.before, self.reads, self.label = UNCOMPUTED, below, item, label
        self.level = below.level if below.level > item.level else item.level


class Constituent(Vector):
    """A constituent that REDUCE makes, with everything that a composition may read."""

    __slots__ = ("children", "configuration", "embeddings", "label", "level", "opened")

    def __init__(
        self,
        label: int,
        embeddings: Sequence[Embedding],
        opened: Vector,
        children: Sequence[Vector],
        configuration: Configuration | None,
    ):
        self.batch, self.label = UNCOMPUTED, label
        self.embeddings = embeddings
        """Embeddings of the label in the tables of the composition."""
        self.opened = opened
        """The vector of the open nonterminal on the stack."""
        self.children = children
        """Children from left to right."""
        self.configuration = configuration
        """The parser state u that predicted REDUCE; None if the composition does not read it."""
        levels = (child.level for child in children)
        self.level = 1 + (max(levels) if configuration is None else configuration.stack.level)


class WordPrefix:
    """The words generated or shifted so far; all configurations with these words share it."""

    __slots__ = ("context", "following", "position", "vector")

    def __init__(self, position: int, context: LstmState, vector: Vector | None):
        self.position = position
        """Number of these words."""
        self.context = context
        """The state of the LSTM over words.

        A parser's reads the buffer from its end, a generative model's reads these words.
        """
        self.vector = vector
        """The last word's vector; None before the first word."""
        self.following: dict[int | None, WordPrefix] = {}
        """Longer prefixes by the id of the next word, by None in a parser, which has one."""


class Configuration(Vector):
    """A state of the transition system; as a vector, it is the parser state u, shape (hidden,)."""

    __slots__ = ("constituents", "history", "stack", "state", "words")

    def __init__(
        self,
        state: State,
        stack: StackCell,
        history: LstmState,
        words: WordPrefix,
        constituents: dict[tuple[object, ...], Constituent],
    ):
        self.batch, self.state, self.stack = UNCOMPUTED, state, stack
        self.history = history
        """The state of the LSTM over actions."""
        self.words = words
        self.constituents = constituents
        """The sentence's constituents by label and children, if the composition does not read u."""


class Derivation(NamedTuple):
    """Action sequences over a sentence: of one tree, or of several."""

    sentence: object
    """The argument of `start`."""
    sequences: Sequence[Sequence[int]]
    generated: Sequence[int] | None
    """Ids of the words that a generator's SHIFTs generate, in order."""


class Decision(NamedTuple):
    """An action, taken in a configuration."""

    configuration: Configuration
    mask: int
    """The number of the mask of valid actions."""
    action: int
    word: int | None
    """The id of the word that the action generates."""
    after: Configuration
