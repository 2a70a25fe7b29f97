"""HTML page of trees, even thousands of them: contents, search, and gold beside system with errors marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from oracle.brackets import format_tree
from rnng_dy.drawing.pages import parts
from rnng_dy.drawing.sections import Picture, Section
from rnng_dy.drawing.trees import drawn
from rnng_dy.drawing.words import visible

FRAME = 36
"""Pixels for a caption and the scroll bar of a wide tree."""


class _Row(NamedTuple):
    """The data of a sentence on the page; its trees, many times as large as their drawings, are left out."""

    name: str
    title: str
    text: str
    errors: int | None
    f1: float | None
    height: int
    """Height of the trees in pixels."""
    pictures: list[tuple]
    """The data that the page's script draws."""


def tree_page(sections: Iterable[Section], title: str, description: str) -> Iterator[str]:
    """Return the parts of a self-contained HTML page that draws its trees when they come into view.

    `page.html#s12` opens at sentence 12.
    """
    rows = list(map(_row, sections))
    return parts("trees.html", title=title, description=description, rows=rows)


def _row(section: Section) -> _Row:
    pictures = list(map(_picture, section.pictures))
    height = sum(height + FRAME for _, _, height, *_ in pictures)
    f1 = None if section.score is None else section.score.f1
    text = " ".join(section.words)
    return _Row(section.name, section.title, text, section.errors, f1, height, pictures)


def _picture(picture: Picture) -> tuple[str, int, int, str, str]:
    """Return caption, width, height, the SVG inside and the brackets."""
    drawing = drawn(picture.tree, *picture.shown)
    size = round(drawing.width), round(drawing.height)
    return (visible(picture.caption), *size, drawing.body, visible(format_tree(picture.tree)))
