"""The members of a portfolio of searches; their work is counted in units of about equal time.

A unit is a propagation of the compiled engine, some 0.03 microseconds. Counters of other members are
converted to units by factors that were calibrated by time (`PortfolioSettings`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constrint.search.depth_first import DepthFirstRun
from constrint.search.sliced import WORK_OF_NODE

if TYPE_CHECKING:
    from constrint.learning.session import LearningRun
    from constrint.relaxation.lp_rows import LpRow, Relaxation
    from constrint.relaxation.point import Point
    from constrint.search.feasibility_jump import FeasibilityJumpRun
    from constrint.search.relaxed import RelaxedRun
    from constrint.settings import PortfolioSettings


@dataclass
class PortfolioMember:
    """A search of a portfolio.

    Attributes:
        weight: Its share of the work, relative to the other members.
        rules: The settings.
        merit: Its recent success.
        spent: Units of work in its turns, by which the next turn is assigned.
        found: The better solutions that it found in the present turn.
    """

    weight: float
    rules: PortfolioSettings
    merit: float = field(default=0.0, init=False)
    spent: float = field(default=0.0, init=False)
    found: int = field(default=0, init=False)

    @property
    def run(self) -> DepthFirstRun | LearningRun | RelaxedRun | FeasibilityJumpRun:
        """The search."""
        raise NotImplementedError

    @property
    def claim(self) -> float:
        """The key of scheduling: the member with the least claim gets the next turn."""
        return self.spent / (self.weight * (1 + self.merit))

    def begin(self, work: int) -> None:
        """Begin a turn of `work` units."""
        raise NotImplementedError

    def goes_on(self) -> bool:
        """Whether a pause is within the turn; otherwise the turn is over."""
        raise NotImplementedError

    def over(self) -> None:
        """End a turn, and update the merit by whether it found better solutions."""
        rules = self.rules
        self.merit = min(rules.most_merit, rules.fading * self.merit + 2 * (self.found > 0))
        self.found = 0

    def follow(self, values: Mapping[int, int]) -> None:
        """Use the values of the best solution, by variable, as a guide."""


@dataclass
class TreeSearchMember(PortfolioMember):
    """A tree search, as a member.

    Attributes:
        search: The search.
        price: Mean cost of its propagations, in units.
    """

    search: DepthFirstRun
    price: float = 1.0
    _until: int = field(default=0, init=False)
    _noted: int = field(default=0, init=False)

    @property
    def run(self) -> DepthFirstRun:
        """The search."""
        return self.search

    @property
    def decided(self) -> Sequence[int]:
        """The variables whose values guide it."""
        return self.search.decided

    @property
    def _nodes(self) -> int:
        return int(self.search.node_count)

    @property
    def work(self) -> int:
        """Units so far."""
        return int(self.price * self.search.propagations) + WORK_OF_NODE * self._nodes

    def begin(self, work: int) -> None:
        """Begin a turn of `work` units."""
        self._noted = self.work
        self._until = self.work + work
        self.search.turn_ends = self._nodes + self.rules.nodes_of_turn

    def goes_on(self) -> bool:
        """Whether a pause is within the turn; otherwise the turn is over."""
        if self.work < self._until:
            self.search.turn_ends = self._nodes + self.rules.nodes_of_turn
            return True
        self.spent += self.work - self._noted
        return False

    def follow(self, values: Mapping[int, int]) -> None:
        """Use the values of the best solution, by variable, as a guide."""
        self.search.follow(values)


@dataclass
class NeighbourhoodMember(TreeSearchMember):
    """A search of large neighbourhoods, as a member. Its weight fades while it finds nothing."""

    _full: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._full = self.weight

    def over(self) -> None:
        """End a turn, as `PortfolioMember.over`."""
        rules = self.rules
        faded = max(rules.least_of_lns, self.weight * rules.lns_fades)
        self.weight = self._full if self.found else faded
        super().over()


@dataclass
class CountingMember(PortfolioMember):
    """A member that counts its own work.

    Attributes:
        search: The search.
        units: Conversion factor from its counter to units.
    """

    search: LearningRun | RelaxedRun | FeasibilityJumpRun
    units: float
    _begun: int = field(default=0, init=False)

    @property
    def run(self) -> LearningRun | RelaxedRun | FeasibilityJumpRun:
        """The search."""
        return self.search

    @property
    def bound(self) -> int | None:
        """The bound of the objective that its relaxation proves at the root; None if there is none."""
        return getattr(self.search, "bound", None)

    @property
    def rows(self) -> tuple[Relaxation, Sequence[LpRow]] | None:
        """Its relaxation, and the rows of that with cuts, once it has a bound; None if there is none."""
        return getattr(self.search, "stated", None)

    @property
    def point(self) -> Point | None:
        """The last optimum of its relaxation; None if there is none."""
        return getattr(self.search, "point", None)

    def begin(self, work: int) -> None:
        """Begin a turn of so many units."""
        self._begun = max(1, int(work / self.units))
        self.search.allowed = self._begun

    def goes_on(self) -> bool:
        """Whether a pause is within the turn; otherwise the turn is over."""
        self.spent += (self._begun - (self.search.allowed or 0)) * self.units
        return False


@dataclass
class LearningMember(CountingMember):
    """A learning search, as a member."""

    search: LearningRun
