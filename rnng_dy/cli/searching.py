"""Options for searches with a generative model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from typing import TypeVar

import click

from rnng_dy.cli.option_groups import flag_given
from rnng_dy.cli.options import AT_LEAST_1, FiniteRange, LiveChoice
from rnng_dy.search.surprisal import SEARCHES, SearchOptions, side_by_side

SENTENCES = 8
"""Maximal number of sentences in one batch."""

T = TypeVar("T")

_OPTIONS = [
    click.option(
        "--search",
        type=LiveChoice(SEARCHES),
        default=SEARCHES.default,
        show_default=True,
        help="Word-synchronous beam, particle filter (unbiased), or variable beam.",
    ),
    click.option(
        "--beam",
        type=AT_LEAST_1,
        default=100,
        show_default=True,
        help="Beam: actions in a round.",
    ),
    click.option(
        "--fast-track",
        type=click.IntRange(min=0),
        default=5,
        show_default=True,
        help="Beam: actions that generate the word, kept besides those.",
    ),
    click.option(
        "--word-beam",
        type=AT_LEAST_1,
        default=10,
        show_default=True,
        help="Beam: analyses that go on to the next word.",
    ),
    click.option(
        "--sum",
        "sum_all",
        type=click.Choice(["beam", "all"]),
        default="beam",
        show_default=True,
        help="Beam: probabilities are sums over the word beam, or over all analyses that reach a word.",
    ),
    click.option(
        "--like-reference",
        is_flag=True,
        help="Beam: the numbers of the published program, its quirks included.",
    ),
    click.option(
        "--particles",
        type=click.IntRange(1, 10**9),
        default=1000,
        show_default=True,
        help="Particles, or variable: how many.",
    ),
    click.option(
        "--runs",
        type=click.IntRange(1, 10**4),
        default=1,
        show_default=True,
        help="Particles: independent runs; from 2 on there are standard errors.",
    ),
    click.option(
        "--threshold",
        type=FiniteRange(0, 1),
        default=0.5,
        show_default=True,
        help="Particles: resampled where the effective sample size is below this share of them.",
    ),
]
_NAMES = [f.name for f in fields(SearchOptions) if f.name not in ("seed", "max_length")]


def given_search_option(*allowed: str) -> str | None:
    """Return a search option on the command line that is not allowed, such as `--beam`; None if there is none."""
    return next(filter(None, map(flag_given, sorted({*_NAMES} - {*allowed}))), None)


def search_options(command: Callable) -> Callable:
    """Add the search options; the command gets them as a dict `options`: fields of `SearchOptions` but the seed."""

    @wraps(command)
    def with_options(*args, **kwargs):
        found = {name: kwargs.pop(name) for name in _NAMES}
        found["sum_all"] = found["sum_all"] == "all"
        read = SEARCHES[found["search"]].options
        for name in _NAMES[1:]:
            if name not in read and flag_given(name):
                searches = [search for search in SEARCHES if name in SEARCHES[search].options]
                raise click.UsageError(
                    f"{flag_given(name)} is for --search {' or '.join(searches)}"
                )
        if "fast_track" in read and not found["fast_track"]:
            click.echo(
                "--fast-track 0: words lose against ever deeper trees, which takes long and finds little",
                err=True,
            )
        return command(*args, options=found, **kwargs)

    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options


def grouped_for(options: SearchOptions, items: Sequence[T]) -> list[Sequence[T]]:
    """Group sentences into batches of those that are searched together, SENTENCES at most."""
    size = min(SENTENCES, side_by_side(options))
    return [items[i : i + size] for i in range(0, len(items), size)]
