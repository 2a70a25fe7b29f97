"""HTML page of trees: contents, search, and gold beside system with errors marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rnng_dy.drawing.pages import markup, parts
from rnng_dy.drawing.sections import Section
from rnng_dy.drawing.trees import Picture, svg_of

if TYPE_CHECKING:
    from markupsafe import Markup


def tree_page(sections: Sequence[Section], title: str, description: str) -> Iterator[str]:
    """Return the parts of a self-contained HTML page; `page.html#s12` opens at sentence 12."""
    shown = {"title": title, "description": description, "sections": sections, "svg_of": svg}
    return parts("trees.html", **shown)


def svg(picture: Picture) -> Markup:
    """Return the drawing of a tree for a template."""
    return markup(svg_of(picture))
