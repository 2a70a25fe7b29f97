"""A page of trees to look at, thousands of them too: contents, search, and gold beside system with errors marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from string import Template

from oracle.treebank import format_tree
from rnng_dy.drawing.sections import Picture, Section
from rnng_dy.drawing.trees import drawn
from rnng_dy.drawing.words import visible

_ENDS_SCRIPT = re.compile("<([!s])", re.IGNORECASE)

SHOWN = 60
"""Characters of a sentence in the contents."""
FRAME = 36
"""Pixels of a caption, and of what a wide tree is scrolled with."""

_PARTS = {
    ending: (Path(__file__).parent / f"tree_page.{ending}").read_text(encoding="utf-8")
    for ending in ("html", "css", "js")
}


def tree_page(sections: Iterable[Section], title: str, description: str) -> Iterator[str]:
    """The parts of an HTML page that needs nothing else, and whose trees are drawn where it is looked at.

    `page.html#s12` opens at the sentence 12.
    """
    bodies, contents, drawings, compared = [], [], [], False
    for section in sections:
        pictures = [_drawing(picture) for picture in section.pictures]
        bodies.append(_body(section, sum(height + FRAME for _, _, height, *_ in pictures)))
        contents.append(_link(section))
        drawings.append(_json(pictures))
        compared = compared or section.score is not None
    yield Template(_PARTS["html"]).substitute(
        title=_text(title),
        description=_text(description),
        style=_PARTS["css"],
        script=_PARTS["js"],
        compared="" if compared else "none",
        several="" if len(bodies) > 1 else "none",
        sections="".join(bodies),
        contents="".join(contents),
        trees=",\n".join(drawings),
    )


def _body(section: Section, height: int) -> str:
    """A sentence, with room for its trees, which are drawn later."""
    score, known = section.score, ""
    if score is not None:
        known = f' data-errors="{section.errors}" data-f1="{score.f1:.2f}"'
    title = f" <small>{_text(section.title)}</small>" if section.title else ""
    words = f"<p>{_text(' '.join(section.words))}</p>" if section.pictures else ""
    return (
        f'<section id="s{section.name}"{known}><h2>{section.name}{title}</h2>{words}'
        f'<div class="trees" style="--room:{height}px"></div></section>\n'
    )


def _link(section: Section) -> str:
    text = " ".join(section.words)
    begin = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    good = ' class="good"' if section.errors == 0 else ""
    f1 = "" if section.score is None else f"<i{good}>{section.score.f1:.1f}</i>"
    name = section.name
    return f'<li><a href="#s{name}"><b>{name}</b>{f1}<bdi>{_text(begin)}</bdi></a></li>\n'


def _drawing(picture: Picture) -> tuple[str, int, int, str, str]:
    drawing = drawn(picture.tree, picture.marked, picture.why, picture.weights)
    brackets = visible(format_tree(picture.tree))
    size = round(drawing.width), round(drawing.height)
    return (visible(picture.caption), *size, drawing.body, brackets)


def _text(text: str) -> str:
    return escape(visible(text))


def _json(content: object) -> str:
    """JSON that a script element holds: nothing in it can end the element, or begin a comment."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return _ENDS_SCRIPT.sub(r"\\u003c\1", text.replace("</", r"<\/"))
