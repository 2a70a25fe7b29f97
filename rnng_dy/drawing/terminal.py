"""Trees in characters, as NLTK draws them; brackets over several lines where a drawing is too wide."""

from __future__ import annotations

import shutil
from collections.abc import Container

from oracle.brackets import format_tree, nltk
from rnng_dy.drawing.sections import Section
from rnng_dy.drawing.words import visible

COLUMNS = 80
"""Width of a drawing in characters, unless a terminal has another width."""


def columns_of(output: str) -> int:
    """Return the width of drawings in characters for an output: that of a terminal, or a fixed width."""
    return shutil.get_terminal_size((COLUMNS, 24)).columns if output == "-" else COLUMNS


def drawn_lines(tree: nltk.Tree, columns: int, marked: Container[int] = ()) -> list[str]:
    """Return the lines of a drawing of at most `columns`, or of brackets.

    The constituents with the numbers `marked` (from 0, from the top down and from left to right) are written `*NP*`.
    """
    from nltk.tree.prettyprinter import TreePrettyPrinter

    try:
        shown = tree.copy(deep=True)
        constituents = shown.subtrees(lambda node: not _is_tag(node))
        for number, node in enumerate(constituents):
            node.set_label(f"*{node.label()}*" if number in marked else node.label())
        for node in shown.subtrees():
            node.set_label(visible(node.label()))
            node[:] = [visible(child) if isinstance(child, str) else child for child in node]
        if sum(len(word) + 1 for word in shown.leaves()) <= columns:
            drawn = TreePrettyPrinter(shown).text(unicodelines=True).splitlines()
            if max(len(line.rstrip()) for line in drawn) <= columns:
                return [line.rstrip() for line in drawn]
        return shown.pformat(margin=columns).splitlines()
    except RecursionError:
        # NLTK draws a child inside the drawing of its parent
        return [visible(format_tree(tree))]


def _is_tag(node: nltk.Tree) -> bool:
    return len(node) == 1 and isinstance(node[0], str)


def section_lines(section: Section, columns: int, numbered: bool) -> list[str]:
    """Return the lines of a sentence, with an empty line after each tree; `numbered` puts its number above."""
    lines: list[str] = []
    for caption, picture in section.captioned(numbered):
        lines += [visible(caption)] if caption else []
        if picture is not None:
            lines += [*drawn_lines(picture.tree, columns, picture.marked), ""]
    return lines if section.pictures else [*lines, ""]
