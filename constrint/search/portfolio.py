"""The portfolio of searches, `learn="auto"`: a tree search first, and the other members if that proves long.

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

from constrint.errors import InternalError
from constrint.modelling.result import Statistics
from constrint.preparing.checks import check
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask, Stoppable
from constrint.search.depth_first import DepthFirstRun
from constrint.search.members import (
    LearningMember,
    Member,
    MemberName,
    RelaxedMember,
    TreeSearchMember,
)
from constrint.support.long_numbers import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constrint.relaxation.lp_rows import LpRow, Relaxation
    from constrint.relaxation.point import Point
    from constrint.search.admission import MemberMaker, Standing


class Portfolio(Stoppable):
    """A portfolio of searches that take turns, as one search of the protocol `Search`.

    Without an objective, only the first solution may be requested.

    Attributes:
        prepared: The prepared model.
        workers: How many members have a turn at the same time.
        absent: Why members do not take part, by name; empty until the tree search ends its first turn.
    """

    workers = 1

    def __init__(self, task: SearchTask, begun: DepthFirstRun | None = None) -> None:
        options = task.options
        watch = options.watch
        if watch is not None:
            this = ref(self)  # a cycle would keep all of it until the garbage collector comes
            options = options.watched(lambda _: watch(present) if (present := this()) else None)
        self.prepared = task.prepared
        self.absent: dict[MemberName, str] = {}
        self._task = task._replace(options=options)
        self._rules = task.root.settings.portfolio
        self._maker: MemberMaker | None = None  # from the end of the first turn on
        self._goal = task.goal
        self._best: int | None = None
        self._bound: int | None = None
        if begun is None:
            branching = DepthFirstRun(self._task)
        else:  # a search that ended early: its nodes count as part of the first turns
            branching = begun
            branching.go_on(options)
            self._best = begun.best
        self._tree_search = TreeSearchMember("tree search", branching, self._rules, 1.0)
        self._members: list[Member] = [self._tree_search]
        self._asked: set[MemberName] = set()  # members that joined, or that cannot be made
        self._joined: list[Member] = []  # those that joined, even where they have left
        self._finder: Member = self._tree_search  # the member that found the last solution
        self._playing: list[Member] = [self._tree_search]  # whose turn it is
        self._has_solution = False  # whether one of the members has found one
        self._tree_search.begin(0)

    def value(self, v: int) -> int:
        """Value of a variable in the last solution."""
        return self._finder.run.value(v)

    def goal_bounds(self) -> tuple[int, int]:
        """Proven bounds of the objective of any better solution; (0, 0) without an objective."""
        low, high = self._tree_search.run.goal_bounds()
        for learner in self._learners:
            least, most = learner.run.goal_bounds()
            low, high = max(low, least), min(high, most)
        if self._goal is None or self._bound is None:
            return low, high
        return (max(low, self._bound), high) if self._goal[1] == "min" else (low, min(high, self._bound))

    def bound_finder(self) -> MemberName:
        """The member that has proven the bound of the objective."""
        side = 0 if self._goal is None or self._goal[1] == "min" else 1
        bound = self.goal_bounds()[side]
        if bound != self._tree_search.run.goal_bounds()[side]:
            for member in self._learners:
                if member.run.goal_bounds()[side] == bound:
                    return member.name
            return "relaxation"
        return self._tree_search.name

    @property
    def members(self) -> Sequence[Member]:
        """All members that have joined, even those that left."""
        return [self._tree_search, *self._joined]

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""
        self._best = value
        for member in self._members:
            member.run.demand_better(value)

    def _next(self, checked: bool) -> SearchStep:
        while True:
            step = self._play()
            if step.outcome is Outcome.PAUSED:
                self._take_turns()
            elif step.found is None:
                return step
            else:
                self._has_solution = True
                self._finder.charge(self._rules.units_of_value * len(self.prepared.variables))
                if self._is_better():
                    self._finder.found += 1
                    if checked:
                        check(self.prepared, step.found)
                    return step

    def _play(self) -> SearchStep:
        """The next step of the member whose turn it is; `PAUSED` when that is over."""
        member = self._playing[0]
        while True:
            step = member.run.next(checked=False)
            if step.outcome is Outcome.PAUSED and member.goes_on():
                continue
            if step.outcome is Outcome.GAVE_UP:
                self._dismiss(member)
                return SearchStep(Outcome.PAUSED)
            if step.outcome in (Outcome.FOUND, Outcome.EXHAUSTED):
                self._finder = member
            return step

    def _is_better(self) -> bool:
        """Whether the solution improves the last one; if so, all searches must improve on it."""
        if self._goal is None:
            return True
        v, direction = self._goal
        value = self.value(v)
        # A tree search applies a new bound when it backtracks; until then it may find a solution that is no
        # better.
        if self._best is not None and (value - self._best) * (1 if direction == "min" else -1) >= 0:
            value = self._best
        is_new = value != self._best
        sign = 1 if direction == "min" else -1
        if is_new and self._bound is not None and sign * (value - self._bound) < 0:
            raise InternalError(f"a solution has {value}, better than the relaxation's bound {self._bound}")
        self.demand_better(value)
        if is_new:
            for member in self._members:
                if member is not self._finder:
                    member.follow(self.value)
        return is_new

    def _take_turns(self) -> None:
        """End the present turn: choose who is next, and the amount of work."""
        if self._maker is None:
            from constrint.search.admission import MemberMaker  # most searches do not come here

            self._maker = MemberMaker(self._task)
            self._tree_search.price = self._maker.price
        for member in self._playing:
            member.over()
        self._ask_bound()
        self._join(self._maker)
        self._tell_rows()
        self._playing = sorted(self._members, key=lambda member: member.claim)[: self.workers]
        rules = self._rules
        work = max(rules.least_turn, int(self._spent) // rules.turn_of_all)
        for member in self._playing:
            member.lead(self._point)
            member.begin(work)

    @property
    def _spent(self) -> float:
        """Units of work of the members' turns."""
        return sum(member.spent for member in self._members)

    @property
    def _learners(self) -> list[LearningMember]:
        """The learning searches, even those that gave up."""
        return [member for member in self._joined if isinstance(member, LearningMember)]

    @property
    def _relaxed(self) -> RelaxedMember | None:
        """The member whose relaxation bounds the objective; None without one that proves something."""
        return next((one for one in self._members if isinstance(one, RelaxedMember) and one.proves), None)

    def _rows(self) -> tuple[Relaxation, Sequence[LpRow]] | None:
        """The relaxation that bounds the objective, and its rows; None without a bound.

        Without an objective, the relaxation that leads to a solution.
        """
        member = self._relaxed
        if self._goal is None:
            member = next((one for one in self._members if isinstance(one, RelaxedMember)), None)
        return None if member is None else member.run.stated

    def _point(self) -> Point | None:
        """The last optimum of that relaxation; None before the first."""
        return None if self._relaxed is None else self._relaxed.run.point

    def _ask_bound(self) -> None:
        """Record the bound that the relaxation proves.

        Remove the member if it proves no more than the root.
        """
        member = self._relaxed
        if member is None or self._goal is None or member.spent == 0 or member.run.is_root_open:
            return
        from constrint.search.relaxed import known_bound

        bound, trivial = member.run.bound, known_bound(self.prepared, self._task.root, self._goal)
        if bound is None or bound == trivial:
            if bound is not None:
                member.given_up = f"its bound is that of propagation, {written(bound)}"
            self._dismiss(member)
            return
        if self._bound is None:
            self._bound = bound
        if self._best is not None:
            member.weigh(self._bound, self._best, trivial)

    def _join(self, maker: MemberMaker) -> None:
        """Add the members whose time has come."""
        from constrint.search.admission import ADMISSIONS

        now = self._standing()
        for row in ADMISSIONS:
            if row.member in self._asked:
                continue
            reason = row.waits(maker, now)
            if reason is None:
                self._asked.add(row.member)
                made = row.make(maker, now)
                if not isinstance(made, str):
                    self._admit(made)
                    now = self._standing()
                    continue
                reason = made
            self.absent[row.member] = reason

    def _tell_rows(self) -> None:
        """Let learning ask the relaxation, which proves its use late where nothing is optimised."""
        if self._goal is not None or (rows := self._rows()) is None:
            return
        for learner in self._learners:
            if not learner.run.consults:
                learner.run.consult(*rows)

    def _standing(self) -> Standing:
        from constrint.search.admission import Standing

        learners = self._learners
        return Standing(
            self._tree_search.propagations,
            self._spent,
            learners[0].spent if learners else None,
            self._best is not None,
            self._point() is not None,
            self._rows(),
            self.workers,
        )

    def _admit(self, member: Member) -> None:
        """Start a new member with the state of the others."""
        self.absent.pop(member.name, None)
        self._members.append(member)
        self._joined.append(member)
        if self._best is not None:
            member.run.demand_better(self._best)
            if self._has_solution or not self._task.options.is_solution:  # else the hint leads
                member.follow(self.value)

    def _dismiss(self, member: Member) -> None:
        """Remove a member that has given up."""
        self._members.remove(member)
        if all(one.name != member.name for one in self._members):
            self.absent[member.name] = member.given_up

    def statistics(self) -> Statistics:
        """The work of all members so far; the caller adds seconds and solutions."""
        absent: dict[str, str] = {name: self.absent[name] for name in self.absent}
        if self._maker is None and self._task.deadline.left <= 0:
            absent["other members"] = "the time limit was reached within the first turn of the tree search"
        elif self._maker is not None and self._maker.keeps_symmetries is not None:
            absent["symmetries"] = self._maker.keeps_symmetries
        finder = self._finder.name
        branched = replace(self._tree_search.run.statistics(), absent=absent, finder=finder)
        if not self._joined:
            return branched
        works = [branched, *[member.run.statistics() for member in self._joined]]
        return replace(
            branched,
            nodes=sum(work.nodes for work in works),
            failures=sum(work.failures for work in works),
            propagations=sum(work.propagations for work in works),
            learned=sum(work.learned for work in works),
            engine="compiled" if any(work.engine == "compiled" for work in works) else "interpreted",
            method="portfolio",
        )
