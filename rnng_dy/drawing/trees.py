"""Trees as SVG: the words in a row at the bottom, each label above the middle of its children.

No function is recursive, so that a tree may have any depth.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import count
from typing import NamedTuple

from oracle.brackets import format_tree, visible
from oracle.common.lazy import nltk
from oracle.treebank import is_preterminal

LEVEL, GAP, CELL, MARGIN, LEAST = 44, 14, 7.2, 10, 60
"""Pixels: between levels, between neighbours, per letter, around a tree, and the least width."""
LEAST_DOUBT = 0.01
"""A constituent whose probability lacks less than this to 1 has no shade."""
CAPTION = 26
"""Height of a caption in pixels."""
MARKED = "only in this tree"
"""The reason why a constituent is marked."""

_STYLE = """
svg text { font: 12px system-ui, sans-serif; fill: #333 }
svg .label { fill: #1b6ca8; font-weight: 600 }
svg .tag { fill: #777 } svg .edge { stroke: #aaa; fill: none }
svg .wrong { fill: #c00; font-weight: 700; text-decoration: underline }
svg .doubt { fill: #f0a030 } svg .open { fill: none; stroke: #1b6ca8; stroke-dasharray: 4 3 }
svg .caption { font-weight: 600; fill: #333 }"""


class Picture(NamedTuple):
    """A tree to be drawn; its constituents are numbered from 0, top down and left to right."""

    tree: nltk.Tree
    caption: str = ""
    marked: Container[int] = ()
    """Numbers of the constituents that are marked."""
    posteriors: Sequence[float] | None = None
    """Probabilities of the constituents, by number."""
    open: Container[int] | None = None
    """Numbers of a partial tree's constituents that are still open; None for a complete tree."""


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
    width: float = 0.0
    """Width of the node with all below it, in pixels; neighbours do not overlap."""
    x: float = 0.0
    """The middle of the node's text."""
    y: int = 0
    """The line on which the text stands."""


def svg_of(picture: Picture, brackets: str = "") -> str:
    """Return a tree as an SVG element; `brackets` are the label of a partial tree.

    The less probable a constituent is, the darker is the shade behind its label. Labels of open
    constituents have dashed frames.
    """
    width, height, body = draw(picture)
    label = escape(visible(brackets or format_tree(picture.tree)))
    return f'{_head(width, height)} role="img" aria-label="{label}">{body}</svg>'


def svg_file(captioned: Iterable[tuple[str, Picture | None]]) -> Iterator[str]:
    """Yield one SVG file in pieces: captions, each with the tree below it, from top to bottom."""
    elements, width, height = [], 0.0, 0.0
    for caption, picture in captioned:
        if caption:
            position = f'x="{MARGIN}" y="{height + 18:.0f}"'
            elements.append(f'<text {position} class="caption">{escape(visible(caption))}</text>')
            # a letter of a bold caption is about as wide as a letter of a word
            width, height = max(width, 8 * len(caption) + 2 * MARGIN), height + CAPTION
        if picture is not None:
            tree_width, tree_height, body = draw(picture)
            elements.append(f'<g transform="translate(0 {height:.0f})">{body}</g>')
            width, height = max(width, tree_width), height + tree_height
    yield f"{_head(width, height)}><style>{_STYLE}</style>"
    yield '<rect width="100%" height="100%" fill="#fff"/>\n'
    yield from (f"{element}\n" for element in elements)
    yield "</svg>\n"


def _head(width: float, height: float) -> str:
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<svg {size} xmlns="http://www.w3.org/2000/svg"'


def partial_picture(brackets: str) -> Picture:
    """Return the picture of a partial derivation's brackets; what has no closing bracket is open.

    >>> picture = partial_picture("(S (NP the cat) (VP")
    >>> print(picture.tree, picture.open)
    (S (NP the cat) (VP )) {0, 2}
    """
    numbers: list[int] = []
    begun = count()
    for bracket in re.findall(r"[()]", brackets):
        if bracket == "(":
            numbers.append(next(begun))
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
    nodes: list[Node] = []
    numbers = count()
    agenda: list[tuple[nltk.Tree | str, Node | None]] = [(picture.tree, None)]
    while agenda:
        content, parent = agenda.pop()
        level = 0 if parent is None else parent.level + 1
        if isinstance(content, str):
            node = Node(visible(content), "word", level)
        else:
            is_tag = is_preterminal(content) and picture.open is None
            kind, number = ("tag", None) if is_tag else ("label", next(numbers))
            node = Node(visible(content.label()), kind, level, number=number)
            agenda.extend((child, node) for child in reversed(content))
        if parent is not None:
            parent.children.append(node)
        nodes.append(node)
    return nodes


def place(nodes: Sequence[Node]) -> tuple[float, float]:
    """Set the positions of the nodes of `nodes_of`; return the total width and height in pixels."""
    for node in reversed(nodes):
        node.width = max(_width(node.text), 2 * CELL, _width_of_children(node))
    bottom = 1 + max((node.level for node in nodes if node.kind != "word"), default=0)
    nodes[0].x = nodes[0].width / 2
    for node in nodes:
        node.y = (bottom if node.kind == "word" else node.level) * LEVEL + 18
        edge = node.x - _width_of_children(node) / 2
        for child in node.children:
            child.x = edge + child.width / 2
            edge += child.width + GAP
    return nodes[0].width, bottom * LEVEL + 26


def _width_of_children(node: Node) -> float:
    return sum(child.width for child in node.children) + GAP * (len(node.children) - 1)


def _width(text: str) -> float:
    """Return the width of a text in pixels; a wide character, as of Chinese, takes two cells."""
    return CELL * (len(text) + sum(unicodedata.east_asian_width(c) in "WF" for c in text))


def draw(picture: Picture) -> tuple[float, float, str]:
    """Return the width, height and body of `svg_of`'s element."""
    nodes = nodes_of(picture)
    width, height = place(nodes)
    edges, behind, texts = [], [], []
    for node in nodes:
        for child in node.children if node.text else ():
            begin, end = node.x + MARGIN, child.x + MARGIN
            edges.append(f"M{begin:.0f} {node.y + 5}L{end:.0f} {child.y - 13}")
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
        texts.append(f"<text {at}>{escape(node.text)}{title}</text>")
    path = f'<path class="edge" d="{"".join(edges)}"/>' if edges else ""
    body = f'{path}<g text-anchor="middle">{"".join(behind)}{"".join(texts)}</g>'
    return max(width + 2 * MARGIN, LEAST), height, body


def _behind(node: Node, attributes: str) -> str:
    """Return a rectangle around a node's label."""
    width = _width(node.text) + CELL
    at = f'x="{node.x + MARGIN - width / 2:.0f}" y="{node.y - 13}"'
    return f'<rect {attributes} {at} width="{width:.0f}" height="17" rx="4"/>'
