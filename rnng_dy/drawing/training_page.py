"""A page to look at: curves of trainings, a table of what they reached and of the settings in which they differ."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from rnng_dy.drawing.charts import INTERVALS, STYLE, Point, legend, lines
from rnng_dy.registry import KINDS, Kind
from rnng_dy.runs import EVALUATION, PROGRESS, Run, number_of

_PARTS = {
    ending: (Path(__file__).parent / f"training_page.{ending}").read_text(encoding="utf-8")
    for ending in ("css", "js")
}


UNITS = (("seconds", 1.0), ("minutes", 60.0), ("hours", 3600.0))
STEEP = 5.0
"""From this ratio on of the highest to the lowest perplexity its axis is logarithmic."""


def page(runs: Sequence[Run], now: float, refresh: float | None = None) -> str:
    """HTML that needs nothing else, as things stand `now`, in seconds since the epoch.

    It loads itself anew every `refresh` seconds. Runs of one kind of model share charts.
    """
    sections = "".join(
        _section(kind, of_kind, now)
        for kind in KINDS.values()
        if (of_kind := [run for run in runs if run.kind is kind])
    )
    axes = "".join(
        f'<label><input type="radio" name="axis" id="by-{key}"{checked}>{title}</label>'
        for key, title, checked in (("epoch", "epochs", " checked"), ("seconds", "time", ""))
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Training</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}{_PARTS['css']}</style></head>\n"
        f'<body data-refresh="{refresh or 0:g}"><h1>Training</h1>{_notes(runs, now)}'
        f'<p class="axes">By {axes}</p>{sections}<script>{_PARTS["js"]}</script></body></html>\n'
    )


def _notes(runs: Sequence[Run], now: float) -> str:
    problems = [problem for run in runs for problem in run.problems]
    for run in runs:
        epoch = run.diverged()
        if epoch is not None:
            problems.append(f"{run.name}: the loss is no number from epoch {epoch:g} on")
    written = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    notes = [f"As of {written}. Best evaluations are ringed. Rest the mouse on a point to read it."]
    if any(len(run.curve(PROGRESS, "epoch", "loss_per_word")) > 4 * INTERVALS for run in runs):
        notes.append(
            f"Of long curves the first, last, lowest and highest points of {INTERVALS} equal parts are drawn."
        )
    return f'<p class="note">{" ".join(notes)}</p>' + "".join(
        f'<p class="problem">{escape(problem)}</p>' for problem in problems
    )


def _section(kind: Kind, runs: Sequence[Run], now: float) -> str:
    figures = "".join(
        f'<figure class="chart {by}"><h3>{escape(title)}</h3>{drawing}</figure>'
        for title, by, drawing in _charts(kind, runs)
    )
    return f'<section><h2>{kind.plural}</h2>{_table(kind, runs, now)}<div class="charts">{figures}</div></section>'


def _charts(kind: Kind, runs: Sequence[Run]) -> Iterator[tuple[str, str, str]]:
    """Titles, classes that say what the x axis is, and SVG; both axes of a chart stand side by side."""
    for title, event, key, y_title in (
        ("Loss on the training data", PROGRESS, "loss_per_word", "nats per word"),
        ("Score on the development data", EVALUATION, kind.score, kind.score_title),
        ("Learning rate", PROGRESS, "learning_rate", "learning rate"),
        ("Updates that were clipped", PROGRESS, "clipped", "share"),
    ):
        for x in ("epoch", "seconds"):
            drawing = _chart(runs, x, event, key, y_title)
            if drawing:
                yield title, f"by-{x}", drawing


def _chart(runs: Sequence[Run], x: str, event: str, key: str, y_title: str) -> str:
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
    return lines(series, x_title, y_title, logarithmic_y=is_steep, best=best)


def _best_points(runs: Sequence[Run], x: str, key: str) -> dict[str, Point]:
    found = {run.name: (number_of(r, x), number_of(r, key)) for run in runs if (r := run.best())}
    return {name: point for name, point in found.items() if all(map(math.isfinite, point))}


def _table(kind: Kind, runs: Sequence[Run], now: float) -> str:
    """What each run has reached and the settings that differ; those that do not stand below."""
    settings = [{k.replace("_", " "): _text(v) for k, v in run.settings.items()} for run in runs]
    names = list(dict.fromkeys(name for of_run in settings for name in of_run))
    differing = [n for n in names if len({of_run.get(n) for of_run in settings}) > 1]
    reached = ("state", "epochs done", f"best {kind.score_name}", "at epoch", "sentences/s", "time")
    rows = []
    for i, mark in enumerate(legend(run.name for run in runs)):
        box = f'<input type="checkbox" checked data-series="{i}" id="run-{escape(runs[i].name)}">'
        texts = [*_reached(kind, runs[i], now), *(settings[i].get(n, "") for n in differing)]
        cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
        rows.append(f"<tr><td><label>{box}{mark}</label></td>{cells}</tr>")
    head = "".join(f"<th>{escape(text)}</th>" for text in ("run", *reached, *differing))
    alike = ", ".join(f"{n} {settings[0][n]}" for n in names if n not in differing)
    note = f'<p class="note">{"In all runs" if len(runs) > 1 else "Settings"}: {escape(alike)}</p>'
    return f'<div class="table legend"><table><tr>{head}</tr>{"".join(rows)}</table></div>{note if alike else ""}'


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
    """
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
