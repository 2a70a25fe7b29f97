"""`rnng-dy surprisal`: what a model says of each word."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from oracle.errors import InputError, RnngError
from oracle.files import SourceSentence, open_input, read_sentences
from oracle.streams import is_replaced
from rnng_dy import registry
from rnng_dy.cli.options import (
    device_option,
    jobs_option,
    output_option,
    resume_option,
    seed_option,
)
from rnng_dy.cli.output import open_model, run_batches
from rnng_dy.cli.searching import search_options
from rnng_dy.cli.sentences import report_empty, tagged_option
from rnng_dy.cli.surprisal_outputs import Outputs, Written, check_outputs, write_outputs
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
    scorer = _scorer(folder, train_path, order, options, end, bool(trees), device)
    if not scorer.has_trees and (trees or beams):
        raise click.UsageError("--trees and --beams are for models with trees")
    executor = local_executor(jobs, device)
    scorer.check(executor)
    sentences = read_sentences(source, tagged)
    raw_lines = None if raw is None else _read_raw(raw, len(sentences), source)
    report_empty(sentences, source)
    items = [Item(i, s) for i, s in enumerate(sentences)]
    grouped = [items[i : i + SENTENCES] for i in range(0, len(items), SENTENCES)]
    key = content_hash("surprisal", options, end, bool(trees), sentences, *scorer.identity)
    work = Work(executor, scorer.open_lines, _left_out)
    found = _measured(grouped, work, outputs, key, resume)
    what = Written(scorer.columns, end, scorer.description, raw_lines, raw)
    write_outputs(outputs, what, found)
    _report(found, items, source)


class Scorer(NamedTuple):
    """A model that gives words probabilities, whatever its kind."""

    open_lines: Callable[[], Callable[[Sequence[Item]], list[Lines]]]
    columns: Sequence[str]
    """The measures that it has."""
    has_trees: bool
    identity: Sequence[object]
    """What its numbers depend on."""
    description: str
    place: ModelFolder | None = None

    def check(self, executor) -> None:
        """Open the model here, so that what is wrong with it is said at once."""
        if self.place is not None:
            open_model(self.place, executor)


def _scorer(
    folder: str | None,
    train_path: str | None,
    order: int,
    options: SearchOptions,
    end: bool,
    wants_trees: bool,
    device: str,
) -> Scorer:
    if folder is None:
        lines = partial(_kneser_ney_lines, train_path, order, end)
        identity = [order, Path(train_path)]
        return Scorer(lines, ["surprisal"], False, identity, f"Kneser-Ney, order {order}")
    kind = registry.kind_of(folder)
    if kind == "discriminative":
        raise RnngError(f"{folder} is a parser, which gives words no probability: name a generator")
    place, identity = ModelFolder(kind, folder, device), [Path(folder, "parameters.npz")]
    if kind != "generative":
        lines = partial(_language_model_lines, place, end)
        return Scorer(lines, ["surprisal"], False, identity, folder, place)
    lines = partial(_generator_lines, place, options, end or wants_trees)
    return Scorer(lines, measures_of(options), True, identity, folder, place)


def _generator_lines(place: ModelFolder, options: SearchOptions, end: bool):
    model = place.open()

    def lines(batch: Sequence[Item]) -> list[Lines]:
        read = [item for item in batch if item.sentence.tokens]
        tokens = [item.sentence.tokens for item in read]
        unkified = [item.sentence.unkified for item in read]
        measured = measure(model, tokens, options, end, unkified, [item.index for item in read])
        return _in_places(batch, measured)

    return lines


def _language_model_lines(place: ModelFolder, end: bool):
    return _sequential_lines(place.open().surprisals_of, end)


def _kneser_ney_lines(train_path: str, order: int, end: bool):
    from rnng_dy.baselines.kneser_ney import KneserNey

    return _sequential_lines(KneserNey.of_oracle(train_path, order).surprisals_of, end)


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


def _left_out(item: Item) -> Lines:
    records = [WordRecord(token, None, math.nan) for token in item.sentence.tokens]
    return [MeasuredSentence(records, problem="does not fit into memory").to_json()]


def _measured(
    grouped: Sequence[Sequence[Item]], work: Work, outputs: Outputs, key: str, resume: bool
) -> list[MeasuredSentence]:
    """What was found of each sentence; what a stopped run had found is gone on with."""
    texts: list[str] = []

    def lines_of(left: Sequence[Sequence[Item]]) -> Iterator[Lines]:
        for lines in work.lines_of(left):
            texts.extend(lines)
            yield lines

    if is_replaced(outputs.table):
        # the table is made of it when all is done
        kept = f"{outputs.table}.sentences"
        run_batches("surprisal", grouped, lines_of, kept, key, resume)
        texts = Path(kept).read_text(encoding="utf-8").splitlines()
        Path(kept).unlink()
    else:
        run_batches("surprisal", grouped, lines_of, "/dev/null", key, False)
    return [MeasuredSentence.from_json(text) for text in texts]


def _read_raw(path: str, sentences: int, source: str) -> list[str]:
    with open_input(path) as stream:
        lines = stream.read().splitlines()
    if len(lines) != sentences:
        raise InputError(
            f"{len(lines)} raw lines for {sentences} sentences of {source}: one for each", path
        )
    return lines


def _report(found: Sequence[MeasuredSentence], items: Sequence[Item], source: str) -> None:
    for item, measured in zip(items, found, strict=True):
        if measured.problem:
            click.echo(f"{source}:{item.sentence.line}: {measured.problem}", err=True)
