"""Options for searches with a generative model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from functools import wraps

import click

from rnng_dy.cli.option_groups import all_of, flag_given
from rnng_dy.cli.options import LiveChoice
from rnng_dy.search.surprisal import SEARCHES, SearchOptions


def _options(without: Collection[str]) -> Iterator[Callable]:
    yield click.option(
        "--search",
        type=LiveChoice(SEARCHES),
        default=SEARCHES.default,
        help="The search of a generative model.",
    )
    for of in fields(SearchOptions):
        if of.metadata and of.name not in without:
            flag = "--" + of.name.replace("_", "-")
            how = {"is_flag": True}
            if of.type != "bool":
                how = {"type": of.metadata["type"], "default": of.default, "metavar": "N"}
            yield click.option(flag, help=of.metadata["help"], **how)


_NAMES = ["search", *(of.name for of in fields(SearchOptions) if of.metadata)]


def given_search_option(*allowed: str) -> str | None:
    """Return a search option on the command line that is not allowed, such as `--beam`; None if there is none."""
    return next(filter(None, map(flag_given, sorted({*_NAMES} - {*allowed}))), None)


def search_options(command: Callable, without: Collection[str] = ()) -> Callable:
    """Add the search options; the command gets them as a dict `options`: fields of `SearchOptions` but the seed.

    The command does not have the options `without`.
    """

    @wraps(command)
    def with_options(*args, **kwargs):
        found = {name: kwargs.pop(name) for name in _NAMES if name not in without}
        read = SEARCHES[found["search"]].reads
        for name in [*found][1:]:
            if name not in read and flag_given(name):
                searches = [search for search in SEARCHES if name in SEARCHES[search].reads]
                raise click.UsageError(
                    f"{flag_given(name)} is for --search {' or '.join(searches)}"
                )
        return command(*args, options=found, **kwargs)

    return all_of(*_options(without))(with_options)
