"""What is said of each word, written as a table, trees, beams, JSON and a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from oracle.files import open_output
from oracle.streams import is_replaced, naming
from oracle.transitions import TransitionSystem
from oracle.treebank import NO_TAG, format_tree
from rnng_dy.evaluation.merging import MergedWord, merge
from rnng_dy.evaluation.records import tokens_so_far
from rnng_dy.evaluation.surprisal_page import write_page
from rnng_dy.evaluation.surprisal_table import beam_lines, header, json_line, line
from rnng_dy.search.words import MeasuredSentence, WordRecord


class Outputs(NamedTuple):
    """Names of files; None for what is not wanted."""

    table: str
    trees: str | None
    beams: str | None
    json: str | None
    page: str | None

    @property
    def has_beams(self) -> bool:
        """Whether one of them shows the analyses of words."""
        return bool(self.beams or self.json or self.page)


class Measured:
    """The sentences of a file of `MeasuredSentence.to_json`, read anew each time: a corpus fills memories."""

    def __init__(self, path: Path):
        self._path = path

    def __iter__(self) -> Iterator[MeasuredSentence]:
        with self._path.open(encoding="utf-8") as lines:
            yield from map(MeasuredSentence.from_json, lines)


class Written(NamedTuple):
    """What is written besides the records."""

    columns: Sequence[str]
    """The measures of the table."""
    end: bool
    """Whether the ends of sentences have rows."""
    description: str
    """Of the model, on the page."""
    transitions: TransitionSystem
    raw: Sequence[str] | None
    """The lines whose words are rows."""
    raw_path: str | None
    style: str
    """The format of the table: TSV or CSV."""


class LineOutput(NamedTuple):
    """An output of which each sentence has its own lines."""

    path: str
    first: Sequence[str]
    """The lines before those of sentences."""
    lines_of: Callable[[int, MeasuredSentence], Iterable[str]]
    """The lines of a sentence, given its number, from 1."""


@contextmanager
def write_at_once(outputs: Outputs, what: Written) -> Iterator[Callable[[Sequence[str]], None]]:
    """A function that takes the next sentences, as JSON, and writes them to the outputs that are no files."""
    numbers = count(1)
    with ExitStack() as stack:
        opened = []
        for output in _line_outputs(outputs, what):
            if not is_replaced(output.path):
                stream = stack.enter_context(open_output(output.path))
                stream.writelines(f"{text}\n" for text in output.first)
                opened.append((output, stream))

        def write(sentences: Sequence[str]) -> None:
            for text in sentences:
                number, measured = next(numbers), MeasuredSentence.from_json(text)
                for output, stream in opened:
                    with naming(output.path):
                        stream.writelines(f"{s}\n" for s in output.lines_of(number, measured))
                        stream.flush()

        yield write


def write_outputs(outputs: Outputs, what: Written, found: Measured, only_files: bool) -> None:
    """Write all outputs that are wanted, or those of them that are files; the table last."""
    if outputs.page:
        sentences = [_words(measured, what.end) for measured in found]
        write_page(outputs.page, sentences, "Surprisal", what.description, what.transitions)
    for output in _line_outputs(outputs, what):
        if is_replaced(output.path) or not only_files:
            with open_output(output.path) as stream:
                stream.writelines(f"{text}\n" for text in output.first)
                for number, measured in enumerate(found, 1):
                    stream.writelines(f"{text}\n" for text in output.lines_of(number, measured))


def _line_outputs(outputs: Outputs, what: Written) -> list[LineOutput]:
    """The outputs of lines that are wanted, the table last."""
    columns, transitions = what.columns, what.transitions

    def beams(number: int, measured: MeasuredSentence) -> Iterable[str]:
        return beam_lines(_words(measured, what.end), number, transitions)

    def as_json(number: int, measured: MeasuredSentence) -> Iterable[str]:
        return [json_line(_words(measured, what.end), number, columns, transitions)]

    def rows(number: int, measured: MeasuredSentence) -> Iterable[str]:
        records = _words(measured, what.end)
        if what.raw is not None:
            records = merge(what.raw[number - 1], records, what.raw_path, number)
        for i, record in enumerate(records, 1):
            token_id = record.token_ids if isinstance(record, MergedWord) else i
            yield line(record, number, token_id, columns, what.style)

    possible = [
        LineOutput(outputs.trees, [], lambda _, measured: [_tree(measured, transitions)]),
        LineOutput(outputs.beams, [], beams),
        LineOutput(outputs.json, [], as_json),
        LineOutput(outputs.table, [header(columns, what.style)], rows),
    ]
    return [output for output in possible if output.path]


def _words(measured: MeasuredSentence, end: bool) -> Sequence[WordRecord]:
    return [record for record in measured.records if end or record.token is not None]


def _tree(measured: MeasuredSentence, transitions: TransitionSystem) -> str:
    """The best complete tree, tags XX; an empty line where there is none."""
    if not measured.trees:
        return ""
    actions = measured.trees[0].actions
    words = tokens_so_far(measured.records, len(measured.records))
    return format_tree(transitions.tree_of(actions, words, [NO_TAG] * len(words)))
