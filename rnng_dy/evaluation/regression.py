"""Regressions by least squares, in all rows and in all but the held-out ones."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from rnng_dy.evaluation.significance import t_of_95

FIGURES = ("predictor", "coefficient", "standard_error", "low", "high")


class Regression(NamedTuple):
    """A regression by least squares; p predictors."""

    intercept: float
    coefficients: np.ndarray
    """Shape (p,)."""
    standard_errors: np.ndarray
    """Shape (p,); from the residual variance with `degrees` degrees of freedom."""
    variance: float
    """Residual variance: its maximum likelihood estimate."""
    degrees: int
    """Degrees of freedom: n - p - 1."""

    def log_densities(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the normal log density of each row in nats, shape (n,)."""
        squares = (y - self.intercept - x @ self.coefficients) ** 2
        return -0.5 * (np.log(2 * np.pi * self.variance) + squares / self.variance)

    def figures(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the predictors' coefficients with standard errors and 95 % intervals, by t."""
        half = t_of_95(self.degrees) * self.standard_errors
        ends = self.coefficients - half, self.coefficients + half
        rows = zip(names, self.coefficients, self.standard_errors, *ends, strict=True)
        return [dict(zip(FIGURES, row, strict=True)) for row in rows]


def least_squares(y: np.ndarray, x: np.ndarray, names: Sequence[str]) -> Regression:
    """Fit y, shape (n,), to an intercept and the predictors x, shape (n, p), which have names.

    Raises RnngError for too few rows, a predictor that is constant or depends on those before it,
    and y without errors.
    """
    n, p = x.shape
    if n < p + 2:
        raise RnngError(f"{n} rows are too few for {p} predictors: {', '.join(names)}")
    means, scales, q, r, dependent = _factored(x)
    reason = "the same in all rows of a regression, or a sum of multiples of predictors"
    if dependent.any():
        name = names[dependent.argmax()]
        raise RnngError(f"the predictor {name} is {reason}: it explains nothing")
    rotated = q.T @ y
    best = np.linalg.solve(r, rotated)
    variance = float(((y - q @ rotated) ** 2).mean())
    if variance <= 1e-20 * (y**2).mean():
        raise RnngError(f"the times are {reason}: there is nothing to explain")
    spread = np.sqrt((np.linalg.inv(r) ** 2).sum(axis=1) * variance * n / (n - p - 1))
    slopes = best[1:] / scales
    intercept = float(best[0] - slopes @ means)
    return Regression(intercept, slopes, spread[1:] / scales, variance, n - p - 1)


def _factored(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return predictors' means, scales, Q and R, and which depend on those before them."""
    means, scales = x.mean(axis=0), x.std(axis=0)
    # what a constant predictor has of rounding is no scale
    scales[scales <= 1e-9 * np.abs(x).max(axis=0)] = np.inf
    q, r = np.linalg.qr(np.column_stack([np.ones(len(x)), (x - means) / scales]))
    return means, scales, q, r, np.abs(np.diag(r)[1:]) <= 1e-6 * np.sqrt(len(x))


def matrix(columns: Mapping[str, np.ndarray], y: np.ndarray) -> np.ndarray:
    """Return the predictors as columns, shape (n, p), for as many rows as y has."""
    return np.array([*columns.values()]).reshape(-1, len(y)).T


def held_out(y: np.ndarray, columns: Mapping[str, np.ndarray], folds: np.ndarray) -> np.ndarray:
    """Return the log density of each row by the regression on the rows of the other folds."""
    x, densities = matrix(columns, y), np.empty(len(y))
    for fold in range(folds.max() + 1):
        held = folds == fold
        fitted = least_squares(y[~held], x[~held], [*columns])
        densities[held] = fitted.log_densities(y[held], x[held])
    return densities


def independent(columns: Mapping[str, np.ndarray], folds: np.ndarray) -> dict[str, np.ndarray]:
    """Return the predictors that are independent in all rows, and in those of all folds but one."""
    kept = dict(columns)
    for left_out in range(-1, folds.max() + 1):
        rows = folds != left_out
        while (dependent := _factored(matrix(kept, folds)[rows])[-1]).any():
            del kept[[*kept][dependent.argmax()]]
    return kept
