"""What is told of test suites: a table, the values behind it, JSON and a page of HTML."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from oracle.streams import split_words
from rnng_dy.evaluation.suite_scores import Accuracy, SuiteResult
from rnng_dy.evaluation.tables import CSV, TSV, aligned, as_csv, joined

COLUMNS = ("suite", "item", "condition", "region", "name", "content", "bits")
ALL = "all predictions"


def table(results: Sequence[SuiteResult], style: str = TSV) -> str:
    """Aligned, or as CSV: a row a prediction and, where a suite has several, one for the items on which all hold."""
    rows = [("suite", "prediction", "right", "of", "accuracy", "left out", "unknown")]
    for result in results:
        for name, _, found in _rows(result):
            counts = (str(found.right), str(found.of), _percent(found))
            others = (str(found.left_out), str(found.unknown))
            rows.append((_one_line(result.suite.name), _one_line(name), *counts, *others))
    return as_csv(rows) if style == CSV else aligned(rows, left=2)


def region_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """The value of every region, under a line of names; `inf` and `nan` where it is none."""
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
    """The numbers of all suites, in bits."""
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
                {
                    "item": found.item.number,
                    "predictions": found.outcomes,
                    "unknown": found.unknown,
                }
                for found in result.items
            ],
        }
        for result in results
    ]


def _rows(result: SuiteResult) -> Iterator[tuple[str, str, Accuracy]]:
    """Name, formula and accuracy of each prediction, then of all together."""
    predictions = result.suite.predictions
    for i, prediction in enumerate(predictions):
        yield prediction.name, prediction.formula.text, result.of_prediction(i)
    if len(predictions) > 1:
        yield ALL, "", result.accuracy


def _numbers(found: Accuracy) -> dict[str, object]:
    return {**found._asdict(), "accuracy": found.share}


def _percent(found: Accuracy) -> str:
    return f"{100 * found.share:.1f} %" if found.of else "-"


def _one_line(text: str) -> str:
    return " ".join(split_words(text))


STYLE = """
* { box-sizing: border-box }
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff; margin: 0 auto; max-width: 980px;
  padding: 0 1em 4em }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em } .note { color: #555 }
.table { overflow-x: auto } table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th { border-bottom: 2px solid #888; vertical-align: bottom }
td:first-child, th:first-child { text-align: left; padding-left: 0 }
td:has(code) { text-align: left; white-space: normal }
code { font-size: .85em; color: #555 }
.bar { display: inline-block; width: 8em; height: .8em; background: #eee; margin-right: .6em }
.bar i { display: block; height: 100%; background: #1b6ca8 }
@media (max-width: 600px) { th, td { padding: .2em .45em } table { font-size: .88em } }
"""


def html(results: Sequence[SuiteResult], model: str) -> str:
    """One page that needs nothing else: predictions with their accuracy, and mean values by region and condition."""
    title = f"Test suites: {model}"
    body = "".join(_section(result) for result in results)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def _section(result: SuiteResult) -> str:
    note = f"{len(result.items)} items; {result.suite.metric} of the surprisals of a region, in bits, mean over items"
    return (
        f"<h2>{escape(result.suite.name)}</h2>{_predictions(result)}"
        f'<p class="note">{escape(note)}</p>{_means(result)}'
    )


def _predictions(result: SuiteResult) -> str:
    head = ("prediction", "accuracy", "right", "of", "left out", "unknown", "formula")
    rows = []
    for name, formula, found in _rows(result):
        width = f"{100 * found.share:.1f}%" if found.of else "0"
        cells = (
            escape(name),
            f'<span class="bar"><i style="width: {width}"></i></span>{_percent(found)}',
            str(found.right),
            str(found.of),
            str(found.left_out),
            str(found.unknown),
            f"<code>{escape(formula)}</code>",
        )
        rows.append(cells)
    return _table(head, rows)


def _means(result: SuiteResult) -> str:
    """Conditions by regions, the higher the value in its region the darker."""
    means = result.means()
    regions = sorted({region for values in means.values() for region in values})
    names = result.suite.region_names
    head = ["condition", *(f"{n} {names.get(n, '')}".strip() for n in regions)]
    highest = {
        n: max((v[n] for v in means.values() if n in v and math.isfinite(v[n])), default=0.0)
        for n in regions
    }
    rows = [
        [escape(name), *(_shaded(values.get(n, math.nan), highest[n]) for n in regions)]
        for name, values in means.items()
    ]
    return _table(head, rows)


def _shaded(value: float, highest: float) -> str:
    if not math.isfinite(value):
        return "-"
    alpha = 0.5 * max(0.0, value / highest) if highest > 0 else 0.0
    return f'<span style="background: rgba(27, 108, 168, {alpha:.2f}); padding: 0 .4em">{value:.2f}</span>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML under names that are text."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="table"><table><tr>{names}</tr>{body}</table></div>'
