"""The base of all strategies: points are asked once, outcomes are kept, budgets end the search."""

from __future__ import annotations

import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import InputError
from kerneltune.searching.launched import LaunchModel
from kerneltune.searching.points import Features, Points
from kerneltune.searching.protocol import Configuration, Outcome

Model = Callable[[Configuration], float]
Clock = Callable[[], float]
REPEATS = 64  # proposals of known points in a row before a random one is taken


@dataclass(frozen=True)
class SearchBudget:
    """Limits after which a strategy asks no more.

    Attributes:
        evaluations: Most configurations that are asked.
        seconds: Most seconds by the clock.
        no_gain: Most outcomes in a row without a better one.
    """

    evaluations: int | None = None
    seconds: float | None = None
    no_gain: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("evaluations", 0), ("seconds", 0), ("no_gain", 1)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise InputError(f"budget: {name} is {value}, but must be at least {least}")


@dataclass(frozen=True)
class SearchOptions:
    """Options of a strategy besides its space.

    Attributes:
        objectives: Names of what is minimised; one, except for multi-objective strategies.
        seed: The same seed and outcomes give the same configurations.
        model: The predicted cost of a configuration, such as cycles.
        features: Further numbers of a configuration for learned models.
        budget: When the search ends.
        clock: Seconds; replays give their own.
        prior: Earlier outcomes, of another size or GPU, in units of their own.
        launch: How configurations are launched on a GPU, from which the Gaussian process learns, too.
    """

    objectives: tuple[str, ...] = ("time",)
    seed: int = 0
    model: Model | None = None
    features: Features | None = None
    budget: SearchBudget = field(default_factory=SearchBudget)
    clock: Clock = time.monotonic
    prior: Sequence[Outcome] = ()
    launch: LaunchModel | None = None


class Search(ABC):
    """Base of the strategies: a subclass proposes points and learns from their costs.

    Args:
        space: The valid configurations.
        options: Objective, seed, model and budget.

    Attributes:
        points: The space's points by number.
        asked: The numbers of points that were asked, told or excluded.
        excluded: Whether a point is left out when its turn comes: what is learned while searching.
        skipped: How many were left out.
    """

    def __init__(self, space: SolutionSet, options: SearchOptions) -> None:
        if not space.size:
            raise InputError("the space is empty: no configuration fulfils its restrictions")
        self.points = Points(space)
        self.options = options
        self.random = random.Random(options.seed)
        self.asked: set[int] = set()
        self.costs: dict[int, float] = {}  # of told points, infinite on failure
        self.best: int | None = None
        self._started: float | None = None
        self._without_gain = 0
        self._asks = 0
        self._rest: list[int] | None = None
        self.excluded: Callable[[Configuration], bool] = lambda configuration: False
        self.skipped = 0

    # The protocol

    def ask(self, count: int) -> list[Configuration]:
        """Up to `count` new valid configurations; none when the space or the budget is spent."""
        if self._started is None:
            self._started = self.options.clock()
        found: list[Configuration] = []
        while len(found) < count and not self._is_over():
            number = self._new()
            if number is None:
                break
            self.asked.add(number)
            configuration = self.points.configuration(number)
            if self.excluded(configuration):
                self.skipped += 1
                continue
            self._asks += 1
            found.append(configuration)
        return found

    def tell(self, outcome: Outcome) -> None:
        """Take an outcome, also of a configuration that was not asked, such as a stored one."""
        number = self.points.known(outcome.configuration)
        self.asked.add(number)
        cost = self.cost_of(outcome)
        self.costs[number] = cost
        if cost < (math.inf if self.best is None else self.costs[self.best]):
            self.best, self._without_gain = number, 0
        else:
            self._without_gain += 1
        self._learn(number, cost, outcome)

    def cost_of(self, outcome: Outcome) -> float:
        """The cost, which is minimised; infinite on failure."""
        value = outcome.objectives.get(self.options.objectives[0])
        return math.inf if outcome.failure is not None or value is None or math.isnan(value) else value

    def report(self) -> Mapping[str, object]:
        """A report for people of the strategy's model; empty for strategies without one."""
        return {}

    def predicted(self, configuration: Configuration) -> float | None:
        """The cost that the strategy expected of a configuration; None if it has no model."""
        return None

    # For subclasses

    @abstractmethod
    def _propose(self) -> int | None:
        """The next point, which may be known already; None for any."""

    def _learn(self, number: int, cost: float, outcome: Outcome) -> None:
        """Take note of an outcome; most strategies need no more than `costs`."""
        return

    def drawn(self) -> int | None:
        """A point that was not asked for, uniformly; None if there is none."""
        size = self.points.size
        if len(self.asked) >= size:
            return None
        if self._rest is None and 2 * len(self.asked) < size:
            while True:
                number = self.random.randrange(size)
                if number not in self.asked:
                    return number
        if self._rest is None:
            self._rest = [number for number in range(size) if number not in self.asked]
            self.random.shuffle(self._rest)
        while self._rest:
            number = self._rest.pop()
            if number not in self.asked:
                return number
        return None

    def _new(self) -> int | None:
        for _ in range(REPEATS):
            number = self._propose()
            if number is None:
                break
            if number not in self.asked:
                return number
        return self.drawn()

    def _is_over(self) -> bool:
        budget = self.options.budget
        if len(self.asked) >= self.points.size:
            return True
        if budget.evaluations is not None and self._asks >= budget.evaluations:
            return True
        if budget.no_gain is not None and self._without_gain >= budget.no_gain:
            return True
        if budget.seconds is None or self._started is None:
            return False
        return self.options.clock() - self._started >= budget.seconds
