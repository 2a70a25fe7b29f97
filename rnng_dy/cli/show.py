"""`rnng-dy show`: draw trees in the terminal or on a page, optionally with gold trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import click

from oracle.corpora import parse_sections
from oracle.errors import RnngError
from rnng_dy.cli.evalb import GOLD, tags_option
from rnng_dy.cli.options import output_option
from rnng_dy.cli.paths import FILE, check_files, require_read_once, write_output
from rnng_dy.cli.tree_formats import paper_of
from rnng_dy.drawing import pages
from rnng_dy.drawing.sections import Section
from rnng_dy.drawing.svg_file import svg_file
from rnng_dy.drawing.terminal import section_lines
from rnng_dy.drawing.tree_files import TreeFile, chosen_sections, described, read_tree_file
from rnng_dy.drawing.tree_page import tree_page


class Numbers(click.ParamType):
    """Numbers of sentences from 1, as `3`, `1-10` or `1-10,12`."""

    name = "1-10,12"

    def convert(self, value, param, ctx) -> Sequence[range]:
        """See click."""
        try:
            ranges = parse_sections(value)
        except RnngError:
            ranges = []
        if not ranges or min(part.start for part in ranges) < 1:
            self.fail(
                f"{value!r} is not like 3, 1-10 or 1-10,12: sentences are numbered from 1, smaller numbers first.",
                param,
                ctx,
            )
        return ranges


@click.command()
@click.argument("trees", type=FILE, metavar="TREES")
@click.option("--gold", type=FILE, metavar="GOLD.trees", help="Gold trees of the same sentences.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["terminal", "html", "svg"]),
    default="terminal",
    help="Trees drawn in characters, a page with a list of sentences and a search field, or an SVG file.",
)
@click.option("--sentences", "ranges", type=Numbers(), help="Draw only these sentences.")
@click.option(
    "--only-errors", is_flag=True, help="With --gold: draw only sentences whose brackets differ."
)
@tags_option
@output_option
def show(trees, gold, style, ranges, only_errors, tags, output) -> None:
    """Draw trees, or samples with their log probabilities; with --gold, mark wrong and missed constituents.

    TREES is a file of trees, or the output of `parse`, `sample` or `rerank`. Posteriors in JSON of `parse` are
    shades behind the labels of SVG and pages. A constituent that the other tree
    lacks, by EVALB's rules, is red on a terminal with colours and *NP* elsewhere. If all brackets of a sentence are
    right, its tree is drawn once.

    Example: rnng-dy show greedy.trees --gold test.trees --only-errors
    """  # fmt: skip
    if only_errors and gold is None:
        raise click.UsageError("--only-errors needs --gold")
    if tags == GOLD and gold is None:
        raise click.UsageError("--tags gold needs --gold")
    if style == "html":
        pages.require()
    require_read_once(trees, gold)
    check_files([output], [trees, gold])
    system = read_tree_file(trees)
    reference = None if gold is None else read_tree_file(gold)
    sections = chosen_sections(system, reference, ranges or (), only_errors, tags == GOLD)
    write_output(output, _parts(sections, style, output, system, reference))


def _parts(
    sections: Iterable[Section], style: str, output: str, system: TreeFile, gold: TreeFile | None
) -> Iterator[str]:
    """Yield the parts of the drawing's text."""
    if style == "svg":
        yield from svg_file(sections)
    elif style == "html":
        sections = list(sections)
        title = f"Trees of {system.name}"
        yield from tree_page(sections, title, described(sections, system, gold))
    else:
        paper = paper_of(output)
        for section in sections:
            yield from (f"{line}\n" for line in section_lines(section, *paper, numbered=True))
