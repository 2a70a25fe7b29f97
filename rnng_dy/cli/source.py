"""INPUT: sentences from trees, oracles, tokenised or running text, with the options for reading them."""

from __future__ import annotations

from collections.abc import Callable

import click

from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.option_groups import together
from rnng_dy.cli.paths import FILE
from rnng_dy.text.sources import RawText, SentenceReader, Source


def _source(
    path: str,
    is_text: bool,
    one_per_line: bool,
    tagged: bool | None,
    own_tags: bool = False,
    is_stimuli: bool = False,
) -> Source:
    if is_stimuli:
        if is_text or one_per_line or tagged is not None:
            raise click.UsageError("--stimuli is without --text, --one-per-line and --tagged")
        return Source(path, RawText(True), is_stimuli=True)
    if one_per_line and not is_text:
        raise click.UsageError("--one-per-line is for running text: add --text")
    if is_text and tagged:
        raise click.UsageError("--text is without tags: leave out --tagged")
    text = RawText(one_per_line) if is_text else None
    return Source(path, text, tagged, own_tags)


stimuli_option = click.option(
    "--stimuli",
    "is_stimuli",
    is_flag=True,
    help="INPUT is a table with a column text or sentence.",
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
            "--one-per-line", is_flag=True, help="With --text: read each line as a sentence."
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


def reader_of(model, source: Source) -> SentenceReader:
    """Return a reader of INPUT for a model; it prints messages and warnings."""
    return SentenceReader(model, source, say, warn)
