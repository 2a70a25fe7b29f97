"""Writing measures of words as a table, trees, beams and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import NamedTuple

from oracle.brackets import format_tree
from oracle.files import replacing
from oracle.transitions import TransitionSystem
from oracle.treebank import NO_TAG
from rnng_dy.evaluation.records import tokens_so_far, with_spellings
from rnng_dy.evaluation.surprisal_table import beam_lines, json_line
from rnng_dy.search.table_rows import TokenRows
from rnng_dy.search.words import MeasuredSentence, WordRecord


class Outputs(NamedTuple):
    """Names of output files; None for outputs that are not wanted."""

    output: str
    """The table's file."""
    trees: str | None
    beams: str | None
    json: str | None
    page: str | None

    @property
    def has_beams(self) -> bool:
        """Whether an output shows the partial trees of words."""
        return bool(self.beams or self.json or self.page)


class LineOutput(NamedTuple):
    """An output with lines per sentence."""

    path: str
    lines_of: Callable[[int, MeasuredSentence], Iterable[str]]
    """A function that returns the lines of a sentence and takes its number, from 1."""
    first: Sequence[str] = ()
    """The lines before the sentences."""


def measured_sentences(lines: Iterable[str]) -> Iterator[MeasuredSentence]:
    """Yield the sentences of lines of `MeasuredSentence.to_json`, one at a time because a corpus may exceed memory."""
    return map(MeasuredSentence.from_json, lines)


class Written(NamedTuple):
    """The choice of measures and rows to write."""

    columns: Sequence[str]
    """The measures of the table."""
    end: bool
    """Whether sentence ends have rows."""
    transitions: TransitionSystem
    rows: TokenRows
    """The rows of the table."""
    spellings: Sequence[Sequence[float]] | None = None
    """log p of each word's spelling in nats, per sentence; None without an open vocabulary."""

    def line_outputs(self, outputs: Outputs) -> list[LineOutput]:
        """Return the wanted outputs with their lines, the table first."""
        possible = [
            LineOutput(outputs.output, self._table, [self.rows.header]),
            LineOutput(outputs.json, self._json),
            LineOutput(outputs.beams, self._beams),
            LineOutput(outputs.trees, lambda _, measured: [_tree(measured, self.transitions)]),
        ]
        return [output for output in possible if output.path]

    def words(self, number: int, measured: MeasuredSentence) -> list[WordRecord]:
        """Return the records to write of a sentence, whose number is from 1."""
        records = measured.records
        if self.spellings is not None:
            records = with_spellings(records, self.spellings[number - 1])
        return [record for record in records if self.end or record.token is not None]

    def _beams(self, number: int, measured: MeasuredSentence) -> Iterable[str]:
        return beam_lines(self.words(number, measured), number, self.transitions)

    def _json(self, number: int, measured: MeasuredSentence) -> Iterable[str]:
        words = self.words(number, measured)
        fields = self.rows.fields(number, len(words))
        return [json_line(words, number, self.columns, self.transitions, fields)]

    def _table(self, number: int, measured: MeasuredSentence) -> Iterable[str]:
        return self.rows.lines(number, self.words(number, measured))


@contextmanager
def open_outputs(outputs: Sequence[LineOutput]) -> Iterator[Callable[[MeasuredSentence], None]]:
    """Yield a function that writes the next sentence to all outputs; the first output is completed last."""
    numbers = count(1)
    with ExitStack() as stack:
        opened = []
        for output in outputs:
            stream = stack.enter_context(replacing(output.path))
            stream.writelines(f"{text}\n" for text in output.first)
            opened.append((output, stream))

        def write(measured: MeasuredSentence) -> None:
            number = next(numbers)
            for output, stream in opened:
                stream.writelines(f"{text}\n" for text in output.lines_of(number, measured))
                stream.flush()

        yield write


def _tree(measured: MeasuredSentence, transitions: TransitionSystem) -> str:
    """Return the best complete tree as a line, tags XX; an empty line if there is none."""
    if not measured.trees:
        return ""
    actions = measured.trees[0].actions
    words = tokens_so_far(measured.records, len(measured.records))
    return format_tree(transitions.tree_of(actions, words, [NO_TAG] * len(words)))
