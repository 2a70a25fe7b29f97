"""`rnng-dy reading-times`: how much of reading times surprisals explain."""

from __future__ import annotations

from math import isnan

import click

from oracle.common.tables import CSV, joined
from rnng_dy.cli import options
from rnng_dy.cli.messages import say, warn
from rnng_dy.evaluation import reading_times as studies
from rnng_dy.evaluation.alignment import SHOWN, align
from rnng_dy.evaluation.reading_tables import NEEDED, OPTIONAL, read_times
from rnng_dy.evaluation.significance import FEWEST
from rnng_dy.evaluation.token_tables import COLUMNS, UNITS, read_surprisals
from rnng_dy.settings import FiniteRange


@click.command(cls=options.Command)
@click.argument("paths", type=options.FILE, nargs=-1, required=True, metavar="SURPRISALS...")
@click.option("--times", "table", type=options.FILE, required=True, help="Table of reading times.")
@click.option(
    "--column",
    "columns",
    type=options.Assignment(dict.fromkeys([*NEEDED, *OPTIONAL, *COLUMNS], click.STRING)),
    metavar="NAME=COLUMN",
    multiple=True,
    help="A column of that table: item, position, word or time if it has no usual name; subject; frequency (a count); "
    "condition (a variant of the item). Or of all SURPRISALS: token, surprisal.",
)
@click.option("--unit", type=click.Choice([*UNITS]), default="bits", help="Of the surprisals.")
@click.option("--by-letters", is_flag=True, help="Compare words without case and punctuation.")
@click.option("--allow-missing", is_flag=True, help="Leave out words that differ between tables.")
@click.option(
    "--exclude",
    type=options.ListOf(click.Choice(studies.EXCLUSIONS)),
    default=(),
    metavar=",".join(studies.EXCLUSIONS),
    help="Words of sentences to leave out.",
)
@click.option(
    "--times-between",
    "between",
    nargs=2,
    type=FiniteRange(0),
    default=(100, 3000),
    metavar="LOW HIGH",
    help="Leave out rows with a shorter or longer time in ms.",
)
@click.option(
    "--spillover",
    type=click.IntRange(0, 10),
    default=2,
    help="Number of words before a word that are predictors, too.",
)
@options.outputs_option(
    {
        ".txt": "a row per system, pair of systems, and coefficient",
        ".tsv": "the coefficients",
        ".csv": "the joined table",
        ".R": "a program for lme4",
    }
)
def reading_times(
    paths, table, columns, unit, by_letters, allow_missing, exclude, between, spillover, outputs
) -> None:
    """Measure how much surprisals of one or more systems explain of reading times.

    Each of SURPRISALS is a table of `surprisal`, or another table with columns token and surprisal;
    its name without the ending is that of the system. Its tokens must make the words of the table
    of times, in the same order. The output has a row per system, with the log likelihood of
    held-out words with surprisal less that without it, and all coefficients in ms.

    Example: rnng-dy reading-times rnng.tsv lstm.tsv --times times.csv -o joined.csv -o mixed.R
    """
    if ".R" in outputs and ".csv" not in outputs:
        raise click.UsageError("the program in R reads the joined table: add -o FILE.csv")
    if "-" not in outputs.values():
        outputs.setdefault(".txt", "-")
    columns = dict(columns)
    times, systems = read_times(table, columns), {}
    for name, path in zip(options.titles(paths), paths, strict=True):
        tokens = read_surprisals(path, columns, unit)
        systems[name], reports = align(times, tokens, path, by_letters, allow_missing)
        more = [f"{len(reports) - SHOWN} more differences"] * (len(reports) > SHOWN)
        for report_line in reports[:SHOWN] + more:
            warn(f"not aligned: {report_line}")
    rows, left_out = studies.rows_used(times, systems, spillover, exclude, between)
    study = studies.run_study(times, systems, rows, spillover)
    figures, used = study.systems[0]
    counts = "{rows} of {of} rows in {items} items, {folds} folds"
    say(counts.format(of=len(times.times), **figures))
    for reason, count in left_out.items():
        say(f"left out: {count}, {reason}")
    every = studies.predictors(times, systems[figures["system"]], spillover)
    if "log_frequency" not in every:
        say("no frequencies: --column frequency=COLUMN makes them a predictor")
    for name in every:
        if name not in used:
            say(f"not a predictor, since it is constant or depends on others in a fold: {name}")
    if any(isnan(of["p"]) for of in (figures, *study.pairs)):
        say(f"p is nan where systems differ in fewer than {FEWEST} items")
    forms = {
        ".txt": lambda: [studies.table(study)],
        ".tsv": lambda: (joined(row) + "\n" for row in studies.coefficient_rows(study)),
        ".csv": lambda: (joined(row, CSV) + "\n" for row in studies.joined_rows(study)),
        ".R": lambda: [studies.lme4_script(study, outputs[".csv"])],
    }
    for ending, path in outputs.items():
        options.write_output(path, forms[ending]())
