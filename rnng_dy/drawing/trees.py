"""Trees as SVG; the title of each label says how many words are below it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from html import escape
from typing import NamedTuple

from oracle.brackets import format_tree
from oracle.lazy import nltk
from rnng_dy.drawing.layout import CONSTITUENT, WORD, Node, depth, nodes_of, place
from rnng_dy.drawing.words import cells, visible

LEVEL, GAP, CELL, MARGIN, LEAST = 44, 14, 7.2, 10, 60
"""Pixels: between levels, between neighbours, per letter, around a tree, and the least width."""
THINNEST, THICKEST = 0.5, 5.0
"""Pixels: thickness of edges with the weights 0 and 1."""

LEAST_DOUBT = 0.01
"""A constituent whose probability lacks less than this to 1 has no shade."""

Weights = Mapping[int, Sequence[float]]
"""Weights, from 0 to 1, of the edges to a constituent's children, by the constituent's number."""


class Drawing(NamedTuple):
    """A tree in pixels."""

    width: float
    height: float
    body: str


def draw_tree(
    tree: nltk.Tree,
    marked: Container[int] = (),
    why: str = "not in the gold tree",
    weights: Weights | None = None,
    posteriors: Sequence[float] | None = None,
) -> str:
    """Return a tree with its words in a row, as an SVG element; the constituents with the numbers `marked` are marked.

    Constituents are numbered from 0, from the top down and from left to right; `why` is the title of marked ones.
    `weights` and `posteriors` are those of `drawn`.
    """
    drawing = drawn(tree, marked, why, weights, posteriors)
    width, height = f"{drawing.width:.0f}", f"{drawing.height:.0f}"
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(visible(format_tree(tree)))}" xmlns="http://www.w3.org/2000/svg">'
        f"{drawing.body}</svg>"
    )


def drawn(
    tree: nltk.Tree,
    marked: Container[int] = (),
    why: str = "not in the gold tree",
    weights: Weights | None = None,
    posteriors: Sequence[float] | None = None,
) -> Drawing:
    """Return the body and size of `draw_tree`'s element.

    Edges with weights show them as thickness and number. The less probable a constituent is, by `posteriors`, the
    darker is the shade behind its label; the title says the probability.
    """
    nodes = nodes_of(tree)
    width = place(nodes, lambda node: max(cells(visible(node.text)), 2) * CELL, GAP)
    bottom = depth(nodes)
    texts: dict[str, list[str]] = {}
    for node in nodes:
        kind = "wrong" if node.number in marked else node.kind
        title = why if kind == "wrong" else _size(node)
        if posteriors is not None and node.number is not None:
            title += f", probability {posteriors[node.number]:.2f}"
        texts.setdefault(kind, []).append(_text(node, bottom, title))
    groups = "".join(f'<g class="{kind}">{"".join(of_kind)}</g>' for kind, of_kind in texts.items())
    weights = weights or {}
    weighted = [node for node in nodes if node.number in weights]
    plain = (node for node in nodes if node.children and node.number not in weights)
    edges = "".join(_edge(node, child, bottom) for node in plain for child in node.children)
    body = f'<path class="edge" d="{edges}"/>' if edges else ""
    lines, numbers = _weighted(weighted, weights, bottom)
    shades = "" if posteriors is None else _shades(nodes, posteriors)
    body += f'{lines}{shades}<g text-anchor="middle">{groups}{numbers}</g>'
    return Drawing(max(width + 2 * MARGIN, LEAST), bottom * LEVEL + 26, body)


def _y(node: Node, bottom: int) -> int:
    return (bottom if node.kind == WORD else node.level) * LEVEL + 18


def _edge(node: Node, child: Node, bottom: int) -> str:
    """Return the line to a child, for a path."""
    return (
        f"M{node.x + MARGIN:.0f} {_y(node, bottom) + 5}"
        f"L{child.x + MARGIN:.0f} {_y(child, bottom) - 13}"
    )


def _weighted(nodes: Sequence[Node], weights: Weights, bottom: int) -> tuple[str, str]:
    """Return the lines to the nodes' children, as thick as their weights, and the weights beside the children."""
    lines, numbers = [], []
    for node in nodes:
        for child, weight in zip(node.children, weights[node.number], strict=True):
            thickness = THINNEST + (THICKEST - THINNEST) * weight
            line = _edge(node, child, bottom)
            lines.append(f'<path class="edge" stroke-width="{thickness:.1f}" d="{line}"/>')
            # just above the child, where the lines of neighbours are furthest apart
            x = 0.15 * node.x + 0.85 * child.x + MARGIN
            numbers.append(f'<text x="{x:.0f}" y="{_y(child, bottom) - 16}">{weight:.2f}</text>')
    text = f'<g class="weight">{"".join(numbers)}</g>' if numbers else ""
    return "".join(lines), text


def _shades(nodes: Sequence[Node], posteriors: Sequence[float]) -> str:
    """Return rectangles behind the labels of constituents that are not certain, as opaque as they are improbable."""
    rectangles = []
    for node in nodes:
        doubt = 0.0 if node.number is None else 1 - posteriors[node.number]
        if doubt >= LEAST_DOUBT:
            width = (cells(visible(node.text)) + 1) * CELL
            x, y = node.x + MARGIN - width / 2, node.level * LEVEL + 5
            rectangles.append(
                f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="17" rx="4" fill-opacity="{doubt:.2f}"/>'
            )
    return f'<g class="doubt">{"".join(rectangles)}</g>' if rectangles else ""


def _size(node: Node) -> str:
    if node.kind != CONSTITUENT:
        return ""
    return f"{node.words} word{'s' * (node.words != 1)}"


def _text(node: Node, bottom: int, title: str) -> str:
    said = f"<title>{escape(title)}</title>" if title else ""
    text = escape(visible(node.text))
    return f'<text x="{node.x + MARGIN:.0f}" y="{_y(node, bottom)}">{text}{said}</text>'
