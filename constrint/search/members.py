"""The members of a portfolio of searches; their work is counted in units of about equal time.

A unit is a propagation of the compiled engine, some 0.03 microseconds. Counters of other members are
converted to units by factors that were calibrated by time (`PortfolioSettings`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from constrint.preparing.search_protocol import Search
from constrint.search.depth_first import DepthFirstRun
from constrint.search.sliced import WORK_OF_NODE
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from constrint.learning.session import LearningRun
    from constrint.relaxation.point import Point
    from constrint.search.annealing import AnnealingRun
    from constrint.search.relaxed import RelaxedRun
    from constrint.settings import PortfolioSettings

MemberName: TypeAlias = Literal[
    "tree search", "local search", "relaxation", "restarts", "neighbourhoods", "annealing", "learning"
]


@dataclass
class Member:
    """A search of a portfolio; what a kind of members does not define, it does not do.

    Attributes:
        name: Its name.
        run: The search.
        rules: The settings.
        weight: Its share of the work, relative to the other members.
        half: Units of its own work after which its weight is half; infinite if it does not fade.
        given_up: The reason why it takes part no more, once it has given up.
        merit: Its recent success.
        spent: Units of work in its turns, by which the next turn is assigned.
        found: The better solutions that it found in the present turn.
    """

    name: MemberName
    run: Search
    rules: PortfolioSettings
    weight: float
    half: float = field(default=inf, kw_only=True)
    given_up: str = field(default="it gave up", kw_only=True)
    merit: float = field(default=0.0, init=False)
    spent: float = field(default=0.0, init=False)
    found: int = field(default=0, init=False)

    @property
    def present_weight(self) -> float:
        """Its weight after the work of its turns."""
        return self.weight / (1 + self.spent / self.half)

    @property
    def claim(self) -> float:
        """The key of scheduling: the member with the least claim gets the next turn."""
        return self.spent / (self.present_weight * (1 + self.merit))

    @property
    def decided(self) -> Sequence[int]:
        """The variables that it decides, whose values in the best solution may guide others."""
        return ()

    def facts(self) -> str:
        """Its state in a line for people."""
        work = self.run.statistics()
        return f"{counted(work.nodes, 'node')}, {counted(work.failures, 'failure')}"

    def begin(self, work: int) -> None:
        """Begin a turn of `work` units."""
        raise NotImplementedError

    def goes_on(self) -> bool:
        """Whether a pause is within the turn; otherwise the turn is over."""
        raise NotImplementedError

    def charge(self, units: float) -> None:
        """Count work of its turn that its search does not count."""
        self.spent += units

    def over(self) -> None:
        """End a turn, and update the merit by whether it found better solutions."""
        rules = self.rules
        self.merit = min(rules.most_merit, rules.fading * self.merit + 2 * (self.found > 0))
        self.found = 0

    def _fade(self, full: float, factor: float, least: float) -> None:
        """Change the weight after a turn: full if it found something, else less by a factor."""
        self.weight = full if self.found else max(least, self.weight * factor)

    def follow(self, value: Callable[[int], int]) -> None:
        """Use the best solution, which has these values of variables, as a guide."""

    def lead(self, point: Callable[[], Point | None]) -> None:
        """Use the last optimum of the relaxation, if there is one, as a guide."""


@dataclass
class TreeSearchMember(Member):
    """A tree search, as a member.

    Attributes:
        price: Mean cost of its propagations, in units.
    """

    run: DepthFirstRun
    price: float = 1.0
    _until: int = field(default=0, init=False)
    _noted: int = field(default=0, init=False)

    @property
    def decided(self) -> Sequence[int]:
        """The variables that it decides, whose values in the best solution may guide others."""
        return self.run.decided

    @property
    def propagations(self) -> int:
        """Units so far, without those for nodes."""
        return int(self.price * self.run.propagations)

    @property
    def work(self) -> int:
        """Units so far."""
        return self.propagations + WORK_OF_NODE * self.run.node_count

    def begin(self, work: int) -> None:
        """Begin a turn of `work` units."""
        self._noted = self.work
        self._until = self.work + work
        self.run.turn_ends = self.run.node_count + self.rules.nodes_of_turn

    def goes_on(self) -> bool:
        """Whether a pause is within the turn; otherwise the turn is over."""
        if self.work < self._until:
            self.run.turn_ends = self.run.node_count + self.rules.nodes_of_turn
            return True
        self.spent += self.work - self._noted
        return False

    def charge(self, units: float) -> None:
        """Count work as `Member.charge`; the turn ends earlier."""
        super().charge(units)
        self._until -= int(units)
        if self.work >= self._until:
            self.run.turn_ends = self.run.node_count


@dataclass
class NeighbourhoodMember(TreeSearchMember):
    """A search of large neighbourhoods, as a member. Its weight fades while it finds nothing."""

    _full: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._full = self.weight

    def over(self) -> None:
        """End a turn, as `Member.over`."""
        self._fade(self._full, self.rules.lns_fades, self.rules.least_of_lns)
        super().over()

    def facts(self) -> str:
        """Its state, as `Member.facts`."""
        if (near := self.run.neighbourhoods) is None:
            return super().facts()
        return f"{near.tried:,} neighbourhoods, {near.improved:,} of them with a better solution"

    def charge(self, units: float) -> None:
        """Count nothing: what it finds is why it takes part."""

    def follow(self, value: Callable[[int], int]) -> None:
        """Search near the best solution from now on."""
        self.run.follow({v: value(v) for v in self.run.decided})

    def lead(self, point: Callable[[], Point | None]) -> None:
        """Choose neighbourhoods by the last optimum of the relaxation, too."""
        if (optimum := point()) is not None:
            self.run.lead(optimum)


class CountingSearch(Search, Protocol):
    """A search that counts its own work.

    Attributes:
        allowed: Units of work after which `next` pauses, or None; a little more may be spent.
    """

    allowed: int | None


@dataclass
class CountingMember(Member):
    """A member whose search counts its own work.

    Attributes:
        units: Conversion factor from its counter to units.
    """

    run: CountingSearch
    units: float
    _begun: int = field(default=0, init=False)

    def begin(self, work: int) -> None:
        """Begin a turn of so many units."""
        self._begun = max(1, int(work / self.units))
        self.run.allowed = self._begun

    def goes_on(self) -> bool:
        """Whether a pause is within the turn; otherwise the turn is over."""
        self.spent += (self._begun - (self.run.allowed or 0)) * self.units
        return False

    def charge(self, units: float) -> None:
        """Count work as `Member.charge`; the turn ends earlier."""
        if self.run.allowed is not None:
            self.run.allowed -= int(units / self.units)


@dataclass
class AnnealingMember(CountingMember):
    """Annealing, as a member. Its weight fades while it finds nothing."""

    run: AnnealingRun

    def begin(self, work: int) -> None:
        """Begin a turn, which proves nothing and so is no longer than others wait for."""
        super().begin(min(work, self.rules.turn_of_annealing))

    def facts(self) -> str:
        """Its state, as `Member.facts`."""
        return counted(self.run.statistics().nodes, "move")

    def over(self) -> None:
        """End a turn, as `Member.over`."""
        rules = self.rules
        self._fade(rules.annealing, rules.annealing_fades, rules.least_of_annealing)
        super().over()

    def follow(self, value: Callable[[int], int]) -> None:
        """Begin the next cooling at the best solution."""
        goal = self.run.goal
        cost = None if goal is None else self.run.cost(value(goal))
        self.run.follow({v: value(v) for v in self.run.decided}, cost)


@dataclass
class LearningMember(CountingMember):
    """A learning search, as a member."""

    run: LearningRun

    def facts(self) -> str:
        """Its state, as `Member.facts`."""
        return self.run.facts()


@dataclass
class RelaxedMember(CountingMember):
    """A search led by a relaxation, as a member.

    Attributes:
        proves: Whether the relaxation bounds the objective of the problem; otherwise it only leads.
    """

    run: RelaxedRun
    proves: bool = True

    def facts(self) -> str:
        """Its state, as `Member.facts`."""
        return self.run.facts()

    def weigh(self, bound: int, best: int, trivial: int) -> None:
        """Set the weight by the part of the gap that the relaxation closes.

        Args:
            bound: The bound that the relaxation proves.
            best: The objective of the best solution.
            trivial: The bound that propagation proves.
        """
        closed = abs(bound - trivial) / max(1, abs(best - trivial))
        # A poor first solution does not show how good the bound is: the member gets time for better ones.
        rules = self.rules
        least = 1.0 if self.spent < rules.trial_of_relaxed else rules.least_weight
        self.weight = max(least, rules.relaxed * min(1.0, closed) ** rules.steep)
