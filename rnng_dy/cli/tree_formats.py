"""How `rnng-dy parse` writes trees, and how many of each sentence."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NamedTuple

import click

from oracle.files import format_sample, open_output
from oracle.parsed import ParsedSentence, read_parsed
from rnng_dy.cli.options import AT_LEAST_1, seed_option
from rnng_dy.cli.progress import takes_escapes
from rnng_dy.drawing import pages
from rnng_dy.drawing.sections import section
from rnng_dy.drawing.svg_file import svg_file
from rnng_dy.drawing.terminal import section_lines
from rnng_dy.drawing.tree_page import tree_page
from rnng_dy.execution.work import Lines

LINES, MADE = ("brackets", "pretty", "json"), ("svg", "html")
"""Formats written sentence by sentence, and those that are one drawing of all sentences."""

COLUMNS = 80
"""Width of a drawing in characters where no terminal says another."""


class Paper(NamedTuple):
    """What is drawn on in characters."""

    columns: int
    colours: bool


class Wanted(NamedTuple):
    """Which trees of a sentence are written, and how."""

    style: str
    nbest: int | None
    samples: int | None
    seed: int

    @property
    def several(self) -> bool:
        """Whether a sentence may have more trees than one, with their log probabilities."""
        return self.nbest is not None or self.samples is not None

    @property
    def is_made(self) -> bool:
        """Whether the output is one drawing of all sentences."""
        return self.style in MADE


class Writer(NamedTuple):
    """Turns sentences into the lines of a format; for a drawing of all, into those that it is made of."""

    style: str
    several: bool
    paper: Paper

    def lines(self, parsed: ParsedSentence) -> Lines:
        """Of one sentence; one without trees keeps its place."""
        if self.style == "pretty":
            drawn = section(parsed.number, parsed.trees, self.several)
            return section_lines(drawn, *self.paper, self.several)
        if self.style != "brackets":
            return [parsed.to_json()]
        if self.several:
            return [format_sample(parsed.number - 1, q, tree) for tree, q in parsed.trees]
        return [tree for tree, _ in parsed.trees] or [""]


def wanted_trees(command: Callable) -> Callable:
    """Adds the options; the command gets them together, as `wanted`."""

    @wraps(command)
    def with_options(*args, style, nbest, samples, seed, **kwargs):
        if nbest is not None and samples is not None:
            raise click.UsageError("either the best trees, --nbest, or drawn ones, --samples")
        if style == "html":
            pages.require()
        return command(*args, wanted=Wanted(style, nbest, samples, seed), **kwargs)

    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options


_OPTIONS = [
    click.option(
        "--format",
        "style",
        type=click.Choice([*LINES, *MADE]),
        default="brackets",
        show_default=True,
        help="Trees in brackets, a line each; drawn in characters; JSON, a line for each sentence; or all drawn in one "
        "SVG file or one page.",
    ),
    click.option(
        "--nbest",
        type=AT_LEAST_1,
        metavar="K",
        help="The K best trees that a search finds, as lines `sentence ||| log probability in nats ||| tree`, "
        "sentences from 0: log q(y | x) of a parser, log p(x, y) of a generative model.",
    ),
    click.option(
        "--samples",
        type=AT_LEAST_1,
        metavar="K",
        help="K trees drawn from a parser, as lines like those of --nbest; `rnng-dy sample` draws "
        "flattened, for reranking.",
    ),
    seed_option,
]


def paper_of(output: str) -> Paper:
    """What an output is drawn on: a terminal's width and colours, or a fixed width without any."""
    if output != "-" or not sys.stdout.isatty():
        return Paper(COLUMNS, False)
    return Paper(shutil.get_terminal_size((COLUMNS, 24)).columns, takes_escapes(sys.stdout))


def make_drawing(
    wanted: Wanted, output: str, title: str, description: str
) -> Callable[[Path], None]:
    """A function that makes the drawing of all sentences from a file of their JSON lines."""

    def make(kept: Path) -> None:
        sections = (section(p.number, p.trees, wanted.several) for p in read_parsed(kept))
        parts = svg_file(sections)
        if wanted.style == "html":
            parts = tree_page(sections, title, description)
        with open_output(output) as stream:
            stream.writelines(parts)

    return make
