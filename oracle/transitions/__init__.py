"""Transition systems: trees as sequences of actions. A new one is a file here and a line in `SYSTEMS`."""

from __future__ import annotations

from oracle.errors import RnngError
from oracle.transitions.base import MAX_OPEN, REDUCE, SHIFT, State, TransitionSystem
from oracle.transitions.top_down import TOP_DOWN, TopDown

__all__ = [
    "MAX_OPEN",
    "REDUCE",
    "SHIFT",
    "SYSTEMS",
    "TOP_DOWN",
    "State",
    "TopDown",
    "TransitionSystem",
    "system_named",
]

SYSTEMS: dict[str, type[TransitionSystem]] = {TopDown.name: TopDown}


def system_named(name: str) -> type[TransitionSystem]:
    """The class of a transition system. Raises RnngError for a name that none has."""
    if name not in SYSTEMS:
        raise RnngError(f"no transition system is called {name!r}: {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
