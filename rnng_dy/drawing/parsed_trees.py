"""Parsed sentences as text: in brackets, drawn in characters, as JSON, or all in one drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from oracle.parsed import ParsedSentence
from oracle.samples import format_sample
from rnng_dy.drawing.sections import section
from rnng_dy.drawing.terminal import section_lines
from rnng_dy.drawing.tree_page import tree_page
from rnng_dy.drawing.trees import svg_file

LINES, MADE = ("brackets", "pretty", "json"), ("svg", "html")
"""Formats written per sentence, and formats that are one drawing of all sentences."""


class TreeWriter(NamedTuple):
    """Writer of parsed sentences in one format."""

    style: str
    several: bool
    """Whether a sentence may have several trees, shown with their log probabilities."""
    columns: int
    """Width of drawings in characters."""

    def lines(self, parsed: ParsedSentence) -> list[str]:
        """Return the lines of one sentence (without trees: an empty line, none of samples); JSON for a drawing."""
        if self.style == "pretty":
            drawn = section(parsed.number, parsed.trees, self.several)
            return section_lines(drawn, self.columns, self.several)
        if self.style != "brackets":
            return [parsed.to_json()]
        if self.several:
            return [format_sample(parsed.number - 1, t.log_prob, t.tree) for t in parsed.trees]
        return [scored.tree for scored in parsed.trees] or [""]

    def drawing(self, lines: Iterable[str], title: str, description: str) -> Iterator[str]:
        """Yield the parts of the drawing of all sentences, from their lines."""
        parsed = (ParsedSentence.read(line, "", i) for i, line in enumerate(lines, 1))
        sections = [section(p.number, p.trees, self.several) for p in parsed]
        if self.style == "html":
            return tree_page(sections, title, description)
        return svg_file(row for each in sections for row in each.captioned(len(sections) > 1))
