"""Parsing standard input line by line, for programs that keep a parser running."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oracle.errors import InputError, RnngError
from oracle.files import one_line, open_text, replacing
from rnng_dy.cli.quiet import warn
from rnng_dy.execution.batches import split_on_memory_error
from rnng_dy.execution.work import Lines
from rnng_dy.text.sources import NumberedSentence, SentenceReader


def parse_line_by_line(
    reader: SentenceReader,
    lines_of: Callable[[Sequence[NumberedSentence]], list[Lines]],
    as_json: bool,
) -> None:
    """Write the tree of each line of standard input, as `lines_of` returns it, before reading the next line.

    The answer to a line that cannot be parsed is empty or, with `as_json`, an object with its number and the error.
    Raises RnngError if the parser needs tags and the lines cannot have any.
    """
    reader.require_lines()
    with open_text("-") as questions, replacing("-") as answers:
        for number, line in enumerate(questions, 1):
            try:
                item = reader.sentence_of_line(line, number)
                [lines] = split_on_memory_error(lines_of, [item])
                if lines is None:
                    words = len(item.sentence.tokens)
                    raise InputError(f"{words} words do not fit into memory", "-", number)
                [answer] = lines
            except RnngError as error:
                warn(str(error))
                message = error.message if isinstance(error, InputError) else str(error)
                answer = {"sentence": number, "line": number, "error": message}
                answer = one_line(answer) if as_json else ""
            answers.write(f"{answer}\n")
            answers.flush()
    reader.report_tags()
    reader.report()
