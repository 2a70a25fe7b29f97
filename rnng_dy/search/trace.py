"""Walks along given action sequences, for training and for the log probabilities of trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from oracle.transitions import SHIFT
from rnng_dy.search.model import Configuration, Model


class Decision(NamedTuple):
    """An action taken in a configuration, and the word that it generates."""

    configuration: Configuration
    action: int
    word: int | None


class Walk(NamedTuple):
    """Action sequences that begin in one configuration, and what the generator's SHIFTs generate, in order."""

    start: Configuration
    sequences: Sequence[Sequence[int]]
    words: Sequence[int] | None = None


class Trace(NamedTuple):
    """The decisions of some action sequences, equal prefixes of a walk once; `paths[i]` indexes those of sequence i."""

    decisions: list[Decision]
    paths: list[list[int]]


FIRST = -1
"""What the sequences of the first group begin with, before any action; those of the second with -2, and so on."""


class Beginnings(NamedTuple):
    """The beginnings of action sequences, equal ones of a group once: each comes after that which it goes on from."""

    before: list[int]
    """That one's number, or that of the group (see `FIRST`)."""
    actions: list[int]
    """The last action."""
    paths: list[list[int]]
    """The beginnings of each sequence, action by action."""

    def followed(self) -> set[int]:
        """Those that something goes on from: nothing is computed for the end of a sequence."""
        return set(self.before)

    def by_length(self) -> list[list[int]]:
        """Their numbers, those of one action first."""
        lengths: list[int] = []
        found: list[list[int]] = []
        for number, before in enumerate(self.before):
            lengths.append(lengths[before] + 1 if before >= 0 else 0)
            if lengths[-1] == len(found):
                found.append([])
            found[lengths[-1]].append(number)
        return found


def beginnings(groups: Iterable[Iterable[Sequence[int]]]) -> Beginnings:
    """Merge what the sequences of each group have in common.

    >>> beginnings([[[5, 6], [5, 7]], [[5]]])
    Beginnings(before=[-1, 0, 0, -2], actions=[5, 6, 7, 5], paths=[[0, 1], [0, 2], [3]])
    """
    found = Beginnings([], [], [])
    numbers: dict[tuple[int, int], int] = {}
    for group, sequences in enumerate(groups):
        for actions in sequences:
            last, path = FIRST - group, []
            for action in actions:
                number = numbers.setdefault((last, action), len(numbers))
                if number == len(found.actions):
                    found.before.append(last)
                    found.actions.append(action)
                path.append(number)
                last = number
            found.paths.append(path)
    return found


def trace(
    model: Model,
    walks: Iterable[Walk],
    dropout: float = 0.0,
    found: Beginnings | None = None,
    histories: Mapping[int, object] | None = None,
) -> Trace:
    """Walk all action sequences together, step by step. Raises ValueError where an action is not valid.

    `histories` are what the model knows of their beginnings, which are `found` already then, for `advance`.
    """
    walks = list(walks)
    found = found or beginnings(walk.sequences for walk in walks)
    configurations = {FIRST - i: walk.start for i, walk in enumerate(walks)}
    words = {FIRST - i: walk.words for i, walk in enumerate(walks)}
    for number, before in enumerate(found.before):
        words[number] = words[before]
    followed = found.followed()
    decisions: dict[int, Decision] = {}
    for level in found.by_length():
        for i in level:
            before, action = found.before[i], found.actions[i]
            decisions[i] = _decision(model, configurations[before], action, words[before])
        ahead = [i for i in level if i in followed]
        if ahead:
            columns = zip(*(decisions[i] for i in ahead), strict=True)
            known = [histories[i] for i in ahead] if histories else None
            following = model.advance(*columns, dropout, known)
            configurations |= zip(ahead, following, strict=True)
    return Trace([decisions[i] for i in range(len(decisions))], found.paths)


def _decision(model: Model, c: Configuration, action: int, words: Sequence[int] | None) -> Decision:
    if not model.transitions.is_valid(c.state, action):
        raise ValueError(f"action {action} is not valid in {c.state}")
    word = words[c.words.position] if words is not None and action == SHIFT else None
    return Decision(c, action, word)
