"""`rnng-dy suite`: measure accuracy on test suites and minimal pairs."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import click

from oracle.common.errors import listed
from oracle.common.files import indented
from oracle.common.tables import CSV
from rnng_dy.baselines.scorers import SCORERS, SurprisalTable
from rnng_dy.cli import inputs
from rnng_dy.cli import options as shared
from rnng_dy.cli.job import Job, job_options
from rnng_dy.cli.messages import progress, say, warn
from rnng_dy.cli.rules import flag, goes, option
from rnng_dy.cli.signature import signature
from rnng_dy.drawing.pages import parts
from rnng_dy.evaluation import suite_reports, suite_scores
from rnng_dy.evaluation.records import Records, unmeasured
from rnng_dy.evaluation.suite_files import shipped, suites_of
from rnng_dy.evaluation.suites import Tokens
from rnng_dy.evaluation.unknown_words import shown_counts, unknown_words_of
from rnng_dy.kinds import ModelFolder
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.text.spelling import required_spelling

SENTENCES = 32
"""Sentences in one batch."""
NAMED = 3
"""The most sentences that a message lists."""


@click.command(cls=shared.Command, epilog=f"Suites of the package: {', '.join(shipped())}.")
@click.argument("sources", type=shared.FILE, metavar="SUITE...", nargs=-1, required=True)
@inputs.systems_option
@inputs.search_options(without=("search", "particles", "like_reference"))
@goes(lambda _: f"with `folders` or `scorers` {'/'.join(SCORERS.keys() - {SurprisalTable.name})}")
@shared.open_option
@flag("--text", "Split into tokens as the first model does.", "is_text")
@inputs.columns_options
@option("--by", "Column of groups of pairs or items, such as a field.", metavar="NAME")
@inputs.predictions_option(
    "SUITE is a table of stimuli, and this should hold: (2;%long%) > (2;%short%)."
)
@shared.outputs_option(
    {
        ".txt": "the accuracies",
        ".tsv": "a row per region",
        ".csv": "the same for spreadsheets",
        ".json": "all figures",
        ".html": "a page",
    }
)
@option(
    "--effects",
    "Means of predictions, conditions and their differences, with 95 % intervals.",
    shared.OUTPUT,
)
@job_options
def suite(
    sources, systems, options, is_open, is_text, columns, by, predictions, outputs, effects, job
) -> None:
    """Measure on how many items of test suites each prediction about surprisals holds.

    SUITE is a file in SyntaxGym's JSON, a file of minimal pairs, or the name of a suite of the
    package. Minimal pairs are lines with a good sentence, a tab and a bad sentence, or JSON or a
    table with sentence_good and sentence_bad as in BLiMP; pairs with another UID are another suite.
    The accuracies are printed unless another output is standard output.

    Example: rnng-dy suite agreement-pp --model generator -o agreement.html
    """
    style = shared.style_of_effects(effects, outputs)
    if not predictions and len(columns.texts) not in (0, 2):
        what = "two --column name the good and the bad sentences of pairs"
        raise click.UsageError(f"{what}; a table of stimuli needs --prediction")
    inputs.require_trees((), *systems)
    columns = columns._replace(by=by)
    suites = [] if is_text else suites_of(sources, predictions, None, columns)
    jobs = {system.title: replace(job) for system in systems}
    for system in systems:
        model = jobs[system.title].open(system)
        # all systems read the same tokens
        suites = suites or suites_of(sources, predictions, model.segmenter, columns)
        if is_open and not isinstance(model, SurprisalTable):
            required_spelling(model, system.title)
    results_of = {}
    # scorers first: a table that lacks a sentence is an error before the long work
    for name in sorted(jobs, key=lambda name: isinstance(jobs[name].openables[0], ModelFolder)):
        split = partial(split_on_memory_error, partial(_records, options=options, is_open=is_open))
        measured = partial(_surprisals, jobs[name], split, name)
        results_of[name] = suite_scores.evaluate(suites, measured, name)
    results = [result for name in jobs for result in results_of[name]]
    figures = [{"signature": signature(), **x} for x in suite_reports.as_json(results)]
    page = {"results": results, "model": ", ".join(jobs), "signature": signature()}
    texts = {
        ".txt": [suite_reports.accuracy_table(results)],
        ".tsv": suite_reports.region_lines(results),
        ".csv": suite_reports.region_lines(results, CSV),
        ".json": [indented(figures)],
        ".html": parts("suites.html", **page),
    }
    for ending, path in outputs.items():
        shared.write_output(path, texts[ending])
    shared.write_output(effects, suite_reports.effect_lines(results, style))


def _surprisals(
    job: Job, records_of: partial, name: str, sentences: Sequence[Tokens]
) -> list[Records]:
    """Return the word records per sentence; report unknown words, and sentences without records.

    `records_of` returns the records of a batch by a model; None for a sentence that does not fit
    into memory.
    """
    measured: list[Records] = []
    too_long: list[str] = []
    in_batches = batches(enumerate(sentences), lambda _: 1, SENTENCES)
    with job.workers() as workers, progress("suite", total=len(sentences)) as shown:
        for batch, results in workers.map(records_of, in_batches):
            shown.update(len(batch))
            for (_, sentence), records in zip(batch, results, strict=True):
                measured.append(unmeasured(sentence) if records is None else records)
                too_long += [" ".join(sentence)] * (records is None)
    if too_long:
        warn(f"{name}: {len(too_long)} sentences do not fit into memory: {listed(too_long, NAMED)}")
    words = [record for records in measured for record in records if record.token is not None]
    if impossible := Counter(r.token for r in words if r.surprisal == math.inf):
        warn(f"{name}: words that the model cannot give: {shown_counts(impossible)}")
    if unknown := unknown_words_of(words):
        say(f"{name}: {unknown}")
    return measured


def _records(
    batch: Sequence[tuple[int, Tokens]], model, options: SearchOptions, is_open: bool
) -> list[Records]:
    numbers, sentences = zip(*batch, strict=True)
    # another program's table has the surprisals of words as they are
    is_open = is_open and not isinstance(model, SurprisalTable)
    return model.surprisals_of(sentences, options, open_vocabulary=is_open, numbers=numbers)
