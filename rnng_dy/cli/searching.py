"""Options for searches with a generative model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import wraps
from typing import TypeVar

import click

from rnng_dy.cli.messages import warn
from rnng_dy.cli.option_groups import all_of, flag_given
from rnng_dy.cli.options import LiveChoice, type_of
from rnng_dy.parallel import batches
from rnng_dy.search.surprisal import SEARCHES, SearchOptions, sentences_at_once

SENTENCES = 8
"""Maximal number of sentences in one batch."""

T = TypeVar("T")


def _options() -> Iterator[Callable]:
    yield click.option(
        "--search",
        type=LiveChoice(SEARCHES),
        default=SEARCHES.default,
        help="Word-synchronous beam, particle filter, or variable beam.",
    )
    for of in fields(SearchOptions):
        flag = "--" + of.name.replace("_", "-")
        if of.name == "sum_all":
            yield click.option(
                "--sum",
                "sum_all",
                type=click.Choice(["beam", "all"]),
                default="beam",
                help="With --like-reference: add up the probabilities of the partial trees in the word beam, or of all "
                "that reach a word.",
            )
        elif of.metadata:
            is_flag = of.type == "bool"
            how = {"is_flag": True} if is_flag else {"type": type_of(of), "default": of.default}
            yield click.option(flag, help=of.metadata["help"], **how)


_NAMES = [f.name for f in fields(SearchOptions) if f.name not in ("seed", "next_word")]


def given_search_option(*allowed: str) -> str | None:
    """Return a search option on the command line that is not allowed, such as `--beam`; None if there is none."""
    return next(filter(None, map(flag_given, sorted({*_NAMES} - {*allowed}))), None)


def search_options(command: Callable) -> Callable:
    """Add the search options; the command gets them as a dict `options`: fields of `SearchOptions` but the seed."""

    @wraps(command)
    def with_options(*args, **kwargs):
        found = {name: kwargs.pop(name) for name in _NAMES}
        found["sum_all"] = found["sum_all"] == "all"
        read = SEARCHES[found["search"]].reads
        for name in _NAMES[1:]:
            if name not in read and flag_given(name):
                searches = [search for search in SEARCHES if name in SEARCHES[search].reads]
                raise click.UsageError(
                    f"{flag_given(name)} is for --search {' or '.join(searches)}"
                )
        if "fast_track" in read and not found["fast_track"]:
            warn(
                "--fast-track 0: words lose against ever deeper trees, which takes long and finds little"
            )
        if found["sum_all"] and not found["like_reference"]:
            raise click.UsageError("--sum all goes with --like-reference")
        return command(*args, options=found, **kwargs)

    return all_of(*_options())(with_options)


def grouped_for(options: SearchOptions, items: Iterable[T]) -> Iterator[list[T]]:
    """Yield batches of sentences that are searched together, SENTENCES at most."""
    return batches(items, lambda item: 1, min(SENTENCES, sentences_at_once(options)))
