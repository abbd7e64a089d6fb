"""A Gaussian process for costs on a grid of parameters.

The kernel is Matérn 5/2 with a length for each coordinate (Rasmussen and Williams, Gaussian Processes for
Machine Learning, 2006, section 4.2). Lengths and noise maximise the marginal likelihood with log-normal
priors, by a random ascent that goes on from the last fit, so that a refit costs a few Cholesky
factorisations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kerneltune.searching.points import Floats

FIRST_TRIES, TRIES = 40, 8  # proposals of the first fit, and of later ones
STEP = 0.5  # standard deviation of a proposal, in logarithms
LENGTH_SPREAD, NOISE_SPREAD = 1.2, 1.5  # of the priors, in logarithms
NOISE = 0.01  # the prior's median, as a share of the variance
LEAST_NOISE, MOST_NOISE = 1e-4, 0.5


@dataclass(frozen=True)
class _Fit:
    """Lengths and noise, and what follows from them."""

    scales: Floats
    noise: float
    loss: float
    factor: Floats
    weights: Floats
    variance: float


class GaussianProcess:
    """A regression that says how sure it is; coordinates are to be scaled to 0 … 1."""

    def __init__(self, seed: int) -> None:
        self._source = np.random.default_rng(seed)
        self._fitted: _Fit | None = None
        self._rows: Floats = np.empty((0, 0))
        self._mean, self._spread = 0.0, 1.0

    def fit(self, rows: Floats, costs: Floats) -> None:
        """Learn costs, one for each row."""
        self._rows = rows
        self._mean, self._spread = float(costs.mean()), float(costs.std()) + 1e-9
        goal = (costs - self._mean) / self._spread
        count = rows.shape[1]
        last = self._fitted
        scales, noise = (np.ones(count), 2 * NOISE) if last is None else (last.scales, last.noise)
        best = self._tried(goal, scales, noise) or self._tried(goal, np.ones(count), MOST_NOISE)
        assert best is not None  # so much noise makes the matrix definite
        for _ in range(FIRST_TRIES if last is None else TRIES):
            chosen = self._source.random(count) < max(0.3, 1 / max(1, count))
            new_scales = best.scales * np.exp(self._source.normal(0, STEP, count) * chosen)
            new_noise = best.noise * math.exp(self._source.normal(0, 0.8 * STEP))
            found = self._tried(goal, new_scales, min(MOST_NOISE, max(LEAST_NOISE, new_noise)))
            if found is not None and found.loss < best.loss:
                best = found
        self._fitted = best

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        """Means and standard deviations of the costs of other rows."""
        fitted = self._fitted
        assert fitted is not None
        across = _matern(rows * fitted.scales, self._rows * fitted.scales)
        solved = np.linalg.solve(fitted.factor, across.T)
        variance = fitted.variance * np.maximum(1e-9, 1 + fitted.noise - (solved * solved).sum(axis=0))
        return across @ fitted.weights * self._spread + self._mean, np.sqrt(variance) * self._spread

    @property
    def sensitivities(self) -> Floats:
        """How quickly the cost changes along each coordinate: the reciprocals of the lengths."""
        return np.empty(0) if self._fitted is None else self._fitted.scales

    def _tried(self, goal: Floats, scales: Floats, noise: float) -> _Fit | None:
        """A fit with these lengths and noise; None where the matrix is not definite."""
        matrix = _matern(self._rows * scales, self._rows * scales)
        matrix[np.diag_indices_from(matrix)] += noise
        try:
            factor: Floats = np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        weights: Floats = np.linalg.solve(factor.T, np.linalg.solve(factor, goal))
        variance = max(float(goal @ weights) / len(goal), 1e-12)
        loss = 0.5 * len(goal) * math.log(variance) + float(np.log(np.diag(factor)).sum())
        loss += 0.5 * float((np.log(scales) ** 2).sum()) / LENGTH_SPREAD**2
        loss += 0.5 * math.log(noise / NOISE) ** 2 / NOISE_SPREAD**2
        return _Fit(scales, noise, loss, factor, weights, variance)


def _matern(one: Floats, other: Floats) -> Floats:
    squares = (one * one).sum(axis=1)[:, None] + (other * other).sum(axis=1)[None] - 2 * one @ other.T
    scaled = np.sqrt(5 * np.maximum(squares, 0.0))
    return np.asarray((1 + scaled + scaled * scaled / 3) * np.exp(-scaled))
