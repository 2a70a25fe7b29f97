"""Reading times that a regression predicts for other texts, such as critical sentences (in ms).

The regression of the fillers is applied to the words of items (van Schijndel and Linzen 2021; Huang
et al. 2024): a word has the sum of its measures, and those of the words before it, times their
coefficients. What length, frequency and position add is the same for equal words, and left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from oracle.common.errors import InputError
from oracle.common.files import placed, reading
from rnng_dy.evaluation.reading_predictors import Design, value_of
from rnng_dy.evaluation.suite_scores import SuiteResult, with_values
from rnng_dy.evaluation.suites import Condition, Formula, Item, Suite, numbers_of
from rnng_dy.evaluation.token_tables import Token
from rnng_dy.text.columns import REGION

WORD, REGION_NAME = "word_id", "region_name"


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
        InputError: A column is missing, or no item has what a formula names.
    """
    for column in ("item", "condition", REGION, WORD):
        if column not in tokens[0].cells:
            how = "`surprisal --stimuli` writes a row per word with its region"
            raise InputError(f"no column {column!r}: {how}", path, 1)
    slopes = {row["predictor"]: row["coefficient"] for row in figures["coefficients"]}
    items: dict[str, list[Condition]] = {}
    values: dict[str, dict[tuple[str, int], float]] = {}
    region_names: dict[int, str] = {}
    for (item, condition), rows in groupby(tokens, lambda token: token.variant):
        text = [token for token in rows if not token.is_end]
        regions: dict[int, list[str]] = {}
        ms: dict[int, list[float]] = {}
        for token, predicted in zip(text, _predicted(text, slopes, design), strict=True):
            with reading(path, token.line):
                number = int(token.cells[REGION])
            region_names[number] = token.cells.get(REGION_NAME, "")
            regions.setdefault(number, []).append(token.text)
            ms.setdefault(number, []).append(predicted)
        items.setdefault(item, []).append(Condition(condition, regions.items()))
        sums = {(condition, number): math.fsum(ms[number]) for number in ms}
        values.setdefault(item, {}).update(sums)
    with placed(path):
        formulas = tuple(p.numbered(numbers_of(region_names.items())) for p in predictions)
        made = tuple(Item.of(name, conditions) for name, conditions in items.items())
    suite = Suite(Path(path).stem, path, region_names, formulas, made)
    results = tuple(with_values(suite, item, values[item.name]) for item in made)
    return SuiteResult(suite, results, model)


def _predicted(
    text: Sequence[Token], slopes: Mapping[str, float], design: Design
) -> Iterator[float]:
    """Yield the ms of each word; NaN for the first words, which lack words before them."""
    measures = [*dict.fromkeys([*design.measures, *design.over])]
    terms = [
        (measure, distance, slopes[name])
        for measure in measures
        for distance, name in enumerate(design.of(measure))
        if name in slopes
    ]
    for i in range(len(text)):
        if i < design.spillover:
            yield math.nan
        else:
            yield math.fsum(
                slope * value_of(text[i - distance], measure) for measure, distance, slope in terms
            )
