"""Answers to standard input line by line, for programs that keep a parser running beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import click

from oracle.errors import InputError, RnngError
from oracle.files import open_input, open_output, read_sentence
from oracle.json_lines import one_line
from rnng_dy.cli.raw_text import RawText
from rnng_dy.cli.sentences import LinesOf, known_tags, make_item, report_unseen, unseen_tags
from rnng_dy.cli.tag_choice import TagChoice
from rnng_dy.execution.batches import split_on_memory_error


def answer_lines(
    answer: Callable[[str, int], str],
    of_error: Callable[[RnngError, int], str] = lambda error, number: "",
) -> None:
    """Write the answer to each line of standard input, given with its number, before the next line is read.

    A line that `answer` raises RnngError for is answered by that of `of_error`, and a message.
    """
    with open_input("-") as questions, open_output("-") as answers:
        for number, line in enumerate(questions, 1):
            try:
                found = answer(line, number)
            except RnngError as error:
                click.echo(str(error), err=True)
                found = of_error(error, number)
            answers.write(f"{found}\n")
            answers.flush()


def error_line(error: RnngError, number: int) -> str:
    """The answer in JSON to a line that cannot be parsed: its number from 1, and what is wrong."""
    message = error.message if isinstance(error, InputError) else str(error)
    return one_line({"sentence": number, "line": number, "error": message})


def parse_line_by_line(
    model,
    lines_of: LinesOf,
    tagged: bool | None,
    choice: TagChoice,
    text: RawText | None,
    as_json: bool = False,
) -> None:
    """Parse each line of standard input.

    Where `tagged` does not say, it is of word_TAG for a parser that needs tags and of words for one that does not;
    for a parser with a tagger, of word_TAG where it looks like it. `lines_of` gives the tree of a sentence as its one
    line. With `text` a line is one raw sentence. With `as_json` the answer to a line that cannot be parsed is an
    object with its number and the error. Raises RnngError where a parser needs tags that no line is to have.
    """
    known = known_tags(model)
    if known is None:
        tagged = bool(tagged)
    elif model.tagger is None:
        if tagged is False:
            raise RnngError(
                "this parser was trained with POS tags and has no tagger: it cannot parse lines --untagged"
            )
        tagged = True
    unseen: Counter[str] = Counter()

    def tree(line: str, number: int) -> str:
        if text is None:
            sentence = read_sentence(line, "-", number, tagged, known)
        else:
            sentence = text.read_line(line, "-", number, model.segmenter)
        item = make_item(model, number - 1, sentence, "-", choice)
        unseen.update(unseen_tags(model, [item]))
        [lines] = split_on_memory_error(lines_of, [item])
        if lines is None:
            words = len(sentence.tokens)
            raise InputError(f"{words} words do not fit into memory", "-", number)
        return lines[0]

    answer_lines(tree, error_line if as_json else lambda error, number: "")
    choice.report()
    report_unseen(unseen)
