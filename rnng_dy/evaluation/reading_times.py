"""How much surprisals explain of reading times: regressions with and without them, by cross-validation over items.

A study writes its figures, the joined table, and a script for lme4.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from oracle.errors import RnngError
from oracle.tables import aligned
from rnng_dy.evaluation.reading_tables import SurprisalRow, Times, in_order
from rnng_dy.evaluation.significance import holm, sign_flip_p

SURPRISAL = "surprisal"
EXCLUSIONS = {
    "first": ("first word of a sentence", lambda word, row: row.is_first),
    "last": ("last word of a sentence", lambda word, row: row.is_last),
    "punctuation": (
        "a punctuation mark",
        lambda word, row: any(unicodedata.category(mark).startswith("P") for mark in word.text),
    ),
    "unknown": ("unknown to a model", lambda word, row: not row.is_known),
}
"""Words that may be left out: why, and a function of a word and its row in the table of any system."""
NORMAL_95 = 1.959964
"""The standard errors from an estimate to each end of its 95 % interval."""
Systems = Mapping[str, Sequence[SurprisalRow | None]]
"""Per system, the row of each word in its table of surprisals."""


class Regression(NamedTuple):
    """A regression by least squares; p predictors."""

    intercept: float
    coefficients: np.ndarray
    """Shape (p,)."""
    standard_errors: np.ndarray
    """Shape (p,); from the residual variance with n - p - 1 degrees of freedom."""
    variance: float
    """Residual variance: its maximum likelihood estimate."""

    def log_densities(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the normal log density of each row in nats, shape (n,)."""
        squares = (y - self.intercept - x @ self.coefficients) ** 2
        return -0.5 * (np.log(2 * np.pi * self.variance) + squares / self.variance)

    def figures(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the coefficients of the predictors with their names, standard errors and 95 % intervals."""
        slopes = zip(names, self.coefficients.tolist(), self.standard_errors.tolist(), strict=True)
        return [
            {
                "predictor": name,
                "coefficient": slope,
                "standard_error": error,
                "low": slope - NORMAL_95 * error,
                "high": slope + NORMAL_95 * error,
            }
            for name, slope, error in slopes
        ]


def least_squares(y: np.ndarray, x: np.ndarray, names: Sequence[str]) -> Regression:
    """Fit y, shape (n,), to an intercept and the predictors x, shape (n, p), which have names.

    Raises RnngError for too few rows, and a predictor that is constant or depends on those before it.
    """
    n, p = x.shape
    if n < p + 2:
        raise RnngError(f"{n} rows are too few for {p} predictors: {', '.join(names)}")
    means, scales = x.mean(axis=0), x.std(axis=0)
    # what a constant predictor has of rounding is no scale
    scales[scales <= 1e-9 * np.abs(x).max(axis=0)] = np.inf
    design = np.column_stack([np.ones(n), (x - means) / scales])
    q, r = np.linalg.qr(design)
    for j in np.flatnonzero(np.abs(np.diag(r)[1:]) <= 1e-6 * np.sqrt(n)):
        reason = "the same in all rows, or a sum of multiples of the predictors before it"
        raise RnngError(f"the predictor {names[j]} is {reason}: leave it out")
    best = np.linalg.solve(r, q.T @ y)
    variance = float(((y - design @ best) ** 2).mean())
    spread = np.sqrt((np.linalg.inv(r) ** 2).sum(axis=1) * variance * n / (n - p - 1))
    slopes = best[1:] / scales
    return Regression(float(best[0] - slopes @ means), slopes, spread[1:] / scales, variance)


def predictors(
    times: Times, rows: Sequence[SurprisalRow | None], spillover: int
) -> dict[str, np.ndarray]:
    """Return the predictors of a system by name, per word its value or NaN.

    They are the surprisal in bits, log2 of the frequency plus 1 if any word has a frequency, the length in characters,
    each also of the words before (`surprisal_1`), and the position.
    """
    count = np.array([word.count for word in times.words])
    values = {
        SURPRISAL: np.array([np.nan if r is None else r.bits for r in rows]),
        "log_frequency": np.log2(count + 1),
        "length": np.array([float(len(word.text)) for word in times.words]),
    }
    if np.isnan(count).all():
        del values["log_frequency"]
    before = [_words_before(times, distance) for distance in range(spillover + 1)]
    found = {
        f"{name}_{distance}" if distance else name: np.where(word >= 0, of_words[word], np.nan)
        for name, of_words in values.items()
        for distance, word in enumerate(before)
    }
    return {**found, "position": np.array([float(word.position) for word in times.words])}


def _words_before(times: Times, distance: int) -> np.ndarray:
    """Return per word the index of the word this many positions before it in its item; -1 for none."""
    index = {(w.item, w.condition, w.position): i for i, w in enumerate(times.words)}
    before = ((w.item, w.condition, w.position - distance) for w in times.words)
    return np.array([index.get(place, -1) for place in before])


def rows_used(
    times: Times,
    systems: Systems,
    spillover: int = 2,
    exclude: Collection[str] = (),
    times_between: tuple[float, float] = (100.0, 3000.0),
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the indices of the rows that all systems have, and how many rows are left out for each reason.

    `exclude` are some of EXCLUSIONS. A row that is left out for several reasons counts for the first of them.
    """
    of_words = list(zip(times.words, zip(*systems.values(), strict=True), strict=True))
    reasons = {
        "not in every table of surprisals": np.array([None in rows for _, rows in of_words]),
        "first words of an item, without words before them": _words_before(times, spillover) < 0,
    }
    for reason, holds in (EXCLUSIONS[name] for name in EXCLUSIONS if name in exclude):
        reasons[reason] = np.array(
            [any(row is not None and holds(word, row) for row in rows) for word, rows in of_words]
        )
    for of_system in systems.values():
        for name, values in predictors(times, of_system, spillover).items():
            reason = f"no {name.rstrip('_0123456789')} of the word or a word before it"
            reasons[reason] = reasons.get(reason, False) | np.isnan(values)
    low, high = times_between
    masks = {
        "without a time": np.isnan(times.times),
        **{reason: mask[times.word_of] for reason, mask in reasons.items()},
        f"time not between {low:g} and {high:g} ms": (times.times < low) | (times.times > high),
    }
    kept, counts = np.ones(len(times.times), bool), {}
    for reason, mask in masks.items():
        if count := int((kept & mask).sum()):
            counts[reason] = count
        kept &= ~mask
    if not kept.any():
        shown = "; ".join(f"{reason}: {count}" for reason, count in counts.items())
        raise RnngError(f"no row of {times.path} is left: {shown}")
    return np.flatnonzero(kept), counts


class SystemResult(NamedTuple):
    """The results of a system."""

    figures: Mapping[str, Any]
    """Its figures by name: log likelihoods of held-out rows in nats per row, coefficients in ms."""
    columns: Mapping[str, Any]
    """The rows that are used: their places, predictors by name, and held-out log densities in nats."""


class Study(NamedTuple):
    """Results of all systems on the same rows."""

    systems: Sequence[SystemResult]
    pairs: Sequence[Mapping[str, Any]]
    """Per pair of systems, their names `first` and `second`, the `difference` of held-out log likelihoods per row in
    nats, the first less the second, `p`, and `p_holm`, corrected for the number of pairs.
    """


def run_study(
    times: Times,
    systems: Systems,
    rows: np.ndarray,
    spillover: int = 2,
    folds: int = 10,
) -> Study:
    """Return the study of the systems' surprisals on some rows, such as those of `rows_used`.

    The items are divided into at most `folds` parts, in the order of their numbers or names. p is by permutation over
    words. Predictors but surprisals that are the same in all rows are left out.
    Raises RnngError if only one item is left, and for what `least_squares` refuses.
    """
    word_of, y = times.word_of[rows], times.times[rows]
    words = [times.words[i] for i in word_of]
    names, item_of = np.unique([word.item for word in words], return_inverse=True)
    if len(names) < 2:
        raise RnngError(f"{times.path}: all rows are of one item; folds need two items at least")
    fold_of = {item: i % min(folds, len(names)) for i, item in enumerate(in_order(names.tolist()))}
    parts = np.array([fold_of[word.item] for word in words])
    place = {
        "item": [word.item for word in words],
        "condition": [word.condition for word in words],
        "word": [word.text for word in words],
        "subject": [times.subjects[i] for i in rows],
        "time": y,
        "fold": parts,
    }

    def held_out(found: Mapping[str, np.ndarray]) -> np.ndarray:
        x, densities = np.array([*found.values()]).reshape(-1, len(y)).T, np.empty(len(y))
        for part in range(parts.max() + 1):
            here = parts == part
            fitted = least_squares(y[~here], x[~here], [*found])
            densities[here] = fitted.log_densities(y[here], x[here])
        return densities

    def p(differences: np.ndarray) -> float:
        of_words = np.bincount(word_of, differences)
        return sign_flip_p(of_words[np.bincount(word_of) > 0])

    results = []
    for name, of_system in systems.items():
        every = {k: v[word_of] for k, v in predictors(times, of_system, spillover).items()}
        found = {k: v for k, v in every.items() if k.startswith(SURPRISAL) or np.ptp(v)}
        others = {k: v for k, v in found.items() if not k.startswith(SURPRISAL)}
        whole = least_squares(y, np.column_stack([*found.values()]), [*found])
        densities, without = held_out(found), held_out(others)
        figures = {
            "system": name,
            "rows": len(y),
            "items": len(names),
            "folds": int(parts.max()) + 1,
            "mean_surprisal": float(found[SURPRISAL].mean()),
            "log_likelihood_without": float(without.mean()),
            "log_likelihood": float(densities.mean()),
            "delta_log_likelihood": float((densities - without).mean()),
            "p": p(densities - without),
            "items_better": int((np.bincount(item_of, densities - without) > 0).sum()),
            "coefficients": whole.figures([*found]),
        }
        held = {"log_likelihood_without": without, "log_likelihood": densities}
        results.append(SystemResult(figures, {**place, **found, **held}))
    pairs = []
    for one, other in combinations(results, 2):
        differences = one.columns["log_likelihood"] - other.columns["log_likelihood"]
        both = {"first": one.figures["system"], "second": other.figures["system"]}
        pairs.append({**both, "difference": float(differences.mean()), "p": p(differences)})
    for pair, p_holm in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        pair["p_holm"] = p_holm
    return Study(results, pairs)


def table(study: Study) -> str:
    """Return a row per system, and one per pair of systems."""
    cells = (
        *("{system}", "{rows}", "{items}", "{items_better}", "{mean_surprisal:.4f}"),
        *("{delta_log_likelihood:.6f}", "{p:.4g}", "{coefficient:.4f}", "{low:.4f} to {high:.4f}"),
    )
    rows = [["system", "rows", "items", "better", "bits", "delta LL", "p", "ms per bit", "95 %"]]
    for figures, _ in study.systems:
        rows.append([cell.format(**figures, **figures["coefficients"][0]) for cell in cells])
    of_pair = ("{first}", "{second}", "{difference:.6f}", "{p:.4g}", "{p_holm:.4g}")
    pairs = [["first", "second", "difference", "p", "by Holm"]]
    pairs += [[cell.format(**of) for cell in of_pair] for of in study.pairs]
    return aligned(rows) + ("\n" + aligned(pairs, left=2)) * bool(study.pairs)


def joined_rows(study: Study) -> Iterator[Sequence[str]]:
    """Yield a header and a row per system and row that is used, with predictors and held-out densities."""
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
