"""Options of `rnng-dy parse` on the format of trees and their number per sentence."""

from __future__ import annotations

import shutil
import sys
from typing import NamedTuple

import click

from rnng_dy.cli.option_groups import together
from rnng_dy.cli.options import AT_LEAST_1, seed_option
from rnng_dy.cli.progress import takes_escapes
from rnng_dy.drawing import pages
from rnng_dy.drawing.parsed_trees import LINES, MADE, Paper

COLUMNS = 80
"""Width of a drawing in characters, unless a terminal has another width."""


class Wanted(NamedTuple):
    """The format of the written trees, and which trees per sentence."""

    style: str
    nbest: int | None
    samples: int | None
    seed: int

    @property
    def several(self) -> bool:
        """Return whether a sentence may have several trees, which are written with their log probabilities."""
        return self.nbest is not None or self.samples is not None


def _wanted(style: str, nbest: int | None, samples: int | None, seed: int) -> Wanted:
    if nbest is not None and samples is not None:
        raise click.UsageError("either the best trees, --nbest, or drawn ones, --samples")
    if style == "html":
        pages.require()
    return Wanted(style, nbest, samples, seed)


wanted_trees = together(
    "wanted",
    _wanted,
    click.option(
        "--format",
        "style",
        type=click.Choice([*LINES, *MADE]),
        default="brackets",
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
)


def paper_of(output: str) -> Paper:
    """Return the width and colours for an output: those of a terminal, or a fixed width without colours."""
    if output != "-" or not sys.stdout.isatty():
        return Paper(COLUMNS, False)
    return Paper(shutil.get_terminal_size((COLUMNS, 24)).columns, takes_escapes(sys.stdout))
