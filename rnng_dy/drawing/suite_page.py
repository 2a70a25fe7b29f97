"""HTML page of test suites: accuracies, and the means and differences of conditions by region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rnng_dy.drawing.pages import parts
from rnng_dy.evaluation.suite_scores import SuiteResult


def suite_page(results: Sequence[SuiteResult], model: str) -> Iterator[str]:
    """Return the parts of a self-contained HTML file; `model` names the models in its title."""
    return parts("suites.html", results=results, model=model, effects_of=_effects)


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
