"""HTML page of test suites: accuracies, and the means and differences of conditions by region."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rnng_dy.drawing.charts import Chart, line_chart
from rnng_dy.drawing.pages import parts
from rnng_dy.evaluation.suite_scores import SuiteResult


def suite_page(results: Sequence[SuiteResult], model: str) -> Iterator[str]:
    """Return the parts of a self-contained HTML file; `model` names the models in its title."""
    drawn = {"chart_of": _chart, "effects_of": _effects}
    return parts("suites.html", results=results, model=model, **drawn)


def _chart(result: SuiteResult) -> Chart | None:
    """Return the means of regions as a curve per condition; None for fewer than two regions."""
    series = {
        condition: [(float(n), bits) for n, bits in regions.items() if math.isfinite(bits)]
        for condition, regions in result.means().items()
    }
    chart = line_chart(series, "region", "bits")
    if chart is None:
        return None
    ticks = {
        n: (dot.x, f"{n:.0f}")
        for curve in chart.curves
        for (n, _), dot in zip(series[curve.name], curve.dots, strict=False)
    }
    return chart._replace(x_ticks=[*ticks.values()]) if len(ticks) > 1 else None


def _effects(result: SuiteResult) -> list[tuple[str, ...]]:
    """Return the rows of the differences between conditions that have an interval."""
    names = result.suite.region_names
    return [
        (
            f"{of.condition} - {of.other}",
            f"{of.region} {names.get(of.region, '')}".strip(),
            str(of.items),
            f"{of.difference:.2f}",
            f"{of.low:.2f} to {of.high:.2f}",
        )
        for of in result.effects()
        if of.items > 1
    ]
