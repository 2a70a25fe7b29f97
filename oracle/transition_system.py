"""Base class of transition systems: actions, their validity, and their effects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from oracle.brackets import format_tree
from oracle.common.errors import RnngError, UnderivableError, UnseenSymbolError
from oracle.common.lazy import nltk
from oracle.treebank import NO_TAG, has_tags, is_preterminal

REDUCE, SHIFT = 0, 1
"""Action ids of every system; SHIFT is the paper's GEN in a generator."""

MAX_OPEN = 100
"""Most open nonterminals when one is opened (the original; the paper writes n < 100)."""

MOST_MOVES = 1 << 16
"""How many transitions between states are cached, some 20 MB."""


class State(Protocol):
    """The facts that decide the valid actions; immutable, and equal if they decide the same."""

    open: int
    """Number of open constituents."""
    is_finished: bool
    """Whether the stack holds one complete tree."""

    def after(self, action: int) -> State:
        """Return the state that a valid action leads to."""


class TransitionSystem(ABC):
    """A way of building trees by actions.

    The first ids are those of the `structural` actions. One id per nonterminal follows, in order:
    the action that opens it. An instance without nonterminals serves for trees and actions as
    written.
    """

    name: ClassVar[str]
    """The name in config.json and on the command line."""
    structural: ClassVar[tuple[str, ...]] = ("REDUCE", "SHIFT")
    """Names of the actions without a label."""
    opening: ClassVar[str] = "NT"
    """The beginning of the names of actions that open a nonterminal."""
    opens_after: ClassVar[int] = 0
    """How many children are on the stack below their nonterminal; the others follow above it."""
    opening_needs_word: ClassVar[bool] = True
    """Whether an opened nonterminal must get a word before it can be closed."""
    limits: ClassVar[tuple[str, ...]] = ("max_open",)
    """Names of constructor arguments that bar otherwise derivable trees."""

    def __init__(self, nonterminals: Iterable[str] = (), max_open: float = MAX_OPEN):
        self.nonterminals = tuple(dict.fromkeys(nonterminals))
        self.max_open = max_open
        self.first_open = len(self.structural)
        """The id of the first action that opens a nonterminal."""
        self.names = (*self.structural, *map(self.open_action, self.nonterminals))
        self._ids = {name: i for i, name in enumerate(self.names)}
        self._kinds = {name: i for i, name in enumerate(self.structural)}
        self._moves: dict[tuple[State, int], State] = {}
        kinds = np.minimum(np.arange(len(self.names)), self.first_open)
        self.masks = (np.arange(2 << self.first_open)[:, None] >> kinds & 1).astype(bool)
        """Shape (masks, actions): the actions that mask i allows; its last bit is for opening."""

    def __len__(self) -> int:
        """Return the number of actions."""
        return len(self.names)

    @abstractmethod
    def start(self, words: int | None) -> State:
        """Return the state before the first action; `words` is None for a generator."""

    @abstractmethod
    def mask_number(self, state: Any) -> int:
        """Return the row of `masks` that applies in a state."""

    def why_not(self, state: Any, action: int | None) -> str:
        """Return why an action is not valid, to follow its name in a message.

        None stands for ending here.
        """
        if state.is_finished:
            return "comes after the tree is complete"
        if action == SHIFT and state.words_left == 0:
            return "needs one word more than there are"
        if action == SHIFT:
            return "puts a word outside all constituents"
        if action == REDUCE:
            return "finds no open constituent"
        return f"opens one constituent more than the {self.max_open + 1} that can be open"

    def actions_of(self, tree: nltk.Tree, preterminals: bool | None = None) -> list[str]:
        """Return the actions that build the tree.

        `preterminals` says whether words have POS tags above them; None assumes so if each word is
        an only child. A tree without POS tags whose words are all only children, `(S (NP it) (VP
        ran))`, needs False. Raises RnngError for a constituent without a label, and with
        `preterminals` for a tree that is only one.
        """
        if not isinstance(tree, nltk.Tree) or not len(tree):
            raise RnngError(f"{tree!r:.60} is no tree over words")
        if preterminals is None:
            preterminals = has_tags(tree)
        if preterminals and is_preterminal(tree):
            raise RnngError(f"({tree.label()} {tree[0]}) is only a preterminal: it has no actions")
        actions: list[str] = []
        # tuples hold actions, to distinguish them from words
        pending: list[nltk.Tree | str | tuple[str]] = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, tuple):
                actions += node
            elif isinstance(node, str) or (preterminals and is_preterminal(node)):
                actions.append(self.structural[SHIFT])
            else:
                if not node.label():
                    remedy = "give it one, or run `rnng-dy prepare` for outer brackets"
                    raise RnngError(f"a constituent without a label: {remedy}")
                opening, closing = (self.open_action(node.label()),), (self.structural[REDUCE],)
                first, others = node[: self.opens_after], node[self.opens_after :]
                pending += [closing, *others[::-1], opening, *first[::-1]]
        return actions

    def constituent(self, stack: Any) -> tuple[Any, list[Any], Any]:
        """Return what REDUCE takes from a linked list: open nonterminal, children, stack below."""
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

    @classmethod
    def open_action(cls, label: str) -> str:
        """Return the name of the action that opens a nonterminal."""
        return f"{cls.opening}({label})"

    @classmethod
    def label_of(cls, action: str) -> str | None:
        """Return the label that an action opens, None for another action."""
        begin = len(cls.opening) + 1
        is_open = action.startswith(f"{cls.opening}(") and action.endswith(")")
        return action[begin:-1] or None if is_open else None

    @classmethod
    def has(cls, action: str) -> bool:
        """Return whether it is an action of the system, with any label."""
        return action in cls.structural or cls.label_of(action) is not None

    @classmethod
    def writes_like(cls, other: type[TransitionSystem]) -> bool:
        """Return whether both have actions of the same names, and so the same oracles."""
        return (cls.structural, cls.opening) == (other.structural, other.opening)

    @classmethod
    def labels(cls, actions: Iterable[str]) -> tuple[str, ...]:
        """Return the nonterminals that actions open, in order of first appearance."""
        return tuple(dict.fromkeys(filter(None, map(cls.label_of, actions))))

    def encode(self, actions: Sequence[str]) -> list[int]:
        """Return the ids of actions.

        Raises UnseenSymbolError naming nonterminals that the system lacks, RnngError for a name
        that is no action.
        """
        if unknown := [action for action in actions if action not in self._ids]:
            for action in unknown:
                self._kind(action)
            raise UnseenSymbolError(map(self.label_of, unknown))
        return [self._ids[action] for action in actions]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the names of action ids."""
        return [self.names[i] for i in ids]

    def label(self, action: int) -> int | None:
        """Return the index of the nonterminal that an action id opens, None for another action."""
        return action - self.first_open if action >= self.first_open else None

    def is_valid(self, state: State, action: int) -> bool:
        """Return whether the action may be taken in the state."""
        return self.allows(self.mask_number(state), action)

    def allows(self, mask: int, action: int) -> bool:
        """Return whether mask number `mask` allows an action."""
        return bool(mask >> min(action, self.first_open) & 1)

    def check(self, actions: Sequence[str], length: int) -> None:
        """Raise UnderivableError unless the actions build one tree over `length` words."""
        state = self._after(actions, length)
        if not actions:
            raise UnderivableError("no actions")
        if not state.is_finished:
            raise UnderivableError(f"the actions end {self.why_not(state, None)}")

    def tree_of(
        self, actions: Sequence[str], words: Sequence[str], tags: Sequence[str] | None = None
    ) -> nltk.Tree:
        """Return the tree that the actions build; with tags every word gets its preterminal.

        Raises UnderivableError, naming the action, if they build no tree over exactly these words.
        """
        self.check(actions, len(words))
        if tags is not None and len(tags) != len(words):
            raise RnngError(f"{len(tags)} POS tags for {len(words)} words")
        leaves = iter(words) if tags is None else map(nltk.Tree, tags, ([word] for word in words))
        return self._stack(actions, leaves).tree

    def tagged_tree(
        self, actions: Sequence[str], words: Sequence[str], tags: Sequence[str] | None = None
    ) -> nltk.Tree:
        """Return the tree that the actions build, with tags, by default XX; raises as `tree_of`."""
        return self.tree_of(actions, words, tags or [NO_TAG] * len(words))

    def partial_brackets(self, actions: Sequence[str], words: Sequence[str]) -> str:
        """Return the brackets that the first actions of a derivation build.

        An open constituent has no closing bracket. `words` are the words taken so far. Raises
        UnderivableError if no derivation begins with the actions, or they take another number of
        words; RnngError for a word with white space.
        """
        still_open = self._after(actions, None).open
        taken = actions.count(self.structural[SHIFT])
        if taken != len(words):
            raise UnderivableError(f"the actions take {taken} words, not {len(words)}")
        stack = self._stack(actions, iter(words))
        # close all open constituents: the added brackets come last, and are cut off below
        for _ in range(still_open):
            stack = self._reduced(stack)
        items = []
        while stack is not None:
            items.insert(0, stack.tree)
            stack = stack.below
        return format_tree(nltk.Tree("", items))[2 : -1 - still_open]

    def _after(self, actions: Sequence[str], words: int | None) -> State:
        """Return the state after the actions.

        Raises UnderivableError at the first that is not valid.
        """
        state = self.start(words)
        for number, name in enumerate(actions, 1):
            action = self._kind(name, number)
            # sentences share many states
            if (after := self._moves.get((state, action))) is None:
                if not self.is_valid(state, action):
                    why = self.why_not(state, action)
                    raise UnderivableError(f"action {number}, {name!r}, {why}")
                if len(self._moves) == MOST_MOVES:
                    self._moves.clear()
                after = self._moves[state, action] = state.after(action)
            state = after
        return state

    def _stack(self, actions: Sequence[str], leaves: Iterator[nltk.Tree | str]) -> _Node | None:
        """Return the stack after valid actions."""
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
        """Return the id of a structural action, or `first_open` for any opening one."""
        if name not in self._kinds:
            if self.label_of(name) is None:
                prefix = "" if number is None else f"action {number}, "
                names = ", ".join((self.open_action("X"), *self.structural))
                raise UnderivableError(f"{prefix}{name!r}, is none of {names}")
            self._kinds[name] = self.first_open
        return self._kinds[name]


class _Node(NamedTuple):
    """An item of the stack on which a tree is built."""

    below: _Node | None
    label: str | None
    tree: nltk.Tree | str | None
