"""Reports of test suites: a table of accuracies, tables of regions and of effects, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracle.files import split_words
from rnng_dy.evaluation.suite_scores import Accuracy, SuiteResult
from rnng_dy.evaluation.tables import TSV, aligned, joined

ACCURACIES = ("model", "suite", "prediction", "right", "of", "accuracy", "left out", "unknown")
REGIONS = (
    *("model", "suite", "item", "condition", "region", "name", "content"),
    *("tokens", "surprisal", "unknown"),
)
EFFECTS = (
    *("model", "suite", "condition", "other", "region", "name", "items"),
    *("difference", "low", "high"),
)


def table(results: Sequence[SuiteResult]) -> str:
    """Return an aligned table: a row per prediction and, if there are several, a row for all together.

    Rows name their model if there are several.
    """
    begin = int(len({result.model for result in results}) < 2)
    rows = [ACCURACIES[begin:]]
    for result in results:
        for name, _, found in result.rows():
            names = [_one_line(of) for of in (result.model, result.suite.name, name)]
            counts = (found.right, found.of, found.percent, found.left_out, found.unknown)
            rows.append((*names[begin:], *map(str, counts)))
    return aligned(rows, left=3 - begin)


def region_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the columns REGIONS of every region of every model, after a header line.

    `surprisal` is the region's value in bits, which may be `inf` or `nan`; `tokens` and `unknown` are numbers.
    """
    yield _line(REGIONS, style)
    for result in results:
        names = result.suite.region_names
        for found in result.items:
            for (condition, region), tokens in found.item.regions.items():
                cells = (
                    *(result.model, result.suite.name, found.item.name, condition, region),
                    *(names.get(region, ""), " ".join(tokens), len(tokens)),
                    f"{found.values[condition, region]:.6f}",
                    len(found.oov_by_region[condition, region]),
                )
                yield _line(cells, style)


def effect_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the differences between conditions by region, after a header line; `nan` is a possible value."""
    yield _line(EFFECTS, style)
    for result in results:
        for effect in result.effects():
            condition, other, region, items, *bits = effect
            name = result.suite.region_names.get(region, "")
            texts = (result.model, result.suite.name, condition, other, region, name, items)
            yield _line([*texts, *(f"{value:.6f}" for value in bits)], style)


def as_json(results: Sequence[SuiteResult]) -> list[dict[str, object]]:
    """Return the figures of all suites, in bits."""
    return [
        {
            "model": result.model,
            "suite": result.suite.name,
            "items": len(result.items),
            **_numbers(result.accuracy),
            "predictions": [
                {"name": name, "formula": text, **_numbers(found)}
                for name, text, found in result.rows()[: len(result.suite.predictions)]
            ],
            "region_names": result.suite.region_names,
            "means": result.means(),
            "outcomes": [
                {
                    "item": found.item.name,
                    "predictions": found.outcomes,
                    "unknown": found.compares_oov,
                    "unknown_words": found.oov,
                }
                for found in result.items
            ],
        }
        for result in results
    ]


def _numbers(found: Accuracy) -> dict[str, float]:
    return {**found._asdict(), "accuracy": found.share}


def _line(cells: Sequence[object], style: str) -> str:
    return joined([_one_line(str(cell)) for cell in cells], style) + "\n"


def _one_line(text: str) -> str:
    return " ".join(split_words(text))
