"""`rnng-dy reading-times`: how much of reading times surprisals explain."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from rnng_dy.cli.group import Sectioned
from rnng_dy.cli.options import AT_LEAST_1, FiniteRange, in_section, output_option, seed_option
from rnng_dy.cli.paths import FILE, PAGE, check_files, require_read_once, write_output
from rnng_dy.cli.quiet import say, warn
from rnng_dy.drawing.reading_times_page import reading_times_page
from rnng_dy.evaluation.reading_times import report
from rnng_dy.evaluation.reading_times.alignment import align, require_aligned
from rnng_dy.evaluation.reading_times.predictors import Exclusions
from rnng_dy.evaluation.reading_times.regression import require_scipy
from rnng_dy.evaluation.reading_times.study import Options, Study, run_study
from rnng_dy.evaluation.reading_times.tables import (
    Columns,
    Times,
    read_frequencies,
    read_surprisals,
    read_times,
)
from rnng_dy.evaluation.tables import CSV, joined


class NamedFile(NamedTuple):
    """A file, and the name of the system that made it."""

    system: str
    path: str


class NamedFileType(click.ParamType):
    """NAME=FILE, or a file, whose name without its ending is the system's."""

    name = "[name=]file"

    def convert(self, value, param, ctx) -> NamedFile:
        """See click."""
        if isinstance(value, NamedFile):
            return value
        name, equals, path = value.partition("=")
        if not (name and equals) or os.path.exists(value):
            name, path = Path(value).name.partition(".")[0] or value, value
        return NamedFile(name, FILE.convert(path, param, ctx))

    def shell_complete(self, ctx, param, incomplete: str) -> list[CompletionItem]:
        """See click."""
        return FILE.shell_complete(ctx, param, incomplete)


class ColumnName(click.ParamType):
    """The name of a column of a table."""

    name = "column"


COLUMN = ColumnName()
column_option, exclusion_option, regression_option, output_section = map(
    in_section, ("Columns of the table of times", "Rows left out", "Regression", "Output")
)


@click.command(cls=Sectioned)
@click.argument(
    "surprisals", type=NamedFileType(), metavar="[NAME=]SURPRISALS...", nargs=-1, required=True
)
@click.option("--times", "times_path", type=FILE, required=True, help="Table of reading times.")
@click.option(
    "--frequencies",
    type=FILE,
    help="Table with columns word and count, instead of --frequency. Words are looked up without the punctuation "
    "around them, as written or in lower case.",
)
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Report and leave out words that differ between the tables.",
)
@column_option("--item", type=COLUMN, default="item", help="Item or story.")
@column_option(
    "--position", type=COLUMN, default="position", help="Number of the word in its item."
)
@column_option("--word", type=COLUMN, default="word", help="The word as it was read.")
@column_option(
    "--time", type=COLUMN, default="time", help="Reading time in ms, of a subject or a mean."
)
@column_option("--subject", type=COLUMN, help="Subject, if there is a row per subject and word.")
@column_option("--frequency", type=COLUMN, help="Frequency of the word, as a count.")
@exclusion_option("--exclude-first", is_flag=True, help="Leave out first words of sentences.")
@exclusion_option("--exclude-last", is_flag=True, help="Leave out last words of sentences.")
@exclusion_option(
    "--exclude-punctuation", is_flag=True, help="Leave out words with a punctuation mark."
)
@exclusion_option(
    "--exclude-unknown", is_flag=True, help="Leave out words that one of the models does not know."
)
@exclusion_option(
    "--times-between",
    nargs=2,
    type=FiniteRange(0),
    default=(100, 3000),
    metavar="LOW HIGH",
    help="Leave out rows with a shorter or longer time in ms.",
)
@regression_option(
    "--spillover",
    type=click.IntRange(0, 10),
    default=2,
    help="Number of words before a word whose surprisal, frequency and length are predictors, too.",
)
@regression_option(
    "--mixed",
    is_flag=True,
    help="Add random intercepts by item and, with --subject, by subject.",
)
@regression_option(
    "--folds",
    type=click.IntRange(min=2),
    default=10,
    help="The most parts of the items in cross-validation.",
)
@regression_option(
    "--permutations", type=AT_LEAST_1, default=10000, help="Permutations of each test."
)
@seed_option
@output_option
@output_section("--coefficients", type=FILE, help="Write a CSV row per system and predictor.")
@output_section("--pairs", type=FILE, help="Write a CSV row per pair of systems.")
@output_section("--words", type=FILE, help="Write a CSV row per system and word, with predictions.")
@output_section("--html", "page", type=PAGE, help="Write the tables and curves as a page.")
def reading_times(
    surprisals,
    times_path,
    frequencies,
    allow_missing,
    output,
    coefficients,
    pairs,
    words,
    page,
    **chosen,
) -> None:
    """Measure how much surprisals of one or more systems explain of reading times.

    SURPRISALS is a table of `surprisal --merge`, or another table with columns token and surprisal. Its words must be
    those of the table of times, in the same order. The output is CSV with a row per system: the log likelihood of
    held-out words with and without surprisal, and the effect of surprisal in ms per bit.

    Example: rnng-dy reading-times rnng.tsv lstm.tsv --times times.csv -o results.csv --html results.html
    """
    _require_different_names(surprisals)
    if frequencies and chosen["frequency"]:
        raise click.UsageError("give either --frequency or --frequencies")
    inputs = [*(path for _, path in surprisals), times_path, frequencies]
    require_read_once(*inputs)
    check_files([output, coefficients, pairs, words, page], inputs)
    if chosen["mixed"]:
        require_scipy()
    counts = None if frequencies is None else read_frequencies(frequencies)
    times = read_times(times_path, Columns(*(chosen[name] for name in Columns._fields)), counts)
    study = run_study(times, _aligned(times, surprisals, allow_missing), _options(chosen))
    _report(times, study)
    write_output(output, _csv(report.system_rows(study)))
    write_output(coefficients, _csv(report.coefficient_rows(study)))
    write_output(pairs, _csv(report.pair_rows(study)))
    write_output(words, _csv(report.word_rows(study)))
    if page:
        write_output(page, reading_times_page(study, f"Reading times: {Path(times_path).name}"))


def _require_different_names(surprisals: Sequence[NamedFile]) -> None:
    names = [system for system, _ in surprisals]
    if twice := [name for name in names if names.count(name) > 1]:
        raise click.UsageError(
            f"two systems have the name {twice[0]}: give each its own by NAME=FILE"
        )


def _aligned(times: Times, surprisals: Sequence[NamedFile], allow_missing: bool) -> dict:
    systems = {}
    for system, path in surprisals:
        systems[system], reports = align(times, read_surprisals(path), path)
        if not allow_missing:
            require_aligned(reports)
        for line in reports:
            warn(f"not aligned: {line}")
    return systems


def _options(chosen: dict) -> Options:
    exclusions = Exclusions(
        first=chosen["exclude_first"],
        last=chosen["exclude_last"],
        marks=chosen["exclude_punctuation"],
        unknown=chosen["exclude_unknown"],
        times_between=chosen["times_between"],
    )
    return Options(
        exclusions=exclusions,
        **{name: chosen[name] for name in ("spillover", "mixed", "folds", "permutations", "seed")},
    )


def _report(times: Times, study: Study) -> None:
    say(
        f"{len(study.times)} of {len(times.times)} rows in {len({w.item for w in study.words})} items, "
        f"{study.folds} folds"
    )
    for reason, count in study.left_out.items():
        say(f"left out: {count}, {reason}")
    if not any(word.count == word.count for word in times.words):
        say("no frequencies: give --frequency or --frequencies to count them as a predictor")


def _csv(rows: Iterable[Sequence[str]]) -> Iterable[str]:
    return (joined(row, CSV) + "\n" for row in rows)
