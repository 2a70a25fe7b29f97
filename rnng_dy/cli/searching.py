"""Options for searches with a generative model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps

import click

from rnng_dy.cli.options import LiveChoice, all_of, flag_given
from rnng_dy.search.decoding import BEST, MBR
from rnng_dy.search.surprisal import SEARCHES, SearchOptions

_FIELDS = {of.name: of for of in fields(SearchOptions) if of.metadata}
_NAMES = ["search", *_FIELDS]


def _option(name: str) -> Callable:
    if name == "search":
        choice, shown = LiveChoice(SEARCHES), "The search of a generative model."
        return click.option("--search", type=choice, default=SEARCHES.default, help=shown)
    of, flag = _FIELDS[name], "--" + name.replace("_", "-")
    how = {"is_flag": True}
    if of.type != "bool":
        how = {"type": of.metadata["type"], "default": of.default, "metavar": "N"}
    return click.option(flag, help=of.metadata["help"], **how)


def given_search_option(*allowed: str) -> str | None:
    """Return a search option on the command line that is not allowed, such as `--beam`; None if there is none."""
    return next(filter(None, map(flag_given, sorted({*_NAMES} - {*allowed}))), None)


def search_options(*without: str) -> Callable:
    """Return a decorator that adds the search options but `without`.

    The command gets them as a dict `options`: fields of `SearchOptions` but the seed.
    """
    names = [name for name in _NAMES if name not in without]

    def decorate(command: Callable) -> Callable:
        @wraps(command)
        def with_options(*args, **kwargs):
            found = {name: kwargs.pop(name) for name in names}
            read = SEARCHES[found.get("search", SEARCHES.default)].reads
            for name in _FIELDS:
                if name not in read and (flag := flag_given(name)):
                    searches = [search for search in SEARCHES if name in SEARCHES[search].reads]
                    raise click.UsageError(f"{flag} is for --search {' or '.join(searches)}")
            return command(*args, options=found, **kwargs)

        return all_of(*map(_option, names))(with_options)

    return decorate


def decode_option(best: str) -> Callable:
    """Return the decorator for `--decode`, whose default is the tree that the text `best` names."""
    return click.option(
        "--decode",
        type=click.Choice([BEST, MBR]),
        default=BEST,
        help=f"{best}, or the tree with the highest expected F1.",
    )
