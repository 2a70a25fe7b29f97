"""Trees as SVG: the words in a row at the bottom, each label above the middle of its children.

No function is recursive, so that a tree may have any depth.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from oracle.brackets import format_tree
from oracle.lazy import nltk
from oracle.treebank import is_preterminal
from rnng_dy.drawing.words import cells, visible

LEVEL, GAP, CELL, MARGIN, LEAST = 44, 14, 7.2, 10, 60
"""Pixels: between levels, between neighbours, per letter, around a tree, and the least width."""
THINNEST, THICKEST = 0.5, 5.0
"""Pixels: thickness of edges with the weights 0 and 1."""
LEAST_DOUBT = 0.01
"""A constituent whose probability lacks less than this to 1 has no shade."""
CAPTION = 26
"""Height of a caption in pixels."""
WRONG = "not in the gold tree"

_STYLE = """
svg text { font: 12px system-ui, sans-serif; fill: #333 } svg .label text { fill: #1b6ca8; font-weight: 600 }
svg .tag text { fill: #777 } svg .edge { stroke: #aaa; fill: none }
svg .wrong text { fill: #c00; font-weight: 700; text-decoration: underline }
svg .weight text { font-size: 9px; paint-order: stroke; stroke: #fff; stroke-width: 3px }
svg .doubt rect { fill: #f0a030 } svg .open rect { fill: none; stroke: #1b6ca8; stroke-dasharray: 4 3 }
svg .caption { font-weight: 600; fill: #333 }"""


class Picture(NamedTuple):
    """A tree to be drawn; its constituents are numbered from 0, from the top down and from left to right."""

    tree: nltk.Tree
    caption: str = ""
    marked: Container[int] = ()
    """Numbers of the constituents that are marked."""
    why: str = WRONG
    """The reason why they are marked."""
    weights: Mapping[int, Sequence[float]] | None = None
    """Weights of the edges to a constituent's children, by the constituent's number, from 0 to 1."""
    posteriors: Sequence[float] | None = None
    """Probabilities of the constituents, by number."""
    open: Container[int] | None = None
    """Numbers of the constituents of a partial tree that are still open; None for a complete tree."""


class Drawing(NamedTuple):
    """A tree in pixels."""

    width: float
    height: float
    body: str


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
    words: int = 0
    """Number of words below the node."""
    x: float = 0.0
    """The middle of the node's text."""
    left: float = 0.0
    width: float = 0.0
    """Width of the node with all below it; neighbours do not overlap."""


def svg_of(picture: Picture, brackets: str = "") -> str:
    """Return a tree as an SVG element; `brackets` are those of a partial tree, for those who cannot see it.

    Edges with weights show them as thickness and number. The less probable a constituent is, the darker is the shade
    behind its label. Labels of open constituents have dashed frames.
    """
    drawing = draw(picture)
    size = f"{drawing.width:.0f}", f"{drawing.height:.0f}"
    label = escape(visible(brackets or format_tree(picture.tree)))
    return f'{_head(*size)} role="img" aria-label="{label}">{drawing.body}</svg>'


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
            drawing = draw(picture)
            parts.append(f'<g transform="translate(0 {height:.0f})">{drawing.body}</g>')
            width, height = max(width, drawing.width), height + drawing.height
    yield f"{_head(f'{width:.0f}', f'{height:.0f}')}><style>{_STYLE}</style>"
    yield '<rect width="100%" height="100%" fill="#fff"/>\n'
    yield from (f"{part}\n" for part in parts)
    yield "</svg>\n"


def _head(width: str, height: str) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg {size} xmlns="http://www.w3.org/2000/svg"'


def partial_picture(brackets: str) -> Picture:
    """Return the picture of the brackets of a partial derivation; what has no closing bracket is open.

    >>> picture = partial_picture("(S (NP the cat) (VP")
    >>> print(picture.tree, picture.open)
    (S (NP the cat) (VP )) {0, 2}
    """
    root = nltk.Tree("", [])
    stack, numbers, count = [root], [], 0
    for token in re.findall(r"\([^\s()]*|\)|[^\s()]+", brackets):
        if token == ")":
            stack.pop()
            numbers.pop()
        elif token[0] == "(":
            stack[-1].append(nltk.Tree(token[1:], []))
            stack.append(stack[-1][-1])
            numbers.append(count)
            count += 1
        else:
            stack[-1].append(token)
    if len(root) == 1 and isinstance(root[0], nltk.Tree):
        return Picture(root[0], open=set(numbers))
    # the root without a label counts as the first constituent
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
            node = Node(content, "word", level, words=1)
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
    for node in reversed(found):
        node.words += sum(child.words for child in node.children)
    return found


def place(nodes: Sequence[Node]) -> float:
    """Set the positions of the nodes of `nodes_of`; return the total width in pixels."""
    for node in reversed(nodes):
        _arrange(node, max(cells(visible(node.text)), 2) * CELL)
    for node in nodes:
        node.x += node.left
        for child in node.children:
            child.left += node.left
    return nodes[0].width


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


def draw(picture: Picture) -> Drawing:
    """Return the body and size of `svg_of`'s element."""
    nodes = nodes_of(picture)
    width = place(nodes)
    bottom = 1 + max((node.level for node in nodes if node.kind != "word"), default=0)
    heights = {
        id(node): (bottom if node.kind == "word" else node.level) * LEVEL + 18 for node in nodes
    }
    edges, weighted, weights = [], [], []
    groups: dict[str, list[str]] = {"doubt": [], "open": []}
    for node in nodes:
        x, y = node.x + MARGIN, heights[id(node)]
        own = (picture.weights or {}).get(node.number)
        for i, child in enumerate(node.children if node.text else ()):
            line = f"M{x:.0f} {y + 5}L{child.x + MARGIN:.0f} {heights[id(child)] - 13}"
            if own is None:
                edges.append(line)
                continue
            thickness = THINNEST + (THICKEST - THINNEST) * own[i]
            weighted.append(f'<path class="edge" stroke-width="{thickness:.1f}" d="{line}"/>')
            # just above the child, where the lines of neighbours are furthest apart
            beside = 0.15 * x + 0.85 * (child.x + MARGIN)
            at = f'x="{beside:.0f}" y="{heights[id(child)] - 16}"'
            weights.append(f"<text {at}>{own[i]:.2f}</text>")
        kind, title = node.kind, ""
        if node.number is not None:
            title = f"{node.words} word{'s' * (node.words != 1)}"
            if node.number in picture.marked:
                kind, title = "wrong", picture.why
            if picture.posteriors is not None:
                probability = picture.posteriors[node.number]
                title += f", probability {probability:.2f}"
                if probability <= 1 - LEAST_DOUBT:
                    shade = f' fill-opacity="{1 - probability:.2f}"'
                    groups["doubt"].append(_behind(node, x, shade))
            if picture.open is not None and node.number in picture.open:
                groups["open"].append(_behind(node, x))
        said = f"<title>{escape(title)}</title>" if title else ""
        text = f'<text x="{x:.0f}" y="{y}">{escape(visible(node.text))}{said}</text>'
        groups.setdefault(kind, []).append(text)
    body = f'<path class="edge" d="{"".join(edges)}"/>' if edges else ""
    groups["weight"] = weights
    inner = [f'<g class="{kind}">{"".join(of)}</g>' for kind, of in groups.items() if of]
    body += f'{"".join(weighted)}<g text-anchor="middle">{"".join(inner)}</g>'
    return Drawing(max(width + 2 * MARGIN, LEAST), bottom * LEVEL + 26, body)


def _behind(node: Node, x: float, more: str = "") -> str:
    """Return a rectangle around a node's label."""
    width = (cells(visible(node.text)) + 1) * CELL
    at = f'x="{x - width / 2:.0f}" y="{node.level * LEVEL + 5}"'
    return f'<rect {at} width="{width:.0f}" height="17" rx="4"{more}/>'
