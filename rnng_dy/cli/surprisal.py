"""`rnng-dy surprisal`: what a model says of each word."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import click

from oracle.errors import InputError
from oracle.files import SourceSentence, open_input
from oracle.streams import WHITE_SPACE, is_replaced, require_utf8
from rnng_dy.cli.options import (
    device_option,
    kneser_ney_option,
    order_option,
    output_option,
    resume_option,
    seed_option,
    table_format_option,
)
from rnng_dy.cli.output import run_and_make
from rnng_dy.cli.paths import FILE, FOLDER
from rnng_dy.cli.raw_text import text_options
from rnng_dy.cli.searching import given_search_option, grouped_for, search_options
from rnng_dy.cli.sentences import read_source, report_unknown, tagged_option
from rnng_dy.cli.surprisal_outputs import (
    Measured,
    Outputs,
    Written,
    check_outputs,
    write_at_once,
    write_outputs,
)
from rnng_dy.cli.word_scorers import Item, Wanted, chosen_baseline, open_scorer, scorer_option
from rnng_dy.cli.workers import workers_options
from rnng_dy.evaluation.merging import check_alignment
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, Work
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.search.words import MeasuredSentence, WordRecord


@click.command()
@click.option(
    "--model", "folder", type=FOLDER, help="Folder of a generative or LSTM language model."
)
@kneser_ney_option
@scorer_option
@order_option
@click.argument("source", type=FILE, metavar="INPUT")
@output_option
@table_format_option
@search_options
@seed_option
@click.option("--end", is_flag=True, help="Also a row for the end of each sentence.")
@click.option("--trees", type=FILE, help="Write the best complete tree of each sentence.")
@click.option(
    "--beams", type=FILE, help="Write the analyses after each word, best first, with scores."
)
@click.option("--json", "as_json", type=FILE, help="Write all as JSON, a sentence a line.")
@click.option("--html", "page", type=FILE, help="Write a page to look at.")
@click.option(
    "--merge",
    "raw",
    type=FILE,
    metavar="RAW",
    help="Add up the tokens of each written word of these lines, one for each sentence of INPUT.",
)
@text_options
@tagged_option
@workers_options()
@resume_option
@device_option
def surprisal(
    folder,
    train_path,
    scorer,
    order,
    source,
    output,
    style,
    options,
    seed,
    end,
    trees,
    beams,
    as_json,
    page,
    raw,
    text,
    tagged,
    workers,
    resume,
    device,
) -> None:
    """Word-by-word surprisal in bits, with the measures of the search, as a table with tabs or as CSV.

    INPUT is an oracle, trees, or tokenised sentences, one a line; with --text, running text. Words that the model does
    not have are read as their UNK classes. Sentences are numbered as they stand in INPUT, empty lines counted.

    Example: rnng-dy surprisal --model generator sentences.txt -o surprisals.tsv --html surprisals.html
    """  # fmt: skip
    outputs = Outputs(output, trees, beams, as_json, page)
    if [folder, train_path, scorer].count(None) != 2:
        raise click.UsageError("give either --model or --kneser-ney or --scorer")
    baseline = chosen_baseline(train_path, scorer, order)
    check_outputs(outputs, [source, raw, *(baseline.paths if baseline else [])])
    options = SearchOptions(**options, seed=seed)
    wanted = Wanted(end, bool(trees), outputs.has_beams)
    scorer = open_scorer(folder, baseline, options, wanted, device)
    if not scorer.has_trees:
        _refuse_for_words(trees, beams)
    executor = workers.executor(device)
    transitions = scorer.open(executor)
    sentences = read_source(source, tagged, None, text, scorer.segmenter)
    raw_lines = None if raw is None else _read_raw(raw, sentences, source)
    items = [Item(i, s) for i, s in enumerate(sentences)]
    key = content_hash("surprisal", options, sentences, *scorer.identity)
    work = Work(executor, scorer.open_lines, partial(_left_out, end))
    what = Written(scorer.columns, end, scorer.description, transitions, raw_lines, raw, style)

    # a stopped run may have left the first sentences, which come before those of this one
    at_once = not (resume and is_replaced(outputs.table))

    def make(kept: Path) -> None:
        found = Measured(kept)
        write_outputs(outputs, what, found, only_files=at_once)
        _report(found, items, source)

    job = "surprisal", grouped_for(options, items), work.lines_of, outputs.table, key, resume, make
    with write_at_once(outputs, what) if at_once else nullcontext(lambda lines: None) as write:
        run_and_make(*job, write)


def _refuse_for_words(trees: str | None, beams: str | None) -> None:
    """Raise UsageError where the command line has an option that a model without trees has nothing for."""
    flags = ["--trees" if trees else None, "--beams" if beams else None, given_search_option()]
    flag = next(filter(None, flags), None)
    if flag is not None:
        raise click.UsageError(f"{flag} is for generative models with trees")


def _left_out(end: bool, item: Item) -> Lines:
    tokens = [*item.sentence.tokens, *([None] if end else [])]
    records = [WordRecord(token, None, math.nan) for token in tokens]
    return [MeasuredSentence(records, problem="does not fit into memory").to_json()]


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
    words, unknown = 0, Counter()
    for item, measured in zip(items, found, strict=True):
        if measured.problem:
            click.echo(f"{source}:{item.sentence.line}: {measured.problem}", err=True)
        words += sum(record.token is not None for record in measured.records)
        unknown.update(record.token for record in measured.records if record.known is False)
    report_unknown(unknown, words)
