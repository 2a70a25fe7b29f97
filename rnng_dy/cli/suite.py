"""`rnng-dy suite`: measure accuracy on test suites and minimal pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial

import click

from oracle.errors import RnngError
from rnng_dy import registry
from rnng_dy.cli.job import Job, job_options
from rnng_dy.cli.options import device_option, json_option, order_option, table_format_option
from rnng_dy.cli.paths import FILE, GENERATIVE, PAGE, PathName, check_files, write_output
from rnng_dy.cli.progress import Progress
from rnng_dy.cli.quiet import say, warn
from rnng_dy.cli.word_scorers import chosen_baseline, scorer_option
from rnng_dy.drawing import pages
from rnng_dy.evaluation import suite_report
from rnng_dy.evaluation.records import WordRecord, shown_counts, unknown_words
from rnng_dy.evaluation.suite_files import read_suite, shipped, tokens_of, treebank_tokens
from rnng_dy.evaluation.suite_scores import Sentence, SuiteResult, evaluate
from rnng_dy.evaluation.suites import Suite
from rnng_dy.execution.outputs import write_json
from rnng_dy.execution.work import ModelFolder
from rnng_dy.text.tokens import running_text

SENTENCES = 32
"""Sentences in one batch."""


@click.command(
    epilog="\n".join(
        ["\b", "Suites of the package (write ./NAME for a file of the same name):", *shipped()]
    )
)
@click.argument(
    "sources", type=PathName("file", "file", shipped()), metavar="SUITE...", nargs=-1, required=True
)
@click.option("--model", "folder", type=GENERATIVE, help="Model folder, archive or name.")
@scorer_option
@order_option
@click.option(
    "--plain",
    is_flag=True,
    help="The sentences are plain text; tokenise them as in the treebank.  [default: blanks separate tokens]",
)
@click.option("--regions", type=FILE, help="Write the surprisal of every region as a table.")
@table_format_option
@json_option
@click.option("--html", "page", type=PAGE, help="Write the tables as a page.")
@job_options(device_option)
def suite(sources, folder, scorer, order, plain, regions, style, numbers, page, job) -> None:
    """Measure a model's accuracy on test suites: on how many items each prediction about surprisals holds.

    SUITE is a file in SyntaxGym's JSON, a file of minimal pairs, or the name of a suite of the package. Minimal
    pairs are lines with a good sentence, a tab and a bad sentence, or JSON lines with sentence_good and
    sentence_bad as in BLiMP.

    Example: rnng-dy suite agreement-pp --model generator --html agreement.html
    """
    if (folder is None) == (scorer is None):
        raise click.UsageError("give either --model or --scorer")
    baseline = chosen_baseline(None, scorer, order)
    check_files([regions, numbers, page], [*sources, *(baseline.paths if baseline else [])])
    suites = [read_suite(source, treebank_tokens if plain else tokens_of) for source in sources]
    if not plain:
        _warn_of_running_text(suites)
    job.open_place(baseline or _scoring(folder, job.device))
    results = evaluate(suites, partial(_surprisals, job))
    write_output(regions, suite_report.region_lines(results, style))
    if numbers:
        write_json(numbers, suite_report.as_json(results))
    if page:
        pages.write(page, "suites.html", results=results, model=folder or baseline.title)
    click.echo(suite_report.table(results, style), nl=False)
    _report_left_out(results)


def _warn_of_running_text(suites: Sequence[Suite]) -> None:
    for suite in suites:
        sentences = [condition.tokens for item in suite.items for condition in item.conditions]
        if stuck := running_text(sentences):
            warn(
                f"{suite.name}: running text? {stuck[0][1]!r:.80} ends in a mark ({len(stuck)} of {len(sentences)} "
                "sentences): add --plain, or put blanks around marks"
            )


def _scoring(folder: str, device: str) -> ModelFolder:
    """Return the folder of a model that gives probabilities of sentences. Raises RnngError for a parser."""
    kind = registry.kind_of(folder)
    if not hasattr(kind.model_class, "surprisals_of"):
        raise RnngError(
            f"{folder} holds a {kind.name} model, which gives words no probability: a generative model or a language "
            "model is needed"
        )
    return ModelFolder(kind.name, folder, device)


def _surprisals(job: Job, sentences: Sequence[Sentence]) -> list[Sequence[WordRecord]]:
    """Return the word records per sentence; reports words that the model does not know."""
    progress = Progress("suite", len(sentences))
    batches = [sentences[i : i + SENTENCES] for i in range(0, len(sentences), SENTENCES)]
    found: list[Sequence[WordRecord]] = []
    for records in job.executor.map(job.with_model(_records), batches):
        found += records
        progress.advance(len(records))
    progress.finish()
    words = [record for records in found for record in records if record.token is not None]
    if impossible := Counter(r.token for r in words if r.surprisal == math.inf):
        warn(f"words that the model cannot give: {shown_counts(impossible)}")
    if unknown := Counter(r.token for r in words if not r.known):
        say(unknown_words(unknown, len(words)))
    return found


def _records(model, sentences: Sequence[Sentence]) -> list[Sequence[WordRecord]]:
    return model.surprisals_of(sentences)


def _report_left_out(results: Sequence[SuiteResult]) -> None:
    for result in results:
        count = result.accuracy.left_out
        if count:
            warn(
                f"{result.suite.name}: {count} of {len(result.items)} items are left out: what a prediction compares "
                "is infinite on both sides, or not known"
            )
