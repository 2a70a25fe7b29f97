"""What a study of reading times writes: its figures, the joined table, and a script for lme4."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rnng_dy.evaluation.reading_times import SURPRISAL, Study, SystemResult
from rnng_dy.evaluation.tables import aligned

NORMAL_95 = 1.959964
"""The standard errors from an estimate to each end of its 95 % interval."""
PLACE = ("system", "item", "word", "subject", "time", "fold")
HELD_OUT = ("log_likelihood_without", "log_likelihood")


def figures(study: Study) -> dict[str, object]:
    """Return all figures for JSON: log likelihoods in nats per row, coefficients in ms."""
    return {
        "systems": [_of_system(study, system) for system in study.systems],
        "pairs": study.pairs,
    }


def _of_system(study: Study, system: SystemResult) -> dict[str, object]:
    better, items = study.items_better(system)
    return {
        "system": system.name,
        "rows": len(study.times),
        "items": items,
        "folds": int(study.folds.max()) + 1,
        "mean_surprisal": float(system.predictors[SURPRISAL].mean()),
        "log_likelihood_without": float(system.without.mean()),
        "log_likelihood": float(system.log_likelihoods.mean()),
        "delta_log_likelihood": float(system.deltas.mean()),
        "p": system.p,
        "items_better": better,
        "coefficients": [
            {
                "predictor": name,
                "coefficient": slope,
                "standard_error": error,
                "low": slope - NORMAL_95 * error,
                "high": slope + NORMAL_95 * error,
            }
            for name, slope, error in zip(
                system.predictors,
                system.regression.coefficients.tolist(),
                system.regression.standard_errors.tolist(),
                strict=True,
            )
        ],
    }


def table(study: Study) -> str:
    """Return a row per system, and one per pair of systems."""
    rows = [("system", "rows", "items", "better", "bits", "delta LL", "p", "ms per bit", "95 %")]
    for found in figures(study)["systems"]:
        effect = found["coefficients"][0]
        rows.append(
            (
                *(str(found[name]) for name in ("system", "rows", "items", "items_better")),
                f"{found['mean_surprisal']:.4f}",
                f"{found['delta_log_likelihood']:.6f}",
                f"{found['p']:.4g}",
                f"{effect['coefficient']:.4f}",
                f"{effect['low']:.4f} to {effect['high']:.4f}",
            )
        )
    pairs = [("first", "second", "difference", "p", "by Holm")]
    for pair in study.pairs:
        numbers = (f"{pair['difference']:.6f}", f"{pair['p']:.4g}", f"{pair['p_holm']:.4g}")
        pairs.append((pair["first"], pair["second"], *numbers))
    return aligned(rows) + ("\n" + aligned(pairs, left=2)) * bool(study.pairs)


def joined_rows(study: Study) -> Iterator[Sequence[str]]:
    """Yield a header and a row per system and row of the table of times, with predictors and held-out densities."""
    yield (*PLACE, *study.systems[0].predictors, *HELD_OUT)
    for system in study.systems:
        columns = [*system.predictors.values(), system.without, system.log_likelihoods]
        for i, word in enumerate(study.words):
            place = (system.name, word.item, word.text, study.subjects[i])
            numbers = (f"{column[i]:.9g}" for column in columns)
            yield (*place, f"{study.times[i]:.9g}", str(study.folds[i]), *numbers)


def lme4_script(study: Study, path: str) -> str:
    """Return a program in R that fits mixed models to the joined table at this path (Bates et al. 2015)."""
    names = [*study.systems[0].predictors]
    surprisals = [name for name in names if name.startswith(SURPRISAL)]
    others = " + ".join(name for name in names if name not in surprisals)
    subjects = " + (1 | subject)" * any(study.subjects)
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
