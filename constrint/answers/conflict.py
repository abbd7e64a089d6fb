"""Minimal conflicts: constraints of an infeasible model that contradict each other.

QuickXplain (Junker 2004): half of the constraints are removed as long as the rest is still infeasible, so a
small conflict among many constraints takes few solves. Domains are always part of the background.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constrint.answers.search_arguments import options_of
from constrint.errors import LimitError, UnboundedError
from constrint.expr import And, definedness
from constrint.modelling.conflict import Conflict
from constrint.modelling.declarations import Constraint, Declarations
from constrint.modelling.result import Status
from constrint.search.solver import Solver
from constrint.support.deadline import Deadline

if TYPE_CHECKING:
    from constrint.answers.linear_conflicts import LinearConflicts
    from constrint.expr import BoolExpr


def explained(
    model: Declarations, assumptions: Sequence[BoolExpr], deadline: Deadline, time_limit: float
) -> Conflict | None:
    """The conflict of a model with assumptions; None if it has a solution. See `Model.explain`."""
    assumed = model.copy()
    if assumed.assume(assumptions):
        return explained(assumed, (), deadline, time_limit)
    result = Solver(model, options_of(time_limit=deadline.rest, learn="auto")).best([], [])
    if result:
        return None
    if result.status is Status.UNKNOWN:
        raise LimitError(f"time limit of {time_limit} s reached before feasibility was decided")
    return find_conflict(model, time_limit=max(0.0, deadline.left))


def find_conflict(
    model: Declarations, *, time_limit: float = 5.0, background: Sequence[int] = ()
) -> Conflict:
    """A minimal conflict of a model that is known to be infeasible.

    Args:
        model: A model without solutions.
        time_limit: Seconds. When they are over, the conflict found so far is returned; it may not be minimal.
        background: Numbers of constraints that always hold, where only the others, assumptions, are to be
            blamed.
    """
    empty = tuple(name for name, variable in model.variables.items() if variable.domain.is_empty)
    if empty:
        return Conflict((), empty)
    search = _ConflictSearch(model, time_limit)
    given = sorted(set(background))
    numbers = sorted(set(range(len(model.constraints))).difference(given))
    needs = defined_goals(model)
    if needs and not search.infeasible(given + numbers):
        model = model.copy()
        extra = range(len(model.constraints), len(model.constraints) + len(needs))
        model.constraints += needs
        search = _ConflictSearch(model, max(0.0, search.deadline.left))
        given, numbers = ([*given, *extra], numbers) if background else (given, [*numbers, *extra])
    core = search.linear_core(given + numbers)
    if core is not None:
        numbers = [number for number in numbers if number in core]
    guilty = [] if search.infeasible(given) else search.needed(given, numbers, changed=False)
    blamed = tuple(model.constraints[i] for i in sorted(guilty))
    return Conflict(blamed, minimal=not search.cut_short, beside=bool(background))


def defined_goals(model: Declarations) -> list[Constraint]:
    """The conditions that the objectives have values, for those that may have none, such as `x // y`."""
    found = []
    for expr, _ in [*model.goals, *model.preferences]:
        needs = definedness(expr)
        if needs:
            condition = And(needs).at(expr.position)
            found.append(Constraint(condition, "the objective has a value"))
    return found


def linear_part(model: Declarations, deadline: Deadline) -> LinearConflicts | None:
    """The linear part of a model's constraints; None where they are few or many, and without HiGHS."""
    rules = model.settings.relaxation
    if not rules.least_blamed <= len(model.constraints) <= rules.most_blamed:
        return None
    from constrint.answers.linear_conflicts import linear_conflicts  # brings numpy

    return linear_conflicts(model, deadline)


class _ConflictSearch:
    """QuickXplain's recursion over constraint numbers."""

    def __init__(self, model: Declarations, time_limit: float) -> None:
        self.model = model
        self.deadline = Deadline(time_limit)
        self.cut_short = False
        self._linear = linear_part(model, self.deadline)

    def linear_core(self, numbers: Sequence[int]) -> frozenset[int] | None:
        """A few of these constraints that contradict each other linearly; None if that is not proven."""
        if self._linear is None:
            return None
        found = self._linear.shrunk(numbers)
        return None if found is None else frozenset(found)

    def infeasible(self, numbers: Sequence[int]) -> bool:
        """Whether the solver proves that these constraints contradict each other."""
        remaining = self.deadline.left
        if remaining <= 0:
            self.cut_short = True
            return False
        if self._linear is not None:
            is_feasible = self._linear.is_feasible(numbers)
            if is_feasible is not None:
                return not is_feasible
        part = Declarations(self.model.name)
        part.settings = self.model.settings
        part.variables = self.model.variables
        part.lets = self.model.lets
        part.constraints = [self.model.constraints[i] for i in sorted(numbers)]
        try:
            status = Solver(part, options_of(time_limit=remaining, learn="auto")).best([], []).status
        except UnboundedError:
            return False
        if status is Status.UNKNOWN:
            self.cut_short = True
        return status is Status.INFEASIBLE

    def needed(self, background: list[int], candidates: Sequence[int], *, changed: bool) -> list[int]:
        """The candidates that a conflict needs in addition to the background."""
        if self.cut_short:  # keep the remaining candidates untested
            return list(candidates)
        if changed and self.infeasible(background):
            return []
        if len(candidates) <= 1:
            return list(candidates)
        half = len(candidates) // 2
        first, second = list(candidates[:half]), list(candidates[half:])
        from_second = self.needed(background + first, second, changed=bool(first))
        from_first = self.needed(background + from_second, first, changed=bool(from_second))
        return from_first + from_second
