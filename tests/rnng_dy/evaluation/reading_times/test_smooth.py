"""Smooth curves against functions that are known."""

from __future__ import annotations

import numpy as np
import pytest

from rnng_dy.evaluation.reading_times.smooth import PENALTIES, b_splines, smooth

RANDOM = np.random.default_rng(1)
X = RANDOM.gamma(2.0, 4.0, 3000)
AT = np.linspace(1, 20, 40)


def test_a_known_curve_is_found_in_noise():
    found, errors = smooth(X, 300 + 20 * np.sin(X / 4) + RANDOM.normal(0, 20, len(X)), AT)
    missed = abs(found - 300 - 20 * np.sin(AT / 4))
    assert missed.max() < 5
    inside = missed < 1.96 * errors
    assert inside.mean() > 0.75 and errors.max() < 4


def test_noise_around_a_line_gives_the_line():
    times = 300 + 2 * X + RANDOM.normal(0, 20, len(X))
    found, errors = smooth(X, times, AT)
    slope, intercept = np.polyfit(X, times, 1)
    assert found == pytest.approx(intercept + slope * AT, abs=2 * errors.max())
    # as errors of a line, not of twenty means
    assert errors.min() < 1


def test_a_line_without_noise_is_exact_and_its_ends_belong_to_it():
    x = np.array([0.0, 1.0, 3.0, 4.0, 9.0])
    found, errors = smooth(x, 5 - 2 * x, x)
    assert found == pytest.approx(5 - 2 * x, abs=1e-4)
    assert errors == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_points_have_a_curve(n):
    found, errors = smooth(np.arange(float(n)), np.array([1.0, 3.0, 2.0, 5.0])[:n], np.array([0.5]))
    assert np.isfinite(found).all() and np.isfinite(errors).all()


def test_the_same_curve_as_of_a_textbook_formula():
    """A penalised regression is a plain one with the penalty as further rows."""
    y = np.cos(X) + RANDOM.normal(0, 0.3, len(X))
    found, _ = smooth(X, y, AT)
    ends = X.min(), X.max()
    basis = b_splines(X, *ends)
    assert basis.sum(axis=1) == pytest.approx(1)
    fits = []
    for weight in PENALTIES:
        rows = np.sqrt(weight) * np.diff(np.eye(basis.shape[1]), 2, axis=0)
        target = np.concatenate([y, np.zeros(len(rows))])
        coefficients = np.linalg.lstsq(np.vstack([basis, rows]), target, rcond=None)[0]
        fits.append(b_splines(AT, *ends) @ coefficients)
    assert min(abs(fit - found).max() for fit in fits) < 1e-6
