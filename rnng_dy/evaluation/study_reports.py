"""Output of a study of reading times: tables of figures, the joined table, a program in R."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from oracle.common.tables import aligned
from rnng_dy.evaluation.reading_predictors import Design
from rnng_dy.evaluation.reading_times import Study
from rnng_dy.evaluation.regression import FIGURES


def table(study: Study) -> str:
    """Return a row per system and measure, one per pair of systems, and one per coefficient."""
    shown = names_of(study)
    rows = [[*shown, "rows", "items", "better", "mean", "delta LL", "p"]]
    for figures, _ in study.systems:
        gain = figures["delta_log_likelihood"]
        counts = [str(figures[name]) for name in (*shown, "rows", "items", "items_better")]
        p = f"{figures['p']:.4g}" + ", worse" * (gain < 0)
        rows.append([*counts, f"{figures['mean']:.4f}", f"{gain:.6f}", p])
    names = ["first", "second", *(name for name in shown if name == "times")]
    pairs = [[*names, "difference", "p", "by Holm"]]
    cells = (*(f"{{{name}}}" for name in names), "{difference:.6f}", "{p:.4g}", "{p_holm:.4g}")
    pairs += [[cell.format(**pair) for cell in cells] for pair in study.pairs]
    ms = [[*shown, "predictor", "ms", "95 % from", "to"]]
    for figures, _ in study.systems:
        for row in figures["coefficients"]:
            numbers = (f"{row[name]:.4f}" for name in ("coefficient", "low", "high"))
            ms.append([*(figures[name] for name in shown), row["predictor"], *numbers])
    of_pairs = [aligned(pairs, len(names))] * bool(study.pairs)
    return "\n".join([aligned(rows, len(shown)), *of_pairs, aligned(ms, len(shown) + 1)])


def names_of(study: Study) -> list[str]:
    """Return the columns that tell results apart: the system, and those of several values."""
    names = "measure", "times"
    several = [name for name in names if len({figures[name] for figures, _ in study.systems}) > 1]
    return ["system", *several]


def coefficient_rows(study: Study) -> Iterator[Sequence[str]]:
    """Yield a header and a row per system, measure and predictor, with ms per unit."""
    names = names_of(study)
    yield (*names, *FIGURES)
    for figures, _ in study.systems:
        for row in figures["coefficients"]:
            yield (*(figures[name] for name in names), *map(_cell, row.values()))


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.9g}"


def joined_rows(study: Study) -> Iterator[Sequence[str]]:
    """Yield a header and a row per system, measure, and row that is used, with all columns."""
    about = ("system", "measure", "times")
    names = dict.fromkeys(n for _, columns in study.systems for n in columns if n not in about)
    yield (*about, *names)
    for figures, columns in study.systems:
        missing = [""] * figures["rows"]
        for row in zip(*(columns.get(name, missing) for name in names), strict=True):
            yield (*(figures[name] for name in about), *map(_cell, row))


def r_program(study: Study, design: Design, path: str | None) -> str:
    """Return a program in R that fits mixed models to the joined table at this path.

    It is for lme4 (Bates et al. 2015) and brms (Bürkner 2017).
    """
    [figures, columns], *_ = study.systems
    used = [row["predictor"] for row in figures["coefficients"]]
    others = [name for name in used if name not in design.of(*design.measures, *design.over)]
    subjects = "NULL"
    if any(columns["subject"]):
        subjects = 'if (slopes) sprintf("(1 + %s | subject)", measure[1]) else "(1 | subject)"'
    return f"""\
library(lme4)
slopes <- FALSE # TRUE: each subject has a slope of the measure
bayes <- FALSE # TRUE: the same models by brms, too
d <- read.csv({json.dumps(path)}, encoding = "UTF-8", check.names = FALSE)
measures <- list({", ".join(f"{json.dumps(m)} = {_names(design.of(m))}" for m in design.measures)})
over <- {_names(design.of(*design.over))}
others <- {_names(others)}
for (rows in split(d, d[c("system", "measure", "times")], drop = TRUE)) {{
  measure <- measures[[rows$measure[1]]]
  subjects <- {subjects}
  x <- c(others, setdiff(over, measure), "(1 | item)", subjects)
  for (y in c("time", "log(time)")) {{
    both <- sapply(list(x, c(x, measure)), function(x) paste(y, "~", paste(x, collapse = " + ")))
    without <- lmer(as.formula(both[1]), data = rows, REML = FALSE)
    with <- lmer(as.formula(both[2]), data = rows, REML = FALSE)
    cat("\\n", rows$system[1], rows$measure[1], rows$times[1], y, "\\n")
    print(summary(with))
    print(anova(without, with))
    if (bayes) print(summary(brms::brm(as.formula(both[2]), data = rows)))
  }}
}}
"""


def _names(columns: Sequence[str]) -> str:
    """Return names as a formula takes them, whatever characters they have."""
    return f"c({', '.join(json.dumps(f'`{name}`') for name in columns)})"
