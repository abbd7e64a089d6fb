"""Large-neighbourhood search: most variables keep their values of the best solution, the others are searched.

A neighbourhood that is exhausted without a better solution was too small; one that reaches its failure limit
was too large. The share of relaxed variables follows. Among the ways to choose them, successful ones are used
more often. At intervals, nothing is kept for a growing number of failures; that completes the search and
proves an optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

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
)

FAILURES_OF_NEIGHBOURHOOD = 200
FAILURES_OF_WHOLE = 500
WHOLE_GROWS = 1.5
WHOLE_EVERY = 20  # neighbourhoods between two searches of the whole space
FIRST_SHARE = 0.15
LARGER, SMALLER = 1.15, 0.93
FADING = 0.9  # factor by which past successes of a way fade


@dataclass
class _Way:
    """A way to choose relaxed variables: an order over all of them, the first ones first.

    Attributes:
        order: Gives the order.
        share: The share of variables to relax.
        worth: Its recent success.
    """

    order: Callable[[], Sequence[int]]
    share: float = FIRST_SHARE
    worth: float = 1.0


class Neighbourhoods:
    """Steers one search from neighbourhood to neighbourhood."""

    def __init__(self, seed: int, reached: Sequence[Sequence[int]], better: Sequence[int]) -> None:
        """Make the neighbourhoods of a model.

        Args:
            seed: Seed of all choices.
            reached: For each decision variable, the numbers of the constraints that it reaches.
            better: For each of them, -1 if the objective improves as it rises, 1 as it falls, else 0.
        """
        self._random = Random(seed)
        self._reached = reached
        self._better = better
        self._gaps: list[int] = []
        self._root: tuple[list[int], list[int]] = [], []
        self._ways = [_Way(self._at_random), _Way(self._connected), _Way(self._towards_goal)]
        self._way: _Way | None = None
        self._whole = FAILURES_OF_WHOLE
        self._number = 0
        self._found = 0

    def begin(self, state: State) -> State:
        """Prepare the state of a search that has not begun."""
        state.scalar[GUIDED] = 1
        state.scalar[FAILURE_LIMIT] = self._whole
        self._root = [int(state.lo[v]) for v in state.branch], [int(state.hi[v]) for v in state.branch]
        return state

    def solved(self) -> None:
        """Note that the present neighbourhood has a better solution."""
        if self._way is not None:
            self._way.worth += 1

    def cut(self, state: State) -> State:
        """Continue in another neighbourhood: the failure limit is reached."""
        if self._way is not None:
            self._way.share = max(2 / len(state.branch), self._way.share * SMALLER)
        self._next(state)
        return state

    def exhausted(self, state: State) -> bool:
        """Whether the whole space is exhausted; otherwise continues in another neighbourhood."""
        if state.scalar[FLOOR] == 0:
            return True
        if self._way is not None:
            self._way.share *= LARGER
        self._next(state)
        return False

    def _next(self, state: State) -> None:
        """Choose the next neighbourhood."""
        scalar = state.scalar
        count = len(state.branch)
        self._number += 1
        self._way = None
        free = count
        if scalar[HAS_PHASE] and scalar[GOAL] and self._number % WHOLE_EVERY:
            for way in self._ways:
                way.worth = max(0.1, way.worth * FADING)
            self._way = self._random.choices(self._ways, [way.worth for way in self._ways])[0]
            free = max(2, round(self._way.share * count))
        if self._way is None or free >= count:
            self._way = None
            state.keep[:] = [0] * count
            self._whole = int(self._whole * WHOLE_GROWS)
            scalar[FAILURE_LIMIT] = scalar[FAILURES] + self._whole
        else:
            self._gaps = self._gaps_of(state)
            keep = [1] * count
            for place in self._way.order()[:free]:
                keep[place] = 0
            state.keep[:] = keep
            scalar[FAILURE_LIMIT] = scalar[FAILURES] + FAILURES_OF_NEIGHBOURHOOD
        scalar[PHASE] = RELAX

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
