"""How much surprisals explain of reading times: regressions with and without them, by cross-validation over items.

A study writes its figures, the joined table, and a script for lme4.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from oracle.common.tables import aligned
from rnng_dy.evaluation.alignment import MeasuredWord
from rnng_dy.evaluation.reading_tables import Times, in_order
from rnng_dy.evaluation.records import one_word
from rnng_dy.evaluation.regression import FIGURES, held_out, independent, least_squares, matrix
from rnng_dy.evaluation.significance import pairs_of, sign_flip_p

SURPRISAL = "surprisal"


def _has_punctuation(word: str) -> bool:
    return any(unicodedata.category(mark).startswith("P") for mark in word)


EXCLUSIONS = {
    "first": ("first word of a sentence", "sentence_id", lambda word, row: row.is_first),
    "last": ("last word of a sentence", "sentence_id", lambda word, row: row.is_last),
    "punctuation": ("a punctuation mark", "", lambda word, row: _has_punctuation(word.text)),
    "unknown": ("unknown to a model", "known", lambda word, row: row.is_unknown),
}
"""Words that may be left out: why, the column that says it, and a function of a word and what any system says of it."""
Systems = Mapping[str, Sequence[MeasuredWord | None]]
"""Per system, what its table of surprisals says about each word."""


def predictors(
    times: Times, rows: Sequence[MeasuredWord | None], spillover: int
) -> dict[str, np.ndarray]:
    """Return the predictors of a system by name, per word its value or NaN.

    They are the surprisal in bits, log2 of the frequency plus 1 if any word has a frequency, the
    length in characters, each also of the words before (`surprisal_1`), and the position.
    """
    count = np.array([word.count for word in times.words])
    values = {SURPRISAL: np.array([np.nan if r is None else r.bits for r in rows])}
    if not np.isnan(count).all():
        values["log_frequency"] = np.log2(count + 1)
    values["length"] = np.array([float(len(word.text)) for word in times.words])
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


def _without_words_before(times: Times, spillover: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which words have fewer words before them in their item, and which are after a gap in the positions.

    Raises RnngError if no position follows another in steps of 1.
    """
    lowest = {(word.item, word.condition): word.position for word in reversed(times.words)}
    begins = np.array([lowest[word.item, word.condition] for word in times.words])
    positions = np.array([word.position for word in times.words])
    before = [_words_before(times, distance) >= 0 for distance in range(spillover + 1)]
    is_gap = [~here & (positions - i >= begins) for i, here in enumerate(before)]
    if spillover and not before[1].any() and len(positions) > len(lowest):
        shown = ", ".join(f"{position:g}" for position in positions[:3])
        raise RnngError(f"{times.path}: positions {shown}: not in steps of 1")
    return positions - spillover < begins, np.any(is_gap, axis=0)


def rows_used(
    times: Times,
    systems: Systems,
    spillover: int = 2,
    exclude: Collection[str] = (),
    times_between: tuple[float, float] = (100.0, 3000.0),
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the indices of the rows that all systems have, and how many rows are left out for each reason.

    `exclude` are some of EXCLUSIONS. A row that is left out for several reasons counts for the
    first of them. Raises RnngError if no row is left, and if the tables of surprisals or the
    positions do not say which rows to leave out.
    """
    of_words = list(zip(times.words, zip(*systems.values(), strict=True), strict=True))
    is_first, is_after_gap = _without_words_before(times, spillover)
    reasons = {
        "not in every table of surprisals": np.array([None in rows for _, rows in of_words]),
        "first words of an item, without words before them": is_first,
        "after a gap in the positions": is_after_gap,
    }
    for name in filter(exclude.__contains__, EXCLUSIONS):
        reason, column, holds = EXCLUSIONS[name]
        said = [[holds(w, r) for r in rows if r and r.bits == r.bits] for w, rows in of_words]
        if any(None in of for of in said):
            message = f"`exclude` {name} needs the column {column} in every table of surprisals"
            raise RnngError(message)
        reasons[reason] = np.array([any(of) for of in said])
    for of_system in systems.values():
        for name, values in predictors(times, of_system, spillover).items():
            reason = f"no {name.rstrip('_0123456789')} of the word or a word before it"
            reasons[reason] = reasons.get(reason, False) | np.isnan(values)
    low, high = times_between
    masks = {"without a time": np.isnan(times.times)}
    masks |= {reason: mask[times.word_of] for reason, mask in reasons.items()}
    masks[f"time not between {low:g} and {high:g} ms"] = (times.times < low) | (times.times > high)
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
    times: Times, systems: Systems, rows: np.ndarray, spillover: int = 2, folds: int = 10
) -> Study:
    """Return the study of the systems' surprisals on some rows, such as those of `rows_used`.

    The items are divided into at most `folds` parts, in the order of their numbers or names. p is
    by permutation over items. A predictor but surprisals is left out if it is constant, or depends
    on those before it, in the rows of which a regression is made. Raises RnngError if only one item
    is left, and for what `least_squares` refuses.
    """
    word_of, y = times.word_of[rows], times.times[rows]
    words = [times.words[i] for i in word_of]
    names, item_of = np.unique([word.item for word in words], return_inverse=True)
    if len(names) < 2:
        raise RnngError(f"{times.path}: all rows are of one item; folds need two items at least")
    fold_of = {item: i % min(folds, len(names)) for i, item in enumerate(in_order(names.tolist()))}
    fold = np.array([fold_of[word.item] for word in words])
    place = {
        "item": [word.item for word in words],
        "condition": [word.condition for word in words],
        "word": [one_word(word.text) for word in words],
        "subject": [times.subjects[i] for i in rows],
        "time": y,
        "fold": fold,
    }

    def compared(first: np.ndarray, second: np.ndarray) -> dict[str, float]:
        differences = first - second
        p = sign_flip_p(np.bincount(item_of, differences))
        return {"difference": float(differences.mean()), "p": p}

    results, of_systems = [], {}
    for name, of_system in systems.items():
        every = {k: v[word_of] for k, v in predictors(times, of_system, spillover).items()}
        surprisals = {k: v for k, v in every.items() if k.startswith(SURPRISAL)}
        others = independent({k: v for k, v in every.items() if k not in surprisals}, fold)
        found = {**others, **surprisals}
        densities, without = (held_out(y, of, fold) for of in (found, others))
        of_systems[name], gain = densities, compared(densities, without)
        coefficients = least_squares(y, matrix(found, y), [*found]).figures([*found])
        figures = {
            "system": name,
            "rows": len(y),
            "items": len(names),
            "folds": int(fold.max()) + 1,
            "mean_surprisal": float(found[SURPRISAL].mean()),
            "log_likelihood_without": float(without.mean()),
            "log_likelihood": float(densities.mean()),
            "delta_log_likelihood": gain["difference"],
            "p": gain["p"],
            "items_better": int((np.bincount(item_of, densities - without) > 0).sum()),
            "coefficients": coefficients[len(others) :] + coefficients[: len(others)],
        }
        held = {"log_likelihood_without": without, "log_likelihood": densities}
        results.append(SystemResult(figures, {**place, **surprisals, **others, **held}))
    return Study(results, pairs_of(of_systems, compared))


def table(study: Study) -> str:
    """Return a row per system, one per pair of systems, and one per coefficient."""
    rows = [["system", "rows", "items", "better", "bits", "delta LL", "p"]]
    for of, _ in study.systems:
        gain = of["delta_log_likelihood"]
        counts = [str(of[name]) for name in ("system", "rows", "items", "items_better")]
        p = f"{of['p']:.4g}" + ", worse" * (gain < 0)
        rows.append([*counts, f"{of['mean_surprisal']:.4f}", f"{gain:.6f}", p])
    of_pair = ("{first}", "{second}", "{difference:.6f}", "{p:.4g}", "{p_holm:.4g}")
    pairs = [["first", "second", "difference", "p", "by Holm"]]
    pairs += [[cell.format(**of) for cell in of_pair] for of in study.pairs]
    ms = [["system", "predictor", "ms", "95 % from", "to"]]
    for system, predictor, slope, _, *ends in [*coefficient_rows(study)][1:]:
        ms.append([system, predictor, *(f"{float(x):.4f}" for x in (slope, *ends))])
    tables = [aligned(rows), *[aligned(pairs, left=2)] * bool(study.pairs), aligned(ms, left=2)]
    return "\n".join(tables)


def coefficient_rows(study: Study) -> Iterator[Sequence[str]]:
    """Yield a header and a row per system and predictor; coefficients are in ms per unit of the predictor."""
    yield ("system", *FIGURES)
    for figures, _ in study.systems:
        for of in figures["coefficients"]:
            yield (figures["system"], *map(_cell, of.values()))


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.9g}"


def joined_rows(study: Study) -> Iterator[Sequence[str]]:
    """Yield a header and a row per system and row that is used, with predictors and held-out densities."""
    yield ("system", *study.systems[0].columns)
    for figures, columns in study.systems:
        for row in zip(*columns.values(), strict=True):
            yield (figures["system"], *map(_cell, row))


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
