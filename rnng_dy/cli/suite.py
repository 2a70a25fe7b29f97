"""`rnng-dy suite`: measure accuracy on test suites and minimal pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import click

from oracle.files import indented
from rnng_dy import registry
from rnng_dy.baselines.scorers import OpenableScorer
from rnng_dy.baselines.surprisal_tables import SurprisalTable
from rnng_dy.cli.job import Job, ModelFolder, job_options
from rnng_dy.cli.messages import progress, say, warn
from rnng_dy.cli.options import (
    device_option,
    open_option,
    unknown_option,
)
from rnng_dy.cli.paths import (
    FILE,
    GENERATIVE,
    PathName,
    check_files,
    ending_of,
    outputs_option,
    write_output,
)
from rnng_dy.cli.searching import given_search_option, search_options
from rnng_dy.cli.source import columns_options
from rnng_dy.cli.word_scorers import model_of_words, several_scorers_option
from rnng_dy.drawing.pages import parts
from rnng_dy.evaluation import suite_report
from rnng_dy.evaluation.formula import Formula, FormulaError
from rnng_dy.evaluation.records import WordRecord, shown_counts, unknown_words_of, unmeasured
from rnng_dy.evaluation.suite_files import shipped, suites_of
from rnng_dy.evaluation.suite_scores import Sentence, evaluate
from rnng_dy.evaluation.tables import CSV, TSV
from rnng_dy.evaluation.unknown_words import require_known
from rnng_dy.parallel import fitting
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.spelling import required_spelling

DEFAULT_MODEL = "english-generative"
SENTENCES = 32
"""Sentences in one batch."""


def _formula(context: click.Context, option: click.Option, texts: Sequence[str]) -> list[Formula]:
    """Parse formulas. Raises BadParameter for one that cannot be read."""
    try:
        return [Formula(text) for text in texts]
    except FormulaError as error:
        raise click.BadParameter(str(error)) from None


@click.command(epilog=f"Suites of the package: {', '.join(shipped())}.")
@click.argument(
    "sources", type=PathName("file", "file", shipped()), metavar="SUITE...", nargs=-1, required=True
)
@click.option(
    "--model",
    "folders",
    type=GENERATIVE,
    multiple=True,
    help=f"Model folder, archive or name, one or more.  [default: {DEFAULT_MODEL}]",
)
@several_scorers_option
@partial(search_options, without=("like_reference", "runs"))
@open_option
@unknown_option
@click.option(
    "--text",
    "is_text",
    is_flag=True,
    help="Split the sentences into tokens as the first model does.",
)
@columns_options
@click.option(
    "--prediction",
    "predictions",
    metavar="FORMULA",
    multiple=True,
    callback=_formula,
    help="SUITE is a table of stimuli, and this should hold: (2;%long%) > (2;%short%).",
)
@outputs_option(
    {
        ".txt": "the accuracies",
        ".tsv": "a row per region",
        ".csv": "the same for spreadsheets",
        ".json": "all figures",
        ".html": "a page",
    }
)
@click.option(
    "--effects",
    type=FILE,
    help="Table of differences between conditions, with 95 % intervals.",
)
@job_options(device_option)
def suite(
    sources,
    folders,
    scorers,
    options,
    is_open,
    unknown,
    is_text,
    columns,
    predictions,
    outputs,
    effects,
    job,
) -> None:
    """Measure the accuracy of models on test suites: on how many items each prediction about surprisals holds.

    SUITE is a file in SyntaxGym's JSON, a file of minimal pairs, or the name of a suite of the package. Minimal
    pairs are lines with a good sentence, a tab and a bad sentence, or JSON or a table with sentence_good and
    sentence_bad as in BLiMP; pairs with another UID are another suite. The accuracies are printed unless another
    output is standard output.

    Example: rnng-dy suite agreement-pp --model generator -o agreement.html
    """
    inputs = [*sources, *(path for scorer in scorers for path in scorer.paths)]
    if "-" not in (*outputs.values(), effects):
        outputs.setdefault(".txt", "-")
    check_files([*outputs.values(), effects], inputs)
    systems = _systems(folders, scorers, job.device)
    suites = [] if is_text else suites_of(sources, predictions, None, columns)
    options, found, models = SearchOptions(**options), {}, {}
    # another program's table has the surprisals of words as they are
    spelled = {name: is_open and not _is_table(place) for name, place in systems.items()}
    for name, place in systems.items():
        model = models[name] = job.open_place(place)
        # all systems read the same tokens
        suites = suites or suites_of(sources, predictions, model.segmenter, columns)
        if spelled[name]:
            required_spelling(model, name)
        if unknown == "error":
            for of in suites:
                require_known(model, of.path, of.sentences())
    # scorers first: a table that lacks a sentence is an error before the long work
    for name in sorted(systems, key=lambda name: name in folders):
        job.places, job.models = [systems[name]], [models[name]]
        shown = name if len(systems) > 1 else ""
        measured = partial(_surprisals, job, partial(_records, options, spelled[name]), shown)
        found[name] = evaluate(suites, measured, name)
    results = [result for name in systems for result in found[name]]
    forms = {
        ".txt": lambda: [suite_report.table(results)],
        ".tsv": lambda: suite_report.region_lines(results, TSV),
        ".csv": lambda: suite_report.region_lines(results, CSV),
        ".json": lambda: [indented(suite_report.as_json(results))],
        ".html": lambda: parts("suites.html", results=results, model=", ".join(systems)),
    }
    for ending, path in outputs.items():
        write_output(path, forms[ending]())
    if effects:
        style = CSV if ending_of(effects) == ".csv" else TSV
        write_output(effects, suite_report.effect_lines(results, style))


def _systems(
    folders: Sequence[str], scorers: Sequence[OpenableScorer], device: str
) -> dict[str, ModelFolder | OpenableScorer]:
    """Return models and scorers by name. Raises UsageError for one twice, and for no model for a search."""
    if not (folders or scorers):
        folders = [DEFAULT_MODEL]
    found = [(folder, model_of_words(device, folder)) for folder in folders]
    flag = given_search_option()
    if flag and not any(registry.kind(place.kind).has_trees for _, place in found):
        raise click.UsageError(f"{flag} is for generative models with trees")
    found += [(scorer.title, scorer) for scorer in scorers]
    systems = dict(found)
    if len(systems) < len(found):
        raise click.UsageError("two models have the same name")
    return systems


def _is_table(place: ModelFolder | OpenableScorer) -> bool:
    return isinstance(place, OpenableScorer) and place.name == SurprisalTable.name


def _surprisals(
    job: Job, records_of: Callable, name: str, sentences: Sequence[Sentence]
) -> list[Sequence[WordRecord]]:
    """Return the word records per sentence; reports words that the model does not know.

    `records_of` returns the records of a model and a batch. `name` is that of the model in messages, empty if there is
    only one.
    """
    shown = progress("suite", total=len(sentences))
    numbered = list(enumerate(sentences))
    batches = [numbered[i : i + SENTENCES] for i in range(0, len(numbered), SENTENCES)]
    found: list[Sequence[WordRecord]] = []
    for batch, records in zip(batches, job.map(partial(fitting, records_of), batches), strict=True):
        # a sentence that does not fit into memory has NaN
        pairs = zip(records, batch, strict=True)
        found += [unmeasured(tokens) if of is None else of for of, (_, tokens) in pairs]
        shown.update(len(records))
    shown.close()
    words = [record for records in found for record in records if record.token is not None]
    of = f"{name}: " if name else ""
    if impossible := Counter(r.token for r in words if r.surprisal == math.inf):
        warn(f"{of}words that the model cannot give: {shown_counts(impossible)}")
    if unknown := unknown_words_of(words):
        say(of + unknown)
    return found


def _records(
    options: SearchOptions, is_open: bool, model, batch: Sequence[tuple[int, Sentence]]
) -> list[Sequence[WordRecord]]:
    numbers, sentences = zip(*batch, strict=True)
    return model.surprisals_of(sentences, options, open_vocabulary=is_open, numbers=numbers)
