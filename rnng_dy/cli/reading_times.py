"""`rnng-dy reading-times`: how much of reading times surprisals explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import isnan

import click

from oracle.common.tables import CSV, TSV, joined
from rnng_dy.cli import options
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.rules import goes
from rnng_dy.evaluation import reading_times as studies
from rnng_dy.evaluation import study_reports as reports
from rnng_dy.evaluation.alignment import SHOWN, align
from rnng_dy.evaluation.predicted_times import predicted_effects
from rnng_dy.evaluation.reading_predictors import SURPRISAL, Design, predictors
from rnng_dy.evaluation.reading_tables import NEEDED, OPTIONAL, Times, read_times
from rnng_dy.evaluation.significance import FEWEST
from rnng_dy.evaluation.suite_reports import effect_lines
from rnng_dy.evaluation.suites import Formula
from rnng_dy.evaluation.token_tables import COLUMNS, UNITS, read_surprisals
from rnng_dy.settings import FiniteRange

_names = options.ListOf(click.STRING)


@click.command(cls=options.Command)
@click.argument("paths", type=options.FILE, nargs=-1, required=True, metavar="SURPRISALS...")
@click.option("--times", "table", type=options.FILE, required=True, help="Table of reading times.")
@click.option(
    "--column",
    "columns",
    type=options.Assignment(dict.fromkeys([*NEEDED, *OPTIONAL, *COLUMNS], click.STRING)),
    metavar="NAME=COLUMN",
    multiple=True,
    help="A column of that table: item, position, word or time if it has no usual name; subject; "
    "frequency (a count); condition (a variant of the item). Or of all SURPRISALS: token, "
    "surprisal. Several columns of time=A,B are studied one after the other.",
)
@click.option("--unit", type=click.Choice([*UNITS]), default="bits", help="Of the surprisals.")
@click.option("--by-letters", is_flag=True, help="Compare words without case and punctuation.")
@click.option("--allow-missing", is_flag=True, help="Leave out words that differ between tables.")
@click.option(
    "--where",
    metavar="COLUMN=VALUE",
    multiple=True,
    help="Use the rows alone that have this in a column of either table.",
)
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
@options.together(
    "design",
    Design,
    click.option(
        "--spillover",
        type=click.IntRange(0, 10),
        default=2,
        help="Number of words before a word that are predictors, too.",
    ),
    click.option(
        "--measure",
        "measures",
        type=_names,
        default=(SURPRISAL,),
        metavar="NAME,NAME",
        help="Columns of SURPRISALS to study, each alone.  [default: surprisal]",
    ),
    click.option(
        "--over", type=_names, default=(), metavar="NAME,NAME", help="Columns to study these over."
    ),
)
@click.option(
    "--predict",
    type=options.FILE,
    multiple=True,
    help="Words of `surprisal --stimuli`, for which the regression predicts times; one table for "
    "each of SURPRISALS.",
)
@goes("with `predict`")
@click.option(
    "--prediction",
    "predictions",
    metavar="FORMULA",
    multiple=True,
    help="A comparison of them, as of `suite`: (3;%long%) > (3;%short%).",
)
@goes("with `predict`")
@click.option("--effects", type=options.OUTPUT, help="Predicted times in ms, as those of `suite`.")
@options.outputs_option(
    {
        ".txt": "a row per system, pair of systems, and coefficient",
        ".tsv": "the coefficients",
        ".csv": "the joined table",
        ".R": "a program for lme4 and brms",
    }
)
def reading_times(
    paths,
    table,
    columns,
    unit,
    by_letters,
    allow_missing,
    where,
    exclude,
    between,
    design,
    predict,
    predictions,
    effects,
    outputs,
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
    if "-" not in (*outputs.values(), effects):
        outputs.setdefault(".txt", "-")
    columns, where = dict(columns), _values(where)
    more = {*design.measures, *design.over} - {SURPRISAL}
    formulas = [Formula(text, str(number)) for number, text in enumerate(predictions, 1)]
    by_column = {
        name: read_times(table, {**columns, "time": name})
        for name in columns.get("time", "time").split(",")
    }
    times, systems = next(iter(by_column.values())), {}
    for name, path in zip(options.titles(paths), paths, strict=True):
        tokens = read_surprisals(path, columns, unit, more, with_cells=True)
        systems[name], differences = align(times, tokens, path, by_letters, allow_missing, where)
        others = [f"{len(differences) - SHOWN} more differences"] * (len(differences) > SHOWN)
        for line in differences[:SHOWN] + others:
            warn(f"not aligned: {line}")
    results = []
    for times in by_column.values():
        rows, left_out = studies.rows_used(times, systems, design, exclude, between, where)
        results.append(studies.run_study(times, systems, rows, design))
        _report(times, systems, design, results[-1], left_out)
    study = studies.Study(*map(list, map(chain.from_iterable, zip(*results, strict=True))))
    if effects:
        tables = {
            name: (read_surprisals(path, columns, unit, more, with_cells=True), path)
            for name, path in zip(systems, predict, strict=True)
        }
        names = reports.names_of(study)
        predicted = [
            predicted_effects(
                figures,
                design,
                *tables[figures["system"]],
                formulas,
                " ".join(figures[name] for name in names),
            )
            for figures, _ in study.systems
        ]
        style = CSV if options.ending_of(effects) == ".csv" else TSV
        options.write_output(effects, effect_lines(predicted, style))
    forms = {
        ".txt": lambda: [reports.table(study)],
        ".tsv": lambda: (joined(row) + "\n" for row in reports.coefficient_rows(study)),
        ".csv": lambda: (joined(row, CSV) + "\n" for row in reports.joined_rows(study)),
        ".R": lambda: [reports.r_program(study, design, outputs[".csv"])],
    }
    for ending, path in outputs.items():
        options.write_output(path, forms[ending]())


def _values(where: Sequence[str]) -> dict[str, str]:
    """Return the values of `--where` by column. Raises UsageError for one without a column."""
    values = {name: value for name, equals, value in (t.partition("=") for t in where) if equals}
    if len(values) < len(where):
        raise click.UsageError("--where COLUMN=VALUE: each column once")
    return values


def _report(
    times: Times,
    systems: studies.Systems,
    design: Design,
    study: studies.Study,
    left_out: Mapping[str, int],
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
