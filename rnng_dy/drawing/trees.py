"""Trees as SVG; each label says by a title how many words are below it."""

from __future__ import annotations

from collections.abc import Container
from html import escape
from typing import NamedTuple

from nltk import Tree

from oracle.brackets import format_tree
from rnng_dy.drawing.layout import TAG, WORD, Node, depth, nodes_of, place
from rnng_dy.drawing.svg import svg
from rnng_dy.drawing.words import cells, visible

LEVEL, GAP, CELL, MARGIN, LEAST = 44, 14, 7.2, 10, 60
"""Pixels: from level to level, between neighbours, a letter, around a tree, and the least width."""

STYLE = """
svg text { font: 12px system-ui, sans-serif; fill: #333 } svg .label { fill: #1b6ca8; font-weight: 600 }
svg .tag { fill: #777 } svg .edge { stroke: #aaa; fill: none }
svg .wrong { fill: #c00; font-weight: 700; text-decoration: underline }
"""
"""What drawings of trees need; a page may have other colours."""


class Drawing(NamedTuple):
    """A tree in pixels."""

    width: float
    height: float
    body: str


def draw_tree(tree: Tree, wrong: Container[int] = (), why: str = "not in the gold tree") -> str:
    """A tree with its words in a row, as an SVG element; the constituents with the numbers `wrong` are marked.

    Constituents are numbered from 0, from the top down and from left to right; `why` is the title of marked ones.
    """
    drawing = drawn(tree, wrong, why)
    return svg(drawing.width, drawing.height, drawing.body, visible(format_tree(tree)))


def drawn(tree: Tree, wrong: Container[int] = (), why: str = "not in the gold tree") -> Drawing:
    """The inner part of what `draw_tree` gives, and its size."""
    nodes = nodes_of(tree)
    width = place(nodes, lambda node: max(cells(visible(node.text)), 2) * CELL, GAP)
    bottom = depth(nodes)
    edges = "".join(_edges(node, bottom) for node in nodes)
    texts = "".join(_text(node, bottom, wrong, why) for node in nodes)
    body = f'<path class="edge" d="{edges}"/><g text-anchor="middle">{texts}</g>'
    return Drawing(max(width + 2 * MARGIN, LEAST), bottom * LEVEL + 26, body)


def _y(node: Node, bottom: int) -> int:
    return (bottom if node.kind == WORD else node.level) * LEVEL + 18


def _edges(node: Node, bottom: int) -> str:
    """Lines to the children of a node, of a path."""
    x, y = node.x + MARGIN, _y(node, bottom) + 5
    return "".join(
        f"M{x:.1f} {y}L{child.x + MARGIN:.1f} {_y(child, bottom) - 13}" for child in node.children
    )


def _text(node: Node, bottom: int, wrong: Container[int], why: str) -> str:
    place = f'x="{node.x + MARGIN:.1f}" y="{_y(node, bottom)}"'
    text = _escaped(node.text)
    if node.kind == WORD:
        return f"<text {place}>{text}</text>"
    if node.kind == TAG:
        return f'<text {place} class="tag">{text}</text>'
    is_wrong = node.number in wrong
    title = why if is_wrong else f"{node.words} word{'s' * (node.words != 1)}"
    kind = "wrong" if is_wrong else "label"
    return f'<text {place} class="{kind}">{text}<title>{escape(title)}</title></text>'


def _escaped(text: str) -> str:
    return escape(visible(text))
