"""Predictors of reading times, and the times that a regression predicts for other texts.

The predictors are measures of a table of surprisals, length, frequency and position. The regression
of fillers is applied to the words of items (van Schijndel and Linzen 2021; Huang et al. 2024): a
word has the sum of its measures, and those of the words before it, times their coefficients. What
length, frequency and position add is the same for equal words, and left out.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np

from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed, reading
from oracle.common.tables import number_of
from rnng_dy.evaluation.alignment import MeasuredWord
from rnng_dy.evaluation.reading_tables import Times
from rnng_dy.evaluation.suite_files import without_fillers
from rnng_dy.evaluation.suite_scores import SuiteResult, with_values
from rnng_dy.evaluation.suites import Condition, Formula, Item, RegionKey, Suite, numbers_of
from rnng_dy.evaluation.token_tables import Token
from rnng_dy.text.columns import REGION, REGION_NAME

WORD = "word_id"
SURPRISAL = "surprisal"
Measured = Sequence[MeasuredWord | None]
"""What a table of surprisals says about each word."""


class Design(NamedTuple):
    """Which predictors a study has."""

    spillover: int = 2
    """Number of words before a word that are predictors, too."""
    measures: Sequence[str] = (SURPRISAL,)
    """The columns of the tables of surprisals that are compared, each alone."""
    over: Sequence[str] = ()
    """Such columns that are predictors in both regressions."""

    def of(self, *measures: str) -> list[str]:
        """Return the predictors of measures, those of the words before included."""
        return [_before(measure, n) for measure in measures for n in range(self.spillover + 1)]


def _before(name: str, distance: int) -> str:
    return f"{name}_{distance}" if distance else name


def predictors(times: Times, measured: Measured, design: Design) -> dict[str, np.ndarray]:
    """Return the predictors of a system by name, per word its value or NaN.

    They are the measures, surprisal in bits, log2 of the frequency plus 1 if any word has a
    frequency, the length in characters, each also of the words before (`surprisal_1`), and the
    position.
    """
    count = np.array([word.count for word in times.words])
    values = {
        name: np.array([np.nan if row is None else value_of(row, name) for row in measured])
        for name in dict.fromkeys([*design.over, *design.measures])
    }
    controls = {"length": np.array([len(normalize("NFC", word.text)) for word in times.words])}
    if not np.isnan(count).all():
        controls = {"log_frequency": np.log2(count + 1), **controls}
    before = [words_before(times, distance) for distance in range(design.spillover + 1)]
    names = Counter(_before(name, n) for name in (*values, *controls) for n in range(len(before)))
    names["position"] += 1
    if twice := [name for name, number in names.items() if number > 1]:
        raise RnngError(f"{twice[0]!r} would be the name of two predictors: rename a column")
    by_name = {
        _before(name, distance): np.where(word >= 0, of_words[word], np.nan)
        for name, of_words in {**values, **controls}.items()
        for distance, word in enumerate(before)
    }
    return {**by_name, "position": np.array([float(word.position) for word in times.words])}


def value_of(row: MeasuredWord | Token, measure: str) -> float:
    """Return a measure of a word or token."""
    return row.bits if measure == SURPRISAL else row.measures[measure]


def words_before(times: Times, distance: int) -> np.ndarray:
    """Return per word the index of that so many positions before it in its item; -1 for none."""
    index = {(w.item, w.condition, w.position): i for i, w in enumerate(times.words)}
    before = ((w.item, w.condition, w.position - distance) for w in times.words)
    return np.array([index.get(place, -1) for place in before])


def predicted_effects(
    figures: Mapping[str, Any],
    design: Design,
    tokens: Sequence[Token],
    path: str,
    predictions: Iterable[Formula] = (),
    model: str = "",
) -> SuiteResult:
    """Return what a regression predicts for the regions of items, in ms, as the result of a suite.

    Args:
        figures: Those of a system and measure, with the coefficients.
        design: The design of the study.
        tokens: The rows of a table of `surprisal --stimuli`: a row per written word, with the
            columns item, condition, region and `WORD`.
        path: The table, for messages.
        predictions: Formulas about regions.
        model: The name of the system.

    Raises:
        InputError: A column is missing, a word has several rows, or no item has what a formula
            names.
    """
    has_names = dict(zip(("item", "condition"), tokens[0].variant, strict=True))
    for column in (*has_names, REGION, WORD):
        if column not in tokens[0].cells and has_names.get(column) is None:
            raise InputError(f"no column {column!r}: `surprisal --stimuli` writes it", path, 1)
    slopes = {row["predictor"]: row["coefficient"] for row in figures["coefficients"]}
    items: dict[str, list[Condition]] = {}
    values: dict[str, dict[RegionKey, float]] = defaultdict(lambda: defaultdict(float))
    names: dict[tuple[int, str], None] = {}
    for (item, condition), rows in groupby(tokens, lambda token: token.variant):
        text = [token for token in rows if not token.is_end]
        words: dict[float, Token] = {}
        for token in text:
            with reading(path, token.line):
                words[number_of(token.cells[WORD])] = token
        if len(words) < len(text):
            message = f"item {item}: several rows of one {WORD}: add up the surprisals of each word"
            raise InputError(message, path, text[0].line)
        regions: dict[int, list[str]] = {}
        for token, predicted in zip(text, _predicted(words, slopes, design), strict=True):
            with reading(path, token.line):
                number = int(token.cells[REGION])
            names[number, token.cells.get(REGION_NAME, "")] = None
            regions.setdefault(number, []).append(token.text)
            values[item][condition, number] += predicted
        items.setdefault(item, []).append(Condition(condition, regions.items()))
    with placed(path):
        formulas = tuple(p.numbered(numbers_of(names)) for p in predictions)
        made = tuple(Item.of(name, conditions) for name, conditions in items.items())
    suite = without_fillers(Suite(Path(path).stem, path, dict(reversed(names)), formulas, made))
    results = tuple(with_values(suite, item, values[item.name]) for item in suite.items)
    return SuiteResult(suite, results, model)


def _predicted(
    words: Mapping[float, Token], slopes: Mapping[str, float], design: Design
) -> Iterator[float]:
    """Yield the ms of each word, by its number; NaN for those that lack a word before them."""
    terms = [
        (measure, distance, slopes[name])
        for measure in dict.fromkeys([*design.measures, *design.over])
        for distance, name in enumerate(design.of(measure))
        if name in slopes
    ]
    for number in words:
        near = [words.get(number - n) for n in range(design.spillover + 1)]
        ms = (slope * value_of(near[n], measure) for measure, n, slope in terms)
        yield math.nan if None in near else math.fsum(ms)
