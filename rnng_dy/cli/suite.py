"""`rnng-dy suite`: targeted evaluation on test suites and minimal pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import click

from oracle.errors import RnngError
from oracle.files import open_output
from rnng_dy import registry
from rnng_dy.cli.options import device_option, json_option, model_option, table_format_option
from rnng_dy.cli.output import open_model
from rnng_dy.cli.output_files import check_files
from rnng_dy.cli.paths import FILE, PathName
from rnng_dy.cli.progress import Progress
from rnng_dy.cli.sentences import report_unknown, shown_counts
from rnng_dy.cli.workers import Workers, workers_options
from rnng_dy.drawing import pages
from rnng_dy.evaluation import suite_report
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.evaluation.suite_files import read_suite, shipped, tokens_of, treebank_tokens
from rnng_dy.evaluation.suite_scores import Sentence, SuiteResult, Surprisals, evaluate
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
@model_option
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
def suite(sources, folder, plain, regions, style, numbers, page, workers, device) -> None:
    """How often a model finds harder what it should: accuracy on test suites, in bits of surprisal.

    SUITE is a file in SyntaxGym's JSON, of minimal pairs (a good and a bad sentence with a tab between them, or JSON
    lines with sentence_good and sentence_bad, as BLiMP has them), or the name of a suite of the package.

    Example: rnng-dy suite agreement-pp --model generator --html agreement.html
    """
    if page:
        pages.require()
    check_files([regions, numbers, page], sources)
    suites = [read_suite(source, treebank_tokens if plain else tokens_of) for source in sources]
    results = evaluate(suites, open_scorer(folder, workers, device))
    if regions:
        with open_output(regions) as stream:
            stream.writelines(suite_report.region_lines(results, style))
    if numbers:
        write_json(numbers, suite_report.as_json(results))
    if page:
        pages.write(page, "suites.html", results=results, model=folder)
    click.echo(suite_report.table(results, style), nl=False)
    _report_left_out(results)


def open_scorer(folder: str, workers: Workers, device: str) -> Surprisals:
    """What gives the words of sentences surprisals under the model of a folder, whatever its kind.

    Raises RnngError for a parser, which gives sentences no probability.
    """
    kind = registry.kind_of(folder)
    if not hasattr(kind.model_class, "surprisals_of"):
        raise RnngError(
            f"{folder} holds a {kind.name} model, which gives words no probability: a generative model or a language "
            "model is needed"
        )
    place, executor = ModelFolder(kind.name, folder, device), workers.executor(device)
    open_model(place, executor)

    def surprisals(sentences: Sequence[Sentence]) -> list[Sequence[WordRecord]]:
        progress = Progress("suite", len(sentences))
        batches = [sentences[i : i + SENTENCES] for i in range(0, len(sentences), SENTENCES)]
        found: list[Sequence[WordRecord]] = []
        for records in executor.map(partial(_open_surprisals, place), batches):
            found += records
            progress.advance(len(records))
        progress.finish()
        _report_impossible(found)
        words = [record for of in found for record in of if record.token is not None]
        report_unknown(Counter(r.token for r in words if not r.known), len(words))
        return found

    return surprisals


def _open_surprisals(
    place: ModelFolder,
) -> Callable[[Sequence[Sentence]], list[Sequence[WordRecord]]]:
    return place.open().surprisals_of


def _report_impossible(records: Sequence[Sequence[WordRecord]]) -> None:
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
