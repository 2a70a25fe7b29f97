"""Clustered words: wcluster's `paths` format, and classes of unknown words that never occur."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple, TextIO

from oracle.common.files import open_text, reading
from oracle.unknown import CLASSES, RULES, nearest_class, unknown_classes

_ENTRY = re.compile(r"([01]*)\t([^\t]+)\t([0-9]{1,15})\r?\n?")


class ClusteredWord(NamedTuple):
    """A line of a clusters file."""

    path: str
    """The path from the root of the merge tree to the word's cluster, a 0 or 1 for each branch."""
    word: str
    count: int


def read_clusters(path: str) -> list[ClusteredWord]:
    """Return all lines in order.

    Raises InputError for a line that is not `bits<TAB>word<TAB>count`, and for a repeated word.
    """
    entries: dict[str, ClusteredWord] = {}
    with reading(path, remedy="make the file with `rnng-dy clusters`") as location:
        with open_text(path) as stream:
            for location.line, line in enumerate(stream, 1):
                if not (fields := _ENTRY.fullmatch(line)):
                    raise ValueError(f"not `bits<TAB>word<TAB>count` but {line.rstrip()!r:.80}")
                bits, word, count = fields.groups()
                if word in entries:
                    raise ValueError(f"the word {word!r} stands on an earlier line already")
                entries[word] = ClusteredWord(bits, word, int(count))
        if not entries:
            raise ValueError("an empty clusters file")
    return [*entries.values()]


def write_clusters(entries: Iterable[ClusteredWord], stream: TextIO) -> None:
    """Write entries in the order of the iterable."""
    for entry in entries:
        stream.write(f"{entry.path}\t{entry.word}\t{entry.count}\n")


def rules_of(words: Collection[str]) -> str | None:
    """Return the rules for unknown words that a vocabulary shows; None if it has no class of them.

    >>> [rules_of(["the", name]) for name in ("UNK-ed", "UNK-LC-s", "UNK", "the")]
    ['berkeley-unicode', 'berkeley', 'single', None]
    """
    shown = CLASSES.intersection(words)
    # several rules have them all, of which those with the fewest classes fit best
    fitting = [rules for rules in RULES if shown <= {*unknown_classes(rules)}]
    return min(fitting, key=lambda rules: len(unknown_classes(rules))) if shown else None


def place_unseen(entries: list[ClusteredWord], classes: Iterable[str]) -> list[ClusteredWord]:
    """Return the entries with every missing class added, with count 0, at the end of its cluster.

    It joins the class that remains when as few parts as possible are dropped from the end of its
    name (UNK-LC-DASH-s, UNK-LC-DASH, UNK-LC, UNK). If none of them occurs, it joins the most
    frequent class; if the corpus has no class, the cluster with the most tokens.

    >>> place_unseen([ClusteredWord("0", "UNK", 3), ClusteredWord("1", "the", 9)], ["UNK-LC"])[1]
    ClusteredWord(path='0', word='UNK-LC', count=0)
    """
    path_of = {entry.word: entry.path for entry in entries}
    last_resort = _most_frequent(entries)
    placed = [
        ClusteredWord(path_of.get(nearest_class(name, path_of), last_resort), name, 0)
        for name in classes
        if name not in path_of
    ]
    return sorted(entries + placed, key=lambda entry: entry.path)


def _most_frequent(entries: list[ClusteredWord]) -> str:
    """Return the path of the most frequent class, else of the cluster with most tokens."""
    if unknown := [e for e in entries if e.word in CLASSES]:
        return max(unknown, key=lambda entry: entry.count).path
    tokens: Counter[str] = Counter()
    for entry in entries:
        tokens[entry.path] += entry.count
    return max(tokens, key=tokens.__getitem__)
