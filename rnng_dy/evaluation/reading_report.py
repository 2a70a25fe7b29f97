"""What a study of reading times writes: its figures, the joined table, and a script for lme4."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rnng_dy.evaluation.reading_times import SURPRISAL, Study
from rnng_dy.evaluation.tables import aligned


def table(study: Study) -> str:
    """Return a row per system, and one per pair of systems."""
    rows = [("system", "rows", "items", "better", "bits", "delta LL", "p", "ms per bit", "95 %")]
    for figures, _ in study.systems:
        of = {**figures, **figures["coefficients"][0]}
        rows.append(
            (
                *(str(of[name]) for name in ("system", "rows", "items", "items_better")),
                f"{of['mean_surprisal']:.4f}",
                f"{of['delta_log_likelihood']:.6f}",
                f"{of['p']:.4g}",
                f"{of['coefficient']:.4f}",
                f"{of['low']:.4f} to {of['high']:.4f}",
            )
        )
    pairs = [("first", "second", "difference", "p", "by Holm")]
    for of in study.pairs:
        numbers = (f"{of['difference']:.6f}", f"{of['p']:.4g}", f"{of['p_holm']:.4g}")
        pairs.append((of["first"], of["second"], *numbers))
    return aligned(rows) + ("\n" + aligned(pairs, left=2)) * bool(study.pairs)


def joined_rows(study: Study) -> Iterator[Sequence[str]]:
    """Yield a header and a row per system and row of the table of times, with predictors and held-out densities."""
    yield ("system", *study.systems[0].columns)
    for figures, columns in study.systems:
        for row in zip(*columns.values(), strict=True):
            yield (figures["system"], *(x if isinstance(x, str) else f"{x:.9g}" for x in row))


def lme4_script(study: Study, path: str) -> str:
    """Return a program in R that fits mixed models to the joined table at this path (Bates et al. 2015)."""
    [figures, columns], *_ = study.systems
    names = [of["predictor"] for of in figures["coefficients"]]
    surprisals = [name for name in names if name.startswith(SURPRISAL)]
    others = " + ".join(name for name in names if name not in surprisals)
    subjects = " + (1 | subject)" * any(columns["subject"])
    return f"""\
library(lme4)
d <- read.csv({json.dumps(path)}, encoding = "UTF-8")
for (system in unique(d$system)) {{
  rows <- d[d$system == system, ]
  without <- lmer(time ~ {others} + (1 | item){subjects}, data = rows, REML = FALSE)
  with <- update(without, . ~ . + {" + ".join(surprisals)})
  cat("\\n", system, "\\n")
  print(summary(with))
  print(anova(without, with))
}}
"""
