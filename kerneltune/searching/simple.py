"""Exhaustive and random search, and search in the order of a predicted cost."""

from __future__ import annotations

import math

from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import InputError
from kerneltune.searching.base import Search, SearchOptions
from kerneltune.searching.protocol import Configuration

SAMPLED = 256  # points of a large space whose cost is predicted before the first is proposed
MODELLED = 1 << 16  # points of a space whose cost is predicted for all


class Exhaustive(Search):
    """All points in the order of their numbers."""

    _next = 0

    def _propose(self) -> int | None:
        while self._next in self.asked:
            self._next += 1
        return self._next if self._next < self.points.size else None


class Uniform(Search):
    """Points drawn uniformly, without replacement."""

    def _propose(self) -> int | None:
        return None


class Predicted(Search):
    """The points of least predicted cost first.

    Small spaces are sorted. In larger ones the order begins with the best of a sample, and goes on with the
    best neighbour of what was proposed, so that it descends in the prediction.
    """

    def __init__(self, space: SolutionSet, options: SearchOptions) -> None:
        super().__init__(space, options)
        if options.model is None:
            raise InputError("the strategy 'model' needs a model: give model=, a function of a configuration")
        self._model = options.model
        self._seen: dict[int, float] = {}
        if self.points.size <= MODELLED:
            numbers = list(range(self.points.size))
        else:
            numbers = [self.random.randrange(self.points.size) for _ in range(SAMPLED)]
        self._predict(numbers)
        self._order = sorted(self._seen, key=lambda number: (self._seen[number], number))
        self._place = 0
        self._expanded: set[int] = set()

    def predicted(self, configuration: Configuration) -> float | None:
        """The model's cost."""
        return self._seen.get(self.points.known(configuration))

    def _predict(self, numbers: list[int]) -> None:
        for number in numbers:
            if number not in self._seen:
                cost = float(self._model(self.points.configuration(number)))
                self._seen[number] = math.inf if math.isnan(cost) else cost

    def _propose(self) -> int | None:
        if self.points.size > MODELLED:
            return self._descended()
        while self._place < len(self._order) and self._order[self._place] in self.asked:
            self._place += 1
        return self._order[self._place] if self._place < len(self._order) else None

    def _descended(self) -> int | None:
        """The best point that is predicted, whose neighbours are predicted too."""
        while True:
            fresh = (number for number in self._seen if number not in self.asked)
            best = min(fresh, key=self._seen.__getitem__, default=None)
            if best is None or best in self._expanded:
                return best
            self._expanded.add(best)
            self._predict(self.points.neighbours(best))
