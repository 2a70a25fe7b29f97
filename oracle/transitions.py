"""The transition systems, which `SYSTEMS` has by name: top-down and in-order.

Top-down (Dyer et al. 2016, section 3): NT(X) opens a constituent before its first child. The
parser's SHIFT and the generator's GEN(word) are both written SHIFT, as in the original's files.

In-order (Liu and Zhang 2017, section 3): PJ(X) opens a constituent after its first child. A
constituent is predicted
when its left corner is complete: not before it (top-down), nor after all of it (bottom-up). Actions
have the paper's
names: SHIFT, which is also the generator's GEN(word); PJ(X), which projects a nonterminal from the
top of the stack; REDUCE; FINISH.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from oracle.common.errors import UnderivableError
from oracle.common.lazy import nltk
from oracle.common.plugins import Registry
from oracle.transition_system import MAX_OPEN, REDUCE, SHIFT, TransitionSystem

FINISH = 2
"""The id of the action that ends a derivation.

Otherwise a complete tree might still become part of another one.
"""

MAX_UNARY = 3
"""Unary chains are limited to this length (MAX_UNARY of the authors' program).

Unary constituents need no words, so that without a limit some derivations would never end.
"""

NOTHING, WORD, OPEN, CONSTITUENT, FINISHED = range(5)
"""Kinds of items on top of the stack."""


class TopDownState(NamedTuple):
    """Words left on the buffer (None in the generator), and open nonterminals n.

    `started` says whether there has been an action, and `after_nt` whether NT was the last one.
    """

    words_left: int | None
    open: int = 0
    started: bool = False
    after_nt: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether the stack holds one complete tree, which then covers all words."""
        return self.started and self.open == 0

    def after(self, action: int) -> TopDownState:
        """Return the state that a valid action leads to."""
        if action == REDUCE:
            return TopDownState(self.words_left, self.open - 1, True, False)
        if action == SHIFT:
            words = None if self.words_left is None else self.words_left - 1
            return TopDownState(words, self.open, True, False)
        return TopDownState(self.words_left, self.open + 1, True, True)


class TopDown(TransitionSystem):
    """The paper's transition system, with A_D of the parser and A_G of the generator.

    >>> TopDown(["S", "NP"]).names
    ('REDUCE', 'SHIFT', 'NT(S)', 'NT(NP)')
    >>> from oracle.brackets import parse_line
    >>> TopDown().actions_of(parse_line("(S (NP (DT The) (NN cat)) (VBZ sleeps))"))
    ['NT(S)', 'NT(NP)', 'SHIFT', 'SHIFT', 'REDUCE', 'SHIFT', 'REDUCE']
    """

    name = "top-down"

    def start(self, words: int | None) -> TopDownState:
        """Return the state before the first action."""
        return TopDownState(words)

    def mask_number(self, state: TopDownState) -> int:
        """Return the mask of valid actions.

        Bits: REDUCE, SHIFT, NT (sections 3.1, 3.2, 4.2; the original's limits).
        """
        words, opened = state.words_left, state.open
        has_words = words != 0
        nt = has_words and (opened > 0 or not state.started) and opened <= self.max_open
        shift = has_words and opened > 0
        # a parser may close the root only when every word is in the tree
        reduce = opened > (1 if words else 0) and not state.after_nt
        return reduce | shift << 1 | nt << 2

    def why_not(self, state: TopDownState, action: int | None) -> str:
        """Return why an action is not valid, or why there can be no end here."""
        if action is None:
            return f"with {state.open} constituents open"
        if action == REDUCE and state.after_nt:
            return "would close an empty constituent"
        if action == REDUCE and state.open:
            return "would close the tree before its last word"
        if action > SHIFT and state.words_left == 0 and not state.is_finished:
            return "opens a constituent when no word is left for it"
        return super().why_not(state, action)


class InOrderState(NamedTuple):
    """Words left (None in the generator), open nonterminals, kind and chain of the top."""

    words_left: int | None
    open: int = 0
    top: int = NOTHING
    unary: int = 0
    """Length of the unary chain on top of the stack, or just below the open nonterminal on top."""

    @property
    def is_finished(self) -> bool:
        """Whether the derivation has ended with FINISH."""
        return self.top == FINISHED

    def after(self, action: int) -> InOrderState:
        """Return the state that a valid action leads to."""
        words, opened, top, unary = self
        if action == SHIFT:
            return InOrderState(None if words is None else words - 1, opened, WORD)
        if action == REDUCE:
            # if PJ was the last action, the constituent has only the child below it
            return InOrderState(words, opened - 1, CONSTITUENT, unary + 1 if top == OPEN else 0)
        if action == FINISH:
            return InOrderState(words, opened, FINISHED)
        return InOrderState(words, opened + 1, OPEN, unary)


class InOrder(TransitionSystem):
    """The in-order system, for parser and generator.

    Every tree within the limits has one action sequence. The authors' program lets a fourth unary
    constituent be closed while words are left, and then forgets it. Here the limit is three
    everywhere, so that every valid action can be continued up to FINISH.

    >>> from oracle.brackets import parse_line
    >>> InOrder().actions_of(parse_line("(S (NP (DT The) (NN cat)) (VBZ sleeps))"))
    ['SHIFT', 'PJ(NP)', 'SHIFT', 'REDUCE', 'PJ(S)', 'SHIFT', 'REDUCE', 'FINISH']
    """

    name = "in-order"
    structural = ("REDUCE", "SHIFT", "FINISH")
    opening = "PJ"
    opens_after = 1
    opening_needs_word = False
    limits = ("max_open", "max_unary")

    def __init__(
        self,
        nonterminals: Iterable[str] = (),
        max_open: float = MAX_OPEN,
        max_unary: float = MAX_UNARY,
    ):
        super().__init__(nonterminals, max_open)
        self.max_unary = max_unary

    def actions_of(self, tree: nltk.Tree, preterminals: bool | None = None) -> list[str]:
        """Return the actions that build the tree, with FINISH at the end."""
        return [*super().actions_of(tree, preterminals), self.structural[FINISH]]

    def start(self, words: int | None) -> InOrderState:
        """Return the state before the first action."""
        return InOrderState(words)

    def mask_number(self, state: InOrderState) -> int:
        """Return the mask of valid actions; bits: REDUCE, SHIFT, FINISH, PJ."""
        words, opened, top, unary = state
        if top == FINISHED:
            return 0
        can_shift = words != 0
        if top == NOTHING:
            return can_shift << SHIFT
        inside, can_close_unary = opened > 0, unary < self.max_unary
        if top == OPEN:
            return can_close_unary << REDUCE | can_shift << SHIFT
        finish = top == CONSTITUENT and not inside and not words
        # after the last word only a unary constituent can be opened
        project = opened <= self.max_open and (can_shift or can_close_unary)
        return inside << REDUCE | (inside and can_shift) << SHIFT | finish << FINISH | project << 3

    def why_not(self, state: InOrderState, action: int | None) -> str:
        """Return why an action is not valid, or why there can be no end here."""
        words, opened, top, unary = state
        if action is None:
            return f"with {opened} constituents open" if opened else "without FINISH"
        if action == REDUCE and opened:
            return self._too_many_unaries()
        if action == FINISH and not state.is_finished:
            if opened:
                return f"finds {opened} constituents open"
            return f"finds {words} words left" if words else "finds no constituent"
        if action > FINISH and top == NOTHING:
            return "finds nothing to be its first child"
        if action > FINISH and top == OPEN:
            return "finds an open constituent without a second child, which cannot be a first one"
        if action > FINISH and unary >= self.max_unary:
            return self._too_many_unaries()
        return super().why_not(state, action)

    def _too_many_unaries(self) -> str:
        return f"makes a unary chain of more than {self.max_unary} constituents"


SYSTEMS: Registry[type[TransitionSystem]] = Registry(
    "transition system", TransitionSystem, TopDown, InOrder
)


@cache
def unlimited(system: type[TransitionSystem]) -> TransitionSystem:
    """Return an instance without limits and nonterminals, for trees and actions as written."""
    return system(**dict.fromkeys(system.limits, math.inf))


def opens_constituent(text: str) -> bool:
    """Return whether a line is an action of some system that opens a nonterminal."""
    return any(system.label_of(text) is not None for system in SYSTEMS.values())


def is_action(text: str) -> bool:
    """Return whether a line is an action of some system."""
    return any(system.has(text) for system in SYSTEMS.values())


def system_of(actions: Sequence[str], length: int) -> TransitionSystem:
    """Return the first system by which these actions build a tree over `length` words.

    Raises UnderivableError if there is none, with the problem of the system that has most of these
    actions.
    """
    problems = []
    for system in map(unlimited, SYSTEMS.values()):
        try:
            system.check(actions, length)
            return system
        except UnderivableError as error:
            problems.append((sum(map(system.has, actions)), error))
    # max returns the first of equals
    raise max(problems, key=itemgetter(0))[1]


TOP_DOWN = unlimited(TopDown)
