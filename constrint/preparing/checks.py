"""The exact check of solutions: evaluation of the model's own expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from constrint.errors import InternalError, Undefined
from constrint.expr import BoolVar, IntExpr
from constrint.expr.enumerated import labels_of
from constrint.expr.evaluation import SharedValues, are_small, is_light, is_weighed
from constrint.modelling.declarations import Constraint, Declarations
from constrint.modelling.objectives import Goal
from constrint.modelling.ownership import foreign
from constrint.modelling.result import Result
from constrint.modelling.symbols import in_symbols

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared

Assignment: TypeAlias = dict[IntExpr, int]

CHECKS_OF_ALL = 4  # solutions before an index of the constraints by their variables pays


def check(prepared: Prepared, assignment: Assignment) -> None:
    """Check a solution by evaluating the model's own expressions exactly; raises `InternalError`."""
    check_solution(prepared.model, assignment)


def check_solution(model: Declarations, assignment: Assignment) -> None:
    """Check an assignment by evaluating a model's expressions exactly; raises `InternalError`."""
    _check_constraints(model.constraints, assignment, assignment)


def _check_constraints(constraints: list[Constraint], assignment: Assignment, values: Assignment) -> None:
    """Check some constraints, and that some values lie in their domains; raises `InternalError`."""
    for variable, value in values.items():
        if not isinstance(variable, BoolVar) and value not in variable.domain:  # type: ignore[attr-defined] # keys are variables
            raise InternalError(f"{variable} has no value {value}")
    violated = first_violated(constraints, assignment)
    if violated is not None:
        where = violated.position or violated.name or "a constraint"
        raise InternalError(f"a solution violates {where}: please report this model")


class SuccessiveChecks:
    """Checks solutions of one model one after the other.

    A constraint is evaluated again only where a variable of it has another value than in the last solution,
    in which it holds: large models have thousands of solutions that differ in a few values.
    """

    def __init__(self, model: Declarations) -> None:
        self._model = model
        self._last: Assignment = {}
        self._checked = 0
        self._of: dict[IntExpr, list[Constraint]] = {}  # the constraints of each variable

    def check(self, assignment: Assignment) -> None:
        """Check the next solution; raises `InternalError`."""
        self._checked += 1
        if self._checked <= CHECKS_OF_ALL:
            check_solution(self._model, assignment)
        else:
            if not self._of:
                self._index()
            last = self._last
            changed = {v: value for v, value in assignment.items() if last.get(v) != value}
            touched = dict.fromkeys(one for v in changed for one in self._of.get(v, ()))
            _check_constraints(list(touched), assignment, changed)
        self._last = assignment

    def _index(self) -> None:
        for constraint in self._model.constraints:
            for variable in set(constraint.expr.variables()):
                self._of.setdefault(variable, []).append(constraint)


def bounded(result: Result, bounds: Sequence[int | None], goals: Sequence[Goal]) -> Result:
    """A result with a proven bound of each goal; raises `InternalError` where its solution is better."""
    objective = result.objective if isinstance(result.objective, tuple) else (result.objective,)
    for value, bound, (_, direction) in zip(objective, bounds, goals, strict=False):
        if (
            value is not None
            and bound is not None
            and (value < bound if direction == "min" else value > bound)
        ):
            raise InternalError(
                f"a solution has {value}, better than the bound {bound}: please report this model"
            )
    if all(bound is None for bound in bounds):
        return replace(result, bound=None)
    return replace(result, bound=tuple(bounds) if len(bounds) > 1 else bounds[0])


def first_violated(constraints: Iterable[Constraint], assignment: Assignment) -> Constraint | None:
    """The first constraint that does not hold under an assignment; raises `Undefined` as it does."""
    if _is_all_small(constraints):
        return next((one for one in constraints if not one.expr.meaning(assignment)), None)
    shared: SharedValues | None = None  # for the expressions that large constraints share
    for constraint in constraints:
        expr = constraint.expr
        if is_light(expr):
            holds = expr.meaning(assignment)
        else:
            shared = SharedValues(assignment) if shared is None else shared
            holds = expr.evaluate(shared)
        if not holds:
            return constraint
    return None


def _is_all_small(constraints: Iterable[Constraint]) -> bool:
    """Whether constraints are small, at their first check; later each is weighed by itself."""
    if type(constraints) is not list or not constraints or is_weighed(constraints[0].expr):
        return False
    is_light(constraints[0].expr)
    return are_small([constraint.expr for constraint in constraints])


def values_of(model: Declarations, assignment: Assignment) -> dict[str, Any]:
    """The values of all variables and lets by name, as the user sees them; an undefined let has no entry."""
    values: dict[str, Any] = {name: int(assignment[variable]) for name, variable in model.variables.items()}
    shared = assignment if all(map(is_light, model.lets.values())) else SharedValues(assignment)
    units = model.units
    for name, expr in model.lets.items():
        with suppress(Undefined):
            try:
                number = int(expr.evaluate(shared))
                if expr in units:
                    values[name] = units[expr].in_units(number)
                    continue
                labels = labels_of(expr) if model.symbols else None
                values[name] = number if labels is None else labels[number]
            except KeyError as error:
                raise foreign(error.args[0]) from None
    return in_symbols(model.symbols, values, assignment) if model.symbols else values
