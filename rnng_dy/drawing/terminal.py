"""Trees in a terminal: top-down if the drawing fits the width, else as an outline with a line per constituent."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from oracle.lazy import nltk
from rnng_dy.drawing.layout import CONSTITUENT, TAG, WORD, Node, depth, nodes_of, place
from rnng_dy.drawing.sections import Section
from rnng_dy.drawing.words import cells, visible

GAP = 2
"""Fewest columns between neighbours."""

_COLOURS = {TAG: "\x1b[2m", CONSTITUENT: "\x1b[34m", "wrong": "\x1b[1;31m"}
_PLAIN = "\x1b[0m"


def drawn_lines(
    tree: nltk.Tree, columns: int, marked: Container[int] = (), colours: bool = False
) -> list[str]:
    """Return the lines of a drawing at most about `columns` wide, except for a word that is wider.

    The constituents with the numbers `marked` (from 0, from the top down and from left to right) get a colour, or
    are written `*NP*`.
    """
    nodes = nodes_of(tree)
    painter = _Painter(marked, colours)
    width = place(nodes, lambda node: cells(painter.text(node)), GAP)
    if width <= columns:
        return list(_from_the_top(nodes, painter))
    return list(_outline(nodes[0], columns, painter))


def section_lines(section: Section, columns: int, colours: bool, numbered: bool) -> list[str]:
    """Return the lines of a sentence, with an empty line after each tree; `numbered` puts its number above."""
    heading = section.heading if numbered else section.title and section.heading
    lines = [heading] if heading else []
    for picture in section.pictures:
        lines += [visible(picture.caption)] if picture.caption else []
        lines += [*drawn_lines(picture.tree, columns, picture.marked, colours), ""]
    return lines if section.pictures else [*lines, ""]


class _Painter:
    """Painter of the nodes' texts, plain or in colour."""

    def __init__(self, marked: Container[int], colours: bool):
        self._marked, self._colours = marked, colours

    def text(self, node: Node) -> str:
        """Return the node's text without colour, which has its width."""
        text = visible(node.text)
        return f"*{text}*" if node.number in self._marked and not self._colours else text

    def painted(self, node: Node) -> str:
        """Return the node's text in its colour."""
        kind = "wrong" if node.number in self._marked else node.kind
        if not self._colours or kind not in _COLOURS:
            return self.text(node)
        return f"{_COLOURS[kind]}{self.text(node)}{_PLAIN}"


class _Line:
    """A line of texts at columns."""

    def __init__(self):
        self._texts: dict[int, tuple[str, int]] = {}

    def add(self, column: int, text: str, width: int) -> None:
        self._texts[column] = (text, width)

    def __str__(self) -> str:
        parts, end = [], 0
        for column, (text, width) in sorted(self._texts.items()):
            parts += [" " * (column - end), text]
            end = column + width
        return "".join(parts)


def _from_the_top(nodes: Sequence[Node], painter: _Painter) -> Iterator[str]:
    """Yield lines with labels above the middle of their children, and words in a row at the bottom."""
    bottom = depth(nodes)
    lines = [_Line() for _ in range(2 * bottom + 1)]
    for node in nodes:
        level = bottom if node.kind == WORD else node.level
        width = cells(painter.text(node))
        lines[2 * level].add(int(node.x - width / 2), painter.painted(node), width)
        if node.children:
            _add_edges(lines, node, bottom)
    return map(str, lines)


def _add_edges(lines: Sequence[_Line], node: Node, bottom: int) -> None:
    """Add the edges from a label to its children, with a line down to each word at the bottom."""
    below = 2 * node.level + 1
    places = [int(child.x) for child in node.children]
    first, last = places[0], places[-1]
    joined = dict.fromkeys(range(first, last + 1), "─")
    joined.update(dict.fromkeys(places, "┬"))
    joined[first], joined[last] = "┌", "┐"
    above = {"─": "┴", "┬": "┼", "┌": "├", "┐": "┤"}
    column = int(node.x)
    joined[column] = "│" if first == last else above[joined[column]]
    lines[below].add(first, "".join(joined.values()), last - first + 1)
    for child, column in zip(node.children, places, strict=True):
        if child.kind == WORD:
            for line in lines[below + 1 : 2 * bottom]:
                line.add(column, "│", 1)


def _outline(root: Node, columns: int, painter: _Painter) -> Iterator[str]:
    """Yield a line per node, only children excepted, indented by level; deep down the level is written as a number."""
    deepest = columns * 2 // 3
    agenda: list[tuple[Node, str, str]] = [(root, "", "")]
    while agenda:
        node, before, indent = agenda.pop()
        if len(before) > deepest:
            before, indent = f"({node.level}) {before[-3:]}", indent[:deepest]
        line, width = before + painter.painted(node), cells(before + painter.text(node))
        while len(node.children) == 1 and (node.kind == TAG or width < columns):
            joint = " " if node.kind == TAG else " ─ "
            [node] = node.children
            line += joint + painter.painted(node)
            width += cells(joint + painter.text(node))
        yield line
        children = node.children
        for child in reversed(children):
            is_last = child is children[-1]
            joint, below = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            agenda.append((child, indent + joint, indent + below))
