"""Linear regression by maximum likelihood, with random intercepts of any number of factors, or with none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from oracle.errors import RnngError

_SMALLEST = 1e-9
"""A smaller share of a column or of its variance is rounding."""


@dataclass(frozen=True)
class Regression:
    """A fitted regression; p predictors."""

    intercept: float
    coefficients: np.ndarray
    """Shape (p,)."""
    standard_errors: np.ndarray
    """Shape (p,); from the residual variance with n - p - 1 degrees of freedom."""
    variance: float
    """Residual variance: its maximum likelihood estimate."""
    log_likelihood: float
    """Of the rows to which the regression was fitted, in nats."""
    intercepts: Sequence[np.ndarray] = ()
    """Per factor, the predicted intercept of each level; 0 for a level without rows."""
    variances: Sequence[float] = ()
    """Per factor, the variance of the intercepts."""
    seen: Sequence[np.ndarray] = ()
    """Per factor, whether each level had rows."""

    def predict(self, x: np.ndarray, factors: Sequence[np.ndarray] = ()) -> np.ndarray:
        """Return the expectation of each row, shape (n,), with the intercepts of levels that had rows."""
        means = self.intercept + x @ self.coefficients
        for of_levels, codes in zip(self.intercepts, factors, strict=True):
            means = means + of_levels[codes]
        return means

    def log_densities(
        self, y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray] = ()
    ) -> np.ndarray:
        """Return the normal log density of each row in nats, shape (n,).

        For a level without rows, the variance of the intercepts is added to the residual variance.
        """
        variances = np.full(len(y), self.variance)
        for variance, seen, codes in zip(self.variances, self.seen, factors, strict=True):
            variances += np.where(seen[codes], 0.0, variance)
        squares = (y - self.predict(x, factors)) ** 2
        return -0.5 * (np.log(2 * np.pi * variances) + squares / variances)


def require_scipy() -> ModuleType:
    """Return SciPy's optimisation. Raises RnngError if SciPy is not installed."""
    try:
        import scipy.optimize
    except ImportError as error:
        raise RnngError(
            f"a mixed regression needs SciPy ({error}): pip install 'rnng_dy[reading]'"
        ) from None
    return scipy.optimize


def require_independent(x: np.ndarray, names: Sequence[str]) -> None:
    """Raise RnngError for too few rows, a constant predictor, and one that depends on those before it."""
    n, p = x.shape
    if n < p + 2:
        raise RnngError(f"{n} rows are too few for {p} predictors: {', '.join(names)}")
    centred = x - x.mean(axis=0)
    scales = np.sqrt((centred**2).mean(axis=0))
    for j in np.flatnonzero(scales <= _SMALLEST * np.abs(x).max(axis=0)):
        raise RnngError(f"the predictor {names[j]} is the same in all rows: leave it out")
    own = np.abs(np.diag(np.linalg.qr(centred / scales, mode="r"))) / np.sqrt(n)
    for j in np.flatnonzero(own <= 1e-6):
        before = ", ".join(names[:j])
        raise RnngError(f"the predictor {names[j]} is a sum of multiples of {before}: leave it out")


def fit(
    y: np.ndarray, x: np.ndarray, factors: Sequence[np.ndarray] = (), levels: Sequence[int] = ()
) -> Regression:
    """Fit y, shape (n,), to an intercept and predictors x, shape (n, p), by maximum likelihood.

    Each factor gives the number of the level of each row, shape (n,), and `levels` how many levels there are. Each
    level has a normally distributed intercept of its own, as in `y ~ x + (1 | factor)` of lme4 with REML = FALSE
    (Bates et al. 2015, sections 3.2 to 3.4). Without factors, this is ordinary least squares.

    Raises RnngError if nothing is left to the residuals, or if there are factors and SciPy is not installed.
    """
    means = x.mean(axis=0)
    scales = (x - means).std(axis=0)
    design = np.column_stack([np.ones(len(y)), (x - means) / scales])
    centre = y.mean()
    sums = _Sums(y - centre, design, factors, levels)
    shares = _best_shares(sums, len(factors))
    best = sums.solve(shares)
    slopes = best.coefficients[1:] / scales
    n, p = design.shape
    spread = np.sqrt(np.diag(np.linalg.inv(best.information)) * best.variance * n / (n - p))
    return Regression(
        intercept=float(centre + best.coefficients[0] - slopes @ means),
        coefficients=slopes,
        standard_errors=spread[1:] / scales,
        variance=best.variance,
        log_likelihood=-best.deviance / 2,
        intercepts=np.split(best.intercepts, np.cumsum(levels)[:-1]) if factors else (),
        variances=[float(share**2 * best.variance) for share in shares],
        seen=[
            np.bincount(codes, minlength=k) > 0 for codes, k in zip(factors, levels, strict=True)
        ],
    )


def _best_shares(sums: _Sums, factors: int) -> np.ndarray:
    """Return the standard deviations of the factors' intercepts, as shares of the residual one, of least deviance."""
    if not factors:
        return np.zeros(0)
    found = require_scipy().minimize(
        lambda shares: sums.solve(shares).deviance,
        np.full(factors, 0.3),
        method="Nelder-Mead",
        bounds=[(0, None)] * factors,
        options={"xatol": 1e-6, "fatol": 1e-7},
    )
    return found.x


@dataclass(frozen=True)
class _Solution:
    deviance: float
    variance: float
    coefficients: np.ndarray
    intercepts: np.ndarray
    information: np.ndarray


class _Sums:
    """Sums of products of rows, from which the likelihood follows for any variances of the intercepts."""

    def __init__(
        self,
        y: np.ndarray,
        design: np.ndarray,
        factors: Sequence[np.ndarray],
        levels: Sequence[int],
    ):
        self._n, self._levels = len(y), levels
        both = np.column_stack([design, y])
        self._fixed = both.T @ both
        size = sum(levels)
        offsets = np.cumsum([0, *levels])
        columns = [codes + begin for codes, begin in zip(factors, offsets, strict=False)]
        self._random = np.zeros((size, size))
        self._mixed = np.zeros((size, both.shape[1]))
        for first in columns:
            np.add.at(self._mixed, first, both)
            for second in columns:
                np.add.at(self._random, (first, second), 1.0)

    def solve(self, shares: np.ndarray) -> _Solution:
        """Return the best coefficients for standard deviations of intercepts, as shares of the residual one."""
        scale = np.repeat(shares, self._levels)
        lower = np.linalg.cholesky(scale[:, None] * self._random * scale + np.eye(len(scale)))
        explained = np.linalg.solve(lower, scale[:, None] * self._mixed)
        rest = self._fixed - explained.T @ explained
        information = rest[:-1, :-1]
        coefficients = np.linalg.solve(information, rest[:-1, -1])
        variance = float(rest[-1, -1] - rest[:-1, -1] @ coefficients) / self._n
        if variance * self._n <= _SMALLEST * self._fixed[-1, -1]:
            raise RnngError("the predictors explain all times exactly: are the times real?")
        spherical = np.linalg.solve(lower.T, explained[:, -1] - explained[:, :-1] @ coefficients)
        deviance = 2 * np.log(np.diag(lower)).sum() + self._n * (1 + np.log(2 * np.pi * variance))
        return _Solution(float(deviance), variance, coefficients, scale * spherical, information)
