"""Prior knowledge of a space: earlier results of another size or GPU, and a cost model.

Times of other sizes and GPUs have other magnitudes, but similar orders: the costs of earlier points are
taken relative to their least. A search begins with the best of them, and a learned model learns how the costs
differ from theirs, as long as the two agree (Spearman's rank correlation of the points that both know).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kerneltune.searching.base import SearchOptions
from kerneltune.searching.points import Coordinates, Floats, Points

LIKE = 0.3  # least rank correlation at which earlier costs still count
ENOUGH = 4  # points that both know before that is judged
NEAREST = 3  # earlier points that stand for one that was not measured
MOST_MODELLED = 2000  # points whose cost by the model is compared for the first ones


class Prior:
    """Earlier outcomes and a model, for one search.

    Args:
        points: The space.
        options: The search's options: `prior` and `model`.
    """

    def __init__(self, points: Points, options: SearchOptions) -> None:
        self._points, self._options = points, options
        costs: dict[int, float] = {}
        for outcome in options.prior:
            number = points.number(outcome.configuration)
            value = outcome.objectives.get(options.objectives[0])
            if number is not None and outcome.failure is None and value is not None and value > 0:
                costs[number] = min(value, costs.get(number, math.inf))
        least = min(costs.values(), default=1.0)
        self._logs = {number: math.log(cost / least) for number, cost in costs.items()}
        self._modelled: Floats | None = None  # logarithmic costs of all points by the model
        self._earlier, self._model = _Agreement(), _Agreement()
        if costs:
            self._coordinates = Coordinates(points)
            self._known = list(self._logs)
            self._rows = self._coordinates.plain(self._known)
            self._values = np.array([self._logs[number] for number in self._known])

    def best(self, count: int) -> list[int]:
        """The points to begin with: the best earlier ones, then the best by the model."""
        found = sorted(self._logs, key=lambda number: (self._logs[number], number))[:count]
        model = self._options.model
        if model is not None:
            size = self._points.size
            numbers = range(size) if size <= MOST_MODELLED else self._sampled(size)
            costs = {number: float(model(self._points.configuration(number))) for number in numbers}
            if len(costs) == size and min(costs.values()) > 0:
                logs = np.log(np.array([costs[number] for number in range(size)]))
                self._modelled = logs - logs.min()
            found += sorted(costs, key=lambda number: (costs[number], number))[: count - len(found)]
        return found

    def _sampled(self, size: int) -> list[int]:
        import random

        source = random.Random(self._options.seed)
        return sorted({source.randrange(size) for _ in range(MOST_MODELLED)})

    def tell(self, number: int, cost: float) -> None:
        """Compare an outcome with the earlier ones."""
        if not math.isfinite(cost):
            return
        if number in self._logs:
            self._earlier.tell(cost, self._logs[number])
        if self._modelled is not None:
            self._model.tell(cost, float(self._modelled[number]))

    def offsets(self, numbers: Sequence[int]) -> Floats:
        """The logarithmic costs that earlier results predict, or else the model; zeros where they mislead."""
        if self._logs and self._earlier.holds:
            return self._of_earlier(numbers)
        if self._modelled is not None and self._model.holds:
            return self._modelled[np.asarray(numbers, dtype=np.int64)]
        return np.zeros(len(numbers))

    def _of_earlier(self, numbers: Sequence[int]) -> Floats:
        rows = self._coordinates.plain(numbers)
        apart = ((rows[:, None, :] - self._rows[None, :, :]) ** 2).sum(axis=2)
        count = min(NEAREST, len(self._known))
        nearest = np.argpartition(apart, count - 1, axis=1)[:, :count]
        weights = 1 / (np.take_along_axis(apart, nearest, axis=1) + 1e-6)
        return np.asarray((weights * self._values[nearest]).sum(axis=1) / weights.sum(axis=1))


class _Agreement:
    """Whether costs have the order that was expected of them, as far as is known."""

    def __init__(self) -> None:
        self._pairs: list[tuple[float, float]] = []
        self.holds = True

    def tell(self, cost: float, expected: float) -> None:
        """Compare a cost with what was expected."""
        self._pairs.append((cost, expected))
        if len(self._pairs) >= ENOUGH:
            ours, theirs = (_ranks([pair[side] for pair in self._pairs]) for side in (0, 1))
            spread = float(ours.std() * theirs.std())
            agreement = float(((ours - ours.mean()) * (theirs - theirs.mean())).mean())
            self.holds = spread > 0 and agreement / spread >= LIKE


def _ranks(values: Sequence[float]) -> Floats:
    return np.argsort(np.argsort(np.array(values))).astype(np.float64)
