"""Parsed sentences as text: in brackets, drawn in characters, as JSON, or all in one drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from oracle.parsed import ParsedSentence
from oracle.samples import format_sample
from rnng_dy.drawing.pages import parts
from rnng_dy.drawing.sections import section
from rnng_dy.drawing.terminal import section_lines
from rnng_dy.drawing.trees import svg_file

FORMS = {
    ".trees": "brackets",
    ".txt": "drawn in characters",
    ".jsonl": "all, a sentence per line",
    ".svg": "one drawing",
    ".html": "one page",
}
"""What files with each ending hold."""
DRAWINGS = (".svg", ".html")


class TreeWriter(NamedTuple):
    """Writer of parsed sentences in one form."""

    form: str
    """One of `FORMS`."""
    several: bool
    """Whether a sentence may have several trees, shown with their log probabilities."""
    columns: int
    """Width of drawings in characters."""

    def lines(self, parsed: ParsedSentence) -> list[str]:
        """Return the lines of one sentence (without trees: an empty line, none of samples); JSON for a drawing."""
        if self.form == ".txt":
            drawn = section(parsed.number, parsed.trees, self.several)
            return section_lines(drawn, self.columns, self.several)
        if self.form != ".trees":
            return [parsed.to_json()]
        if self.several:
            return [format_sample(parsed.number - 1, t.log_prob, t.tree) for t in parsed.trees]
        return [scored.tree for scored in parsed.trees] or [""]

    def parts(self, lines: Iterable[str], title: str, description: str) -> Iterator[str]:
        """Yield the text of all sentences in parts, from their lines of JSON."""
        parsed = (ParsedSentence.read(line, "", i) for i, line in enumerate(lines, 1))
        if self.form not in DRAWINGS:
            return (f"{line}\n" for sentence in parsed for line in self.lines(sentence))
        sections = [section(p.number, p.trees, self.several) for p in parsed]
        if self.form == ".html":
            return parts("trees.html", sections=sections, title=title, description=description)
        return svg_file(row for each in sections for row in each.captioned(len(sections) > 1))
