"""Reports of test suites: a table, the values behind it, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracle.streams import split_words
from rnng_dy.evaluation.suite_scores import Accuracy, SuiteResult
from rnng_dy.evaluation.tables import CSV, TSV, aligned, as_csv, joined

COLUMNS = ("suite", "item", "condition", "region", "name", "content", "bits")


def table(results: Sequence[SuiteResult], style: str = TSV) -> str:
    """Return a table, aligned or as CSV: a row per prediction and, if there are several, a row for all together."""
    rows = [("suite", "prediction", "right", "of", "accuracy", "left out", "unknown")]
    for result in results:
        for name, _, found in result.rows():
            counts = (str(found.right), str(found.of), found.percent)
            others = (str(found.left_out), str(found.unknown))
            rows.append((_one_line(result.suite.name), _one_line(name), *counts, *others))
    return as_csv(rows) if style == CSV else aligned(rows, left=2)


def region_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the value of every region, after a header line; `inf` and `nan` are possible values."""
    yield joined(COLUMNS, style) + "\n"
    for result in results:
        for found in result.items:
            for condition in found.item.conditions:
                for region in condition.regions:
                    names = (result.suite.name, str(found.item.number), condition.name)
                    name = result.suite.region_names.get(region.number, "")
                    value = f"{found.values[condition.name, region.number]:.6f}"
                    cells = (*names, str(region.number), name, " ".join(region.tokens), value)
                    yield joined(list(map(_one_line, cells)), style) + "\n"


def as_json(results: Sequence[SuiteResult]) -> list[dict[str, object]]:
    """Return the figures of all suites, in bits."""
    return [
        {
            "suite": result.suite.name,
            "metric": result.suite.metric,
            "items": len(result.items),
            **_numbers(result.accuracy),
            "predictions": [
                {"name": p.name, "formula": p.formula.text, **_numbers(result.of_prediction(i))}
                for i, p in enumerate(result.suite.predictions)
            ],
            "region_names": result.suite.region_names,
            "means": result.means(),
            "outcomes": [
                {"item": found.item.number, "predictions": found.outcomes, "unknown": found.unknown}
                for found in result.items
            ],
        }
        for result in results
    ]


def _numbers(found: Accuracy) -> dict[str, object]:
    return {**found._asdict(), "accuracy": found.share}


def _one_line(text: str) -> str:
    return " ".join(split_words(text))
