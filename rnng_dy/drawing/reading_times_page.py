"""HTML page of a study of reading times: its tables, and curves of time against surprisal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rnng_dy.drawing.charts import Chart, line_chart
from rnng_dy.drawing.pages import parts
from rnng_dy.evaluation.reading_times.report import coefficient_rows, pair_rows, system_rows
from rnng_dy.evaluation.reading_times.study import NORMAL_95, Study, SystemResult, binned

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
    means = {s.name: [point[:2] for point in binned(s.bits, s.adjusted)] for s in study.systems}
    sections.append(_section("Time by surprisal", chart=_drawn(means)))
    for system in study.systems:
        sections.append(_section(f"Time by surprisal: {system.name}", chart=_with_interval(system)))
    note = "delta_log_likelihood is that of the predictor with its spill-over, held out."
    sections.append(_table("Coefficients", [*coefficient_rows(study)], note))
    return parts("report.html", title=title, sections=sections, svg_of=None)


def _with_interval(system: SystemResult) -> Chart:
    points = [*binned(system.bits, system.adjusted)]
    chart = _drawn(
        {
            system.name: [(bits, ms) for bits, ms, _ in points],
            "low end of the 95 % interval": [(b, ms - NORMAL_95 * e) for b, ms, e in points],
            "high end of the 95 % interval": [(b, ms + NORMAL_95 * e) for b, ms, e in points],
        }
    )
    mean, *ends = chart.curves
    dashed = [end._replace(colour=mean.colour, is_dashed=True) for end in ends]
    return chart._replace(curves=[mean, *dashed])


def _drawn(series: dict[str, list[tuple[float, float]]]) -> Chart | None:
    return line_chart(series, "bits", "ms, adjusted for the other predictors")


def _table(title: str, rows: Sequence[Sequence[str]], note: str) -> dict[str, object]:
    return _section(title, table={"header": rows[0], "rows": rows[1:], "note": note})


def _section(title: str, **content: object) -> dict[str, object]:
    empty = {"table": None, "chart": None, "note": "", "names": (), "sentences": (), "texts": {}}
    return {"title": title, **empty, **content}
