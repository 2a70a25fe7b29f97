"""Placement of unknown-word classes that never occur in the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from clusters.files import ClusteredWord
from oracle.unknown import CLASSES, RULES, nearest_class, unknown_classes


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
    unknown = [e for e in entries if e.word in CLASSES]
    if unknown:
        return max(unknown, key=lambda entry: entry.count).path
    tokens: Counter[str] = Counter()
    for entry in entries:
        tokens[entry.path] += entry.count
    return max(tokens, key=tokens.__getitem__)
