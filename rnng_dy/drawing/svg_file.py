"""Trees one above the other, as one self-contained SVG file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from rnng_dy.drawing.sections import Picture, Section
from rnng_dy.drawing.trees import MARGIN, drawn
from rnng_dy.drawing.words import visible

LINE = 26
"""Height of a caption in pixels."""

_STYLE = """
svg text { font: 12px system-ui, sans-serif; fill: #333 } svg .label text { fill: #1b6ca8; font-weight: 600 }
svg .tag text { fill: #777 } svg .edge { stroke: #aaa; fill: none }
svg .wrong text { fill: #c00; font-weight: 700; text-decoration: underline }
svg .weight text { font-size: 9px; paint-order: stroke; stroke: #fff; stroke-width: 3px }
svg .doubt rect { fill: #f0a030 }
svg .caption { font-weight: 600; fill: #333 }"""


def svg_file(sections: Iterable[Section]) -> Iterator[str]:
    """Yield the parts of the file's text; if there are several sentences, each has its number above its trees."""
    sections = list(sections)
    parts, width, height = [], 0.0, 0.0
    for section in sections:
        for caption, picture in _rows(section, len(sections) > 1):
            if caption:
                text = escape(visible(caption))
                parts.append(
                    f'<text x="{MARGIN}" y="{height + 18:.0f}" class="caption">{text}</text>'
                )
                # a letter of a bold caption is about as wide as a letter of a word
                width, height = max(width, 8 * len(caption) + 2 * MARGIN), height + LINE
            if picture is not None:
                drawing = drawn(picture.tree, *picture.shown)
                parts.append(f'<g transform="translate(0 {height:.0f})">{drawing.body}</g>')
                width, height = max(width, drawing.width), height + drawing.height
    yield (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg"><style>{_STYLE}</style>'
        '<rect width="100%" height="100%" fill="#fff"/>\n'
    )
    yield from (f"{part}\n" for part in parts)
    yield "</svg>\n"


def _rows(section: Section, numbered: bool) -> Iterator[tuple[str, Picture | None]]:
    """Yield captions, each with the picture below it."""
    heading = section.heading if numbered else section.title
    if heading:
        yield heading, None
    for picture in section.pictures:
        yield picture.caption, picture
