"""A smooth curve through points: penalised B-splines (Eilers and Marx 1996), as in generalised additive models."""

from __future__ import annotations

import numpy as np

SEGMENTS, DEGREE = 20, 3
"""Equal intervals between knots, and the degree of the polynomials."""
PENALTIES = np.logspace(-4, 10, 57)
"""Weights of the penalty on second differences of neighbouring coefficients, of which the best is taken."""


def smooth(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a smooth curve's values at some places, and their standard errors (Wahba 1983).

    Generalised cross-validation chooses the penalty, which may be so large that the curve is a straight line. The
    errors assume independent points of equal variance. `x` has at least two different values.
    """
    low, high = float(x.min()), float(x.max())
    basis, n = b_splines(x, low, high), len(x)
    squares, products = basis.T @ basis, basis.T @ y
    differences = np.diff(np.eye(len(squares)), 2, axis=0)
    best = np.inf, np.inf, squares
    for weight in PENALTIES[::-1]:
        inverse = np.linalg.inv(squares + weight * differences.T @ differences)
        # a curve with more freedom than half of the points is no smooth one
        free = float(np.trace(inverse @ squares))
        if free > max(n / 2, 2.5):
            break
        rest = float(((y - basis @ (inverse @ products)) ** 2).sum())
        left = max(n - free, 0.5)
        best = min(best, (n * rest / left**2, rest / left, inverse), key=lambda found: found[0])
    _, variance, inverse = best
    basis = b_splines(at, low, high)
    spread = np.einsum("ij,jk,ik->i", basis, inverse, basis)
    return basis @ (inverse @ products), np.sqrt(variance * spread)


def b_splines(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the B-splines at x, a column each; equal knots go from low to high and beyond both."""
    step = (high - low) / SEGMENTS
    knots = low + step * np.arange(-DEGREE, SEGMENTS + DEGREE + 1)
    x = x[:, None]
    found = ((knots[:-1] <= x) & (x < knots[1:])).astype(np.float64)
    for degree in range(1, DEGREE + 1):
        rising = (x - knots[: -degree - 1]) / (degree * step) * found[:, :-1]
        found = rising + (knots[degree + 1 :] - x) / (degree * step) * found[:, 1:]
    return found
