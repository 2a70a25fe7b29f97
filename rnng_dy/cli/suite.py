"""`rnng-dy suite`: targeted evaluation on test suites and minimal pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import click

from oracle.errors import RnngError
from oracle.files import open_output
from rnng_dy import registry
from rnng_dy.baselines.scorers import OpenableScorer
from rnng_dy.cli.options import device_option, json_option, order_option, table_format_option
from rnng_dy.cli.output import open_model
from rnng_dy.cli.output_files import check_files
from rnng_dy.cli.paths import FILE, FOLDER, PathName
from rnng_dy.cli.progress import Progress
from rnng_dy.cli.sentences import report_unknown, shown_counts
from rnng_dy.cli.word_scorers import chosen_baseline, scorer_option
from rnng_dy.cli.workers import workers_options
from rnng_dy.evaluation import suite_report
from rnng_dy.evaluation.suite_files import read_suite, shipped, tokens_of, treebank_tokens
from rnng_dy.evaluation.suite_scores import Record, Sentence, SuiteResult, Surprisals, evaluate
from rnng_dy.execution.executor import Executor
from rnng_dy.execution.outputs import write_json
from rnng_dy.execution.work import ModelFolder

SENTENCES = 32
"""In one batch."""


@click.command(
    epilog="\n".join(["\b", "Suites of the package; a file of such a name is ./NAME:", *shipped()])
)
@click.argument(
    "sources", type=PathName("file", "file", shipped()), metavar="SUITE...", nargs=-1, required=True
)
@click.option("--model", "folder", type=FOLDER, help="Model folder.")
@scorer_option
@order_option
@click.option(
    "--plain",
    is_flag=True,
    help="The sentences are plain text, to be split as the treebank is.  [default: blanks separate tokens]",
)
@click.option("--regions", type=FILE, help="Write the value of every region as a table.")
@table_format_option
@json_option
@click.option("--html", "page", type=FILE, help="Write the tables as a page of HTML.")
@workers_options()
@device_option
def suite(
    sources, folder, scorer, order, plain, regions, style, numbers, page, workers, device
) -> None:
    """How often a model finds harder what it should: accuracy on test suites, in bits of surprisal.

    SUITE is a file in SyntaxGym's JSON, of minimal pairs (a good and a bad sentence with a tab between them, or JSON
    lines with sentence_good and sentence_bad, as BLiMP has them), or the name of a suite of the package.

    Example: rnng-dy suite agreement-pp --model generator --html agreement.html
    """
    if (folder is None) == (scorer is None):
        raise click.UsageError("give either --model or --scorer")
    baseline = chosen_baseline(None, scorer, order)
    check_files([regions, numbers, page], [*sources, *(baseline.paths if baseline else [])])
    suites = [read_suite(source, treebank_tokens if plain else tokens_of) for source in sources]
    executor = workers.executor(device)
    if baseline is None:
        open_surprisals = _open_model(folder, executor, device)
    else:
        executor.prepare()
        open_surprisals = partial(_open_surprisals, baseline)
    results = evaluate(suites, _surprisals(open_surprisals, executor))
    if regions:
        with open_output(regions) as stream:
            stream.writelines(suite_report.region_lines(results, style))
    if numbers:
        write_json(numbers, suite_report.as_json(results))
    if page:
        with open_output(page) as stream:
            stream.write(suite_report.html(results, folder or baseline.title))
    click.echo(suite_report.table(results, style), nl=False)
    _report_left_out(results)


def _open_model(folder: str, executor: Executor, device: str) -> Callable[[], Surprisals]:
    """What opens the model of a folder where work is done. Raises RnngError for a parser."""
    kind = registry.kind_of(folder)
    if not hasattr(registry.class_of(kind), "surprisals_of"):
        raise RnngError(
            f"{folder} holds a {kind} model, which gives words no probability: a generative model or a language "
            "model is needed"
        )
    place = ModelFolder(kind, folder, device)
    open_model(place, executor)
    return partial(_open_surprisals, place)


def _open_surprisals(place: ModelFolder | OpenableScorer) -> Surprisals:
    return place.open().surprisals_of


def _surprisals(open_surprisals: Callable[[], Surprisals], executor: Executor) -> Surprisals:
    """From sentences to records, by an executor, with progress shown and unknown words named."""

    def surprisals(sentences: Sequence[Sentence]) -> list[Sequence[Record]]:
        progress = Progress("suite", len(sentences))
        batches = [sentences[i : i + SENTENCES] for i in range(0, len(sentences), SENTENCES)]
        found: list[Sequence[Record]] = []
        for records in executor.map(open_surprisals, batches):
            found += records
            progress.advance(len(records))
        progress.finish()
        _report_impossible(found)
        words = [record for of in found for record in of if record.token is not None]
        report_unknown(Counter(r.token for r in words if not r.known), len(words))
        return found

    return surprisals


def _report_impossible(records: Sequence[Sequence[Record]]) -> None:
    """Name the words that the model cannot give."""
    words = Counter(
        record.token
        for found in records
        for record in found
        if record.token is not None and record.surprisal == float("inf")
    )
    if words:
        click.echo(f"words that the model cannot give: {shown_counts(words)}", err=True)


def _report_left_out(results: Sequence[SuiteResult]) -> None:
    for result in results:
        count = result.accuracy.left_out
        if count:
            click.echo(
                f"{result.suite.name}: {count} of {len(result.items)} items are left out: what a prediction compares "
                "is infinite on both sides, or not known",
                err=True,
            )
