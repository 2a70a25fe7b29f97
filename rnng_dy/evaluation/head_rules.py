"""Head rules that choose the head child of a constituent, from a table such as Collins' (1999, appendix A).

A file of rules has lines `PARENT SEARCH LABEL...`. The lines of a parent are tried in turn:

- `from-left A B`: the first child that is an A, counted from the left, or else the first B (`from-right`: from the
  right);
- `any-from-left A B`: the first child that is an A or a B (`any-from-right`: from the right);
- `last A B`: the last child, if it is an A or a B.

If none of them finds a child, the head is the first child, counted from the same side as in the parent's last line.
`PARENT coordination CC` moves a head that follows a CC to the child before the CC, if there is one. With
`coordination CC A B` this happens only if some child is an A or a B. The parent `*` is every parent without lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from oracle.errors import InputError
from oracle.files import read_lines, split_words

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
"""By name: the children in search order, and whether they are searched for one label at a time."""
FROM_RIGHT = frozenset(["from-right", "any-from-right", "last"])


class Rule(NamedTuple):
    """A line of the table without its parent."""

    search: str
    labels: tuple[str, ...]

    def find(self, children: Sequence[str]) -> int | None:
        """Return the index of the child that the rule chooses by the children's labels and tags, or None."""
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
        """Keys are parents. A coordination is the coordinator's label, then labels, one needed among the children."""
        self._rules, self._coordinations = rules, coordinations

    @classmethod
    def read(cls, path: str | Path) -> HeadRules:
        """Read the table of a file; `-` is standard input. Raises InputError with the line that is no rule."""
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
        """Return the index of the head among the children, from their labels and tags."""
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
    """Return Collins' rules for the Penn Treebank."""
    return HeadRules.read(COLLINS)
