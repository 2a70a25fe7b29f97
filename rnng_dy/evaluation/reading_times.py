"""How much surprisals, or other measures, explain of reading times: regressions over items.

Regressions with and without a measure are compared by cross-validation over items.
"""

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from rnng_dy.evaluation.reading_predictors import Design, Measured, predictors, words_before
from rnng_dy.evaluation.reading_tables import Times, in_order
from rnng_dy.evaluation.records import one_word
from rnng_dy.evaluation.regression import held_out, independent, least_squares, matrix
from rnng_dy.evaluation.significance import pairs_of, sign_flip_p


def _has_punctuation(word: str) -> bool:
    return any(unicodedata.category(mark).startswith("P") for mark in word)


EXCLUSIONS = {
    "first": ("first word of a sentence", "sentence_id", lambda word, row: row.is_first),
    "last": ("last word of a sentence", "sentence_id", lambda word, row: row.is_last),
    "punctuation": ("a punctuation mark", "", lambda word, row: _has_punctuation(word.text)),
    "unknown": ("unknown to a model", "known", lambda word, row: row.is_unknown),
}
"""Words to leave out: why, the column that says it, a function of a word and what is measured."""
Systems = Mapping[str, Measured]


def _without_words_before(times: Times, spillover: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which words have too few words before them in their item, and which follow a gap.

    Raises RnngError if no position follows another in steps of 1.
    """
    lowest = {(word.item, word.condition): word.position for word in reversed(times.words)}
    begins = np.array([lowest[word.item, word.condition] for word in times.words])
    positions = np.array([word.position for word in times.words])
    before = [words_before(times, distance) >= 0 for distance in range(spillover + 1)]
    is_gap = [~here & (positions - i >= begins) for i, here in enumerate(before)]
    if spillover and not before[1].any() and len(positions) > len(lowest):
        shown = ", ".join(f"{position:g}" for position in positions[:3])
        raise RnngError(f"{times.path}: positions {shown}: not in steps of 1")
    return positions - spillover < begins, np.any(is_gap, axis=0)


def rows_used(
    times: Times,
    systems: Systems,
    design: Design,
    exclude: Collection[str] = (),
    times_between: tuple[float, float] = (100.0, 3000.0),
    where: Mapping[str, str] = {},
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the indices of the rows that all systems have, and how many are left out for what.

    `exclude` are some of EXCLUSIONS, `where` values of columns of either table. A row that is left
    out for several reasons counts for the first of them. Raises RnngError if no row is left, and if
    the tables do not say which rows to leave out.
    """
    of_words = list(zip(times.words, zip(*systems.values(), strict=True), strict=True))
    of_times = {name: value for name, value in where.items() if name in times.cells[0]}
    is_first, is_after_gap = _without_words_before(times, design.spillover)
    reasons = {
        "not in every table of surprisals": np.array([None in rows for _, rows in of_words]),
        **_unlike(systems, {name: where[name] for name in where if name not in of_times}),
        "first words of an item, without words before them": is_first,
        "after a gap in the positions": is_after_gap,
    }
    for name in filter(exclude.__contains__, EXCLUSIONS):
        reason, column, holds = EXCLUSIONS[name]
        answers = [[holds(w, r) for r in rows if r and r.bits == r.bits] for w, rows in of_words]
        if any(None in of_word for of_word in answers):
            message = f"`exclude` {name} needs the column {column} in every table of surprisals"
            raise RnngError(message)
        reasons[reason] = np.array([any(of_word) for of_word in answers])
    for measured in systems.values():
        columns = predictors(times, measured, design)
        for name in columns:
            near = [columns[other] for other in design.of(name) if other in columns]
            reason = f"no {name} of the word or a word before it"
            reasons[reason] = reasons.get(reason, False) | np.isnan(near).any(axis=0)
    low, high = times_between
    masks = {f"not {n}={value}": ~times.rows_where({n: value}) for n, value in of_times.items()}
    masks["without a time"] = np.isnan(times.times)
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


def _unlike(systems: Systems, where: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Return per value of a column of the tables of surprisals which words have another one."""
    masks = {}
    for name, value in where.items():
        cells = [[row and row.cells.get(name) for row in measured] for measured in systems.values()]
        if not any(cell is not None for of_system in cells for cell in of_system):
            columns = next((row.cells for rows in systems.values() for row in rows if row), ())
            what = f"no column {name!r} in the table of times, nor in those of surprisals"
            raise RnngError(f"{what}, which have {', '.join(columns)}")
        of_words = zip(*cells, strict=True)
        masks[f"not {name}={value}"] = np.array([{*row} - {None} != {value} for row in of_words])
    return masks


class SystemResult(NamedTuple):
    """The results of a measure of a system."""

    figures: Mapping[str, Any]
    """Its figures by name: log likelihoods of held-out rows in nats per row, coefficients in ms."""
    columns: Mapping[str, Any]
    """The rows that are used: the cells of both tables, predictors, held-out densities in nats."""


class Study(NamedTuple):
    """Results of all systems on the same rows."""

    systems: Sequence[SystemResult]
    pairs: Sequence[Mapping[str, Any]]
    """Per pair of systems, `first` and `second`, with measures if these are several: `difference`.

    It is of held-out log likelihoods per row in nats, the first less the second, with `p`, and
    `p_holm`, corrected for the number of pairs.
    """


def run_study(
    times: Times, systems: Systems, rows: np.ndarray, design: Design, folds: int = 10
) -> Study:
    """Return the study of the systems' measures on some rows, such as those of `rows_used`.

    The items are divided into at most `folds` folds, in the order of their numbers or names. p is
    by permutation over items. A predictor but the measures is left out if it is constant, or
    depends on those before it, in the rows of which a regression is made. Raises RnngError if only
    one item is left, and for what `least_squares` refuses.
    """
    used = _Rows(times, rows, folds)
    results, densities = [], {}
    for name, measured in systems.items():
        values = predictors(times, measured, design)
        by_name = {predictor: column[used.word_of] for predictor, column in values.items()}
        cells = [row.cells if (row := measured[word]) else {} for word in used.word_of]
        for measure in design.measures:
            figures, columns = _result(used, by_name, cells, design, measure)
            about = {"system": name, "measure": measure, "times": times.column}
            results.append(SystemResult({**about, **figures}, columns))
            title = f"{name} {measure}" if len(design.measures) > 1 else name
            densities[title] = columns["log_likelihood"]
    pairs = pairs_of(densities, used.compared)
    return Study(results, [{**pair, "times": times.column} for pair in pairs])


class _Rows:
    """The rows of a study, with their times, items and folds."""

    def __init__(self, times: Times, rows: np.ndarray, folds: int):
        self.word_of, self.y = times.word_of[rows], times.times[rows]
        words = [times.words[i] for i in self.word_of]
        names, self.item_of = np.unique([word.item for word in words], return_inverse=True)
        self.items = len(names)
        if self.items < 2:
            raise RnngError(f"{times.path}: rows are of one item; folds need two items at least")
        number = {item: i for i, item in enumerate(in_order(names.tolist()))}
        self.fold = np.array([number[word.item] % min(folds, self.items) for word in words])
        self.columns = {
            "item": [word.item for word in words],
            "condition": [word.condition for word in words],
            "word": [one_word(word.text) for word in words],
            "subject": [times.subjects[i] for i in rows],
            "time": self.y,
            "fold": self.fold,
        }
        self.cells = [times.cells[i] for i in rows]

    def compared(self, first: np.ndarray, second: np.ndarray) -> dict[str, float]:
        """Return the mean difference of densities, and its p over items."""
        # predictors that are multiples or sums of others make equal regressions but for rounding
        differences = np.round(first - second, 9)
        p = sign_flip_p(np.bincount(self.item_of, differences))
        return {"difference": float(differences.mean()), "p": p}


def _result(
    used: _Rows,
    by_name: Mapping[str, np.ndarray],
    cells: Sequence[Mapping[str, str]],
    design: Design,
    measure: str,
) -> SystemResult:
    """Return the figures of a measure, and its columns.

    `by_name` are the predictors of the rows, `cells` those of the table of surprisals.
    """
    tested = {name: by_name[name] for name in design.of(measure)}
    measures = design.of(*design.measures, *design.over)
    controls = {name: column for name, column in by_name.items() if name not in measures}
    over = design.of(*(name for name in design.over if name != measure))
    others = independent({**controls, **{name: by_name[name] for name in over}}, used.fold)
    both = {**others, **tested}
    densities, without = (held_out(used.y, columns, used.fold) for columns in (both, others))
    gain = used.compared(densities, without)
    coefficients = least_squares(used.y, matrix(both, used.y), [*both]).figures([*both])
    figures = {
        "rows": len(used.y),
        "items": used.items,
        "folds": int(used.fold.max()) + 1,
        "mean": float(tested[measure].mean()),
        "log_likelihood_without": float(without.mean()),
        "log_likelihood": float(densities.mean()),
        "delta_log_likelihood": gain["difference"],
        "p": gain["p"],
        "items_better": int((np.bincount(used.item_of, densities - without) > 0).sum()),
        "coefficients": coefficients[len(others) :] + coefficients[: len(others)],
    }
    kept = {name: column for name, column in by_name.items() if name in {*measures, *others}}
    held = {"log_likelihood_without": without, "log_likelihood": densities}
    columns = {**used.columns, **kept, **held}
    for table in (used.cells, cells):
        for name in filter(None, table[0]):
            if {*columns.get(name, [""])} == {""}:
                columns[name] = [row.get(name, "") for row in table]
    return SystemResult(figures, columns)
