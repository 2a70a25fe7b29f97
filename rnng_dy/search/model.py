"""Models as searches see them, and the graphs in which searches compute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from oracle.transitions import TransitionSystem
from rnng_dy.engine import dy
from rnng_dy.models.configuration import Configuration


class Model(Protocol):
    """A model: its network, what its actions do, and the ids of its symbols.

    A search calls the network's `start`, then `step` and `advance` in turn until a state
    `is_finished` (see `models.network.Rnng`).
    """

    network: Any
    transitions: TransitionSystem
    vocabulary: Any


class Graphs:
    """The graphs of a search, one after another, each of a bounded number of configurations."""

    def __init__(self, model: Model, most: int):
        """Begin the first graph; `most` bounds the configurations of each."""
        self._network, self._most, self._configurations = model.network, most, 0
        dy.renew_cg(derivatives=False)

    def make_room(
        self, following: Sequence[Configuration], others: Iterable[Configuration] = ()
    ) -> None:
        """Begin a new graph if the successors of configurations would make this one too large.

        The configurations `following`, and the `others` that the search still needs, are carried
        over.
        """
        self._configurations += len(following)
        if self._configurations > self._most:
            self._network.keep(dict.fromkeys([*following, *others]))
            dy.renew_cg(derivatives=False)
            self._configurations = len(following)


def unlinked(actions: tuple[Any, ...] | None) -> list[int]:
    """Return the actions of a linked list, whose last action comes first, in order."""
    ids = []
    while actions is not None:
        actions, action = actions
        ids.append(action)
    return ids[::-1]
