"""HTML page of training runs: curves, and a table of their results and of the settings that differ."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

from rnng_dy.drawing.charts import INTERVALS, Chart, Point, line_chart, looks
from rnng_dy.drawing.pages import parts
from rnng_dy.registry import KINDS, Kind
from rnng_dy.runs import EVALUATION, PROGRESS, Run, number_of

UNITS = (("seconds", 1.0), ("minutes", 60.0), ("hours", 3600.0))
STEEP = 5.0
"""The ratio of highest to lowest perplexity from which its axis is logarithmic."""


def training_page(runs: Sequence[Run], now: float, refresh: float | None = None) -> Iterator[str]:
    """Return the parts of a self-contained HTML page with the state at the time `now`, in seconds since the epoch.

    The page reloads every `refresh` seconds. Runs of one kind of model share charts.
    """
    of_kinds = [(kind, [run for run in runs if run.kind is kind]) for kind in KINDS.values()]
    long = any(len(run.curve(PROGRESS, "epoch", "loss_per_word")) > 4 * INTERVALS for run in runs)
    return parts(
        "training.html",
        refresh=refresh or 0,
        written=time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now)),
        is_thinned=long,
        intervals=INTERVALS,
        problems=_problems(runs),
        sections=[section(kind, found, now) for kind, found in of_kinds if found],
    )


def _problems(runs: Sequence[Run]) -> list[str]:
    problems = [problem for run in runs for problem in run.problems]
    for run in runs:
        epoch = run.diverged()
        if epoch is not None:
            problems.append(f"{run.name}: the loss is no number from epoch {epoch:g} on")
    return problems


def section(kind: Kind, runs: Sequence[Run], now: float) -> dict[str, object]:
    """Return each run's progress and differing settings, the settings that all runs share, and charts, for a page."""
    settings = [{k.replace("_", " "): _text(v) for k, v in run.settings.items()} for run in runs]
    names = list(dict.fromkeys(name for of_run in settings for name in of_run))
    differing = [n for n in names if len({of_run.get(n) for of_run in settings}) > 1]
    reached = ("state", "epochs done", f"best {kind.score_name}", "at epoch", "sentences/s", "time")
    cells = [
        [*_reached(kind, run, now), *(of_run.get(n, "") for n in differing)]
        for run, of_run in zip(runs, settings, strict=True)
    ]
    return {
        "title": kind.plural,
        "header": ("run", *reached, *differing),
        "rows": list(zip(looks(run.name for run in runs), cells, strict=True)),
        "alike": ", ".join(f"{n} {settings[0][n]}" for n in names if n not in differing),
        "charts": list(_charts(kind, runs)),
    }


def _charts(kind: Kind, runs: Sequence[Run]) -> Iterator[tuple[str, str, Chart]]:
    """Yield titles, the quantity of the x axis, and charts, each by epochs and by seconds."""
    for title, event, key, y_title in (
        ("Loss on the training data", PROGRESS, "loss_per_word", "nats per word"),
        ("Score on the development data", EVALUATION, kind.score, kind.score_title),
        ("Learning rate", PROGRESS, "learning_rate", "learning rate"),
        ("Updates that were clipped", PROGRESS, "clipped", "share"),
    ):
        for x in ("epoch", "seconds"):
            drawing = _chart(runs, x, event, key, y_title)
            if drawing:
                yield title, x, drawing


def _chart(runs: Sequence[Run], x: str, event: str, key: str, y_title: str) -> Chart | None:
    series = {run.name: run.curve(event, x, key) for run in runs}
    best = _best_points(runs, x, key) if event == EVALUATION else {}
    x_title = "epochs"
    if x == "seconds":
        longest = max((p[0] for points in series.values() for p in points), default=0.0)
        x_title, unit = next((u for u in reversed(UNITS) if longest >= 3 * u[1]), UNITS[0])
        series = {name: [(a / unit, b) for a, b in points] for name, points in series.items()}
        best = {name: (a / unit, b) for name, (a, b) in best.items()}
    ys = [y for points in series.values() for _, y in points]
    is_steep = key == "perplexity" and bool(ys) and 0 < min(ys) < max(ys) / STEEP
    return line_chart(series, x_title, y_title, logarithmic_y=is_steep, best=best)


def _best_points(runs: Sequence[Run], x: str, key: str) -> dict[str, Point]:
    found = {run.name: (number_of(r, x), number_of(r, key)) for run in runs if (r := run.best())}
    return {name: point for name, point in found.items() if all(map(math.isfinite, point))}


def _text(setting: object) -> str:
    return f"{setting:g}" if isinstance(setting, float) else str(setting)


def _reached(kind: Kind, run: Run, now: float) -> Iterator[str]:
    last, best = run.records[-1] if run.records else {}, run.best() or {}
    yield _state(run, now)
    yield _number(number_of(last, "epoch"), ".2f")
    yield _number(number_of(best, kind.score), ".2f")
    yield _number(number_of(best, "epoch"), ".2f")
    yield _number(run.speed(), ".1f")
    yield _duration(number_of(last, "seconds"))


def _state(run: Run, now: float) -> str:
    if run.has_ended_early():
        return "ended early, out of patience"
    if run.has_all_epochs():
        return "finished"
    if not run.progress:
        return "no training state" if run.log else "no log"
    if run.is_silent(now):
        return f"silent for {_duration(now - run.heard)}"
    left = run.seconds_left()
    return f"running, about {_duration(left)} left" if left > 0 else "running"


def _duration(seconds: float) -> str:
    """Return a duration as text.

    >>> _duration(14.2), _duration(600), _duration(40_000), _duration(math.nan)
    ('14 s', '10 min', '11.1 h', '')
    """
    if not math.isfinite(seconds):
        return ""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else ""
