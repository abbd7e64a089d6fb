"""The admission of members to a portfolio, in one table with reasons.

At the end of each turn the rows are read in order. A member joins once, when the row's condition holds; until
then, and where it cannot be made, the row says why it does not take part. The numbers are settings
(`PortfolioSettings`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from constrint.engine.background_compile import LOADING
from constrint.learning.size import cost
from constrint.preparing.branching import Brancher
from constrint.preparing.restart_rules import Restarts
from constrint.preparing.search_protocol import SearchTask
from constrint.presolve.breaking import without_symmetries
from constrint.search.depth_first import DepthFirstRun
from constrint.search.members import (
    CountingMember,
    LearningMember,
    Member,
    MemberName,
    NeighbourhoodMember,
    RelaxedMember,
    TreeSearchMember,
)
from constrint.search.weights import alone, equated, kind_of, on_domains

if TYPE_CHECKING:
    from constrint.relaxation.lp_rows import LpRow, Relaxation

LED_BY_FAILURES = Brancher("dom_w_deg", "best_so_far")


@dataclass(slots=True)
class Standing:
    """The state of a portfolio on which admission depends.

    Attributes:
        tree: Units of the tree search, without those for nodes.
        spent: Units of all members.
        learned: Units of the first learning search; None without one.
        has_best: Whether a solution must be improved.
        has_point: Whether the relaxation that bounds the objective has an optimum.
        rows: That relaxation and its rows with cuts, once it has a bound; None without one.
        workers: How many members have a turn at the same time.
    """

    tree: int
    spent: float
    learned: float | None
    has_best: bool
    has_point: bool
    rows: tuple[Relaxation, Sequence[LpRow]] | None
    workers: int


class MemberMaker:
    """Makes the members; built at the end of the first turn, which most searches do not reach.

    Attributes:
        task: The task.
        rules: The settings.
        kind: The kind of most constraints.
        share: The weight of learning.
        alone: Units of the others that come before learning.
        price: Mean cost of a propagation of the tree search, in units.
    """

    def __init__(self, task: SearchTask) -> None:
        self.task = task
        self.rules = task.root.settings.portfolio
        self.kind = kind_of(task.root.propagators)
        self.share = self.rules.weight_of_learning(self.kind)
        self._broken = without_symmetries(task.root, task.goal, task.prepared.variables.values())
        self.alone = alone(task.root, self.kind)
        self.price = cost(task.root.propagators)

    @property
    def is_linear(self) -> bool:
        """Whether relaxations may be strong: those of orders of tasks are weak."""
        return self.kind != "schedules"

    def local_search(self) -> Member | str:
        """The local search for a first solution."""
        from constrint.search.feasibility_jump import feasibility_jump_run

        run, rules = feasibility_jump_run(self.task), self.rules
        if run is None:
            return "too few constraints have rows, or they are too many"
        return CountingMember(
            *("local search", run, rules, rules.local_search, rules.units_of_jump), half=rules.half_of_jumps
        )

    def relaxation(self) -> Member | str:
        """The search guided by a linear relaxation, towards the goal or along the longest equation."""
        from constrint.search.relaxed import relaxed_run

        goal, rules = self.task.goal, self.rules
        proves = goal is not None
        if goal is None:
            towards = equated(self.task.root)
            if towards is None:
                return "there is no objective, and there are few equations"
            goal = towards, "min"
        run = relaxed_run(self.task._replace(root=self._broken.ordered, goal=goal))
        if run is None:
            return "HiGHS is missing, or the relaxation is too large or says nothing of the objective"
        run.may_give_up = proves
        weight = 1.0 if proves else rules.on_equations
        return RelaxedMember("relaxation", run, rules, weight, rules.units_of_program, proves)

    def restarts(self) -> Member:
        """The search for a first solution with restarts, and domain consistency where possible."""
        options = replace(self.task.options, restarts=Restarts("luby"), brancher=LED_BY_FAILURES)
        root = self._broken.root
        most = self.rules.most_matched
        root = replace(root, propagators=[on_domains(node, root.box, most) for node in root.propagators])
        run = DepthFirstRun(self.task._replace(root=root, options=options))
        return TreeSearchMember("restarts", run, self.rules, self.rules.restarting, cost(root.propagators))

    def neighbourhoods(self, seed: int = 0) -> Member:
        """A search of large neighbourhoods, around the best solution."""
        seed += self.task.options.seed
        options = replace(self.task.options, lns=True, restarts=None, brancher=LED_BY_FAILURES, seed=seed)
        run = DepthFirstRun(self.task._replace(options=options))
        return NeighbourhoodMember("neighbourhoods", run, self.rules, self.rules.weight_of_lns, self.price)

    def learning(self, now: Standing, seed: int = 0) -> Member:
        """A learning search; several exchange short clauses."""
        from constrint.learning.session import LearningRun

        options, rules = self.task.options, self.rules
        if seed:
            options = replace(options, seed=options.seed + seed)
        task = self.task._replace(root=self._broken.root, options=options)
        run = LearningRun(task, follows=seed == 0, exchanges=now.workers > 1)
        if now.rows is not None:
            run.consult(*now.rows)
        member = LearningMember("learning", run, rules, self.share, rules.units_of_step)
        if self.kind in ("tours", "others"):
            member.half = rules.half_of_learning
        return member


Waits: TypeAlias = Callable[[MemberMaker, Standing], "str | None"]
"""The reason why a member does not join yet; None if its time has come."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A row of the table.

    Attributes:
        member: The member's name.
        waits: The reason why it does not join yet.
        make: Makes it; a text says why that is impossible.
    """

    member: MemberName
    waits: Waits
    make: Callable[[MemberMaker, Standing], Member | str]


def may_learn(maker: MemberMaker) -> bool:
    """Whether time is left for the machine code of the learning search."""
    return maker.task.deadline.left > 2 * LOADING


def _after_tree(maker: MemberMaker, now: Standing) -> str | None:
    units = maker.rules.alone
    if now.tree >= units:
        return None
    return f"the tree search has not done {units:,} units yet (portfolio.alone)"


def _after_all(maker: MemberMaker, now: Standing) -> str | None:
    if max(now.tree, now.spent) >= maker.alone:
        return None
    return f"the others have not done {maker.alone:,} units yet (portfolio.before_each_part)"


def _without_solution(maker: MemberMaker, now: Standing) -> str | None:
    return "a solution is known" if now.has_best else _after_tree(maker, now)


def _if_linear(maker: MemberMaker) -> str | None:
    return None if maker.is_linear else "most constraints order tasks: their relaxations are weak"


def _relaxation_waits(maker: MemberMaker, now: Standing) -> str | None:
    return _after_tree(maker, now) if maker.task.goal is None else _if_linear(maker)


def _learning_waits(maker: MemberMaker, now: Standing) -> str | None:
    is_late = "too little time is left to load its machine code"
    return _after_all(maker, now) or (None if may_learn(maker) else is_late)


def _neighbourhoods_wait(maker: MemberMaker, now: Standing) -> str | None:
    if maker.task.goal is None:
        return "there is no objective"
    if not now.has_best:
        return "there is no solution yet"
    least = maker.rules.lns_after
    if not maker.is_linear and now.learned is not None and now.learned < least:
        return f"learning alone finds good schedules for {least:,} units (portfolio.lns_after)"
    return _after_all(maker, now)


ADMISSIONS: tuple[Admission, ...] = (
    Admission(
        "local search",
        lambda maker, now: _if_linear(maker) or _without_solution(maker, now),
        lambda maker, now: maker.local_search(),
    ),
    Admission("relaxation", _relaxation_waits, lambda maker, now: maker.relaxation()),
    Admission("restarts", _without_solution, lambda maker, now: maker.restarts()),
    Admission(
        "neighbourhoods",
        lambda maker, now: None if now.has_point else "no relaxation leads them",
        lambda maker, now: maker.neighbourhoods(),
    ),
    Admission("learning", _learning_waits, lambda maker, now: maker.learning(now)),
    Admission("neighbourhoods", _neighbourhoods_wait, lambda maker, now: maker.neighbourhoods()),
)
"""The members in the order in which they are asked; a member of two rows joins by the first that lets it."""
