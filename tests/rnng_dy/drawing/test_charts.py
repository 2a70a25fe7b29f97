"""Charts: what they show of many points, and their axes."""

from __future__ import annotations

import math
import random
import re
from types import SimpleNamespace

import pytest

from rnng_dy.drawing import pages
from rnng_dy.drawing.charts import COLOURS, HEIGHT, INTERVALS, histogram, line_chart, thinned


def svg(chart):
    """The chart and its legend as they stand on a page."""
    values = {
        "title": "",
        "sections": [
            SimpleNamespace(title="", chart=chart, table=None, note="", sentences=[], texts={})
        ],
    }
    return re.search("<figure.*</figure>", "".join(pages.parts("report.html", **values)), re.S)[0]


def heights(chart):
    return [float(y) for y in re.findall(r'<circle [^>]*cy="([\d.]+)"', svg(chart))]


@pytest.mark.parametrize("n", [4 * INTERVALS + 1, 5000, 20_000])
def test_thinned_points_keep_their_extremes_and_their_order(n):
    drawn = random.Random(3)
    points = [(float(x), drawn.gauss(0, 1)) for x in range(n)]
    few = thinned(points)
    assert len(few) <= 4 * INTERVALS
    assert few == sorted(few) and set(few) <= set(points)
    assert (few[0], few[-1]) == (points[0], points[-1])
    for extreme in (min, max):
        assert extreme(few, key=lambda p: p[1]) == extreme(points, key=lambda p: p[1])


def test_points_of_one_x_are_thinned_too():
    assert len(thinned([(1.0, float(y)) for y in range(1000)])) <= 4 * INTERVALS


def test_a_chart_of_20_000_points_stays_small():
    points = [(float(x), math.sin(x)) for x in range(20_000)]
    assert len(svg(line_chart({"a run": points}, "epochs", "loss"))) < 25_000


def test_a_logarithmic_y_axis_has_equal_ratios_at_equal_distances():
    series = {"a": [(1, 100.0), (2, 1000.0), (3, 10_000.0)]}
    first, second, third = heights(line_chart(series, "epochs", "perplexity", logarithmic_y=True))
    assert first - second == pytest.approx(second - third, abs=0.2)
    assert 0 < third < first < HEIGHT


def test_a_histogram_counts_the_values_of_each_interval():
    drawing = svg(histogram([10.0, 12.0, 20.0, 30.0, 30.0], "words", bins=2))
    assert re.findall("<title>(.*?)</title>", drawing) == [
        "10 to 20: 2 sentences",
        "20 to 30: 3 sentences",
    ]
    assert "3 to 4: 5 sentences" in svg(histogram([3.0] * 5, "words"))


def test_the_best_point_is_ringed_though_it_is_thinned_out():
    points = [(float(x), x / 1e6) for x in range(10_000)]
    chart = line_chart({"a": points}, "epochs", "F1", best={"a": (5001.0, 0.005001)})
    drawing = svg(chart)
    assert drawing.count("a, best: 5,001 epochs") == 1


def test_names_are_text():
    drawing = svg(line_chart({"<b>&": [(1, 2.0)]}, "<x>", "<y>"))
    assert "<b>" not in drawing and "<x>" not in drawing and "&lt;b&gt;&amp;" in drawing


def test_series_beyond_the_colours_are_dashed():
    series = {f"{i}": [(0, i), (1, i)] for i in range(len(COLOURS) + 1)}
    drawing = svg(line_chart(series, "x", "y"))
    assert drawing.count("stroke-dasharray") == 1 == drawing.count('class="dashed"')


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-9, 1e9])
def test_a_chart_of_one_point_has_it_inside(value):
    [y] = heights(line_chart({"a": [(1, value)]}, "x", "y"))
    assert 0 < y < HEIGHT
