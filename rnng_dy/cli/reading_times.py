"""`rnng-dy reading-times`: how much of reading times surprisals explain."""

from collections.abc import Mapping
from itertools import chain
from math import isnan

import click

from oracle.common.tables import CSV, joined
from rnng_dy.cli import options
from rnng_dy.cli.inputs import predictions_option
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.rules import flag, goes, option
from rnng_dy.evaluation import study_reports as reports
from rnng_dy.evaluation.alignment import SHOWN, align
from rnng_dy.evaluation.reading_predictors import SURPRISAL, Design, predicted_effects, predictors
from rnng_dy.evaluation.reading_tables import NEEDED, OPTIONAL, Times, read_times
from rnng_dy.evaluation.reading_times import EXCLUSIONS, Study, Systems, rows_used, run_study
from rnng_dy.evaluation.significance import FEWEST
from rnng_dy.evaluation.suite_reports import effect_lines
from rnng_dy.evaluation.token_tables import COLUMNS, UNITS, read_surprisals
from rnng_dy.settings import FiniteRange

_names, _few = options.ListOf(click.STRING), click.IntRange(0, 10)


@click.command(cls=options.Command)
@click.argument("paths", type=options.FILE, nargs=-1, required=True, metavar="SURPRISALS...")
@option("--times", "Table of reading times.", options.FILE, "table", required=True)
@option(
    "--column",
    "A column of that table: item, position, word or time if it has no usual name; subject; "
    "frequency (a count); condition (a variant of the item). Or of all SURPRISALS: token, "
    "surprisal. Several columns of time=A,B are studied one after the other.",
    options.Assignment(dict.fromkeys([*NEEDED, *OPTIONAL, *COLUMNS], click.STRING)),
    "columns",
    metavar="NAME=COLUMN",
    multiple=True,
)
@option("--unit", "Of the surprisals.", click.Choice([*UNITS]), default="bits")
@options.together(
    "rules",
    dict,
    flag("--by-letters", "Compare words without case and punctuation."),
    flag("--allow-missing", "Leave out words that differ between tables."),
)
@option(
    "--where",
    "Use the rows alone that have this in a column of either table.",
    options.Assignment(),
    metavar="COLUMN=VALUE",
    multiple=True,
)
@options.together(
    "used",
    dict,
    option(
        "--exclude",
        "Words of sentences to leave out.",
        options.ListOf(click.Choice(EXCLUSIONS)),
        default=(),
        metavar=",".join(EXCLUSIONS),
    ),
    option(
        "--times-between",
        "Leave out rows with a shorter or longer time in ms.",
        FiniteRange(0),
        nargs=2,
        default=(100, 3000),
        metavar="LOW HIGH",
    ),
)
@options.together(
    "design",
    Design,
    option(
        "--spillover", "Number of words before a word that are predictors, too.", _few, default=2
    ),
    option(
        "--measure",
        "Columns of SURPRISALS to study, each alone.",
        _names,
        "measures",
        default=(SURPRISAL,),
        metavar="NAME,NAME",
    ),
    option("--over", "Columns to study these over.", _names, default=(), metavar="NAME,NAME"),
)
@option(
    "--predict",
    "Words of `surprisal --stimuli`, for which the regression predicts times; one table for "
    "each of SURPRISALS.",
    options.FILE,
    multiple=True,
)
@goes("with `predict`")
@predictions_option("A comparison of them, as of `suite`: (3;%long%) > (3;%short%).")
@goes("with `predict`")
@option("--effects", "Predicted times in ms, as those of `suite`.", options.OUTPUT)
@options.outputs_option(
    {
        ".txt": "a row per system, pair of systems, and coefficient",
        ".tsv": "the coefficients",
        ".csv": "the joined table",
        ".R": "a program for lme4 and brms",
    }
)
def reading_times(
    paths, table, columns, unit, rules, where, used, design, predict, predictions, effects, outputs
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
    if bool(predict) != bool(effects) or len(predict) not in (0, len(paths)):
        raise click.UsageError("--predict and --effects go together, with one --predict per table")
    if {*design.measures} == {*design.over} and len(design.over) == 1:
        raise click.UsageError("--over is the only --measure: nothing is studied beyond itself")
    style = options.style_of_effects(effects, outputs)
    columns, where = dict(columns), dict(where)
    more = {*design.measures, *design.over} - {SURPRISAL}
    time_columns = dict.fromkeys(columns.get("time", "time").split(","))
    studied = [read_times(table, {**columns, "time": column}) for column in time_columns]
    # all have the same words
    times, systems = studied[0], {}
    for name, path in zip(options.titles(paths), paths, strict=True):
        tokens = read_surprisals(path, columns, unit, more)
        systems[name], differences = align(times, tokens, path, **rules, where=where)
        others = [f"{len(differences) - SHOWN} more differences"] * (len(differences) > SHOWN)
        for line in differences[:SHOWN] + others:
            warn(f"not aligned: {line}")
    results = []
    for times in studied:
        rows, left_out = rows_used(times, systems, design, **used, where=where)
        results.append(run_study(times, systems, rows, design))
        _report(times, systems, design, results[-1], left_out)
    study = Study(*map(list, map(chain.from_iterable, zip(*results, strict=True))))
    if effects:
        path_of = dict(zip(systems, predict, strict=True))
        tables = {path: read_surprisals(path, columns, unit, more) for path in predict}
        names, predicted = reports.names_of(study), []
        for figures, _ in study.systems:
            path, title = path_of[figures["system"]], " ".join(figures[name] for name in names)
            of_system = tables[path], path, predictions, title
            predicted.append(predicted_effects(figures, design, *of_system))
        options.write_output(effects, effect_lines(predicted, style))
    texts = {
        ".txt": [reports.table(study)],
        ".tsv": (joined(row) + "\n" for row in reports.coefficient_rows(study)),
        ".csv": (joined(row, CSV) + "\n" for row in reports.joined_rows(study)),
        ".R": [reports.r_program(study, design, outputs.get(".csv"))],
    }
    for ending, path in outputs.items():
        options.write_output(path, texts[ending])


def _report(
    times: Times, systems: Systems, design: Design, study: Study, left_out: Mapping[str, int]
) -> None:
    """Say how many rows are used, why others are not, and what is no predictor."""
    figures, _ = study.systems[0]
    used = {row["predictor"] for each, _ in study.systems for row in each["coefficients"]}
    counts = "{rows} of {of} rows in {items} items, {folds} folds"
    say(counts.format(of=len(times.times), **figures))
    for reason, count in left_out.items():
        say(f"left out: {count}, {reason}")
    names = predictors(times, systems[figures["system"]], design)
    if "log_frequency" not in names:
        say("no frequencies: --column frequency=COLUMN makes them a predictor")
    for name in names:
        if name not in used:
            say(f"not a predictor, since it is constant or depends on others in a fold: {name}")
    if any(isnan(row["p"]) for row in (figures, *study.pairs)):
        say(f"p is nan where systems differ in fewer than {FEWEST} items")
