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

from constrint.engine.background_compile import LOADING
from constrint.errors import InternalError
from constrint.learning.size import cost
from constrint.modelling.result import Statistics
from constrint.preparing.branching import Brancher
from constrint.preparing.checks import check
from constrint.preparing.restart_rules import Restarts
from constrint.preparing.search_protocol import Outcome, SearchStep
from constrint.presolve.breaking import SymmetryBroken, without_symmetries
from constrint.search.depth_first import DepthFirstRun
from constrint.search.members import (
    CountingMember,
    LearningMember,
    NeighbourhoodMember,
    PortfolioMember,
    TreeSearchMember,
)
from constrint.search.weights import alone, equated, kind_of, on_domains
from constrint.support.deadline import Deadline, Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root
    from constrint.relaxation.lp_rows import LpRow, Relaxation
    from constrint.relaxation.point import Point
    from constrint.settings.portfolio import Kind


LED_BY_FAILURES = Brancher("dom_w_deg", "best_so_far")


class PortfolioRun:
    """A portfolio of searches that take turns, as one search of the protocol `Search`.

    Attributes:
        workers: How many members have a turn at the same time.
    """

    workers = 1

    def __init__(
        self,
        prepared: Prepared,
        root: Root,
        options: Options,
        started: float,
        goal: tuple[int, str] | None = None,
        begun: DepthFirstRun | None = None,
    ) -> None:
        watch = options.watch
        if watch is not None:
            this = ref(self)  # a cycle would keep all of it until the garbage collector comes
            options = options.watched(lambda _: watch(present) if (present := this()) else None)
        self.prepared = prepared
        self._root = root
        self._rules = root.settings.portfolio
        self._broken = SymmetryBroken(root, root)  # without symmetric solutions, once turns are taken
        self._options = options
        self._started = started
        self._deadline = Deadline(options.time_limit, started)
        self._goal = goal
        # These are computed at the end of the first turn, which most searches do not reach.
        self._kind: Kind | None = None
        self._share = 0.0
        self._alone = 0
        self._best: int | None = None
        self._bound: int | None = None
        if begun is None:
            branching = DepthFirstRun(prepared, root, options, started, goal)
        else:  # a search that ended early: its nodes count as part of the first turns
            branching = begun
            branching.go_on(options)
            self._best = begun.best
        self._tree_search = TreeSearchMember(1.0, self._rules, branching)
        self._members: list[PortfolioMember] = [self._tree_search]
        self._tried: set[str] = set()
        self._joined: list[PortfolioMember] = []  # those that joined, even where they have left
        self._learners: list[LearningMember] = []
        self._relaxed: CountingMember | None = None
        self._local_search: CountingMember | None = None
        self._finder: PortfolioMember = self._tree_search  # the member that found the last solution
        self._playing: list[PortfolioMember] = [self._tree_search]  # whose turn it is
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

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""
        self._best = value
        for member in self._members:
            member.run.demand_better(value)

    def next(self, checked: bool = True) -> SearchStep:
        """The next solution, or why there is none; see `Search.next`.

        Without an objective, only the first solution may be requested.
        """
        try:
            return self._next(checked)
        except Stopped:
            return SearchStep(Outcome.STOPPED)

    def _next(self, checked: bool) -> SearchStep:
        while True:
            step = self._play()
            if step.outcome is Outcome.PAUSED:
                self._take_turns()
            elif step.found is None:
                return step
            else:
                self._has_solution = True
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
                self._members.remove(member)
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
                if isinstance(member, NeighbourhoodMember) and member is not self._finder:
                    member.follow({v: self.value(v) for v in member.decided})
        return is_new

    def _take_turns(self) -> None:
        """End the present turn: choose who is next, and the amount of work."""
        rules = self._rules
        if self._kind is None:
            self._kind = kind_of(self._root.propagators)
            self._share = rules.weight_of_learning(self._kind)
            self._broken = without_symmetries(self._root, self._goal, self.prepared.variables.values())
            self._alone = alone(self._root, self._kind)
            self._tree_search.price = cost(self._root.propagators)
        for member in self._playing:
            member.over()
        if self._kind in ("tours", "others"):
            for learner in self._learners:
                learner.weight = self._share / (1 + learner.spent / rules.half_of_learning)
        if self._local_search is not None:
            self._local_search.weight = rules.local_search / (
                1 + self._local_search.spent / rules.half_of_jumps
            )
        self._ask_bound()
        self._join()
        self._playing = sorted(self._members, key=lambda member: member.claim)[: self.workers]
        spent = int(sum(member.spent for member in self._members))
        work = max(rules.least_turn, spent // rules.turn_of_all)
        for member in self._playing:
            if isinstance(member, NeighbourhoodMember) and (point := self._point()) is not None:
                member.search.lead(point)
            member.begin(work)

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
            # A poor first solution does not show how good the bound is: the member gets time for better ones.
            rules = self._rules
            least = 1.0 if member.spent < rules.trial_of_relaxed else rules.least_weight
            member.weight = max(least, rules.relaxed * min(1.0, closed) ** rules.steep)

    def _join(self) -> None:
        """Add the members whose time has come."""
        rules = self._rules
        branched = int(self._tree_search.price * self._tree_search.run.propagations)
        is_linear = self._kind != "schedules"  # relaxations of orders of tasks are weak
        if branched >= rules.alone and self._best is None and is_linear and self._is_due("local search"):
            self._local_search = self._feasibility_jump()
        if self._goal is not None and is_linear and self._is_due("relaxed"):
            self._relaxed = self._relaxation(self._goal)
        if self._goal is None and branched >= rules.alone and self._is_due("relaxed"):
            towards = equated(self._root)
            if towards is not None:
                self._relaxation((towards, "min"), True)
        if branched >= rules.alone and self._best is None and self._is_due("restarting"):
            self._restarter()
        if self._point() is not None and self._is_due("lns"):
            self._neighbour()
        if max(branched, sum(member.spent for member in self._members)) < self._alone:
            return
        if self._may_learn() and self._is_due("learning"):
            self._learner()
        # On schedules learning finds good solutions by itself, at first.
        learned = rules.lns_after if is_linear or not self._learners else self._learners[0].spent
        if self._goal is None or self._best is None or learned < rules.lns_after:
            return
        if self._is_due("lns"):
            self._neighbour()

    def _may_learn(self) -> bool:
        """Whether time is left for the machine code of the learning search."""
        return self._deadline.left > 2 * LOADING

    def _is_due(self, name: str) -> bool:
        """Whether a member has not been tried yet."""
        is_new = name not in self._tried
        self._tried.add(name)
        return is_new

    def _admit(self, member: PortfolioMember) -> None:
        """Start a new member with the state of the others."""
        if self._best is not None:
            member.run.demand_better(self._best)
        self._members.append(member)
        self._joined.append(member)

    def _learner(self, seed: int = 0) -> None:
        """Add a learning search; several exchange short clauses."""
        from constrint.learning.session import LearningRun

        options = replace(self._options, seed=self._options.seed + seed) if seed else self._options
        run = LearningRun(
            *(self.prepared, self._broken.root, options, self._started, self._goal),
            follows=seed == 0,
            exchanges=self.workers > 1,
        )
        rows = self._rows()
        if rows is not None:
            run.consult(*rows)
        member = LearningMember(self._share, self._rules, run, self._rules.units_of_step)
        self._learners.append(member)
        self._admit(member)

    def _relaxation(self, goal: tuple[int, str], is_any: bool = False) -> CountingMember | None:
        """The search guided by a linear relaxation; None if there is no relaxation.

        Args:
            goal: What its point makes best.
            is_any: Whether any solution is wanted, so that the goal only leads.
        """
        from constrint.search.relaxed import relaxed_run

        run = relaxed_run(self.prepared, self._broken.ordered, self._options, self._started, goal)
        if run is None:
            return None
        run.may_give_up = not is_any
        rules = self._rules
        member = CountingMember(rules.on_equations if is_any else 1.0, rules, run, rules.units_of_program)
        self._admit(member)
        return member

    def _restarter(self) -> None:
        """Add the search for a first solution with restarts and domain consistency where possible."""
        options = replace(self._options, restarts=Restarts("luby"), brancher=LED_BY_FAILURES)
        root = self._broken.root
        most = self._rules.most_matched
        root = replace(root, propagators=[on_domains(node, root.box, most) for node in root.propagators])
        run = DepthFirstRun(self.prepared, root, options, self._started, self._goal)
        self._admit(TreeSearchMember(self._rules.restarting, self._rules, run, cost(root.propagators)))

    def _feasibility_jump(self) -> CountingMember | None:
        """The local search for a first solution; None where constraints have no rows for it."""
        from constrint.search.feasibility_jump import feasibility_jump_run

        run = feasibility_jump_run(self.prepared, self._root, self._options, self._started, self._goal)
        if run is None:
            return None
        member = CountingMember(self._rules.local_search, self._rules, run, self._rules.units_of_jump)
        self._admit(member)
        return member

    def _neighbour(self, seed: int = 0) -> None:
        """Add a search of large neighbourhoods, around the best solution."""
        seed += self._options.seed
        options = replace(self._options, lns=True, restarts=None, brancher=LED_BY_FAILURES, seed=seed)
        run = DepthFirstRun(self.prepared, self._root, options, self._started, self._goal)
        member = NeighbourhoodMember(self._rules.weight_of_lns, self._rules, run, self._tree_search.price)
        self._admit(member)
        if self._best is not None and (self._has_solution or not options.is_solution):  # else the hint leads
            member.follow({v: self.value(v) for v in member.decided})

    def _rows(self) -> tuple[Relaxation, Sequence[LpRow]] | None:
        """The relaxation and its rows; None without one that proves something."""
        member = self._relaxed
        return member.rows if member is not None and member in self._members else None

    def _point(self) -> Point | None:
        """The last optimum of the relaxation; None without one that proves something."""
        member = self._relaxed
        return member.point if member is not None and member in self._members else None

    def statistics(self) -> Statistics:
        """The work of all members so far; the caller adds seconds and solutions."""
        branched = self._tree_search.run.statistics()
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
