"""`rnng-dy surprisal`: what a model says of each word."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

import click

from oracle.errors import InputError, RnngError
from oracle.files import SourceSentence, open_input, read_sentences
from oracle.streams import WHITE_SPACE, is_replaced, require_utf8
from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy import registry
from rnng_dy.cli.options import (
    device_option,
    jobs_option,
    output_option,
    resume_option,
    seed_option,
)
from rnng_dy.cli.output import open_model, run_batches
from rnng_dy.cli.searching import given_search_option, search_options
from rnng_dy.cli.sentences import report_empty, tagged_option
from rnng_dy.cli.surprisal_outputs import (
    Measured,
    Outputs,
    Written,
    check_outputs,
    write_outputs,
)
from rnng_dy.evaluation.merging import check_alignment
from rnng_dy.execution.executor import Executor
from rnng_dy.execution.local import local_executor
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, ModelFolder, Work
from rnng_dy.search.surprisal import SearchOptions, measure, measures_of
from rnng_dy.search.words import MeasuredSentence, WordRecord

SENTENCES = 8
"""In one batch."""


class Item(NamedTuple):
    """A sentence of the input and its place there, from 0."""

    index: int
    sentence: SourceSentence


@click.command()
@click.option("--model", "folder", help="Folder of a generative or LSTM language model.")
@click.option(
    "--kneser-ney",
    "train_path",
    metavar="TRAIN.oracle",
    help="Instead: interpolated modified Kneser-Ney n-grams of this generative training oracle.",
)
@click.option(
    "--order", type=click.IntRange(min=1), default=5, show_default=True, help="The n of n-grams."
)
@click.argument("source", metavar="INPUT")
@output_option
@search_options
@seed_option
@click.option("--end", is_flag=True, help="Also a row for the end of each sentence.")
@click.option("--trees", metavar="FILE", help="Write the best complete tree of each sentence.")
@click.option(
    "--beams", metavar="FILE", help="Write the analyses after each word, best first, with scores."
)
@click.option("--json", "as_json", metavar="FILE", help="Write all as JSON, a sentence a line.")
@click.option("--html", "page", metavar="FILE", help="Write a page to look at.")
@click.option(
    "--merge",
    "raw",
    metavar="RAW",
    help="Add up the tokens of each written word of these lines, one for each sentence of INPUT.",
)
@tagged_option
@jobs_option
@resume_option
@device_option
def surprisal(
    folder,
    train_path,
    order,
    source,
    output,
    options,
    seed,
    end,
    trees,
    beams,
    as_json,
    page,
    raw,
    tagged,
    jobs,
    resume,
    device,
) -> None:
    """Word-by-word surprisal in bits, with the measures of the search, as a table with tabs.

    INPUT is an oracle, trees, or tokenised sentences, one a line. Words that the model does not have are read as their
    UNK classes. Sentences are numbered as they stand in INPUT, empty lines counted.

    Example: rnng-dy surprisal --model generator sentences.txt -o surprisals.tsv --html surprisals.html
    """  # fmt: skip
    outputs = Outputs(output, trees, beams, as_json, page)
    check_outputs(outputs, [source, train_path, raw])
    if (folder is None) == (train_path is None):
        raise click.UsageError("give either --model or --kneser-ney")
    options = SearchOptions(**options, seed=seed)
    scorer = _scorer(folder, train_path, order, options, _Wanted.of(outputs, end), device)
    trees_only = trees and "--trees" or beams and "--beams" or given_search_option()
    if trees_only and not scorer.has_trees:
        raise click.UsageError(f"{trees_only} is for generative models with trees")
    executor = local_executor(jobs, device)
    transitions = scorer.open(executor)
    sentences = read_sentences(source, tagged)
    raw_lines = None if raw is None else _read_raw(raw, sentences, source)
    report_empty(sentences, source)
    items = [Item(i, s) for i, s in enumerate(sentences)]
    key = content_hash("surprisal", options, sentences, *scorer.identity)
    work = Work(executor, scorer.open_lines, partial(_left_out, end))
    what = Written(scorer.columns, end, scorer.description, transitions, raw_lines, raw)

    def make(kept: Path) -> None:
        found = Measured(kept)
        write_outputs(outputs, what, found)
        _report(found, items, source)

    _run(items, work, outputs.table, key, resume, make)


class _Wanted(NamedTuple):
    """What is wanted besides the words' numbers."""

    end: bool
    trees: bool
    beams: bool

    @classmethod
    def of(cls, outputs: Outputs, end: bool) -> _Wanted:
        return cls(end, bool(outputs.trees), outputs.has_beams)


class Scorer(NamedTuple):
    """A model that gives words probabilities, whatever its kind."""

    open_lines: Callable[[], Callable[[Sequence[Item]], list[Lines]]]
    columns: Sequence[str]
    """The measures that it has."""
    has_trees: bool
    identity: Sequence[object]
    """What its numbers depend on."""
    description: str
    open: Callable[[Executor], TransitionSystem]
    """Opens the model in this process, so that what is wrong with it is said at once; gives its transition system."""


def _scorer(
    folder: str | None,
    train_path: str | None,
    order: int,
    options: SearchOptions,
    wanted: _Wanted,
    device: str,
) -> Scorer:
    if folder is None:
        lines = partial(_kneser_ney_lines, train_path, order, wanted.end)
        identity = [wanted, order, Path(train_path)]
        description = f"Kneser-Ney, order {order}"
        opened = partial(_open_kneser_ney, train_path, order)
        return Scorer(lines, ["surprisal"], False, identity, description, opened)
    kind = registry.kind_of(folder)
    if kind == "discriminative":
        raise RnngError(f"{folder} is a parser, which gives words no probability: name a generator")
    place = ModelFolder(kind, folder, device)
    identity, opened = [wanted, Path(folder, "parameters.npz")], partial(_open_folder, place)
    if kind != "generative":
        lines = partial(_language_model_lines, place, wanted.end)
        return Scorer(lines, ["surprisal"], False, identity, folder, opened)
    lines = partial(_generator_lines, place, options, wanted)
    return Scorer(lines, measures_of(options), True, identity, folder, opened)


def _open_folder(place: ModelFolder, executor: Executor) -> TransitionSystem:
    return getattr(open_model(place, executor), "transitions", TOP_DOWN)


def _open_kneser_ney(train_path: str, order: int, executor: Executor) -> TransitionSystem:
    executor.prepare()
    _kneser_ney(train_path, order)
    return TOP_DOWN


def _generator_lines(place: ModelFolder, options: SearchOptions, wanted: _Wanted):
    model, end = place.open(), wanted.end or wanted.trees

    def kept(found: MeasuredSentence) -> MeasuredSentence:
        records = found.records
        if not wanted.beams:
            records = [replace(record, beam=()) for record in records]
        return found._replace(records=records, trees=found.trees[:1] if wanted.trees else ())

    def lines(batch: Sequence[Item]) -> list[Lines]:
        read = [item for item in batch if item.sentence.tokens]
        tokens = [item.sentence.tokens for item in read]
        unkified = [item.sentence.unkified for item in read]
        measured = measure(model, tokens, options, end, unkified, [item.index for item in read])
        return _in_places(batch, map(kept, measured))

    return lines


def _language_model_lines(place: ModelFolder, end: bool):
    return _sequential_lines(place.open().surprisals_of, end)


def _kneser_ney_lines(train_path: str, order: int, end: bool):
    return _sequential_lines(_kneser_ney(train_path, order).surprisals_of, end)


@lru_cache(maxsize=1)
def _kneser_ney(train_path: str, order: int):
    from rnng_dy.baselines.kneser_ney import KneserNey

    return KneserNey.of_oracle(train_path, order)


def _sequential_lines(surprisals_of: Callable[..., Sequence[Sequence[WordRecord]]], end: bool):
    def lines(batch: Sequence[Item]) -> list[Lines]:
        read = [item.sentence for item in batch if item.sentence.tokens]
        records = surprisals_of([s.tokens for s in read], [s.unkified for s in read])
        return _in_places(batch, (_of_records(found, end) for found in records))

    return lines


def _of_records(records: Sequence[WordRecord], end: bool) -> MeasuredSentence:
    unseen = [f"{r.token} ({r.unk})" for r in records if math.isinf(r.surprisal)]
    problem = None
    if unseen:
        problem = f"not in the model's vocabulary, so passed over: {', '.join(unseen)}"
    if any(math.isnan(r.surprisal) for r in records):
        problem = "does not fit into memory"
    return MeasuredSentence(records if end else records[:-1], problem=problem)


def _in_places(batch: Sequence[Item], measured: Iterator[MeasuredSentence]) -> list[Lines]:
    """One line of JSON a sentence; an empty one has no words."""
    found = iter(measured)
    nothing = MeasuredSentence([])
    return [[(next(found) if item.sentence.tokens else nothing).to_json()] for item in batch]


def _left_out(end: bool, item: Item) -> Lines:
    tokens = [*item.sentence.tokens, *([None] if end else [])]
    records = [WordRecord(token, None, math.nan) for token in tokens]
    return [MeasuredSentence(records, problem="does not fit into memory").to_json()]


def _run(
    items: Sequence[Item],
    work: Work,
    table: str,
    key: str,
    resume: bool,
    make: Callable[[Path], None],
) -> None:
    """Measure the sentences and make the outputs of them; beside a table that is a file, a stopped run leaves a part."""
    grouped = [items[i : i + SENTENCES] for i in range(0, len(items), SENTENCES)]
    if is_replaced(table):
        run_batches("surprisal", grouped, work.lines_of, table, key, resume, make=make)
        return
    with NamedTemporaryFile("w", encoding="utf-8") as kept:

        def lines_of(left: Sequence[Sequence[Item]]) -> Iterator[Lines]:
            for lines in work.lines_of(left):
                kept.writelines(f"{line}\n" for line in lines)
                yield []

        run_batches("surprisal", grouped, lines_of, os.devnull, key, False)
        kept.flush()
        make(Path(kept.name))


def _read_raw(path: str, sentences: Sequence[SourceSentence], source: str) -> list[str]:
    """The raw line of each sentence. Raises InputError where tokens and text cannot be aligned."""
    with open_input(path) as stream:
        lines = [line.removesuffix("\n") for line in stream]
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    # as of the sentences, those at the end that are empty do not count
    while len(lines) > len(sentences) and not lines[-1].strip(WHITE_SPACE):
        lines.pop()
    if len(lines) != len(sentences):
        raise InputError(
            f"{len(lines)} raw lines for {len(sentences)} sentences of {source}: one for each", path
        )
    for number, (line, sentence) in enumerate(zip(lines, sentences, strict=True), 1):
        require_utf8(line, path, number)
        check_alignment(line, sentence.tokens, path, number)
    return lines


def _report(found: Iterable[MeasuredSentence], items: Sequence[Item], source: str) -> None:
    for item, measured in zip(items, found, strict=True):
        if measured.problem:
            click.echo(f"{source}:{item.sentence.line}: {measured.problem}", err=True)
