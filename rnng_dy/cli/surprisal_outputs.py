"""The files that `rnng-dy surprisal` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oracle.files import open_output
from oracle.transitions import TransitionSystem, system_of
from oracle.treebank import NO_TAG, format_tree
from rnng_dy.cli.output import check_files
from rnng_dy.evaluation.merging import MergedWord, merge
from rnng_dy.evaluation.records import one_word
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


class Written(NamedTuple):
    """What is written besides the records."""

    columns: Sequence[str]
    """The measures of the table."""
    end: bool
    """Whether the ends of sentences have rows."""
    description: str
    """Of the model, on the page."""
    raw: Sequence[str] | None
    """The lines whose words are rows."""
    raw_path: str | None


Rows = Sequence[WordRecord] | Sequence[MergedWord]


def check_outputs(outputs: Outputs, inputs: Sequence[str | None]) -> None:
    """Raise RnngError, before the work, for outputs that cannot be written after it."""
    check_files([path for path in outputs if path and path != "-"], inputs)


def write_outputs(outputs: Outputs, what: Written, found: Sequence[MeasuredSentence]) -> None:
    """Write all files that are wanted. Raises InputError where tokens do not fit the raw lines."""
    sentences = [_words(measured, what.end) for measured in found]
    rows: Sequence[Rows] = sentences
    if what.raw is not None:
        rows = [
            merge(raw, records, what.raw_path, number) if records else []
            for number, (raw, records) in enumerate(zip(what.raw, sentences, strict=True), 1)
        ]
    _write_lines(outputs.table, _table(rows, what.columns))
    if outputs.trees:
        _write_lines(outputs.trees, map(_tree, found))
    if outputs.beams:
        _write_lines(
            outputs.beams,
            (text for i, s in enumerate(sentences, 1) for text in beam_lines(s, i)),
        )
    if outputs.json:
        _write_lines(
            outputs.json, (json_line(s, i, what.columns) for i, s in enumerate(sentences, 1))
        )
    if outputs.page:
        shown = [records for records in sentences if records]
        write_page(outputs.page, shown, "Surprisal", what.description)


def _words(measured: MeasuredSentence, end: bool) -> Sequence[WordRecord]:
    return [record for record in measured.records if end or record.token is not None]


def _table(rows: Sequence[Rows], columns: Sequence[str]) -> Iterator[str]:
    yield header(columns)
    for sentence_id, records in enumerate(rows, 1):
        for number, record in enumerate(records, 1):
            token_id = record.token_ids if isinstance(record, MergedWord) else number
            yield line(record, sentence_id, token_id, columns)


def _tree(measured: MeasuredSentence) -> str:
    """The best complete tree, tags XX; an empty line where there is none."""
    if not measured.trees:
        return ""
    actions = measured.trees[0].actions
    words = [one_word(r.token) for r in measured.records if r.token is not None]
    system: TransitionSystem = system_of(actions, len(words))
    return format_tree(system.tree_of(actions, words, [NO_TAG] * len(words)))


def _write_lines(path: str, lines: Iterator[str]) -> None:
    with open_output(path) as stream:
        stream.writelines(f"{text}\n" for text in lines)
