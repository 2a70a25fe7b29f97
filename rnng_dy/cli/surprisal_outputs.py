"""The files that `rnng-dy surprisal` writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from oracle.errors import RnngError
from oracle.files import open_output
from oracle.streams import descriptor_of
from oracle.transitions import TransitionSystem
from oracle.treebank import NO_TAG, format_tree
from rnng_dy.cli.output_files import check_files
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
    """Of the table: TSV or CSV."""


Rows = Sequence[WordRecord] | Sequence[MergedWord]


def check_outputs(outputs: Outputs, inputs: Sequence[str | None]) -> None:
    """Raise RnngError, before the work, for outputs that cannot be written after it."""
    named = [path for path in outputs if path]
    check_files(named, inputs)
    if sum(path == "-" or descriptor_of(path) == 1 for path in named) > 1:
        raise RnngError("two outputs go to standard output: name a file for one")


def write_outputs(outputs: Outputs, what: Written, found: Measured) -> None:
    """Write all files that are wanted, the table last."""

    def sentences() -> Iterator[Sequence[WordRecord]]:
        return (_words(measured, what.end) for measured in found)

    if outputs.trees:
        _write_lines(outputs.trees, (_tree(measured, what.transitions) for measured in found))
    if outputs.beams:
        numbered = enumerate(sentences(), 1)
        _write_lines(
            outputs.beams,
            (text for i, s in numbered for text in beam_lines(s, i, what.transitions)),
        )
    if outputs.json:
        numbered = enumerate(sentences(), 1)
        _write_lines(
            outputs.json, (json_line(s, i, what.columns, what.transitions) for i, s in numbered)
        )
    if outputs.page:
        write_page(outputs.page, list(sentences()), "Surprisal", what.description, what.transitions)
    _write_lines(outputs.table, _table(_rows(sentences(), what), what))


def _words(measured: MeasuredSentence, end: bool) -> Sequence[WordRecord]:
    return [record for record in measured.records if end or record.token is not None]


def _rows(sentences: Iterable[Sequence[WordRecord]], what: Written) -> Iterator[Rows]:
    if what.raw is None:
        yield from sentences
        return
    for number, (raw, records) in enumerate(zip(what.raw, sentences, strict=True), 1):
        yield merge(raw, records, what.raw_path, number)


def _table(rows: Iterable[Rows], what: Written) -> Iterator[str]:
    yield header(what.columns, what.style)
    for sentence_id, records in enumerate(rows, 1):
        for number, record in enumerate(records, 1):
            token_id = record.token_ids if isinstance(record, MergedWord) else number
            yield line(record, sentence_id, token_id, what.columns, what.style)


def _tree(measured: MeasuredSentence, transitions: TransitionSystem) -> str:
    """The best complete tree, tags XX; an empty line where there is none."""
    if not measured.trees:
        return ""
    actions = measured.trees[0].actions
    words = tokens_so_far(measured.records, len(measured.records))
    return format_tree(transitions.tree_of(actions, words, [NO_TAG] * len(words)))


def _write_lines(path: str, lines: Iterable[str]) -> None:
    with open_output(path) as stream:
        stream.writelines(f"{text}\n" for text in lines)
