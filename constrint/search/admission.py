"""The admission of members to a portfolio, in one table with reasons.

At the end of each turn the rows are read in order. A member joins once, when the row's condition holds; until
then, and where it cannot be made, the row says why it does not take part. The numbers are settings
(`PortfolioSettings`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from constrint.engine.background_compile import LOADING
from constrint.learning.size import cost
from constrint.preparing.branching import Brancher
from constrint.preparing.restart_rules import Restarts
from constrint.preparing.search_protocol import SearchTask
from constrint.presolve.breaking import without_symmetries
from constrint.relaxation.shared_sums import sums_of, too_few_sums
from constrint.search.depth_first import DepthFirstRun
from constrint.search.members import (
    AnnealingMember,
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
        lacks_sums: Why sums are too few for a relaxation without an objective, or None.
        before_sums: Units of the others that come before a relaxation without an objective.
        keeps_symmetries: The reason why no symmetries were looked for, or None.
    """

    def __init__(self, task: SearchTask) -> None:
        self.task = task
        self.rules = task.root.settings.portfolio
        self.kind = kind_of(task.root.propagators)
        self.share = self.rules.weight_of_learning(self.kind)
        self._broken = without_symmetries(task.root, task.goal, task.prepared.variables.values())
        self.keeps_symmetries = self._broken.unsought
        self.alone = alone(task.root, self.kind)
        self.price = cost(task.root.propagators)
        self.lacks_sums, self.before_sums = too_few_sums(task.root), 0
        if task.goal is None:
            terms = sums_of(task.root)[1]
            self.before_sums = max(self.rules.alone, self.rules.before_each_term * terms)

    @property
    def is_linear(self) -> bool:
        """Whether relaxations may be strong: those of orders of tasks are weak."""
        return self.kind != "schedules"

    def local_search(self) -> Member | str:
        """The local search for a first solution."""
        from constrint.search.feasibility_jump import feasibility_jump_run

        run, rules = feasibility_jump_run(self.task), self.rules
        if isinstance(run, str):
            return run
        most = self.task.root.settings.local_search.most_dives
        return CountingMember(
            *("local search", run, rules, rules.local_search, rules.units_of_jump),
            half=rules.half_of_jumps,
            given_up=f"a solution is known, or none was near {most} of its points (local_search.most_dives)",
        )

    def annealing(self) -> Member | str:
        """The local search that improves solutions by random moves."""
        from constrint.search.annealing import annealing_run

        run, rules = annealing_run(self.task), self.rules
        if isinstance(run, str):
            return run
        return AnnealingMember(
            *("annealing", run, rules, rules.trial_of_annealing, rules.units_of_annealing),
            given_up="its solutions violate a constraint that it takes for granted",
        )

    def relaxation(self) -> Member | str:
        """The search guided by a linear relaxation.

        It leads towards the goal; without one, along the longest equation or to any point of sums.
        """
        from constrint.search.relaxed import relaxed_run

        goal, rules = self.task.goal, self.rules
        proves = goal is not None
        weight, half = 1.0, inf
        given_up = "its first turn gave no bound better than that of propagation"
        if goal is None:
            towards = equated(self.task.root)
            if isinstance(towards, int):
                goal, weight = (towards, "min"), rules.on_equations
            elif self.lacks_sums is not None:
                return f"{towards}; {self.lacks_sums}"
            else:
                weight, half = rules.on_sums, rules.half_of_sums
                given_up = "few of its programs refute their node (relaxation.share_of_refuted)"
        run = relaxed_run(self.task._replace(root=self._broken.ordered, goal=goal))
        if isinstance(run, str):
            return run
        run.may_give_up = proves or goal is None
        return RelaxedMember(
            *("relaxation", run, rules, weight, rules.units_of_program, proves),
            half=half,
            given_up=given_up,
        )

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
        most = task.root.settings.learning.most_trail
        member.given_up = f"bounds creep: a branch had more than {most:,} changes (learning.most_trail)"
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
        is_certain: Whether it can be made of any task.
    """

    member: MemberName
    waits: Waits
    make: Callable[[MemberMaker, Standing], Member | str]
    is_certain: bool = False


def may_learn(maker: MemberMaker) -> bool:
    """Whether time is left for the machine code of the learning search."""
    return maker.task.deadline.left > 2 * LOADING


def _after_tree(maker: MemberMaker, now: Standing) -> str | None:
    units = maker.rules.alone
    if now.tree >= units:
        return None
    return f"the tree search has done {now.tree:,} units, fewer than {units:,} (portfolio.alone)"


def _after_all(maker: MemberMaker, now: Standing) -> str | None:
    spent = max(now.tree, int(now.spent))
    if spent >= maker.alone:
        return None
    field = "before_each_part_of_schedules" if maker.kind == "schedules" else "before_each_part"
    if maker.alone == maker.rules.most_before_learning:
        field = "most_before_learning"
    return f"the others have done {spent:,} units, fewer than {maker.alone:,} (portfolio.{field})"


def _without_solution(maker: MemberMaker, now: Standing) -> str | None:
    return "a solution is known" if now.has_best else _after_tree(maker, now)


def _if_linear(maker: MemberMaker) -> str | None:
    return None if maker.is_linear else "most constraints order tasks: their relaxations are weak"


def _relaxation_waits(maker: MemberMaker, now: Standing) -> str | None:
    if maker.task.goal is not None:
        return _if_linear(maker)
    if maker.lacks_sums is not None:
        return _after_tree(maker, now)
    if now.spent >= maker.before_sums:
        return None
    return (
        f"there is no objective, and the others have done {int(now.spent):,} units, fewer than "
        f"{maker.before_sums:,} for the terms of sums (portfolio.before_each_term)"
    )


def _learning_waits(maker: MemberMaker, now: Standing) -> str | None:
    if (reason := _after_all(maker, now)) is not None or may_learn(maker):
        return reason
    left = maker.task.deadline.left
    return f"too little time is left to load its machine code: {left:.1f} s, not more than {2 * LOADING:.1f}"


def _neighbourhoods_wait(maker: MemberMaker, now: Standing) -> str | None:
    if maker.task.goal is None:
        return "there is no objective"
    if not now.has_best:
        return "there is no solution yet"
    least = maker.rules.lns_after
    if not maker.is_linear and now.learned is not None and now.learned < least:
        done = int(now.learned)
        return f"learning has done {done:,} units on schedules, fewer than {least:,} (portfolio.lns_after)"
    return _after_all(maker, now)


def _annealing_waits(maker: MemberMaker, now: Standing) -> str | None:
    if (reason := _if_linear(maker) or _after_all(maker, now)) is not None:
        return reason
    spent, least = int(now.spent), maker.rules.before_annealing
    if spent >= least:
        return None
    return f"the others have done {spent:,} units, fewer than {least:,} (portfolio.before_annealing)"


ADMISSIONS: tuple[Admission, ...] = (
    Admission(
        "local search",
        lambda maker, now: _if_linear(maker) or _without_solution(maker, now),
        lambda maker, now: maker.local_search(),
    ),
    Admission("relaxation", _relaxation_waits, lambda maker, now: maker.relaxation()),
    Admission("restarts", _without_solution, lambda maker, now: maker.restarts(), is_certain=True),
    Admission(
        "neighbourhoods",
        lambda maker, now: None if now.has_point else "no relaxation leads them",
        lambda maker, now: maker.neighbourhoods(),
        is_certain=True,
    ),
    Admission(
        "annealing",
        _annealing_waits,
        lambda maker, now: maker.annealing(),
    ),
    Admission("learning", _learning_waits, lambda maker, now: maker.learning(now), is_certain=True),
    Admission(
        "neighbourhoods", _neighbourhoods_wait, lambda maker, now: maker.neighbourhoods(), is_certain=True
    ),
)
"""The members in the order in which they are asked; a member of two rows joins by the first that lets it."""

BEGUN = Standing(0, 0.0, None, has_best=False, has_point=False, rows=None, workers=1)
"""The state in which a portfolio begins."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """The outlook of a member before the search.

    Attributes:
        member: Its name, or that of another part of a portfolio.
        joins: Whether it may join at some time.
        reason: Why it does not take part at first, or at all; None if nothing keeps it out.
    """

    member: str
    joins: bool
    reason: str | None

    def __str__(self) -> str:
        if self.reason is None:
            return f"{self.member}: takes part from the first turn on"
        return f"{self.member}: {'not yet' if self.joins else 'takes no part'}: {self.reason}"


def prospects(task: SearchTask) -> list[Prospect]:
    """The members of a portfolio, and whether they may join; raises `Stopped` at the time limit."""
    maker = MemberMaker(task)
    found: dict[str, Prospect] = {}
    for row in ADMISSIONS:
        known = found.get(row.member)
        if known is None or not known.joins:
            found[row.member] = _prospect(row, maker)
    if maker.keeps_symmetries is not None:
        found["symmetries"] = Prospect("symmetries", False, maker.keeps_symmetries)
    return list(found.values())


def _prospect(row: Admission, maker: MemberMaker) -> Prospect:
    """Give the outlook of a row's member before the search."""
    units = 1 << 60
    late = replace(BEGUN, tree=units, spent=float(units), learned=float(units))
    first = row.waits(maker, BEGUN)
    if all(row.waits(maker, replace(late, has_best=has_best)) is not None for has_best in (False, True)):
        return Prospect(row.member, False, first)
    made = None if row.is_certain else row.make(maker, BEGUN)
    return Prospect(row.member, False, made) if isinstance(made, str) else Prospect(row.member, True, first)
