"""Transition systems: trees as sequences of actions. `SYSTEMS` has them by name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from operator import itemgetter

from oracle.errors import UnderivableError
from oracle.registries import Registry
from oracle.transitions.base import MAX_OPEN, REDUCE, SHIFT, State, TransitionSystem
from oracle.transitions.in_order import InOrder
from oracle.transitions.top_down import TopDown

__all__ = [
    "DEFAULT",
    "MAX_OPEN",
    "REDUCE",
    "SHIFT",
    "SYSTEMS",
    "TOP_DOWN",
    "InOrder",
    "State",
    "TopDown",
    "TransitionSystem",
    "is_action",
    "opens_constituent",
    "system_of",
    "unlimited",
]

SYSTEMS: Registry[type[TransitionSystem]] = Registry(
    "transition system", TransitionSystem, TopDown, InOrder
)
DEFAULT = SYSTEMS.default


@cache
def unlimited(system: type[TransitionSystem]) -> TransitionSystem:
    """Return an instance of the system without limits and nonterminals, for trees and actions as written."""
    return system(**dict.fromkeys(system.limits, math.inf))


def opens_constituent(text: str) -> bool:
    """Return whether a line is an action of some system that opens a nonterminal."""
    # most lines are not, and every line is tested
    return text.endswith(")") and any(s.label_of(text) is not None for s in SYSTEMS.values())


def is_action(text: str) -> bool:
    """Return whether a line is an action of some system."""
    return opens_constituent(text) or any(text in s.structural for s in SYSTEMS.values())


def system_of(actions: Sequence[str], length: int) -> TransitionSystem:
    """Return the first system by which these actions build a tree over `length` words.

    Raises UnderivableError if there is none, with the problem of the system that has most of these actions.
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
