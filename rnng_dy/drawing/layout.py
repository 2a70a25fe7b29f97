"""Layout of a tree: words from left to right, each label above the middle of its children.

No function is recursive, so that a tree may have any depth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from oracle.lazy import nltk
from oracle.treebank import is_preterminal

CONSTITUENT, TAG, WORD = "label", "tag", "word"
"""Kinds of nodes."""


@dataclass(slots=True, eq=False)
class Node:
    """A label or word of a tree, and its position."""

    text: str
    kind: str
    level: int
    """0 for the root."""
    children: list[Node] = field(default_factory=list)
    number: int | None = None
    """Number of a constituent: how many begin before it, top down and from left to right, as EVALB reads them."""
    words: int = 0
    """Number of words below the node."""
    x: float = 0.0
    """The middle of the node's text."""
    left: float = 0.0
    width: float = 0.0
    """Width of the node with all below it; neighbours do not overlap."""


def nodes_of(tree: nltk.Tree) -> list[Node]:
    """Return the nodes from the top down and from left to right, without positions."""
    found: list[Node] = []
    constituents = 0
    agenda: list[tuple[nltk.Tree | str, Node | None]] = [(tree, None)]
    while agenda:
        content, parent = agenda.pop()
        level = 0 if parent is None else parent.level + 1
        if isinstance(content, str):
            node = Node(content, WORD, level, words=1)
        elif is_preterminal(content):
            node = Node(content.label(), TAG, level)
        else:
            node = Node(content.label(), CONSTITUENT, level, number=constituents)
            constituents += 1
        if parent is not None:
            parent.children.append(node)
        found.append(node)
        if not isinstance(content, str):
            agenda.extend((child, node) for child in reversed(content))
    for node in reversed(found):
        node.words += sum(child.words for child in node.children)
    return found


def place(nodes: list[Node], width_of: Callable[[Node], float], gap: float) -> float:
    """Set the positions of the nodes of `nodes_of`; return the total width.

    `width_of` is the width of a node's own text; neighbours are `gap` apart.
    """
    for node in reversed(nodes):
        _arrange(node, width_of(node), gap)
    for node in nodes:
        node.x += node.left
        for child in node.children:
            child.left += node.left
    return nodes[0].width


def _arrange(node: Node, own: float, gap: float) -> None:
    """Put a node's children side by side and its text above their middle, relative to the node's left edge."""
    end = -gap
    for child in node.children:
        child.left = end + gap
        end = child.left + child.width
    if node.children:
        first, last = node.children[0], node.children[-1]
        node.x = (first.left + first.x + last.left + last.x) / 2
    else:
        node.x, end = own / 2, own
    # a text that is wider than the nodes below extends beyond them
    before = max(0.0, own / 2 - node.x)
    for child in node.children:
        child.left += before
    node.x += before
    node.width = before + max(end, node.x - before + own / 2)


def depth(nodes: list[Node]) -> int:
    """Return the number of levels of labels; the words are in a row below them."""
    return 1 + max((node.level for node in nodes if node.kind != WORD), default=0)
