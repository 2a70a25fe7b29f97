"""Options of `rnng-dy parse` on the format of trees and their number per sentence."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import NamedTuple

import click

from rnng_dy.cli.option_groups import flag_given, together
from rnng_dy.cli.options import AT_LEAST_1, SAMPLES, FiniteRange, seed_option
from rnng_dy.cli.paths import GENERATIVE
from rnng_dy.drawing import pages
from rnng_dy.drawing.parsed_trees import LINES, MADE

BEST, MBR = "best", "mbr"
DRAWN = 100
"""Trees drawn per sentence for --decode mbr."""
BESIDE = 0.2
"""The weight of a generative model beside a parser, chosen on the English development trees."""
COLUMNS = 80
"""Width of a drawing in characters, unless a terminal has another width."""


class Wanted(NamedTuple):
    """The format of the written trees, and which trees per sentence."""

    style: str
    nbest: int | None
    samples: int | None
    decode: str
    seed: int
    generator: str | None
    """A generative model that decides beside the parser."""
    weight: float

    @property
    def several(self) -> bool:
        """Return whether a sentence may have several trees, which are written with their log probabilities."""
        return self.nbest is not None or (self.samples is not None and self.decode == BEST)

    @property
    def has_posteriors(self) -> bool:
        """Return whether trees are decided from samples, or show the posteriors of their constituents."""
        shown = self.samples is not None and self.style in ("json", *MADE)
        return shown or self.decode == MBR


def _wanted(
    style: str,
    nbest: int | None,
    samples: int | None,
    decode: str,
    seed: int,
    generator: str | None,
    weight: float,
) -> Wanted:
    if generator is not None:
        if decode == BEST and flag_given("decode"):
            raise click.UsageError("--generator decides as --decode mbr does: leave --decode out")
        decode = MBR
    require_generator(generator)
    if nbest is not None and (samples is not None or decode == MBR):
        raise click.UsageError(
            "either the best trees, --nbest, or drawn ones, --samples, --decode mbr or --generator"
        )
    if style == "html":
        pages.require()
    samples = (samples or DRAWN) if decode == MBR else samples
    return Wanted(style, nbest, samples, decode, seed, generator, weight)


def decode_option(best: str, needs: str = "") -> Callable:
    """Return the decorator for `--decode`, whose default, `best`, is the tree that the text names.

    `needs` ends the help text.
    """
    return click.option(
        "--decode",
        type=click.Choice([BEST, MBR]),
        default=BEST,
        help=f"{best}; or the tree with the highest expected F1 (minimum Bayes risk), by the probabilities of "
        f"brackets in the samples{needs}.",
    )


def generator_option(drawn: str) -> Callable:
    """Return the decorator for `--generator`; `drawn` is the help text's name of the drawn trees."""
    return click.option(
        "--generator",
        type=GENERATIVE,
        help="A generative model that decides beside the parser: the tree has the highest expected F1 by both, in "
        f"{drawn}.",
    )


def require_generator(generator: str | None) -> None:
    """Raise UsageError if `--weight` is given without a generative model."""
    if generator is None and flag_given("weight"):
        raise click.UsageError("--weight goes with --generator")


def weight_option(default: float, more: str) -> Callable:
    """Return the decorator for `--weight`, the weight of a generative model beside a parser; `more` ends the help."""
    return click.option(
        "--weight",
        type=FiniteRange(0, 1, min_open=True),
        default=default,
        metavar="W",
        help=f"Weight of the generative model: p^W q^(1 - W) decides{more}.",
    )


wanted_trees = together(
    "wanted",
    _wanted,
    click.option(
        "--format",
        "style",
        type=click.Choice([*LINES, *MADE]),
        default="brackets",
        help="Trees in brackets, one per line; drawn in characters; JSON, one line per sentence; or all trees drawn "
        "in one SVG file or on one page.",
    ),
    click.option(
        "--nbest",
        type=AT_LEAST_1,
        metavar="K",
        help="Write the K best trees that a search finds, as lines `sentence number from 0 ||| log probability in "
        "nats ||| tree`. The log probability is log q(y | x) of a parser, log p(x, y) of a generative model.",
    ),
    click.option(
        "--samples",
        type=SAMPLES,
        metavar="K",
        help="Write K trees drawn from a parser, in the format of --nbest. For reranking use `rnng-dy sample`, which "
        "flattens the distribution. With --decode mbr, one tree is made of K drawn ones (default: 100).",
    ),
    decode_option("The tree or trees that the other options ask for"),
    generator_option("K drawn trees (--samples, default: 100)"),
    weight_option(BESIDE, ", with --generator"),
    seed_option,
)


def columns_of(output: str) -> int:
    """Return the width of drawings in characters for an output: that of a terminal, or a fixed width."""
    if output != "-" or not sys.stdout.isatty():
        return COLUMNS
    return shutil.get_terminal_size((COLUMNS, 24)).columns
