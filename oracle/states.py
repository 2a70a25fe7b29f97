"""What a transition system may ask of its states, and of the items of a stack."""

from __future__ import annotations

from typing import Protocol, TypeVar


class State(Protocol):
    """The facts that decide the valid actions; immutable, and equal if they decide the same."""

    @property
    def open(self) -> int:
        """Number of open constituents."""

    @property
    def is_finished(self) -> bool:
        """Whether the stack holds one complete tree."""

    def after(self, action: int) -> State:
        """Return the state that a valid action leads to."""


class StackItem(Protocol):
    """An item of a stack, which is a linked list; only open nonterminals have a label."""

    below: StackItem | None
    label: object


Cell = TypeVar("Cell", bound=StackItem)
