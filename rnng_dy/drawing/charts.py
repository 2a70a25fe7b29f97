"""Charts in pixels, which pages draw as SVG; the title of each dot and bar shows its values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 300, 62, 40, 14, 22
COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8e5572", "#b08900", "#4f6d7a", "#d17a22", "#5b5ea6")
FEW = 60
"""The most points per series that are drawn as large dots."""
INTERVALS = 40
"""Intervals into which a curve with many points is divided."""
Point = tuple[float, float]
Tick = tuple[float, str]
"""A pixel and the number shown there."""


class Dot(NamedTuple):
    """A point of a curve."""

    x: float
    y: float
    title: str


class Bar(NamedTuple):
    """An interval of a histogram, drawn from `y` to the x axis."""

    x: float
    y: float
    width: float
    title: str


class Curve(NamedTuple):
    """A series of points, joined by lines."""

    name: str
    colour: str
    is_dashed: bool
    """True for every series after the first of each colour."""
    dots: Sequence[Dot] = ()
    best: Dot | None = None
    """The point with a ring."""
    has_dots: bool = True
    """Whether its points are marked."""


class Chart(NamedTuple):
    """Axes with ticks, and the curves or bars between them."""

    x_title: str
    y_title: str
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    curves: Sequence[Curve] = ()
    bars: Sequence[Bar] = ()
    radius: float = 2
    """Radius of dots."""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    base: int = HEIGHT - BOTTOM


def line_chart(
    series: Mapping[str, Sequence[Point]],
    x_title: str,
    y_title: str,
    logarithmic_x: bool = False,
    logarithmic_y: bool = False,
    best: Mapping[str, Point] | None = None,
) -> Chart | None:
    """Return a chart of points joined by lines, one curve per series; None if there are no points.

    The points of `best` get a ring. A series with too many points to distinguish is `thinned`.
    """
    points = [point for of_series in series.values() for point in of_series]
    if not points:
        return None
    x_axis, y_axis = _axes(points, logarithmic_x, logarithmic_y)

    def dot(name: str, x: float, y: float) -> Dot:
        title = f"{name}: {_number(x)} {x_title}, {y_title} {_number(y)}"
        return Dot(x_axis.pixel(x), y_axis.pixel(y), title)

    ringed = {name: dot(f"{name}, best", *point) for name, point in (best or {}).items()}
    curves = [
        look._replace(
            dots=[dot(look.name, x, y) for x, y in thinned(series[look.name])],
            best=ringed.get(look.name),
        )
        for look in looks(series)
    ]
    # a logarithmic x axis has a tick at each x value of the points
    x_ticks = x_axis.ticks(sorted({x for x, _ in points}) if logarithmic_x else None)
    radius = 3.5 if max(map(len, series.values())) <= FEW else 2
    return Chart(x_title, y_title, x_ticks, y_axis.ticks(), curves, radius=radius)


def looks(names: Iterable[str]) -> list[Curve]:
    """Return the series with these names without their points, as a legend shows them."""
    return [
        Curve(name, COLOURS[i % len(COLOURS)], i >= len(COLOURS)) for i, name in enumerate(names)
    ]


def thinned(points: Sequence[Point]) -> Sequence[Point]:
    """Return the points or, if there are many, the first, last, lowest and highest of equal intervals of x.

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


def histogram(values: Sequence[float], x_title: str, bins: int = 20) -> Chart | None:
    """Return a chart of how many values are in each of equal intervals; None if there are no values."""
    if not values:
        return None
    low, high = min(values), max(values)
    step = (high - low) / bins or 1.0
    counts = Counter(min(bins - 1, int((value - low) / step)) for value in values)
    x_axis, y_axis = _axes([(low, 0), (low + bins * step, max(counts.values()))])
    width = max(0.5, (WIDTH - RIGHT - LEFT) / bins - 1)
    bars = []
    for i in range(bins):
        left, right = low + i * step, low + (i + 1) * step
        title = f"{_number(left)} to {_number(right)}: {counts[i]} sentences"
        bars.append(Bar(x_axis.pixel(left), y_axis.pixel(counts[i]), width, title))
    return Chart(x_title, "sentences", x_axis.ticks(), y_axis.ticks(), bars=bars)


class _Axis:
    """Values, or their logarithms, along a line from one pixel to another."""

    def __init__(self, low: float, high: float, first: int, last: int, is_logarithmic: bool):
        self._scaled = math.log10 if is_logarithmic else float
        self._round = _log_ticks if is_logarithmic else _ticks
        self._low, self._high = self._scaled(low), self._scaled(high)
        if self._low == self._high:
            self._low, self._high = self._low - 0.5, self._high + 0.5
        self._first, self._last = first, last

    def pixel(self, value: float) -> float:
        share = (self._scaled(value) - self._low) / (self._high - self._low)
        return self._first + share * (self._last - self._first)

    def ticks(self, values: Iterable[float] | None = None) -> list[Tick]:
        """Return ticks at these values, or at round ones."""
        values = self._round(self._low, self._high) if values is None else values
        return [(self.pixel(value), _number(value)) for value in values]


def _axes(
    points: Sequence[Point], logarithmic_x: bool = False, logarithmic_y: bool = False
) -> tuple[_Axis, _Axis]:
    """Return the x and the y axis around all points."""
    xs, ys = zip(*points, strict=True)
    low, high = min(ys), max(ys)
    if logarithmic_y:
        low, high = low / 1.1, high * 1.1
    else:
        margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
        # counts, rates and percentages are never negative
        low, high = max(0.0, low - margin) if low >= 0 else low - margin, high + margin
    x_axis = _Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT, logarithmic_x)
    return x_axis, _Axis(low, high, HEIGHT - BOTTOM, TOP, logarithmic_y)


def round_step(span: float, parts: int) -> float:
    """Return 1, 2 or 5 times a power of ten, the least that divides a span into at most `parts` + 1.5 parts.

    >>> round_step(10, 5), round_step(5.8, 5)
    (2.0, 1.0)
    """
    power = 10.0 ** math.floor(math.log10(span / parts))
    return next(power * m for m in (1, 2, 5, 10) if span / (power * m) <= parts + 1.5)


def _ticks(low: float, high: float) -> list[float]:
    """Return up to seven round numbers from low to high.

    >>> _ticks(0, 10), _ticks(82.3, 88.1)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [83.0, 84.0, 85.0, 86.0, 87.0, 88.0])
    """
    step = round_step(high - low, 5)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times each power of ten between two logarithms; only the powers if there are many.

    >>> _log_ticks(math.log10(150), math.log10(3300)), _log_ticks(0, 5)
    ([200.0, 500.0, 1000.0, 2000.0], [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0])
    """
    factors = (1, 2, 5) if high - low <= 3 else (1,)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [factor * 10.0**power for power in powers for factor in factors]
    return [tick for tick in ticks if low - 1e-9 <= math.log10(tick) <= high + 1e-9]


def _number(value: float) -> str:
    """Return a number as text for ticks and titles.

    >>> _number(3.0), _number(87.456), _number(1234.5), _number(3_400_000), _number(0.00123)
    ('3', '87.46', '1,234.5', '3.4e+06', '0.00123')
    """
    if abs(value) >= 1e5 or 0 < abs(value) < 0.1:
        return f"{value:.3g}"
    text = f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
