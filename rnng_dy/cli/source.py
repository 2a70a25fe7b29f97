"""INPUT: sentences from trees, oracles, tokenised or running text, with the options for reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import click

from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.option_groups import together
from rnng_dy.cli.options import AT_LEAST_1
from rnng_dy.cli.paths import FILE
from rnng_dy.parallel import batches
from rnng_dy.text.sources import (
    AUTO,
    GIVEN,
    MAX_LENGTH,
    OWN,
    NumberedSentence,
    RawText,
    SentenceReader,
    Source,
)


def _source(
    path: str,
    is_text: bool,
    one_per_line: bool,
    max_length: int | None,
    tagged: bool | None,
    tags_from: str = AUTO,
    is_stimuli: bool = False,
    column: str | None = None,
) -> Source:
    if column is not None and not is_stimuli:
        raise click.UsageError("--column is for a table of stimuli: add --stimuli")
    if is_stimuli:
        if is_text or one_per_line or tagged is not None:
            raise click.UsageError("--stimuli is without --text, --one-per-line and --tagged")
        return Source(path, RawText(True, max_length or MAX_LENGTH), column=column or "")
    if not is_text and (one_per_line or max_length):
        flag = "--one-per-line" if one_per_line else "--max-length"
        raise click.UsageError(f"{flag} is for running text: add --text")
    if is_text and tagged:
        raise click.UsageError("--text is without tags: leave out --tagged")
    text = RawText(one_per_line, max_length or MAX_LENGTH) if is_text else None
    return Source(path, text, tagged, tags_from)


stimuli_options = (
    click.option(
        "--stimuli",
        "is_stimuli",
        is_flag=True,
        help="INPUT is a table (CSV or TSV) with a line of column names and a sentence per row. Write a row per "
        "written word, with the columns of INPUT. Regions are rows with a column region, or separated by | in the "
        "text.",
    ),
    click.option(
        "--column",
        type=click.STRING,
        metavar="NAME",
        help="With --stimuli: column of the text.  [default: text, or else sentence]",
    ),
)
"""Options for tables of stimuli, which the command `surprisal` reads."""


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
            help="INPUT is running text. It is segmented and tokenised as in the model's training data; a blank line "
            "also ends a sentence.",
        ),
        click.option(
            "--one-per-line", is_flag=True, help="With --text: read each line as a sentence."
        ),
        click.option(
            "--max-length",
            type=AT_LEAST_1,
            metavar="N",
            help="With --text: report and leave out sentences of more tokens.  "
            f"[default: {MAX_LENGTH}]",
        ),
        click.option(
            "--tagged/--untagged",
            default=None,
            help="Whether tokens are word_TAG.  [default: words; a text most of whose tokens have an underscore is "
            "refused]",
        ),
        *more,
    )


parser_source = source_options(
    click.option(
        "--tags",
        "tags_from",
        type=click.Choice([AUTO, GIVEN, OWN]),
        default=AUTO,
        help="POS tags that the parser reads: those in INPUT (given), those of its own tagger (own), or those in "
        "INPUT if it has any and else those of its own tagger (auto).",
    )
)


def reader_of(model, source: Source) -> SentenceReader:
    """Return a reader of INPUT for a model; it prints messages and warnings."""
    return SentenceReader(model, source, say, warn)


def in_words(sentences: Iterable[NumberedSentence], limit: int) -> Iterator[list[NumberedSentence]]:
    """Yield batches of neighbouring sentences, of at most `limit` words."""
    return batches(sentences, lambda item: len(item.sentence.tokens), limit)
