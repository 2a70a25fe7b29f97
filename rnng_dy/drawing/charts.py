"""Charts as SVG; every value can be read by resting the mouse on it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from rnng_dy.drawing.svg import svg

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 300, 56, 40, 14, 14
COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8e5572", "#b08900", "#4f6d7a", "#d17a22", "#5b5ea6")
Point = tuple[float, float]


def line_chart(
    series: Mapping[str, Sequence[Point]], x_title: str, y_title: str, logarithmic: bool = False
) -> str:
    """Points joined by lines, a colour and a legend entry for each series; empty where there are no points."""
    points = [point for of_series in series.values() for point in of_series]
    if not points:
        return ""
    frame = _Frame(points, x_title, y_title, logarithmic)
    body = [frame.axes()]
    for i, (name, of_series) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in of_series)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for x, y in of_series:
            title = f"{name}: {_number(x)} {x_title}, {y_title} {_number(y)}"
            body.append(
                f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3.5" fill="{colour}">'
                f"<title>{escape(title)}</title></circle>"
            )
    return svg(WIDTH, HEIGHT, "".join(body)) + _legend(series)


def histogram(values: Iterable[float], x_title: str, bins: int = 20) -> str:
    """How many values fall into each of equal intervals."""
    values = list(values)
    if not values:
        return ""
    low, high = min(values), max(values)
    step = (high - low) / bins or 1.0
    counts = Counter(min(bins - 1, int((value - low) / step)) for value in values)
    frame = _Frame(
        [(low, 0), (low + bins * step, max(counts.values()))], x_title, "sentences", False
    )
    bars = []
    for i in range(bins):
        left, right = frame.x(low + i * step), frame.x(low + (i + 1) * step)
        top = frame.y(counts[i])
        title = (
            f"{_number(low + i * step)} to {_number(low + (i + 1) * step)}: {counts[i]} sentences"
        )
        bars.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(0.5, right - left - 1):.1f}" '
            f'height="{HEIGHT - BOTTOM - top:.1f}" fill="{COLOURS[0]}"><title>{escape(title)}</title></rect>'
        )
    return svg(WIDTH, HEIGHT, frame.axes() + "".join(bars))


class _Frame:
    """Axes with round ticks around all points."""

    def __init__(self, points: Sequence[Point], x_title: str, y_title: str, logarithmic: bool):
        self._titles = x_title, y_title
        self._log = logarithmic
        xs, ys = [self._scaled(x) for x, _ in points], [y for _, y in points]
        self._x0, self._x1 = min(xs), max(xs)
        if self._x0 == self._x1:
            self._x0, self._x1 = self._x0 - 0.5, self._x1 + 0.5
        margin = (max(ys) - min(ys)) * 0.06 or 1.0
        # counts and percentages do not go below nothing
        self._y0 = min(ys) if min(ys) == 0 else min(ys) - margin
        self._y1 = max(ys) + margin
        self._given = sorted({x for x, _ in points})

    def _scaled(self, x: float) -> float:
        return math.log10(x) if self._log else x

    def x(self, value: float) -> float:
        share = (self._scaled(value) - self._x0) / (self._x1 - self._x0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (value - self._y0) / (self._y1 - self._y0)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def axes(self) -> str:
        parts = []
        for tick in _ticks(self._y0, self._y1):
            y = self.y(tick)
            parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
                f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(tick)}</text>'
            )
        for tick in self._given if self._log else _ticks(self._x0, self._x1):
            parts.append(
                f'<text x="{self.x(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{_number(tick)}</text>'
            )
        base = HEIGHT - BOTTOM
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" class="axis"/>'
        )
        x_title, y_title = map(escape, self._titles)
        middle = (TOP + base) / 2
        parts.append(
            f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{x_title}</text>'
        )
        parts.append(
            f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{y_title}</text>'
        )
        return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """Up to seven round numbers from low to high.

    >>> _ticks(0, 10), _ticks(82.3, 88.1)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [83.0, 84.0, 85.0, 86.0, 87.0, 88.0])
    """
    power = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(power * m for m in (1, 2, 5, 10) if (high - low) / (power * m) <= 6.5)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _number(value: float) -> str:
    """
    >>> _number(3.0), _number(87.456), _number(1234.5), _number(3_400_000)
    ('3', '87.46', '1,234.5', '3.4e+06')
    """
    if abs(value) >= 1e5:
        return f"{value:.3g}"
    text = f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _legend(names: Iterable[str]) -> str:
    items = (
        f'<span><i style="background:{COLOURS[i % len(COLOURS)]}"></i>{escape(name)}</span>'
        for i, name in enumerate(names)
    )
    return f'<p class="legend">{"".join(items)}</p>'
