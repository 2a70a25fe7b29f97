"""Sentences for the parser, as commands read them, and what they say of those that are odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from typing import NamedTuple, TypeVar

import click

from oracle.errors import InputError, RnngError
from oracle.files import SourceSentence, read_sentences
from rnng_dy import registry
from rnng_dy.cli.quiet import say
from rnng_dy.cli.raw_text import RawText
from rnng_dy.cli.tag_choice import TagChoice
from rnng_dy.execution.batches import batches
from rnng_dy.execution.work import Lines
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.tokens import stuck_mark

T = TypeVar("T")

SHOWN_LINES, SHOWN_WORDS = 5, 10
"""Empty lines whose numbers are shown, and words that are."""

tagged_option = click.option(
    "--tagged/--untagged",
    default=None,
    help="Whether tokens are word_TAG.  [default: they are where each has an underscore with a tag in capitals or "
    "marks after it; where that may be part of a word, as in snake_case, the text is refused]",
)


class Item(NamedTuple):
    """A sentence to parse or sample."""

    index: int
    sentence: SourceSentence
    ids: object
    """The parser's `Tokens`; None for an empty line, and for the generative model."""


LinesOf = Callable[[Sequence[Item]], list[Lines]]
"""From a batch to the lines of each of its items."""


def read_items(
    model, source: str, tagged: bool | None, choice: TagChoice, text: RawText | None
) -> list[Item]:
    """The sentences of INPUT for a model; see `read_source`."""
    sentences = read_source(source, tagged, known_tags(model), text, lambda: model.segmenter)
    items = [make_item(model, i, s, source, choice) for i, s in enumerate(sentences)]
    choice.report()
    return items


def read_source(
    source: str,
    tagged: bool | None,
    known: Container[str] | None,
    text: RawText | None,
    segmenter: Callable[[], Segmenter],
) -> list[SourceSentence]:
    """The sentences of INPUT; those that are empty lines are named. Raises InputError that names the line.

    `known` are the tags that tokens may have, `segmenter` is asked for where INPUT is running text.
    """
    if text is not None:
        sentences = text.read(source, segmenter())
    else:
        sentences = read_sentences(source, tagged, known)
        report_running_text(sentences, source)
    report_empty(sentences, source)
    return sentences


def known_tags(model) -> Container[str] | None:
    """The POS tags that a model needs; None for one that needs none."""
    return None if registry.kind(model.kind).generates_words else model.vocabulary.tags


def make_item(model, index: int, sentence: SourceSentence, source: str, choice: TagChoice) -> Item:
    """A sentence with tags and ids as a parser reads it. Raises InputError where it needs tags and there are none."""
    if not sentence.tokens or registry.kind(model.kind).generates_words:
        return Item(index, sentence, None)
    try:
        sentence = choice.tagged(sentence)
        ids = model.encode(sentence.tokens, sentence.tags, sentence.unkified)
    except RnngError as error:
        raise InputError(str(error), source, sentence.line) from None
    return Item(index, sentence, ids)


def in_places(
    open_results: Callable[[], Callable[[Sequence[Item]], list[T]]], of_empty: T
) -> Callable[[Sequence[Item]], list[T]]:
    """The results of sentences, such as their lines or trees, and `of_empty` in the places of empty lines."""
    results_of = open_results()

    def results(batch: Sequence[Item]) -> list[T]:
        sentences = [item for item in batch if item.sentence.tokens]
        found = iter(results_of(sentences) if sentences else ())
        return [next(found) if item.sentence.tokens else of_empty for item in batch]

    return results


def in_words(limit: int) -> Callable[[Sequence[Item]], Iterator[list[Item]]]:
    """What puts neighbouring sentences into batches of so many words."""
    return lambda items: batches(items, lambda item: len(item.sentence.tokens), limit)


def report_running_text(sentences: Sequence[SourceSentence], source: str) -> None:
    """Warn of tokenised lines of which a tenth or more have a mark that is stuck to a word."""
    lines = [s for s in sentences if s.tokens and s.tags is None and s.unkified is None]
    stuck = [(s.line, word) for s in lines if (word := stuck_mark(s.tokens)) is not None]
    if stuck and 10 * len(stuck) >= len(lines):
        line, word = stuck[0]
        click.echo(
            f"{source}:{line}: running text? {word!r:.80} ends in a mark ({len(stuck)} of {len(lines)} lines): "
            "add --text, or put blanks around marks",
            err=True,
        )


def report_empty(sentences: Sequence[SourceSentence], source: str) -> None:
    """Name the lines that have no sentence."""
    lines = [str(s.line) for s in sentences if not s.tokens and s.text is None]
    if lines:
        shown = ", ".join(lines[:SHOWN_LINES]) + (", ..." if len(lines) > SHOWN_LINES else "")
        click.echo(
            f"{source}: empty lines, whose places stay empty: {shown} ({len(lines)} in all)",
            err=True,
        )


def unseen_tags(model, items: Sequence[Item]) -> Counter[str]:
    """How often the parser has to take a tag for an unknown one."""
    known = known_tags(model)
    if known is None:
        return Counter()
    return Counter(tag for item in items for tag in item.sentence.tags or () if tag not in known)


def report_unseen(unseen: Counter[str]) -> None:
    """Name the tags that the parser had to take for an unknown one."""
    if unseen:
        names = ", ".join(f"{tag} ({count})" for tag, count in unseen.most_common())
        click.echo(f"POS tags unseen in training, taken for an average tag: {names}", err=True)


def report_unknown(unknown: Counter[str], words: int) -> None:
    """Say how many of so many words a model saw as UNK classes, or could not give at all."""
    if unknown:
        say(
            f"words outside the model's vocabulary: {unknown.total()} of {words}, {shown_counts(unknown)}"
        )


def shown_counts(counts: Counter[str]) -> str:
    """The most frequent ones with their counts, and how many more there are.

    >>> shown_counts(Counter({"cat": 2, "dog": 1}))
    'cat (2), dog (1)'
    """
    shown = [f"{word:.40} ({count})" for word, count in counts.most_common(SHOWN_WORDS)]
    more = [f"and {len(counts) - SHOWN_WORDS} more"] if len(counts) > SHOWN_WORDS else []
    return ", ".join(shown + more)


def report_left_out(items: Sequence[Item], source: str) -> None:
    """Name the sentences that do not fit into memory."""
    for item in items:
        click.echo(
            f"{source}:{item.sentence.line}: left out: {len(item.sentence.tokens)} words do not fit into memory",
            err=True,
        )
    if items:
        click.echo(f"{len(items)} sentences left out", err=True)
