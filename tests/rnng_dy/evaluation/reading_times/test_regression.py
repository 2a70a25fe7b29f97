"""Regressions against normal equations and closed forms."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from oracle.errors import RnngError
from rnng_dy.evaluation.reading_times.regression import fit, require_independent, require_scipy


def by_normal_equations(y, x):
    """Coefficients with the intercept first, standard errors, and the log likelihood of least squares."""
    design = np.column_stack([np.ones(len(y)), x])
    products = design.T @ design
    coefficients = np.linalg.inv(products) @ design.T @ y
    n, p = design.shape
    squares = ((y - design @ coefficients) ** 2).sum()
    errors = np.sqrt(squares / (n - p) * np.diag(np.linalg.inv(products)))
    log_likelihood = -n / 2 * (math.log(2 * math.pi * squares / n) + 1)
    return coefficients, errors, log_likelihood


def test_a_line_through_four_points_by_hand():
    # mean of x 2.5, of y 5; sum of squares of x 5, of products 10 + 1: slope 2.2, intercept -0.5
    x, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([2.0, 3.0, 7.0, 8.0])
    found = fit(y, x)
    assert found.coefficients == pytest.approx([2.2])
    assert found.intercept == pytest.approx(-0.5)
    # residuals 0.3, -0.9, 0.9, -0.3
    assert found.variance == pytest.approx(1.8 / 4)
    assert found.standard_errors == pytest.approx([math.sqrt(1.8 / 2 / 5)])
    assert found.log_likelihood == pytest.approx(-2 * (math.log(2 * math.pi * 0.45) + 1))
    [density] = found.log_densities(np.array([10.0]), np.array([[5.0]]))
    assert density == pytest.approx(-0.5 * (math.log(2 * math.pi * 0.45) + 0.5**2 / 0.45))


def test_several_predictors_as_by_the_normal_equations():
    random = np.random.default_rng(1)
    x = random.normal(size=(60, 3)) * [1, 10, 100] + [0, 50, 1000]
    y = 300 + x @ [2, -1, 0.1] + random.normal(size=60) * 20
    coefficients, errors, log_likelihood = by_normal_equations(y, x)
    found = fit(y, x)
    assert [found.intercept, *found.coefficients] == pytest.approx(coefficients)
    assert found.standard_errors == pytest.approx(errors[1:])
    assert found.log_likelihood == pytest.approx(log_likelihood)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ([3.3] * 6, "bits is the same in all rows"),
        ([2.0, 4.0, 6.0, 8.0, 10.0, 12.0], "bits is a sum of multiples of length"),
    ],
)
def test_predictors_must_be_independent(column, says):
    x = np.column_stack([np.arange(1.0, 7.0), column])
    with pytest.raises(RnngError, match=says):
        require_independent(x, ["length", "bits"])


@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_times_must_have_a_rest(slope):
    x = np.arange(9.0)[:, None]
    with pytest.raises(RnngError, match="explain all times exactly"):
        fit(300.1 + slope * x[:, 0], x)


def test_rows_must_be_more_than_predictors():
    with pytest.raises(RnngError, match="3 rows are too few for 2 predictors: a, b"):
        require_independent(np.arange(6.0).reshape(3, 2) ** 2, ["a", "b"])


def test_a_balanced_design_has_its_closed_form():
    """Of k items with m rows each, if the predictor is balanced: the variances by maximum likelihood.

    With S the squares within items and B those of item means times m: residual S / (k (m - 1)), item
    (B / k - residual) / m. Searle, Casella, McCulloch (1992), section 3.7.
    """
    pytest.importorskip("scipy")
    k, m = 5, 4
    random = np.random.default_rng(2)
    x = np.tile([-1.0, 1.0], k * m // 2)
    items = np.repeat(np.arange(k), m)
    y = 300 + 5 * x + np.repeat(random.normal(size=k) * 30, m) + random.normal(size=k * m) * 10
    slope = (x @ y) / (x @ x)
    rest = y - slope * x
    means = rest.reshape(k, m).mean(axis=1)
    within = ((rest.reshape(k, m) - means[:, None]) ** 2).sum()
    between = m * ((means - rest.mean()) ** 2).sum()
    residual = within / (k * (m - 1))
    of_items = (between / k - residual) / m
    found = fit(y, x[:, None], [items], [k])
    assert found.coefficients == pytest.approx([slope])
    assert found.variance == pytest.approx(residual, rel=1e-3)
    assert found.variances == pytest.approx([of_items], rel=1e-3)
    shrunk = (means - rest.mean()) * m * of_items / (m * of_items + residual)
    assert found.intercepts[0] == pytest.approx(shrunk, rel=1e-3)
    # a new item has the variance of items, too
    new = fit(y[m:], x[m:, None], [items[m:]], [k])
    [density] = new.log_densities(y[:1], x[:1, None], [items[:1]])
    variance = new.variance + new.variances[0]
    square = (y[0] - new.intercept - new.coefficients[0] * x[0]) ** 2
    assert density == pytest.approx(-0.5 * (math.log(2 * math.pi * variance) + square / variance))


def test_crossed_intercepts_have_the_likelihood_of_their_covariance():
    """The density of all rows as one normal vector, written out; no other variances nearby have a higher one."""
    pytest.importorskip("scipy")
    random = np.random.default_rng(3)
    items, subjects = np.repeat(np.arange(6), 10), np.tile(np.arange(10), 6)
    x = random.normal(size=(60, 1))
    y = 200 + 3 * x[:, 0] + (random.normal(size=6) * 20)[items]
    y += (random.normal(size=10) * 30)[subjects] + random.normal(size=60) * 15
    found = fit(y, x, [items, subjects], [6, 10])

    def log_likelihood(residual, of_items, of_subjects):
        covariance = residual * np.eye(60)
        covariance += of_items * (items[:, None] == items)
        covariance += of_subjects * (subjects[:, None] == subjects)
        rest = y - found.intercept - x[:, 0] * found.coefficients[0]
        _, log_det = np.linalg.slogdet(covariance)
        square = rest @ np.linalg.solve(covariance, rest)
        return -0.5 * (60 * math.log(2 * math.pi) + log_det + square)

    best = (found.variance, *found.variances)
    assert found.log_likelihood == pytest.approx(log_likelihood(*best))
    for i in range(3):
        for factor in (0.97, 1.03):
            other = [v * factor if i == j else v for j, v in enumerate(best)]
            assert log_likelihood(*other) < found.log_likelihood


def test_without_scipy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(RnngError, match=r"pip install 'rnng_dy\[reading\]'"):
        require_scipy()
