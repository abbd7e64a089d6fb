"""Goals of `solve` with soft constraints included, and its results in the user's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from constrint.modelling.objectives import Goal, Units, as_goals
from constrint.modelling.result import Result
from constrint.modelling.soft import is_weighed

if TYPE_CHECKING:
    from constrint.answers.call_log import CallLog
    from constrint.expr import IntExpr
    from constrint.expr.rational import Rational
    from constrint.modelling.constraints import Constraint
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.soft import Soft
    from constrint.preparing.options import OnSolution


@dataclass(frozen=True)
class PresentedGoals:
    """The goals of a call.

    Attributes:
        goals: What is optimised, the most important first.
        units: The goals with fractional coefficients, by the integer expressions in their place.
        weights: The soft constraints.
        cost: Their violation.
        hides_first: Whether the first goal is the violation of the soft constraints beside the user's goals.
        is_list: Whether the user gave a list of goals, whose values are a tuple even if it has one.
    """

    goals: list[Goal]
    units: Units
    weights: Mapping[Constraint, Soft]
    cost: IntExpr | Rational | None = None
    hides_first: bool = False
    is_list: bool = False

    @staticmethod
    def of(model: Declarations, goals: list[Goal], units: Units, *, is_list: bool = False) -> PresentedGoals:
        """The goals of a call on a model; the violation of soft constraints comes first, or in a goal."""
        return replace(PresentedGoals._of(model, goals, units), is_list=is_list)

    @staticmethod
    def _of(model: Declarations, goals: list[Goal], units: Units) -> PresentedGoals:
        known = {**model.units, **units} if units else model.units
        if not model.weights:
            return PresentedGoals(goals, known, model.weights)
        cost = model.violation
        if is_weighed(model, [expr for expr, _ in goals]):
            return PresentedGoals(goals, known, model.weights, cost)
        known = dict(known)
        first = as_goals([(cost, "min")], known)
        return PresentedGoals(first + goals, known, dict(model.weights), cost, bool(goals))

    def result(self, found: Result, told: CallLog | None = None) -> Result:
        """A result of these goals as the user sees it, which ends the log of its call."""
        if self.weights or self.units or self.is_list:
            found = self._in_user_terms(found)
        return found if told is None else told.end(found)

    def _in_user_terms(self, found: Result) -> Result:
        if self.units:
            objective = found.objective if isinstance(found.objective, tuple) else (found.objective,)
            exprs = [expr for expr, _ in self.goals]
            pairs = zip(exprs, objective, strict=False)
            shown: Any = tuple([self._in_units(expr, value) for expr, value in pairs])
            shown = shown if isinstance(found.objective, tuple) else shown[0] if shown else None
            bounds = found.bound if isinstance(found.bound, tuple) else (found.bound,)
            proven = zip(exprs, bounds, strict=False)
            known: Any = tuple([self._in_units(expr, value) for expr, value in proven])
            known = known if isinstance(found.bound, tuple) else known[0] if known else None
            found = replace(found, objective=shown, bound=known)
        if self.hides_first:
            rest = _without_first(found.objective)
            found = replace(found, objective=rest, bound=_without_first(found.bound))
        if self.is_list:
            found = replace(found, objective=_in_tuple(found.objective), bound=_in_tuple(found.bound))
        return self._with_violation(found) if self.weights and found else found

    def in_units(self, place: int, value: Any) -> Any:
        """A value of a goal, as the user sees it."""
        return self._in_units(self.goals[place][0], value)

    def _in_units(self, expr: IntExpr, value: Any) -> Any:
        unit = self.units.get(expr)
        return value if unit is None or value is None else unit.in_units(value)

    def _with_violation(self, found: Result) -> Result:
        violated = [one for one, soft in self.weights.items() if found[soft.violated]]
        cost: Any = self.cost
        return replace(found, violation=found[cost], violated=tuple(violated))

    def in_user_terms(self, on_solution: OnSolution | None) -> OnSolution | None:
        """The callback, called with results as the user sees them."""
        if on_solution is None or not (self.weights or self.units or self.is_list):
            return on_solution
        return lambda found: on_solution(self.result(found))


def _in_tuple(value: object) -> object:
    """The value of one goal as a tuple; a tuple and None stay."""
    return value if value is None or isinstance(value, tuple) else (value,)


def _without_first(values: object) -> object:
    """The values of several goals but the first: one value, or a tuple; None without values."""
    if not isinstance(values, tuple):
        return None
    return values[1] if len(values) == 2 else values[1:]
