"""INPUT: sentences from trees, oracles, tokenised or running text, with the options for reading them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import click

from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import together
from rnng_dy.cli.paths import FILE
from rnng_dy.text.sources import RawText, Source
from rnng_dy.text.stimuli import Columns

_FILE_NAME = re.compile(r"[/\\]|\.\w{1,6}$")
"""What names of files have, and texts have not: a slash, or an ending."""


def _is_text(argument: str) -> bool:
    """Return whether an argument is a text and no file's name."""
    return " " in argument and not os.path.exists(argument) and not _FILE_NAME.search(argument)


def _source(
    path: str,
    is_text: bool,
    one_per_line: bool,
    tagged: bool | None,
    own_tags: bool = False,
    is_stimuli: bool = False,
) -> Source:
    given = path if not is_stimuli and _is_text(path) else None
    if given is not None:
        say("INPUT is no file: it is read as running text")
        path, is_text = "-", True
    if is_stimuli:
        if is_text or tagged is not None:
            raise click.UsageError("--stimuli is without --text and --tagged")
        return Source(path, RawText(one_per_line), is_stimuli=True)
    if one_per_line and not is_text:
        raise click.UsageError("--one-per-line is for running text: add --text")
    if is_text and tagged:
        raise click.UsageError("--text is without tags: leave out --tagged")
    if path.lower().endswith((".csv", ".tsv", ".xlsx")):
        warn(f"{path} is read as a text: `surprisal --stimuli` reads tables")
    text = RawText(one_per_line, given) if is_text else None
    return Source(path, text, tagged, own_tags)


stimuli_option = click.option(
    "--stimuli",
    "is_stimuli",
    is_flag=True,
    help="INPUT is a table (.csv, .tsv, .xlsx).",
)


columns_options = together(
    "columns",
    Columns,
    click.option(
        "--column",
        "texts",
        metavar="NAME",
        multiple=True,
        help="Column of texts, one or one per condition.",
    ),
    click.option("--item", metavar="NAME", help="Column of the items."),
    click.option(
        "--condition",
        "conditions",
        metavar="NAME",
        multiple=True,
        help="Column of conditions, one or more.",
    ),
    click.option("--region", metavar="NAME", help="Column of regions, a row each."),
)


def source_options(*more: Callable) -> Callable:
    """Return a decorator that adds INPUT with its options and `more`; the command gets them as `source`."""
    return together(
        "source",
        _source,
        click.argument("path", type=FILE, metavar="INPUT"),
        click.option(
            "--text",
            "is_text",
            is_flag=True,
            help="INPUT is running text.",
        ),
        click.option(
            "--one-per-line", is_flag=True, help="With --text: each line is one sentence."
        ),
        click.option(
            "--tagged/--untagged",
            default=None,
            help="Tokens are word_TAG.  [default: untagged]",
        ),
        *more,
    )


parser_source = source_options(
    click.option(
        "--own-tags", is_flag=True, help="Read the tags of the parser's own tagger, not INPUT's."
    )
)
