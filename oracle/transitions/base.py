"""What a transition system has: actions with names and ids, valid ones in each state, their effect on a stack."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from oracle.brackets import format_tree
from oracle.errors import RnngError, UnderivableError, UnseenSymbolError
from oracle.lazy import nltk
from oracle.treebank import has_preterminals, is_preterminal

REDUCE, SHIFT = 0, 1
"""Action ids of every system: REDUCE makes a constituent, SHIFT takes or generates a word (GEN in the paper)."""

MAX_OPEN = 100
"""A nonterminal may be opened while at most this many are open (the original; the paper writes n < 100)."""


MOST_MOVES = 1 << 16
"""Valid actions in states that are remembered, some 20 MB of them."""


class State(Protocol):
    """What decides the valid actions: immutable, and equal to others that decide the same."""

    @property
    def open(self) -> int:
        """How many constituents are open."""

    @property
    def is_finished(self) -> bool:
        """Whether one complete tree stands on the stack."""

    def after(self, action: int) -> State:
        """The state that a valid action leads to."""


class StackItem(Protocol):
    """An item of a stack that is a linked list: an open nonterminal has a label, a word or constituent None."""

    below: StackItem | None
    label: object


Cell = TypeVar("Cell", bound=StackItem)


class TransitionSystem(ABC):
    """A way of building trees by actions.

    Ids are those of the `structural` actions, then one for each nonterminal, in order: the action that opens it. An
    object without nonterminals serves for trees and actions as they are written.
    """

    name: ClassVar[str]
    """In config.json and on the command line."""
    structural: ClassVar[tuple[str, ...]] = ("REDUCE", "SHIFT")
    """Names of the actions without a label."""
    opening: ClassVar[str] = "NT"
    """How the actions that open a nonterminal begin."""
    opens_after: ClassVar[int] = 0
    """How many of its children stand on the stack when a nonterminal is opened; the others come above it."""
    opening_needs_word: ClassVar[bool] = True
    """Whether a nonterminal that is opened must get a word before it can be closed."""
    limits: ClassVar[tuple[str, ...]] = ("max_open",)
    """Arguments that bar trees which could be built without them."""

    def __init__(self, nonterminals: Iterable[str] = (), max_open: float = MAX_OPEN):
        self.nonterminals = tuple(dict.fromkeys(nonterminals))
        self.max_open = max_open
        self.first_open = len(self.structural)
        """The id of the first action that opens a nonterminal."""
        self.names = (*self.structural, *map(self.open_action, self.nonterminals))
        self._ids = {name: i for i, name in enumerate(self.names)}
        self._kinds: dict[str, int] = {}
        self._moves: dict[tuple[State, int], State] = {}
        kinds = np.minimum(np.arange(len(self.names)), self.first_open)
        self.masks = (np.arange(2 << self.first_open)[:, None] >> kinds & 1).astype(bool)
        """Shape (masks, actions): the actions that mask number i allows. Its bits are the structural actions, and one
        for all that open a nonterminal."""

    def __len__(self) -> int:
        """The number of actions."""
        return len(self.names)

    # what a system decides

    @abstractmethod
    def start(self, words: int | None) -> State:
        """The state before the first action, with so many words on the buffer; None for a generator without one."""

    @abstractmethod
    def mask_number(self, state: State) -> int:
        """The row of `masks` that holds in a state."""

    @abstractmethod
    def why_not(self, state: State, action: int | None) -> str:
        """What is wrong with an action that is not valid, to follow its name; None for ending here."""

    @property
    def max_actions_within_limits(self) -> float:
        """So many actions never break a limit; 0: that must be looked at."""
        # every constituent is opened and closed
        return 2 * self.max_open if self.limits == TransitionSystem.limits else 0

    # what follows: trees

    def actions_of(self, tree: nltk.Tree, preterminals: bool | None = None) -> list[str]:
        """The actions that build the tree.

        `preterminals` says whether words have POS tags above them; None looks whether every word stands
        alone. A tree without POS tags whose words all stand alone, `(S (NP it) (VP ran))`, needs False.
        Raises RnngError for a tree that is only a preterminal or has a constituent without a label.
        """
        if not isinstance(tree, nltk.Tree) or not len(tree):
            raise RnngError(f"{tree!r:.60} is no tree over words")
        if preterminals is None:
            # a lone word under the root is its child, since a root cannot be a POS tag
            preterminals = has_preterminals(tree) and not is_preterminal(tree)
        if preterminals and is_preterminal(tree):
            raise RnngError(f"({tree.label()} {tree[0]}) is only a preterminal: it has no actions")
        actions: list[str] = []
        # actions to come are in tuples, to tell them from words
        left: list[nltk.Tree | str | tuple[str]] = [tree]
        while left:
            node = left.pop()
            if isinstance(node, tuple):
                actions += node
            elif isinstance(node, str) or (preterminals and is_preterminal(node)):
                actions.append(self.structural[SHIFT])
            else:
                if not node.label():
                    raise RnngError("a constituent without a label: `rnng-dy prepare` takes it out")
                opening, closing = (self.open_action(node.label()),), (self.structural[REDUCE],)
                first, others = node[: self.opens_after], node[self.opens_after :]
                left += [closing, *others[::-1], opening, *first[::-1]]
        return actions

    def constituent(self, stack: Cell) -> tuple[Cell, list[Cell], Cell | None]:
        """What REDUCE makes: the open nonterminal, its children from left to right, and the stack left below them."""
        children = []
        while stack.label is None:
            children.append(stack)
            stack = stack.below
        opened, below = stack, stack.below
        for _ in range(self.opens_after):
            children.append(below)
            below = below.below
        children.reverse()
        return opened, children, below

    # names, ids and what follows from the above

    @classmethod
    def open_action(cls, label: str) -> str:
        """The action that opens a nonterminal."""
        return f"{cls.opening}({label})"

    @classmethod
    def label_of(cls, action: str) -> str | None:
        """The label that an action opens, None for another action."""
        begin = len(cls.opening) + 1
        is_open = action.startswith(f"{cls.opening}(") and action.endswith(")")
        return action[begin:-1] or None if is_open else None

    @classmethod
    def has(cls, action: str) -> bool:
        """Whether it is an action of the system, with some label."""
        return action in cls.structural or cls.label_of(action) is not None

    @classmethod
    def writes_like(cls, other: type[TransitionSystem]) -> bool:
        """Whether both have actions of the same names, so that an oracle of one may be one of the other."""
        return (cls.structural, cls.opening) == (other.structural, other.opening)

    @classmethod
    def labels(cls, sequences: Iterable[Iterable[str]]) -> tuple[str, ...]:
        """The nonterminals of action sequences in order of first appearance."""
        opened = (cls.label_of(action) for actions in sequences for action in actions)
        return tuple(dict.fromkeys(label for label in opened if label is not None))

    def encode(self, actions: Sequence[str]) -> list[int]:
        """Ids of actions.

        Raises UnseenSymbolError naming the nonterminals that there are not, RnngError for what is no action at all.
        """
        try:
            return [self._ids[action] for action in actions]
        except KeyError:
            unknown = [action for action in actions if action not in self._ids]
        for action in unknown:
            self._kind(action)
        raise UnseenSymbolError(self.label_of(action) for action in unknown) from None

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Actions of ids."""
        return [self.names[i] for i in ids]

    def label(self, action: int) -> int | None:
        """The number of the nonterminal that an action id opens, None for another action."""
        return action - self.first_open if action >= self.first_open else None

    def is_valid(self, state: State, action: int) -> bool:
        """Whether the action may be taken in the state."""
        return self.allows(self.mask_number(state), action)

    def allows(self, mask: int, action: int) -> bool:
        """Whether mask number `mask` allows an action."""
        kind = action if action < self.first_open else self.first_open
        return bool(mask >> kind & 1)

    def check(self, actions: Sequence[str], length: int) -> None:
        """Raise UnderivableError, saying which action, unless the actions build one tree over `length` words."""
        state = self._after(actions, length)
        if not actions:
            raise UnderivableError("no actions")
        if not state.is_finished:
            raise UnderivableError(f"the actions end {self.why_not(state, None)}")

    def tree_of(
        self, actions: Sequence[str], words: Sequence[str], tags: Sequence[str] | None = None
    ) -> nltk.Tree:
        """The tree that the actions build; with tags every word gets its preterminal.

        Raises UnderivableError, saying which action, where they build no tree over exactly these words.
        """
        self.check(actions, len(words))
        if tags is not None and len(tags) != len(words):
            raise RnngError(f"{len(tags)} POS tags for {len(words)} words")
        leaves = iter(words)
        if tags is not None:
            leaves = (nltk.Tree(tag, [word]) for tag, word in zip(tags, words, strict=True))
        return self._stack(actions, leaves).tree

    def partial_brackets(self, actions: Sequence[str], words: Sequence[str]) -> str:
        """What the first actions of a derivation have built; a constituent that is open lacks its closing bracket.

        `words` are those so far. Raises UnderivableError for actions that no derivation begins with or that take
        another number of words, RnngError for a word with white space.

        >>> from oracle.transitions import TOP_DOWN
        >>> actions = ["NT(S)", "NT(NP)", "SHIFT", "SHIFT", "REDUCE", "NT(VP)", "SHIFT"]
        >>> TOP_DOWN.partial_brackets(actions, ["The", "cat", "sat"])
        '(S (NP The cat) (VP sat'
        """
        still_open = self._after(actions, None).open
        taken = actions.count(self.structural[SHIFT])
        if taken != len(words):
            raise UnderivableError(f"the actions take {taken} words, not {len(words)}")
        stack = self._stack(actions, iter(words))
        # as if all that is open were closed now: its brackets are then the last ones
        for _ in range(still_open):
            stack = self._reduced(stack)
        items = []
        while stack is not None:
            items.insert(0, stack.tree)
            stack = stack.below
        return format_tree(nltk.Tree("", items))[2 : -1 - still_open]

    def _after(self, actions: Sequence[str], words: int | None) -> State:
        """The state after the actions. Raises UnderivableError at the first that is not valid."""
        state = self.start(words)
        for number, name in enumerate(actions, 1):
            action = self._kind(name, number)
            # sentences go through the same states again and again
            after = self._moves.get((state, action))
            if after is None:
                if not self.is_valid(state, action):
                    why = self.why_not(state, action)
                    raise UnderivableError(f"action {number}, {name!r}, {why}")
                if len(self._moves) == MOST_MOVES:
                    self._moves.clear()
                after = self._moves[state, action] = state.after(action)
            state = after
        return state

    def _stack(self, actions: Sequence[str], leaves: Iterator[nltk.Tree | str]) -> _Node | None:
        """The stack after valid actions."""
        stack = None
        for name in actions:
            action = self._kind(name)
            if action == SHIFT:
                stack = _Node(stack, None, next(leaves))
            elif action == REDUCE:
                stack = self._reduced(stack)
            elif action == self.first_open:
                stack = _Node(stack, self.label_of(name), None)
        return stack

    def _reduced(self, stack: _Node) -> _Node:
        opened, children, below = self.constituent(stack)
        return _Node(below, None, nltk.Tree(opened.label, [child.tree for child in children]))

    def _kind(self, name: str, number: int | None = None) -> int:
        """The id of a structural action, that of the first for one that opens a nonterminal."""
        if name in self._kinds:
            return self._kinds[name]
        if self.label_of(name) is not None:
            return self._kinds.setdefault(name, self.first_open)
        try:
            return self._kinds.setdefault(name, self.structural.index(name))
        except ValueError:
            prefix = "" if number is None else f"action {number}, "
            known = ", ".join((self.open_action("X"), *self.structural))
            raise UnderivableError(f"{prefix}{name!r}, is none of {known}") from None


class _Node(NamedTuple):
    """An item of the stack on which a tree is built."""

    below: _Node | None
    label: str | None
    tree: nltk.Tree | str | None
