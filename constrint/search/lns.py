"""Large-neighbourhood search: most variables keep their values of the best solution, the others are searched.

A neighbourhood that is exhausted without a better solution was too small; one that reaches its failure limit
without one was too large. The share of relaxed variables follows. Among the ways to choose them, successful
ones are used more often. At intervals, nothing is kept for a growing number of failures; that completes the
search and proves an optimum.

One way is led by the optimum of a linear relaxation, where there is one. Variables on whose values both agree
are kept, and the others try the relaxation's values first: Danna, Rothberg and Le Pape, "Exploring relaxation
induced neighborhoods to improve MIP solutions", 2005. Without a solution, the values that are integral in the
relaxation are kept: Berthold, "RENS – the optimal rounding", 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from constrint.settings import DEFAULT, NeighbourhoodSettings
from constrint.store.state import (
    FAILURE_LIMIT,
    FAILURES,
    FLOOR,
    GOAL,
    GUIDED,
    HAS_PHASE,
    PHASE,
    RELAX,
    State,
    write,
)

if TYPE_CHECKING:
    from constrint.relaxation.point import Point


@dataclass
class _Way:
    """A way to choose relaxed variables: an order over all of them, the first ones first.

    Attributes:
        order: Gives the order.
        share: The share of variables to relax.
        worth: Its recent success.
    """

    order: Callable[[], Sequence[int]]
    share: float
    worth: float = 1.0


class Neighbourhoods:
    """Steers one search from neighbourhood to neighbourhood.

    Attributes:
        tried: How many there were.
        improved: How often one of them had a better solution.
    """

    def __init__(
        self,
        seed: int,
        reached: Sequence[Sequence[int]],
        better: Sequence[int],
        rules: NeighbourhoodSettings = DEFAULT.neighbourhoods,
    ) -> None:
        """Make the neighbourhoods of a model.

        Args:
            seed: Seed of all choices.
            reached: For each decision variable, the numbers of the constraints that it reaches.
            better: For each of them, -1 if the objective improves as it rises, 1 as it falls, else 0.
            rules: The settings.
        """
        self._rules = rules
        share = rules.first_share
        self._random = Random(seed)
        self._reached = reached
        self._better = better
        self._gaps: list[int] = []
        self._agreements: list[float] = []
        self._root: tuple[list[int], list[int]] = [], []
        self._ways = [_Way(order, share) for order in (self._at_random, self._connected, self._towards_goal)]
        self._way: _Way | None = None
        self._has_improved = False  # whether the present neighbourhood has a better solution
        self._whole = rules.failures_of_whole
        self.tried = self.improved = 0
        self._point: Point | None = None
        self._led = _Way(self._by_relaxation, share)
        self._tried: list[tuple[int, int]] = []  # places that try other values first, and their best values
        self._has_best = True  # whether the values to search near are those of a solution

    def begin(self, state: State) -> State:
        """Prepare the state of a search that has not begun."""
        state.scalar[GUIDED] = 1
        state.scalar[FAILURE_LIMIT] = self._whole
        self._root = [int(state.lo[v]) for v in state.branch], [int(state.hi[v]) for v in state.branch]
        return state

    def solved(self) -> None:
        """Note that the present neighbourhood has a better solution."""
        self.followed()
        if self._way is not None:
            self._way.worth += 1
            self.improved += 1
            self._has_improved = True

    def followed(self) -> None:
        """Note that the values to search near are those of a new solution."""
        if not self._has_best:
            self._led.share = self._rules.first_share
        self._tried, self._has_best = [], True

    def lead(self, point: Point) -> None:
        """Choose neighbourhoods by an optimum of a relaxation, too."""
        if self._point is None:
            self._ways.append(self._led)
        self._point = point

    def cut(self, state: State) -> State:
        """Continue in another neighbourhood: the failure limit is reached."""
        if self._way is not None and not self._has_improved:
            least = min(2 / len(state.branch), self._rules.least_share)
            self._way.share = max(least, self._way.share * self._rules.smaller)
        self._next(state)
        return state

    def exhausted(self, state: State) -> bool:
        """Whether the whole space is exhausted; otherwise continues in another neighbourhood."""
        if state.scalar[FLOOR] == 0:
            return True
        if self._way is not None:
            self._way.share *= self._rules.larger
        self._next(state)
        return False

    def _next(self, state: State) -> None:
        """Choose the next neighbourhood."""
        scalar, rules = state.scalar, self._rules
        count = len(state.branch)
        self.tried += 1
        self._way, self._has_improved = None, False
        self._restore(state)
        free = count
        if scalar[HAS_PHASE] and scalar[GOAL] and self.tried % rules.whole_every:
            for way in self._ways:
                way.worth = max(0.1, way.worth * rules.fading)
            self._way = self._random.choices(self._ways, [way.worth for way in self._ways])[0]
            if not self._has_best:
                self._way = self._led
            if self._way is self._led:
                self._agreements = self._agreements_of(state)
                differ = sum(agreed < rules.agreed for agreed in self._agreements)
                free = max(2, round(differ * self._way.share / rules.first_share))
                if free >= count:
                    self._way.share = rules.first_share
            else:
                free = max(2, round(self._way.share * count))
        if self._way is None or free >= count:
            self._way = None
            write(state.keep, 0, [0] * count)
            self._whole = int(self._whole * rules.whole_grows)
            scalar[FAILURE_LIMIT] = scalar[FAILURES] + self._whole
        else:
            self._gaps = self._gaps_of(state)
            keep = [1] * count
            for place in self._way.order()[:free]:
                keep[place] = 0
            write(state.keep, 0, keep)
            if self._way is self._led:
                self._try_others(state, keep)
            scalar[FAILURE_LIMIT] = scalar[FAILURES] + rules.failures
        scalar[PHASE] = RELAX

    def _restore(self, state: State) -> None:
        """Restore the best values where others were tried; without a solution, take the relaxation's."""
        for place, value in self._tried:
            state.phase[place] = value
        self._tried = []
        if self._point is not None and not state.scalar[HAS_PHASE]:
            state.scalar[HAS_PHASE], self._has_best = 1, False
        if self._point is not None and not self._has_best:
            for place, v in enumerate(state.branch):
                likely = self._point.value(int(v))
                state.phase[place] = self._root[0][place] if likely is None else likely

    def _try_others(self, state: State, keep: Sequence[int]) -> None:
        """Let the variables that are not kept try the relaxation's values first."""
        assert self._point is not None
        for place, kept in enumerate(keep):
            value = None if kept else self._point.value(int(state.branch[place]))
            if value is not None:
                self._tried.append((place, int(state.phase[place])))
                state.phase[place] = value

    def _agreements_of(self, state: State) -> list[float]:
        """How much the relaxation agrees with the values to search near; low where it has no value."""
        assert self._point is not None
        found = [
            self._point.agreement(int(v), int(x)) for v, x in zip(state.branch, state.phase, strict=True)
        ]
        return [self._rules.agreed if agreed is None else agreed for agreed in found]

    def _gaps_of(self, state: State) -> list[int]:
        """The distance of each variable from the end that the objective prefers."""
        lows, highs = self._root
        gaps = []
        for place, better in enumerate(self._better):
            value = int(state.phase[place])
            gaps.append(value - lows[place] if better > 0 else highs[place] - value if better < 0 else 0)
        return gaps

    def _at_random(self) -> Sequence[int]:
        places = list(range(len(self._reached)))
        self._random.shuffle(places)
        return places

    def _connected(self) -> Sequence[int]:
        """From a random variable on, the variables that share the most constraints with it."""
        reached = self._reached
        first = self._random.randrange(len(reached))
        shared = set(reached[first])
        near = [(-len(shared.intersection(numbers)), self._random.random()) for numbers in reached]
        near[first] = -len(reached) - max(map(len, reached)), 0.0
        return sorted(range(len(reached)), key=near.__getitem__)

    def _towards_goal(self) -> Sequence[int]:
        """A random order weighted by the distance from the end that the objective prefers."""
        most = max(self._gaps) or 1
        drawn = [self._random.random() ** (1 / (0.05 + gap / most)) for gap in self._gaps]
        return sorted(range(len(drawn)), key=drawn.__getitem__, reverse=True)

    def _by_relaxation(self) -> Sequence[int]:
        """Variables by agreement with the relaxation, least first; full agreement in random order."""
        least = self._rules.agreed
        keys = [(agreed if agreed < least else 1.0, self._random.random()) for agreed in self._agreements]
        return sorted(range(len(keys)), key=keys.__getitem__)
