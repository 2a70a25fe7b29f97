"""Transition systems: trees as sequences of actions. A new one is a file here and a line in `SYSTEMS`."""

from __future__ import annotations

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
]

SYSTEMS: dict[str, type[TransitionSystem]] = {TopDown.name: TopDown}
