"""Searches that move: over neighbours, by annealing, and by crossing a population."""

from __future__ import annotations

import math

from constrint.solutions.solutionset import SolutionSet
from kerneltune.searching.base import Search, SearchOptions
from kerneltune.searching.points import Kind
from kerneltune.searching.protocol import Outcome

FIRST_POINTS = 8  # random points before the first descent
JUMP = 2  # parameters that are changed to leave a local optimum
POPULATION = 20
MUTATED = 0.3  # share of children of which one parameter is changed besides
TOURNAMENT = 3
HOT, COLD = 0.5, 0.01  # temperatures: ratios of costs whose logarithm is accepted with probability 1/e
LENGTH = 200  # evaluations of a cooling without a budget


class Neighbours(Search):
    """Iterated local search: the first better neighbour is moved to.

    A local optimum is left by changing some parameters of the best point at random.

    Args:
        space: The valid configurations.
        options: Objective, seed and budget.
        kind: Which points are neighbours.
    """

    def __init__(self, space: SolutionSet, options: SearchOptions, kind: Kind = "hamming") -> None:
        super().__init__(space, options)
        self._kind: Kind = kind
        self._here: int | None = None
        self._queue: list[int] = []
        self._first = FIRST_POINTS

    def _propose(self) -> int | None:
        if self._first > 0:
            self._first -= 1
            return None
        if self.best is None:
            return None  # all failed so far
        if self._here is None:
            self._move(self.best)
        while True:
            while self._queue:
                number = self._queue.pop()
                if number not in self.asked:
                    return number
            if not self._jumped():
                return None

    def _learn(self, number: int, cost: float, outcome: Outcome) -> None:
        if self._here is not None and cost < self.costs.get(self._here, math.inf):
            self._move(number)

    def _move(self, number: int) -> None:
        """Go to a point, and on to the best of its known neighbours while that is better.

        The neighbours of the last point are then proposed in random order.
        """
        while True:
            near = self.points.neighbours(number, self._kind)
            known = [one for one in near if one in self.costs]
            better = min(known, key=self.costs.__getitem__, default=None)
            if better is None or self.costs[better] >= self.costs.get(number, math.inf):
                break
            number = better
        self._here = number
        self._queue = near
        self.random.shuffle(self._queue)

    def _jumped(self) -> bool:
        """Leave a local optimum; False if no new point was found."""
        number = self.best
        for _ in range(JUMP + 1):
            near = [] if number is None else self.points.neighbours(number, "hamming")
            if not near:
                return False
            number = self.random.choice(near)
        assert number is not None
        self._here = None if number in self.costs else number
        self._queue = self.points.neighbours(number, self._kind)
        self.random.shuffle(self._queue)
        self._queue.append(number)
        self._here = number
        return any(one not in self.asked for one in self._queue)


class Annealing(Search):
    """Simulated annealing over neighbours; costs are compared by their ratio."""

    def __init__(self, space: SolutionSet, options: SearchOptions) -> None:
        super().__init__(space, options)
        self._here: int | None = None
        self._first = FIRST_POINTS
        self._steps = options.budget.evaluations or LENGTH

    def _propose(self) -> int | None:
        if self._first > 0 or self.best is None:
            self._first -= 1
            return None
        here = self.best if self._here is None else self._here
        near = self.points.neighbours(here, self.random.choice(("adjacent", "hamming")))
        fresh = [one for one in near if one not in self.asked]
        if fresh:
            return self.random.choice(fresh)
        if near:
            self._here = self.random.choice(near)
        return None

    def _learn(self, number: int, cost: float, outcome: Outcome) -> None:
        if math.isinf(cost):
            return
        now = math.inf if self._here is None else self.costs.get(self._here, math.inf)
        spent = (len(self.costs) % self._steps) / self._steps
        temperature = HOT * (COLD / HOT) ** spent
        if math.isinf(now):
            worse = -1.0
        else:
            worse = math.log(cost / now) if cost > 0 and now > 0 else cost - now
        if worse <= 0 or self.random.random() < math.exp(-worse / temperature):
            self._here = number


class Evolution(Search):
    """A population whose members are crossed and mutated; children that are not valid are not born."""

    def __init__(self, space: SolutionSet, options: SearchOptions) -> None:
        super().__init__(space, options)
        self._members: list[int] = []
        self._first = POPULATION

    def _propose(self) -> int | None:
        if self._first > 0 or len(self._members) < 2:
            self._first -= 1
            return None
        one, other = self._parent(), self._parent()
        mother, father = self.points.ordinals([one, other]).tolist()
        child = [self.random.choice(pair) for pair in zip(mother, father, strict=True)]
        number = self.points.replaced(child)
        if number is None or number in self.asked or self.random.random() < MUTATED:
            near = self.points.neighbours(one if number is None else number)
            fresh = [n for n in near if n not in self.asked]
            return self.random.choice(fresh) if fresh else None
        return number

    def _parent(self) -> int:
        drawn = [self.random.choice(self._members) for _ in range(TOURNAMENT)]
        return min(drawn, key=self.costs.__getitem__)

    def _learn(self, number: int, cost: float, outcome: Outcome) -> None:
        if math.isinf(cost) or number in self._members:
            return
        self._members.append(number)
        if len(self._members) > POPULATION:
            self._members.remove(max(self._members, key=self.costs.__getitem__))
