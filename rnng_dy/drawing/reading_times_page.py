"""HTML page of a study of reading times: its tables, and curves of time against surprisal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rnng_dy.drawing.charts import Chart, line_chart
from rnng_dy.drawing.pages import parts
from rnng_dy.evaluation.reading_times.report import coefficient_rows, pair_rows, system_rows
from rnng_dy.evaluation.reading_times.smooth import smooth
from rnng_dy.evaluation.reading_times.study import NORMAL_95, Study, SystemResult, binned

PLACES = 60
"""Places at which a smooth curve is computed."""
_COLUMNS = 15
"""Columns of a system up to the effect of the word itself."""


def reading_times_page(study: Study, title: str) -> Iterator[str]:
    """Return the parts of a self-contained HTML file."""
    left_out = "; ".join(f"{reason}: {count}" for reason, count in study.left_out.items())
    sections = [
        _table(
            "Systems",
            # the effects of the words before are in the table of coefficients
            [row[:_COLUMNS] for row in system_rows(study)],
            "Log likelihoods are held out, in nats per row; low and high are the ends of 95 % intervals. "
            + (f"Rows left out: {left_out}." if left_out else "No row is left out."),
        )
    ]
    if study.pairs:
        note = "Difference of log likelihoods in nats per row, first less second; p by permutation over words."
        sections.append(_table("Pairs of systems", [*pair_rows(study)], note))
    means = {s.name: [*binned(s.bits, s.adjusted)] for s in study.systems}
    sections.append(_section("Time by surprisal", chart=_drawn(means)))
    for system in study.systems:
        sections.append(_section(f"Time by surprisal: {system.name}", chart=_with_smooth(system)))
    note = "delta_log_likelihood is that of the predictor with its spill-over, held out."
    sections.append(_table("Coefficients", [*coefficient_rows(study)], note))
    return parts("report.html", title=title, sections=sections, svg_of=None)


def _with_smooth(system: SystemResult) -> Chart:
    """Return the means of groups of words, and a smooth curve through all words with its 95 % interval."""
    means = [*binned(system.bits, system.adjusted)]
    at = np.linspace(means[0][0], means[-1][0], PLACES)
    times, errors = smooth(system.bits, system.adjusted, at)
    curves = {
        name: [*zip(at.tolist(), (times + factor * errors).tolist(), strict=True)]
        for name, factor in (
            ("smooth curve", 0),
            ("low end of its 95 % interval", -NORMAL_95),
            ("high end of its 95 % interval", NORMAL_95),
        )
    }
    chart = _drawn({f"{system.name}, means of groups": means, **curves})
    mean, curve, *ends = [of._replace(has_dots=of.name not in curves) for of in chart.curves]
    dashed = [end._replace(colour=curve.colour, is_dashed=True) for end in ends]
    return chart._replace(curves=[mean, curve, *dashed])


def _drawn(series: dict[str, list[tuple[float, float]]]) -> Chart | None:
    return line_chart(series, "bits", "ms, adjusted for the other predictors")


def _table(title: str, rows: Sequence[Sequence[str]], note: str) -> dict[str, object]:
    return _section(title, table={"header": rows[0], "rows": rows[1:], "note": note})


def _section(title: str, **content: object) -> dict[str, object]:
    empty = {"table": None, "chart": None, "note": "", "names": (), "sentences": (), "texts": {}}
    return {"title": title, **empty, **content}
