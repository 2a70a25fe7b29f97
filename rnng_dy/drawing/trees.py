"""Trees as SVG; each label says by a title how many words are below it."""

from __future__ import annotations

from collections import Counter
from html import escape

from nltk import Tree

from rnng_dy.drawing.svg import svg
from rnng_dy.evaluation.comparison import Bracket, canonical
from rnng_dy.evaluation.evalb_params import COLLINS
from rnng_dy.evaluation.evalb_sentence import counted_label

LEVEL, GAP, LETTER = 44, 14, 7.2


def draw_tree(tree: Tree, right: Counter[Bracket] | None = None) -> str:
    """A tree with its words in a row; constituents that are not among the brackets `right` are marked wrong."""
    drawing = _Drawing(Counter(right) if right is not None else None)
    drawing.place(tree, 0)
    height = (drawing.depth + 1) * LEVEL + 26
    return svg(max(drawing.x, 60), height, drawing.finish())


class _Drawing:
    """Places words from left to right and each label above the middle of its children."""

    def __init__(self, right: Counter[Bracket] | None):
        self._right = right
        self.x = 10.0
        self.depth = 0
        self._words = 0
        """Words so far that count in evaluation."""
        self._leaves: list[tuple[float, float, str, str]] = []
        self._marks: list[str] = []

    def place(self, node: Tree, level: int) -> float:
        """Draw the node and what is below it; gives the x of its middle."""
        self.depth = max(self.depth, level + 1)
        if len(node) == 1 and isinstance(node[0], str):
            return self._leaf(node.label(), node[0], level)
        start = self._words
        below = [self.place(child, level + 1) for child in node]
        x = (below[0] + below[-1]) / 2
        y = level * LEVEL + 18
        lines = "".join(
            f'<line x1="{x:.1f}" y1="{y + 5}" x2="{child:.1f}" y2="{y + LEVEL - 13}" class="edge"/>'
            for child in below
        )
        self._marks.append(lines + self._label(node.label(), x, y, start))
        return x

    def _leaf(self, tag: str, word: str, level: int) -> float:
        width = max(len(tag), len(word), 2) * LETTER
        x, y = self.x + width / 2, level * LEVEL + 18
        self._leaves.append((x, y, tag, word))
        self.x += width + GAP
        self._words += tag not in COLLINS.delete_labels
        return x

    def _label(self, label: str, x: float, y: float, start: int) -> str:
        counted = counted_label(label, start, self._words, COLLINS)
        wrong = False
        if self._right is not None and counted is not None:
            bracket = (canonical(counted), start, self._words)
            wrong = self._right[bracket] <= 0
            self._right[bracket] -= 1
        kind, title = (
            ("wrong", "not in the gold tree")
            if wrong
            else ("label", f"{self._words - start} words")
        )
        text = f"{escape(label)}<title>{title}</title>"
        return f'<text x="{x:.1f}" y="{y}" text-anchor="middle" class="{kind}">{text}</text>'

    def finish(self) -> str:
        """Tags and words, which stand in a row at the bottom."""
        bottom = self.depth * LEVEL + 18
        for x, y, tag, word in self._leaves:
            self._marks.append(
                f'<text x="{x:.1f}" y="{y}" text-anchor="middle" class="tag">{escape(tag)}</text>'
                f'<line x1="{x:.1f}" y1="{y + 5}" x2="{x:.1f}" y2="{bottom - 13}" class="edge"/>'
                f'<text x="{x:.1f}" y="{bottom}" text-anchor="middle">{escape(word)}</text>'
            )
        return "".join(self._marks)
