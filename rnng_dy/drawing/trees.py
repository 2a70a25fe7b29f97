"""Trees as SVG: the words in a row at the bottom, each label above the middle of its children.

No function is recursive, so that a tree may have any depth.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from oracle.brackets import format_tree
from oracle.lazy import nltk
from oracle.treebank import is_preterminal
from rnng_dy.drawing.words import cells, visible

LEVEL, GAP, CELL, MARGIN, LEAST = 44, 14, 7.2, 10, 60
"""Pixels: between levels, between neighbours, per letter, around a tree, and the least width."""
LEAST_DOUBT = 0.01
"""A constituent whose probability lacks less than this to 1 has no shade."""
CAPTION = 26
"""Height of a caption in pixels."""
MARKED = "only in this tree"
"""The reason why a constituent is marked."""

_STYLE = """
svg text { font: 12px system-ui, sans-serif; fill: #333 } svg .label { fill: #1b6ca8; font-weight: 600 }
svg .tag { fill: #777 } svg .edge { stroke: #aaa; fill: none }
svg .wrong { fill: #c00; font-weight: 700; text-decoration: underline }
svg .doubt { fill: #f0a030 } svg .open { fill: none; stroke: #1b6ca8; stroke-dasharray: 4 3 }
svg .caption { font-weight: 600; fill: #333 }"""


class Picture(NamedTuple):
    """A tree to be drawn; its constituents are numbered from 0, from the top down and from left to right."""

    tree: nltk.Tree
    caption: str = ""
    marked: Container[int] = ()
    """Numbers of the constituents that are marked."""
    posteriors: Sequence[float] | None = None
    """Probabilities of the constituents, by number."""
    open: Container[int] | None = None
    """Numbers of the constituents of a partial tree that are still open; None for a complete tree."""


@dataclass(slots=True, eq=False)
class Node:
    """A label or word of a tree, and its position."""

    text: str
    kind: str
    """`label`, `tag` or `word`."""
    level: int
    """0 for the root."""
    children: list[Node] = field(default_factory=list)
    number: int | None = None
    """Number of a constituent: how many begin before it."""
    x: float = 0.0
    """The middle of the node's text."""
    y: int = 0
    """The line on which the text stands."""
    left: float = 0.0
    width: float = 0.0
    """Width of the node with all below it; neighbours do not overlap."""


def svg_of(picture: Picture, brackets: str = "") -> str:
    """Return a tree as an SVG element; `brackets` are those of a partial tree, for those who cannot see it.

    The less probable a constituent is, the darker is the shade behind its label. Labels of open constituents have
    dashed frames.
    """
    width, height, body = draw(picture)
    label = escape(visible(brackets or format_tree(picture.tree)))
    return f'{_head(width, height)} role="img" aria-label="{label}">{body}</svg>'


def svg_file(captioned: Iterable[tuple[str, Picture | None]]) -> Iterator[str]:
    """Yield the parts of one SVG file: captions, each with the tree below it, from top to bottom."""
    parts, width, height = [], 0.0, 0.0
    for caption, picture in captioned:
        if caption:
            place = f'x="{MARGIN}" y="{height + 18:.0f}"'
            parts.append(f'<text {place} class="caption">{escape(visible(caption))}</text>')
            # a letter of a bold caption is about as wide as a letter of a word
            width, height = max(width, 8 * len(caption) + 2 * MARGIN), height + CAPTION
        if picture is not None:
            own_width, own_height, body = draw(picture)
            parts.append(f'<g transform="translate(0 {height:.0f})">{body}</g>')
            width, height = max(width, own_width), height + own_height
    yield f"{_head(width, height)}><style>{_STYLE}</style>"
    yield '<rect width="100%" height="100%" fill="#fff"/>\n'
    yield from (f"{part}\n" for part in parts)
    yield "</svg>\n"


def _head(width: float, height: float) -> str:
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<svg {size} xmlns="http://www.w3.org/2000/svg"'


def partial_picture(brackets: str) -> Picture:
    """Return the picture of the brackets of a partial derivation; what has no closing bracket is open.

    >>> picture = partial_picture("(S (NP the cat) (VP")
    >>> print(picture.tree, picture.open)
    (S (NP the cat) (VP )) {0, 2}
    """
    numbers: list[int] = []
    count = 0
    for bracket in re.findall(r"[()]", brackets):
        if bracket == "(":
            numbers.append(count)
            count += 1
        else:
            numbers.pop()
    closed = f"(* {brackets}{')' * len(numbers)})"
    root = nltk.Tree.fromstring(closed, node_pattern=r"[^ ()]+", leaf_pattern=r"[^ ()]+")
    if len(root) == 1 and isinstance(root[0], nltk.Tree):
        return Picture(root[0], open={*numbers})
    root.set_label("")
    # the root counts as the first constituent
    return Picture(root, open={number + 1 for number in numbers})


def nodes_of(picture: Picture) -> list[Node]:
    """Return the nodes of a tree from the top down and from left to right, without positions."""
    found: list[Node] = []
    constituents = 0
    agenda: list[tuple[nltk.Tree | str, Node | None]] = [(picture.tree, None)]
    while agenda:
        content, parent = agenda.pop()
        level = 0 if parent is None else parent.level + 1
        if isinstance(content, str):
            node = Node(content, "word", level)
        elif is_preterminal(content) and picture.open is None:
            node = Node(content.label(), "tag", level)
        else:
            node = Node(content.label(), "label", level, number=constituents)
            constituents += 1
        if parent is not None:
            parent.children.append(node)
        found.append(node)
        if not isinstance(content, str):
            agenda.extend((child, node) for child in reversed(content))
    return found


def place(nodes: Sequence[Node]) -> tuple[float, float]:
    """Set the positions of the nodes of `nodes_of`; return the total width and height in pixels."""
    for node in reversed(nodes):
        _arrange(node, max(cells(visible(node.text)), 2) * CELL)
    bottom = 1 + max((node.level for node in nodes if node.kind != "word"), default=0)
    for node in nodes:
        node.x += node.left
        node.y = (bottom if node.kind == "word" else node.level) * LEVEL + 18
        for child in node.children:
            child.left += node.left
    return nodes[0].width, bottom * LEVEL + 26


def _arrange(node: Node, own: float) -> None:
    """Put a node's children side by side and its text above their middle, relative to the node's left edge."""
    end = -GAP
    for child in node.children:
        child.left = end + GAP
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


def draw(picture: Picture) -> tuple[float, float, str]:
    """Return the width, height and body of `svg_of`'s element."""
    nodes = nodes_of(picture)
    width, height = place(nodes)
    edges, behind, texts = [], [], []
    for node in nodes:
        for child in node.children if node.text else ():
            edges.append(
                f"M{node.x + MARGIN:.0f} {node.y + 5}L{child.x + MARGIN:.0f} {child.y - 13}"
            )
        kind, titles = node.kind, []
        if node.number is not None:
            if node.number in picture.marked:
                kind, titles = "wrong", [MARKED]
            if picture.posteriors is not None:
                probability = picture.posteriors[node.number]
                titles.append(f"probability {probability:.2f}")
                if probability <= 1 - LEAST_DOUBT:
                    opacity = f'fill-opacity="{1 - probability:.2f}"'
                    behind.append(_behind(node, f'class="doubt" {opacity}'))
            if picture.open is not None and node.number in picture.open:
                behind.append(_behind(node, 'class="open"'))
        title = f"<title>{', '.join(titles)}</title>" if titles else ""
        at = f'class="{kind}" x="{node.x + MARGIN:.0f}" y="{node.y}"'
        texts.append(f"<text {at}>{escape(visible(node.text))}{title}</text>")
    path = f'<path class="edge" d="{"".join(edges)}"/>' if edges else ""
    body = f'{path}<g text-anchor="middle">{"".join(behind)}{"".join(texts)}</g>'
    return max(width + 2 * MARGIN, LEAST), height, body


def _behind(node: Node, attributes: str) -> str:
    """Return a rectangle around a node's label."""
    width = (cells(visible(node.text)) + 1) * CELL
    at = f'x="{node.x + MARGIN - width / 2:.0f}" y="{node.y - 13}"'
    return f'<rect {attributes} {at} width="{width:.0f}" height="17" rx="4"/>'
