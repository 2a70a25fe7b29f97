"""Options on which trees a sentence gets."""

from __future__ import annotations

from collections.abc import Callable

import click

from rnng_dy.cli.option_groups import flag_given, together
from rnng_dy.cli.options import SAMPLES, seed_option
from rnng_dy.cli.paths import GENERATIVE
from rnng_dy.search.decoding import BESIDE, BEST, MBR, Wanted
from rnng_dy.settings import AT_LEAST_1


def _wanted(
    nbest: int | None,
    samples: int,
    decode: str,
    seed: int,
    generator: str | None,
) -> tuple[Wanted, str | None]:
    """Return the trees that a sentence gets, and the generative model that decides beside the parser."""
    if generator is not None:
        if decode == BEST and flag_given("decode"):
            raise click.UsageError("--generator decides as --decode mbr does: leave --decode out")
        decode = MBR
    if decode != MBR and flag_given("samples"):
        raise click.UsageError(
            "--samples goes with --decode mbr or --generator: `rnng-dy sample` draws trees"
        )
    if nbest is not None and decode == MBR:
        raise click.UsageError("--nbest does not go with --decode mbr or --generator")
    return Wanted(nbest, samples, decode, seed, generator is not None), generator


def decode_option(best: str) -> Callable:
    """Return the decorator for `--decode`, whose default, `best`, is the tree that the text names."""
    return click.option(
        "--decode",
        type=click.Choice([BEST, MBR]),
        default=BEST,
        help=f"{best}, or the tree with the highest expected F1.",
    )


wanted_trees = together(
    "wanted",
    _wanted,
    click.option(
        "--nbest",
        type=AT_LEAST_1,
        metavar="K",
        help="The K best trees, as `sentence from 0 ||| log probability ||| tree`.",
    ),
    click.option(
        "--samples",
        type=SAMPLES,
        metavar="K",
        default=100,
        help="Trees drawn for MBR.",
    ),
    decode_option("The greedy or best trees"),
    click.option(
        "--generator",
        type=GENERATIVE,
        help=f"A generative model beside the parser: p^{BESIDE} q^{1 - BESIDE} decides.",
    ),
    seed_option,
)
