"""Head rules: which child of a constituent is its head, from a table such as that of Collins (1999, appendix A).

A file of rules has lines `PARENT SEARCH LABEL...`. The lines of a parent are tried in turn:

- `from-left A B`: the first child that is an A, counted from the left; without one, the first B (`from-right`: counted
  from the right);
- `any-from-left A B`: the first child that is an A or a B (`any-from-right`: counted from the right);
- `last A B`: the last child, where it is an A or a B.

Where none of them finds a child it is the first one, counted from the side from which the parent's last line does.
With `PARENT coordination CC` a head behind a CC that is not the first child gives way to the child before that; with
`coordination CC A B` only where some child is an A or a B. The parent `*` is every one without lines of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from oracle.errors import InputError
from oracle.streams import read_lines, split_words

COLLINS = Path(__file__).parent / "data" / "collins.heads"
ANY, COORDINATION = "*", "coordination"

_RIGHTWARDS, _LEFTWARDS, _LAST = slice(None), slice(None, None, -1), slice(-1, None)
SEARCHES = {
    "from-left": (_RIGHTWARDS, True),
    "from-right": (_LEFTWARDS, True),
    "any-from-left": (_RIGHTWARDS, False),
    "any-from-right": (_LEFTWARDS, False),
    "last": (_LAST, False),
}
"""By name: the children in the order in which they are looked at, and whether that is done label by label."""
FROM_RIGHT = frozenset(["from-right", "any-from-right", "last"])


class Rule(NamedTuple):
    """A line of the table but for its parent."""

    search: str
    labels: tuple[str, ...]

    def find(self, children: Sequence[str]) -> int | None:
        """The index of the child that the rule chooses, given their labels and tags."""
        order, by_label = SEARCHES[self.search]
        indices = range(len(children))[order]
        if by_label:
            return next((i for label in self.labels for i in indices if children[i] == label), None)
        return next((i for i in indices if children[i] in self.labels), None)


class HeadRules:
    """A table of head rules.

    >>> collins().head("NP", ["DT", "NN", "PP"]), collins().head("VP", ["MD", "RB", "VP"])
    (1, 0)
    """

    def __init__(
        self, rules: Mapping[str, Sequence[Rule]], coordinations: Mapping[str, Sequence[str]]
    ):
        """By parent; a coordination is the coordinator's label and, maybe, those of which a child must be."""
        self._rules, self._coordinations = rules, coordinations

    @classmethod
    def read(cls, path: str | Path) -> HeadRules:
        """The table of a file, `-` is standard input. Raises InputError with the line that is no rule."""
        rules: dict[str, list[Rule]] = defaultdict(list)
        coordinations: dict[str, tuple[str, ...]] = {}
        for number, text in read_lines(path):
            words = split_words(text)
            if not words or words[0].startswith("#"):
                continue
            parent, search, *labels = words if len(words) > 1 else (words[0], "")
            if search == COORDINATION and labels and parent not in coordinations:
                coordinations[parent] = tuple(labels)
            elif search in SEARCHES:
                rules[parent].append(Rule(search, tuple(labels)))
            else:
                known = ", ".join((*SEARCHES, f"{COORDINATION} (once, with a label)"))
                message = f"{text.strip()!r:.60} is no head rule: PARENT SEARCH LABEL..., with one of {known}"
                raise InputError(message, path, number)
        if not rules:
            raise InputError("no head rule in this file", path)
        return cls(rules, coordinations)

    def head(self, label: str, children: Sequence[str]) -> int:
        """The index of the head among the children, whose labels and tags are given."""
        rules = self._rules.get(label) or self._rules.get(ANY) or [Rule("from-left", ())]
        found = (rule.find(children) for rule in rules)
        head = next((i for i in found if i is not None), None)
        if head is None:
            head = len(children) - 1 if rules[-1].search in FROM_RIGHT else 0
        coordination = self._coordinations.get(label) or self._coordinations.get(ANY)
        if coordination and head >= 2:
            coordinator, *needed = coordination
            if children[head - 1] == coordinator and (not needed or {*needed} & {*children}):
                return head - 2
        return head


@cache
def collins() -> HeadRules:
    """Collins' rules for the Penn Treebank."""
    return HeadRules.read(COLLINS)
