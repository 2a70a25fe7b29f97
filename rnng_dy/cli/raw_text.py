"""`--text`: INPUT as running text, in the sentences and tokens that the model was trained on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import NamedTuple

import click

from oracle.errors import InputError
from oracle.files import SourceSentence, open_input
from oracle.streams import WHITE_SPACE, require_utf8
from rnng_dy.cli.options import AT_LEAST_1
from rnng_dy.text.segmenter import Segmenter, TextSentence

_TREE_BEGINS = re.compile(r"\s*(# )?\(\S*\s*\(\S")
MAX_LENGTH = 500
"""Tokens; the longest sentences of treebanks have some 150."""

_OPTIONS = [
    click.option(
        "--text",
        "is_text",
        is_flag=True,
        help="INPUT is running text: it is split into sentences, a blank line ends one too, and into tokens as the "
        "model's training data has them.",
    ),
    click.option("--one-per-line", is_flag=True, help="With --text: each line is a sentence."),
    click.option(
        "--max-length",
        type=AT_LEAST_1,
        metavar="N",
        help="With --text: a sentence of more tokens is named and left out.  "
        f"[default: {MAX_LENGTH}]",
    ),
]


class RawText(NamedTuple):
    """How running text is read."""

    one_per_line: bool
    max_length: int

    def read(self, source: str, segmenter: Segmenter) -> list[SourceSentence]:
        """The sentences of a text; one that is too long is named, and has no tokens.

        Where lines are sentences, one without words among them is one without tokens. Raises InputError for a text
        without words and for one that cannot be read.
        """
        with open_input(source) as stream:
            lines = list(stream)
        for number, line in enumerate(lines, 1):
            require_utf8(line, source, number)
        first = next((line for line in lines if line.strip(WHITE_SPACE)), "")
        if _TREE_BEGINS.match(first):
            click.echo(
                f"{source}: {first.strip()!r:.60} looks like a tree: leave out --text", err=True
            )
        sentences = _segmented("".join(lines), source, 1, segmenter, self.one_per_line)
        if not sentences:
            raise InputError("no sentence in this text", source)
        found = [self._source_sentence(sentence, source) for sentence in sentences]
        return _with_empty_lines(found) if self.one_per_line else found

    def read_line(self, text: str, source: str, line: int, segmenter: Segmenter) -> SourceSentence:
        """The sentence of one line. Raises InputError for one without words, and for one that is too long."""
        require_utf8(text, source, line)
        found = _segmented(text, source, line, segmenter, True)
        if not found:
            raise InputError("a line without words", source, line)
        if len(found[0].tokens) > self.max_length:
            raise InputError(self._too_long(found[0]), source, line)
        return _untagged(found[0]._replace(line=line))

    def _source_sentence(self, sentence: TextSentence, source: str) -> SourceSentence:
        if len(sentence.tokens) <= self.max_length:
            return _untagged(sentence)
        click.echo(f"{source}:{sentence.line}: left out: {self._too_long(sentence)}", err=True)
        return _untagged(sentence._replace(tokens=(), spans=()))

    def _too_long(self, sentence: TextSentence) -> str:
        return (
            f"a sentence of {len(sentence.tokens)} tokens, more than --max-length {self.max_length}"
        )


def text_options(command: Callable) -> Callable:
    """Adds the options; the command gets them together, as `text`: None where INPUT is no running text."""

    @wraps(command)
    def with_text(*args, is_text: bool, one_per_line: bool, max_length: int | None, **kwargs):
        if not is_text and (one_per_line or max_length):
            flag = "--one-per-line" if one_per_line else "--max-length"
            raise click.UsageError(f"{flag} is for running text: add --text")
        if is_text and kwargs["tagged"]:
            raise click.UsageError("--text is without tags: leave out --tagged")
        text = RawText(one_per_line, max_length or MAX_LENGTH) if is_text else None
        return command(*args, text=text, **kwargs)

    for option in reversed(_OPTIONS):
        with_text = option(with_text)
    return with_text


def _segmented(
    text: str, source: str, line: int, segmenter: Segmenter, one_per_line: bool
) -> list[TextSentence]:
    """The sentences of a text whose first line has this number. Raises InputError that names source and line."""
    try:
        return segmenter.sentences(text, one_per_line)
    except InputError as error:
        raise InputError(error.message, source, line + error.line - 1) from None


def _untagged(sentence: TextSentence) -> SourceSentence:
    return SourceSentence(sentence.tokens, None, None, sentence.line, sentence.spans, sentence.text)


def _with_empty_lines(sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    of_line = {sentence.line: sentence for sentence in sentences}
    return [
        of_line.get(line, SourceSentence((), None, None, line))
        for line in range(1, sentences[-1].line + 1)
    ]
