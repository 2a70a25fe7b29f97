"""Parsed sentences as text: in brackets, drawn in characters, as JSON, or all in one drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from oracle.brackets import parse_line
from oracle.parsed import ParsedSentence
from oracle.samples import format_sample
from rnng_dy.drawing.pages import parts
from rnng_dy.drawing.sections import DrawnTree, Section, section
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
            return section_lines(self._section(parsed), self.columns, self.several)
        if self.form != ".trees":
            return [parsed.to_json()]
        if self.several:
            return [format_sample(parsed.number - 1, t.log_prob, t.tree) for t in parsed.trees]
        return [scored.tree for scored in parsed.trees] or [""]

    def parts(self, lines: Iterable[str], title: str, description: str) -> Iterator[str]:
        """Yield the text of all sentences in parts, from their lines of JSON."""
        parsed = map(ParsedSentence.read, lines)
        if self.form not in DRAWINGS:
            return (f"{line}\n" for sentence in parsed for line in self.lines(sentence))
        return drawing(self.form, list(map(self._section, parsed)), title, description)

    def _section(self, parsed: ParsedSentence) -> Section:
        return section(
            parsed.number,
            [
                DrawnTree(
                    parse_line(each.tree, any_bytes=True),
                    each.log_prob if self.several else None,
                    each.posteriors,
                )
                for each in parsed.trees
            ],
        )


def drawing(form: str, sections: Sequence[Section], title: str, description: str) -> Iterator[str]:
    """Return the text of one of the `DRAWINGS` in parts."""
    if form == ".html":
        return parts("trees.html", sections=sections, title=title, description=description)
    return svg_file(row for each in sections for row in each.captioned(len(sections) > 1))
