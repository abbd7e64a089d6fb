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
EACH = 24  # rows up to twice which lengths are fitted at each one
PART = 128  # rows whose covariances are computed at a time
ROOT = math.sqrt(5.0)
BATCH = 64  # rows whose standard deviations are computed at a time


@dataclass(frozen=True)
class _Fit:
    """Lengths and noise, and how likely they make the costs."""

    scales: Floats
    noise: float
    loss: float


@dataclass(frozen=True)
class _Solved:
    """Rows with lengths and noise, and the inverse of the lower Cholesky factor of their covariances."""

    scales: Floats
    noise: float
    rows: Floats
    inverse: Floats

    def is_extended_by(self, rows: Floats) -> bool:
        """Whether some rows begin with these."""
        count = len(self.rows)
        return len(rows) >= count and np.array_equal(rows[:count], self.rows)


class GaussianProcess:
    """A regression with standard deviations; coordinates are to be scaled to 0 … 1.

    Lengths are fitted at every row up to `EACH` rows, and then at intervals that grow with their number;
    between, a row extends the factor.
    """

    def __init__(self, seed: int) -> None:
        self._source = np.random.default_rng(seed)
        self._fitted: _Fit | None = None
        self._solved: _Solved | None = None
        self._due = 0  # rows at which lengths are fitted again
        self._weights: Floats = np.empty(0)
        self._variance = 1.0
        self._mean, self._spread = 0.0, 1.0

    def fit(self, rows: Floats, costs: Floats) -> None:
        """Learn costs, one for each row of coordinates.

        Where lengths are not due to be fitted again, rows that extend those of the last call are cheap.
        """
        self._mean, self._spread = float(costs.mean()), float(costs.std()) + 1e-9
        targets = (costs - self._mean) / self._spread
        solved = self._solved
        if self._fitted is None or len(rows) >= self._due or solved is None or len(rows) < len(solved.rows):
            self._fitted = self._best_fit(rows, targets)
            self._due = len(rows) + max(1, len(rows) // EACH)
            solved = None
        self._solved = self._extended(solved, rows)
        halfway = self._solved.inverse @ targets
        self._weights = halfway @ self._solved.inverse
        self._variance = max(float(halfway @ halfway) / len(targets), 1e-12)

    def _best_fit(self, rows: Floats, targets: Floats) -> _Fit:
        """Lengths and noise by an ascent from the last ones."""
        count = rows.shape[1]
        last = self._fitted
        scales, noise = (np.ones(count), 2 * NOISE) if last is None else (last.scales, last.noise)
        best = _tried(rows, targets, scales, noise) or _tried(rows, targets, np.ones(count), MOST_NOISE)
        assert best is not None  # so much noise makes the matrix definite
        for _ in range(FIRST_TRIES if last is None else TRIES):
            chosen = self._source.random(count) < max(0.3, 1 / max(1, count))
            new_scales = best.scales * np.exp(self._source.normal(0, STEP, count) * chosen)
            new_noise = best.noise * math.exp(self._source.normal(0, 0.8 * STEP))
            found = _tried(rows, targets, new_scales, min(MOST_NOISE, max(LEAST_NOISE, new_noise)))
            if found is not None and found.loss < best.loss:
                best = found
        return best

    def _extended(self, solved: _Solved | None, rows: Floats) -> _Solved:
        """The inverse of the factor for all rows, of which the last may be new."""
        fitted = self._fitted
        assert fitted is not None
        if solved is None or not solved.is_extended_by(rows):
            matrix = _matern(rows * fitted.scales, rows * fitted.scales)
            matrix[np.diag_indices_from(matrix)] += fitted.noise
            inverse: Floats = np.asarray(np.linalg.inv(np.linalg.cholesky(matrix)), dtype=np.float64)
            return _Solved(fitted.scales, fitted.noise, rows, inverse)
        before = len(solved.rows)
        inverse = np.zeros((len(rows), len(rows)))
        inverse[:before, :before] = solved.inverse
        across = _matern(rows[before:] * fitted.scales, rows * fitted.scales)
        for place in range(before, len(rows)):
            known = inverse[:place, :place] @ across[place - before, :place]
            rest = math.sqrt(max(1 + fitted.noise - float(known @ known), LEAST_NOISE))
            inverse[place, :place] = -(known @ inverse[:place, :place]) / rest
            inverse[place, place] = 1 / rest
        return _Solved(fitted.scales, fitted.noise, rows, inverse)

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        """Means and standard deviations of the costs of other rows."""
        across = self._across(rows)
        return self._means(across), self._spreads(across)

    def most_improving(self, rows: Floats, offsets: Floats, best: float) -> tuple[int, float]:
        """The row of greatest expected improvement on a cost, and its mean.

        Offsets are added to the means. Standard deviations are computed where a bound by the nearest known
        row alone lets the improvement be the greatest.
        """
        solved = self._solved
        assert solved is not None
        across = self._across(rows)
        means = self._means(across) + offsets
        most = 1 + solved.noise
        at_most = np.sqrt(self._variance * np.maximum(1e-9, most - across.max(axis=1) ** 2 / most))
        bounds = improvement_bound(best, means, at_most * self._spread)
        order = np.argsort(-bounds, kind="stable")
        chosen, gain = int(order[0]), -1.0
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            if bounds[part[0]] <= gain:
                break
            gains = expected_improvement(best, means[part], self._spreads(across[part]))
            place = int(np.argmax(gains))
            if gains[place] > gain:
                chosen, gain = int(part[place]), float(gains[place])
        return chosen, float(means[chosen])

    def _across(self, rows: Floats) -> Floats:
        solved = self._solved
        assert solved is not None
        return _matern(rows * solved.scales, solved.rows * solved.scales)

    def _means(self, across: Floats) -> Floats:
        return np.asarray(across @ self._weights * self._spread + self._mean)

    def _spreads(self, across: Floats) -> Floats:
        assert self._solved is not None
        known = self._solved.inverse @ across.T
        shares = np.maximum(1e-9, 1 + self._solved.noise - (known * known).sum(axis=0))
        return np.asarray(np.sqrt(self._variance * shares) * self._spread)

    @property
    def sensitivities(self) -> Floats:
        """How quickly the cost changes along each coordinate: the reciprocals of the lengths."""
        return np.empty(0) if self._fitted is None else self._fitted.scales


def _tried(rows: Floats, targets: Floats, scales: Floats, noise: float) -> _Fit | None:
    """A fit with these lengths and noise; None where the matrix is not definite.

    Targets are the costs with mean 0 and deviation 1. The matrix is bordered by them, so that the last row of
    the factor is the solution.
    """
    count = len(targets)
    matrix = np.empty((count + 1, count + 1))
    matrix[:count, :count] = _matern(rows * scales, rows * scales)
    matrix[np.arange(count), np.arange(count)] += noise
    matrix[count, :count] = matrix[:count, count] = targets
    matrix[count, count] = 2 * float(targets @ targets) / noise + 1  # more than the solution's square
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None
    halfway = factor[count, :count]
    variance = max(float(halfway @ halfway) / count, 1e-12)
    loss = 0.5 * count * math.log(variance) + float(np.log(np.diag(factor)[:count]).sum())
    loss += 0.5 * float((np.log(scales) ** 2).sum()) / LENGTH_SPREAD**2
    loss += 0.5 * math.log(noise / NOISE) ** 2 / NOISE_SPREAD**2
    return _Fit(scales, noise, loss)


def _matern(one: Floats, other: Floats) -> Floats:
    """The covariances of rows with others, computed in place in parts that stay in the processor's cache."""
    found = np.empty((len(one), len(other)))
    scaled, known = one * ROOT, other * ROOT
    lengths, known_lengths = (scaled * scaled).sum(axis=1)[:, None], (known * known).sum(axis=1)
    turned = -2 * known.T
    for start in range(0, len(one), PART):
        part = slice(start, start + PART)
        squares = scaled[part] @ turned
        squares += lengths[part]
        squares += known_lengths
        np.maximum(squares, 0.0, out=squares)
        apart = np.sqrt(squares)
        squares *= 1 / 3
        squares += apart
        squares += 1
        np.negative(apart, out=apart)
        np.exp(apart, out=apart)
        np.multiply(squares, apart, out=found[part])
    return found


def expected_improvement(best: float, means: Floats, spreads: Floats) -> Floats:
    """How far below the best a point is expected to be (Jones, Schonlau and Welch, 1998, equation 15)."""
    scaled = (best - means) / spreads
    below = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in scaled.tolist()])
    return np.asarray(spreads * (scaled * below + _density(scaled)))


def improvement_bound(best: float, means: Floats, spreads: Floats) -> Floats:
    """No less than the expected improvement, by a bound of Mills' ratio from below: x / (1 + x²)."""
    scaled = (best - means) / spreads
    return np.asarray(spreads * (np.maximum(scaled, 0.0) + _density(scaled) / (1 + scaled * scaled)))


def _density(values: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * values * values) / math.sqrt(2 * math.pi))
