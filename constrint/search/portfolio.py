"""`learn="auto"`: branching first; if that proves long, several searches alternate.

The others are the learning search and, if there is an objective, a search guided by a linear relaxation and
one of large neighbourhoods of the best solution; while there is no solution, also one with restarts and a
local search. Each but the local search may complete the search, the neighbourhoods by their searches of the
whole space. Solutions of one bound the others. Turns are counted in work, never in seconds, so equal seeds
give equal answers at any speed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import ref

from constrint.engine.background_compile import LOADING
from constrint.engine.build import Box
from constrint.learning.size import cost, parts
from constrint.modelling.result import Statistics
from constrint.preparing.branching import Brancher
from constrint.preparing.checks import Assignment, check
from constrint.preparing.restart_rules import Restarts
from constrint.preparing.search import GaveUp
from constrint.presolve.breaking import Broken, without_symmetries
from constrint.propagators import (
    AllDifferent,
    AllDifferentBounds,
    AllDifferentDomain,
    Circuit,
    Cumulative,
    DivMod,
    LinearLeIf,
    NoOverlap,
    NoOverlapOptional,
    Power,
    Product,
    Propagator,
    Rectangles,
    Subcircuit,
)
from constrint.search.depth_first import Run
from constrint.search.members import UNITS_OF_PROGRAM, UNITS_OF_STEP, Branching, Counting, Member
from constrint.support.deadline import Deadline, Paused

if TYPE_CHECKING:
    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root
    from constrint.relaxation.point import Point

LEAST_TURN = 100_000  # units of work
TURN_OF_ALL = 20  # a turn is that part of all work so far, if that is more
# What branching does alone, in propagations: most models need no more, and for them nothing changes.
ALONE = 100_000
ALONE_FOR_EACH_PART = 100  # for each part into which the learning search decomposes the constraints
ALONE_FOR_EACH_PART_OF_SCHEDULES = 8
# The weight of the learning search beside branching.
ON_SCHEDULES, ON_TOURS, ON_OTHERS, ON_PRODUCTS = 60.0, 8.0, 2.0, 0.375
# On tours and others it fades: what it proves, it mostly proves soon, and then weighs no more than the rest.
HALF_OF_LEARNING = 20_000_000  # units after which its weight is half
RELAXED = 4.0  # the weight of the search that a relaxation leads, where its bound is the best value
WORK_OF_TRIAL = 3_000_000  # units after which that weight is less where the bound is far from the best value
LEAST_WEIGHT = 0.1
NEAR_BEST = 1.0  # the weight of large neighbourhoods, which fade while they find nothing
NEAR_FADES = 0.8
NEAR_AFTER = 20_000_000  # units of learning, on schedules
DIFFERENT = (AllDifferent, AllDifferentBounds, AllDifferentDomain)  # permutations are stated twice
RESTARTING = 1.0  # the weight of the search with restarts, while there is no solution
JUMPING = 1.0  # the weight of the local search, while there is no solution
HALF_OF_JUMPS = 40_000_000  # units after which it is half
MOST_MATCHED = 200  # most values for which the search with restarts makes `all_different` domain consistent
LED_BY_FAILURES = Brancher("dom_w_deg", "best_so_far")


def learning_share(nodes: list[Propagator]) -> float:
    """The weight of the learning search relative to branching.

    Learning suits orders of tasks and positions of boxes (conditional sums over two or more variables). It
    does not suit constraints that it explains by all bounds, such as products.
    """
    orders = others = 0
    for node in nodes:
        if isinstance(node, LinearLeIf):
            orders += len(node.terms) > 1
        elif isinstance(node, NoOverlap | NoOverlapOptional | Cumulative):
            orders += len(node.starts)
        elif isinstance(node, Rectangles):
            orders += len(node.xs)
        elif isinstance(node, Product | DivMod | Power):
            others += 1
    if 3 * orders >= len(nodes) and orders > 2 * others:
        return ON_SCHEDULES
    if any(isinstance(node, Circuit | Subcircuit) for node in nodes):
        return ON_TOURS
    return ON_PRODUCTS if 8 * others >= len(nodes) else ON_OTHERS


def alone(root: Root, share: float) -> int:
    """Propagations of branching that come first: about the cost of building the learning search."""
    stated = {
        (node.scope(), "apart" if isinstance(node, DIFFERENT) else place): node
        for place, node in enumerate(root.nodes)
    }
    size = sum(parts(node, root.box) for node in stated.values())
    if share == ON_SCHEDULES:
        return ALONE_FOR_EACH_PART_OF_SCHEDULES * size
    return max(ALONE, ALONE_FOR_EACH_PART * size)


def _on_domains(node: Propagator, box: Box) -> Propagator:
    """The constraint, on domains instead of bounds where that is an `all_different` of few values."""
    if not isinstance(node, AllDifferentBounds):
        return node
    ends = [a * x + b for a, v, b in node.views for x in (box.lo[v], box.hi[v])]
    width = max(ends) - min(ends) + 1
    return AllDifferentDomain(node.views, min(ends), width) if width <= MOST_MATCHED else node


class AlternatingRun:
    """A search that alternates between several methods; it follows the protocol `Search`."""

    def __init__(
        self,
        prepared: Prepared,
        root: Root,
        options: Options,
        started: float,
        goal: tuple[int, str] | None = None,
        begun: Run | None = None,
    ) -> None:
        watch = options.watch
        if watch is not None:
            this = ref(self)  # a cycle would keep all of it until the garbage collector comes
            options = options.watched(lambda _: watch(present) if (present := this()) else None)
        self.prepared = prepared
        self._root = root
        self._broken = Broken(root, root)  # without symmetric solutions, once turns are taken
        self._options = options
        self._started = started
        self._deadline = Deadline(options.time_limit, started)
        self._goal = goal
        # These two are computed at the end of the first turn, which most searches do not reach.
        self._share = 0.0
        self._alone = 0
        self._best: int | None = None
        self._bound: int | None = None
        if begun is None:
            branching = Run(prepared, root, options, started, goal)
        else:  # a search that ended early: its nodes count as part of the first turns
            branching = begun
            branching.go_on(options)
            self._best = begun.best
        self._branching = Branching(1.0, branching)
        self._members: list[Member] = [self._branching]
        self._tried: set[str] = set()
        self._learning: Counting | None = None
        self._relaxed: Counting | None = None
        self._restarting: Branching | None = None
        self._jumping: Counting | None = None
        self._near: Branching | None = None
        self._finder: Member = self._branching  # the member that found the last solution
        self._current: Member = self._branching
        self._found = 0  # better solutions in the present turn
        self._has_solution = False  # whether one of the members has found one
        self._branching.begin(0)

    def value(self, v: int) -> int:
        """Value of a variable in the last solution."""
        return self._finder.run.value(v)

    def goal_bounds(self) -> tuple[int, int]:
        """Proven bounds of the objective of any better solution; (0, 0) without an objective."""
        low, high = self._branching.run.goal_bounds()
        if self._learning is not None:
            least, most = self._learning.run.goal_bounds()
            low, high = max(low, least), min(high, most)
        if self._goal is None or self._bound is None:
            return low, high
        return (max(low, self._bound), high) if self._goal[1] == "min" else (low, min(high, self._bound))

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""
        self._best = value
        for member in self._members:
            member.run.demand_better(value)

    def next(self, checked: bool = True) -> Assignment | None:
        """The next solution, better than the last if there is an objective; None if there is no other.

        Without an objective, only the first solution may be requested. Raises `Stopped` at the time limit.

        Args:
            checked: Whether to check the solution now; otherwise the caller must `check` it before use.
        """
        while True:
            member = self._current
            try:
                found = member.run.next(checked=False)
            except Paused:
                if not member.goes_on():
                    self._take_turns()
                continue
            except GaveUp:
                self._members.remove(member)
                self._take_turns()
                continue
            if found is not None:
                self._finder, self._has_solution = member, True
            if found is None or self._is_better():
                if found is not None:
                    self._found += 1
                    if checked:
                        check(self.prepared, found)
                return found

    def _is_better(self) -> bool:
        """Whether the solution improves the last one; if so, all searches must improve on it."""
        if self._goal is None:
            return True
        v, direction = self._goal
        value = self.value(v)
        # Branching applies a new bound when it backtracks; until then it may find a solution that is no
        # better.
        if self._best is not None and (value - self._best) * (1 if direction == "min" else -1) >= 0:
            value = self._best
        is_new = value != self._best
        self.demand_better(value)
        if is_new and self._near is not None and self._finder is not self._near:
            self._near.follow({v: self.value(v) for v in self._near.decided})
        return is_new

    def _take_turns(self) -> None:
        """End the present turn: choose the next member, and its amount of work."""
        if self._share == 0:
            self._share = learning_share(self._root.nodes)
            self._broken = without_symmetries(self._root, self._goal, self.prepared.variables.values())
            self._alone = alone(self._root, self._share)
            self._branching.price = cost(self._root.nodes)
        self._current.over(self._found)
        if self._current is self._near:
            self._near.weight = (
                NEAR_BEST if self._found else max(LEAST_WEIGHT, self._near.weight * NEAR_FADES)
            )
        self._found = 0
        if self._learning is not None and self._share in (ON_TOURS, ON_OTHERS):
            self._learning.weight = self._share / (1 + self._learning.spent / HALF_OF_LEARNING)
        if self._jumping is not None:
            self._jumping.weight = JUMPING / (1 + self._jumping.spent / HALF_OF_JUMPS)
        self._ask_bound()
        self._join()
        self._current = min(self._members, key=lambda member: member.claim)
        if self._current is self._near and self._near is not None and (point := self._point()) is not None:
            self._near.search.lead(point)
        self._current.begin(
            max(LEAST_TURN, int(sum(member.spent for member in self._members)) // TURN_OF_ALL)
        )

    def _ask_bound(self) -> None:
        """Record the bound that the relaxation proves.

        Remove the member if it proves no more than the root.
        """
        member = self._relaxed
        if member is None or member not in self._members or self._goal is None or member.spent == 0:
            return
        from constrint.search.relaxed import known_bound

        bound, trivial = member.bound, known_bound(self.prepared, self._root, self._goal)
        if bound is None or abs(bound - trivial) == 0:
            self._members.remove(member)
            return
        if self._bound is None:
            self._bound = bound
        if self._best is not None:
            closed = abs(self._bound - trivial) / max(1, abs(self._best - trivial))
            # A first solution that is far off says nothing of the bound: it is given time to find one.
            least = 1.0 if member.spent < WORK_OF_TRIAL else LEAST_WEIGHT
            member.weight = max(least, RELAXED * min(1.0, closed) ** 2)

    def _join(self) -> None:
        """Add the members whose time has come."""
        branched = int(self._branching.price * self._branching.run.propagations)
        is_linear = self._share != ON_SCHEDULES  # a relaxation says nothing of orders of tasks
        if branched >= ALONE and self._best is None and is_linear and self._is_due("jumping"):
            self._jumping = self._jumper()
        if self._goal is not None and is_linear and self._is_due("relaxed"):
            self._relaxed = self._relaxation()
        if branched >= ALONE and self._best is None and self._is_due("restarting"):
            self._restarting = self._restarter()
        if self._point() is not None and self._is_due("near"):
            self._near = self._neighbour()
        if branched < self._alone:
            return
        if self._deadline.left > 2 * LOADING and self._is_due("learning"):
            self._learning = self._learner()
        # On schedules learning finds good solutions by itself, at first.
        learned = NEAR_AFTER if is_linear or self._learning is None else self._learning.spent
        if self._goal is None or self._best is None or learned < NEAR_AFTER:
            return
        if self._is_due("near"):
            self._near = self._neighbour()

    def _is_due(self, name: str) -> bool:
        """Whether a member has not been tried yet."""
        is_new = name not in self._tried
        self._tried.add(name)
        return is_new

    def _admit(self, member: Member) -> None:
        """Start a new member with the state of the others."""
        if self._best is not None:
            member.run.demand_better(self._best)
        self._members.append(member)

    def _learner(self) -> Counting:
        """The learning search."""
        from constrint.learning.session import LearningRun

        # The search by branching follows annotations already.
        run = LearningRun(
            self.prepared, self._broken.root, self._options, self._started, self._goal, follows=False
        )
        member = Counting(self._share, run, UNITS_OF_STEP)
        self._admit(member)
        return member

    def _relaxation(self) -> Counting | None:
        """The search guided by a linear relaxation; None if there is no relaxation."""
        from constrint.search.relaxed import relaxed_run

        assert self._goal is not None
        run = relaxed_run(self.prepared, self._broken.ordered, self._options, self._started, self._goal)
        if run is None:
            return None
        run.may_give_up = True
        member = Counting(1.0, run, UNITS_OF_PROGRAM)
        self._admit(member)
        return member

    def _restarter(self) -> Branching:
        """The search for a first solution with restarts and domain consistency where possible."""
        options = replace(self._options, restarts=Restarts("luby"), brancher=LED_BY_FAILURES)
        root = self._broken.root
        root = replace(root, nodes=[_on_domains(node, root.box) for node in root.nodes])
        member = Branching(
            RESTARTING, Run(self.prepared, root, options, self._started, self._goal), cost(root.nodes)
        )
        self._admit(member)
        return member

    def _jumper(self) -> Counting | None:
        """The local search for a first solution; None where constraints have no rows for it."""
        from constrint.search.jumping import jumping_run

        run = jumping_run(self.prepared, self._root, self._options, self._started, self._goal)
        if run is None:
            return None
        member = Counting(JUMPING, run, 1)
        self._admit(member)
        return member

    def _neighbour(self) -> Branching:
        """The search of large neighbourhoods, around the best solution."""
        options = replace(self._options, lns=True, restarts=None, brancher=LED_BY_FAILURES)
        run = Run(self.prepared, self._root, options, self._started, self._goal)
        member = Branching(NEAR_BEST, run, self._branching.price)
        self._admit(member)
        if self._best is not None and (self._has_solution or not options.is_solution):  # else the hint leads
            member.follow({v: self.value(v) for v in member.decided})
        return member

    def _point(self) -> Point | None:
        """The last optimum of the relaxation; None without one that proves something."""
        member = self._relaxed
        return member.point if member is not None and member in self._members else None

    def statistics(self) -> Statistics:
        """The work of all members so far; the caller adds seconds and solutions."""
        branched = self._branching.run.statistics()
        members = (self._learning, self._relaxed, self._restarting, self._jumping, self._near)
        others = [member for member in members if member is not None]
        if not others:
            return branched
        works = [branched, *[member.run.statistics() for member in others]]
        return replace(
            branched,
            nodes=sum(work.nodes for work in works),
            failures=sum(work.failures for work in works),
            propagations=sum(work.propagations for work in works),
            learned=sum(work.learned for work in works),
            engine="compiled" if any(work.engine == "compiled" for work in works) else "interpreted",
            method="portfolio",
        )
