"""Unlabelled dependencies of a tree, from the head child of each constituent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oracle.lazy import nltk
from oracle.treebank import is_preterminal

ROOT = -1
"""The governor of the whole tree's head word."""


class Constituent(NamedTuple):
    """A constituent of a tree whose words have POS tags."""

    label: str
    children: tuple[str, ...]
    """The children's labels or tags, from left to right."""
    parts: tuple[int, ...]
    """The children's indices: w for word w, counted from 0, and ~k for constituent k."""


def constituents_of(tree: nltk.Tree) -> list[Constituent]:
    """Return a tree's constituents, inner ones before outer ones, as REDUCE completes them."""
    found: list[Constituent] = []
    words = 0
    agenda: list[tuple[nltk.Tree, list[int]]] = [(tree, [])]
    while agenda:
        node, parts = agenda[-1]
        if len(parts) < len(node):
            child = node[len(parts)]
            if is_preterminal(child):
                parts.append(words)
                words += 1
            else:
                agenda.append((child, []))
            continue
        agenda.pop()
        labels = tuple(child.label() for child in node)
        found.append(Constituent(node.label(), labels, tuple(parts)))
        if agenda:
            agenda[-1][1].append(~(len(found) - 1))
    return found


def governors(constituents: Sequence[Constituent], heads: Sequence[int]) -> list[int]:
    """Return the word that each word depends on, or ROOT; `heads` are the indices of the head children.

    >>> tree = nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))")
    >>> governors(constituents_of(tree), [1, 0, 1])
    [1, 2, -1]
    """
    head_words: list[int] = []
    found: dict[int, int] = {}
    for constituent, head in zip(constituents, heads, strict=True):
        inner = [part if part >= 0 else head_words[~part] for part in constituent.parts]
        found.update((word, inner[head]) for i, word in enumerate(inner) if i != head)
        head_words.append(inner[head])
    found[head_words[-1]] = ROOT
    return [found[word] for word in sorted(found)]


def chances(constituents: Sequence[Constituent], expected: Sequence[int]) -> list[float]:
    """Return the probability of each word's `expected` governor if every head child is drawn uniformly at random."""
    found = [0.0] * len(expected)
    shares: list[dict[int, float]] = []
    for constituent in constituents:
        inner = [{part: 1.0} if part >= 0 else shares[~part] for part in constituent.parts]
        child_of = {word: i for i, words in enumerate(inner) for word in words}
        for i, words in enumerate(inner):
            for word, share in words.items():
                j = child_of.get(expected[word], i)
                if j != i:
                    found[word] = share * inner[j][expected[word]] / len(inner)
        shares.append(
            {word: share / len(inner) for words in inner for word, share in words.items()}
        )
    for word, share in shares[-1].items():
        if expected[word] == ROOT:
            found[word] = share
    return found
