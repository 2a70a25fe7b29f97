"""Charts as SVG; every value can be read by resting the mouse on it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from rnng_dy.drawing.svg import svg

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 300, 62, 40, 14, 22
COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8e5572", "#b08900", "#4f6d7a", "#d17a22", "#5b5ea6")
FEW = 60
"""Points that have room for large dots."""
INTERVALS = 40
"""Of a curve with many points."""
Point = tuple[float, float]


STYLE = """
.chart svg { max-width: 100%; height: auto }
svg text { font: 12px system-ui, sans-serif; fill: #333 } svg .grid { stroke: #e4e4e4 } svg .axis { stroke: #888 }
.legend span { margin-right: 1.2em; white-space: nowrap; display: inline-block }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .4em }
.legend i.dashed { width: 1.6em; height: 0; border-top: 3px dashed; margin-bottom: .25em }
"""
"""For pages with charts."""


def line_chart(
    series: Mapping[str, Sequence[Point]], x_title: str, y_title: str, logarithmic: bool = False
) -> str:
    """Points joined by lines, a colour and a legend entry for each series; empty where there are no points."""
    drawn = lines(series, x_title, y_title, logarithmic)
    entries = (f"<span>{entry}</span>" for entry in legend(series))
    return drawn and f'{drawn}<p class="legend">{"".join(entries)}</p>'


def lines(
    series: Mapping[str, Sequence[Point]],
    x_title: str,
    y_title: str,
    logarithmic_x: bool = False,
    logarithmic_y: bool = False,
    best: Mapping[str, Point] | None = None,
) -> str:
    """`line_chart` without its legend; `best` are points of series that are ringed.

    Of a series with more points than can be told apart, `thinned` ones are drawn.
    """
    points = [point for of_series in series.values() for point in of_series]
    if not points:
        return ""
    frame = _Frame(points, x_title, y_title, logarithmic_x, logarithmic_y)
    body = [frame.axes()]
    radius = 3.5 if max(map(len, series.values())) <= FEW else 2
    for i, (name, of_series) in enumerate(series.items()):
        colour, dashes = look(i)
        shown = thinned(of_series)
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in shown)
        dash = ' stroke-dasharray="6 3"' if dashes else ""
        marks = [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>'
        ]
        for x, y in shown:
            title = f"{name}: {_number(x)} {x_title}, {y_title} {_number(y)}"
            marks.append(_dot(frame.x(x), frame.y(y), radius, title))
        if best and name in best:
            x, y = best[name]
            title = f"{name}, best: {_number(x)} {x_title}, {y_title} {_number(y)}"
            ring = f'fill-opacity="0" stroke="{colour}" stroke-width="2"'
            marks.append(_dot(frame.x(x), frame.y(y), 7, title, ring))
        body.append(f'<g data-series="{i}" fill="{colour}">{"".join(marks)}</g>')
    return svg(WIDTH, HEIGHT, "".join(body))


def _dot(x: float, y: float, radius: float, title: str, more: str = "") -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}"{more and " " + more}>'
        f"<title>{escape(title)}</title></circle>"
    )


def look(i: int) -> tuple[str, bool]:
    """The colour of the series number `i`, and whether it is dashed, as are those after the first of each colour."""
    return COLOURS[i % len(COLOURS)], i >= len(COLOURS)


def legend(names: Iterable[str]) -> Iterator[str]:
    """What each series looks like, and its name."""
    for i, name in enumerate(names):
        colour, dashes = look(i)
        mark = (
            f'class="dashed" style="color:{colour}"' if dashes else f'style="background:{colour}"'
        )
        yield f"<i {mark}></i>{escape(name)}"


def thinned(points: Sequence[Point]) -> Sequence[Point]:
    """The points or, where they are many, the first, last, lowest and highest of equal intervals of x.

    >>> points = [(x, 5.0 if x == 777 else 1.0) for x in range(1000)]
    >>> few = thinned(points)
    >>> len(few) <= 4 * INTERVALS, (777, 5.0) in few, few[0], few[-1]
    (True, True, (0, 1.0), (999, 1.0))
    """
    if len(points) <= 4 * INTERVALS:
        return points
    low, high = min(points)[0], max(points)[0]
    step = (high - low) / INTERVALS or 1.0
    of_interval: dict[int, list[int]] = {}
    for i, (x, _) in enumerate(points):
        of_interval.setdefault(min(INTERVALS - 1, int((x - low) / step)), []).append(i)
    kept: set[int] = set()
    for members in of_interval.values():
        ordered = sorted(members, key=lambda i: points[i][1])
        kept |= {members[0], members[-1], ordered[0], ordered[-1]}
    return [points[i] for i in sorted(kept)]


def histogram(values: Iterable[float], x_title: str, bins: int = 20) -> str:
    """How many values fall into each of equal intervals."""
    values = list(values)
    if not values:
        return ""
    low, high = min(values), max(values)
    step = (high - low) / bins or 1.0
    counts = Counter(min(bins - 1, int((value - low) / step)) for value in values)
    frame = _Frame([(low, 0), (low + bins * step, max(counts.values()))], x_title, "sentences")
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


class _Axis:
    """Values along a line from one pixel to another."""

    def __init__(self, low: float, high: float, pixels: tuple[float, float], logarithmic: bool):
        self._log, self._pixels = logarithmic, pixels
        self._low, self._high = self._scaled(low), self._scaled(high)
        if self._low == self._high:
            self._low, self._high = self._low - 0.5, self._high + 0.5

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self._log else value

    def pixel(self, value: float) -> float:
        share = (self._scaled(value) - self._low) / (self._high - self._low)
        return self._pixels[0] + share * (self._pixels[1] - self._pixels[0])

    def ticks(self) -> list[float]:
        return (_log_ticks if self._log else _ticks)(self._low, self._high)


class _Frame:
    """Axes with round ticks around all points; a logarithmic x axis has a tick at each x that there is."""

    def __init__(
        self,
        points: Sequence[Point],
        x_title: str,
        y_title: str,
        logarithmic_x: bool = False,
        logarithmic_y: bool = False,
    ):
        self._titles = x_title, y_title
        xs, ys = [x for x, _ in points], [y for _, y in points]
        low, high = min(ys), max(ys)
        if logarithmic_y:
            low, high = low / 1.1, high * 1.1
        else:
            margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
            # counts, rates and percentages do not go below nothing
            low, high = max(0.0, low - margin) if low >= 0 else low - margin, high + margin
        base = HEIGHT - BOTTOM
        x_axis = _Axis(min(xs), max(xs), (LEFT, WIDTH - RIGHT), logarithmic_x)
        y_axis = _Axis(low, high, (base, TOP), logarithmic_y)
        self.x, self.y = x_axis.pixel, y_axis.pixel
        self._x_ticks = sorted(set(xs)) if logarithmic_x else x_axis.ticks()
        self._y_ticks = y_axis.ticks()

    def axes(self) -> str:
        parts = []
        for tick in self._y_ticks:
            y = self.y(tick)
            parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
                f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(tick)}</text>'
            )
        for tick in self._x_ticks:
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
            f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">{y_title}</text>'
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


def _log_ticks(low: float, high: float) -> list[float]:
    """The numbers 1, 2 and 5 of each power of ten between two logarithms; only the powers where they are many.

    >>> _log_ticks(math.log10(150), math.log10(3300)), _log_ticks(0, 5)
    ([200.0, 500.0, 1000.0, 2000.0], [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0])
    """
    factors = (1, 2, 5) if high - low <= 3 else (1,)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [factor * 10.0**power for power in powers for factor in factors]
    return [tick for tick in ticks if low - 1e-9 <= math.log10(tick) <= high + 1e-9]


def _number(value: float) -> str:
    """
    >>> _number(3.0), _number(87.456), _number(1234.5), _number(3_400_000), _number(0.00123)
    ('3', '87.46', '1,234.5', '3.4e+06', '0.00123')
    """
    if abs(value) >= 1e5 or 0 < abs(value) < 0.1:
        return f"{value:.3g}"
    text = f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
