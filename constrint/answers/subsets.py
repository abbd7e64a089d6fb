"""Reasons of infeasibility: all minimal conflicts, all minimal corrections, the cheapest correction.

Conflicts and corrections come from one enumeration (MARCO: Liffiton, Previti, Malik and Marques-Silva 2016).
A second model, with a Boolean for each constraint, gives a set of constraints that is not decided yet. If it
has a solution, it grows to a maximal such set, whose complement is a minimal correction; otherwise it shrinks
to a minimal conflict. Each excludes the sets that it decides. Conflicts come soonest from large sets, which
need not grow, corrections from small ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar, overload

from constrint.answers.conflict import linear_part
from constrint.answers.search_arguments import options_of
from constrint.errors import UnboundedError
from constrint.expr import Assignment, BoolVar, Comparison, IntExpr, Not, Or, Sum, definedness
from constrint.expr.functions import max_
from constrint.modelling.conflict import Conflict, describe
from constrint.modelling.constraints import Constraint
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Direction
from constrint.modelling.result import Status
from constrint.search.solver import Solver
from constrint.support.deadline import Deadline

if TYPE_CHECKING:
    from constrint.expr.rational import Rational

Item = TypeVar("Item")
Measure: TypeAlias = Literal["weight", "amount"]


@dataclass(frozen=True, slots=True)
class Correction:
    """Constraints without which the model has a solution; with any one of them back, it has none.

    Attributes:
        constraints: The constraints to remove, in the model's order.
    """

    constraints: tuple[Constraint, ...]

    def __str__(self) -> str:
        if not self.constraints:
            return "the model has a solution: nothing need be removed"
        number = len(self.constraints)
        heading = f"without {'this constraint' if number == 1 else f'these {number} constraints'}"
        listed = [f"  {describe(one)}" for one in self.constraints]
        return "\n".join([f"{heading} there is a solution:", *listed])


class Every(Sequence[Item], Generic[Item]):
    """All conflicts, or all corrections, of a model.

    Attributes:
        complete: Whether they are all; False after a limit.
    """

    def __init__(self, items: Sequence[Item], complete: bool) -> None:
        self._items = tuple(items)
        self.complete = complete

    @overload
    def __getitem__(self, number: int) -> Item: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Item]: ...

    def __getitem__(self, number: int | slice) -> Item | Sequence[Item]:
        return self._items[number]

    def __len__(self) -> int:
        return len(self._items)

    def __str__(self) -> str:
        more = "there may be more" if self._items else "none was found before the limit"
        rest = [] if self.complete else [more]
        return "\n\n".join([*map(str, self._items), *rest])

    def __repr__(self) -> str:
        return f"<{len(self)} found{'' if self.complete else ', incomplete'}>"


def conflicts(
    model: Declarations, candidates: Sequence[Constraint], limit: int | None, deadline: Deadline
) -> Every[Conflict]:
    """All minimal conflicts among some constraints of a model, beside the others, which always hold."""
    empty = tuple(name for name, variable in model.variables.items() if variable.domain.is_empty)
    if empty:
        return Every([Conflict((), empty)], True)
    search = _Marco(model, candidates, deadline, "max")
    found: list[Conflict] = []
    while limit is None or len(found) < limit:
        chosen = search.next()
        if chosen is None:
            return Every(found, search.complete)
        if not chosen.is_feasible:
            found.append(Conflict(search.constraints(chosen.numbers)))
    return Every(found, False)


def corrections(
    model: Declarations, candidates: Sequence[Constraint], limit: int | None, deadline: Deadline
) -> Every[Correction]:
    """All minimal corrections among some constraints of a model, beside the others, which always hold."""
    search = _Marco(model, candidates, deadline, "min")
    found: list[Correction] = []
    while limit is None or len(found) < limit:
        chosen = search.next()
        if chosen is None:
            return Every(found, search.complete)
        if chosen.is_feasible:
            left = set(range(len(candidates))).difference(chosen.numbers)
            found.append(Correction(search.constraints(left)))
    return Every(found, False)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A maximal set of constraints that has a solution, or a minimal one that has none."""

    numbers: frozenset[int]
    is_feasible: bool


class _Marco:
    """The enumeration, from large sets ("max") or small ones ("min").

    Attributes:
        complete: Whether all sets are decided.
    """

    def __init__(
        self, model: Declarations, candidates: Sequence[Constraint], deadline: Deadline, prefers: Direction
    ) -> None:
        self._prefers = prefers
        self._candidates = candidates
        self._deadline = deadline
        given = set(candidates)
        self._background = [one for one in model.constraints if one not in given]
        self._model = model
        self._linear = linear_part(model, deadline)
        place = {one: number for number, one in enumerate(model.constraints)}
        self._number = [place[one] for one in candidates]
        self._given = [place[one] for one in self._background]
        self._map = Declarations("map")
        self._chosen: list[BoolVar] = [self._map.bool_var(str(i)) for i in range(len(candidates))]
        self._solution: Assignment = {}
        self.complete = False

    def constraints(self, numbers: Sequence[int] | set[int] | frozenset[int]) -> tuple[Constraint, ...]:
        """The constraints with these numbers, in order."""
        return tuple(self._candidates[i] for i in sorted(numbers))

    def next(self) -> _Chosen | None:
        """The next set; None if there is no other, or if time ran out."""
        seed = Solver(self._map, options_of(time_limit=self._deadline.rest)).best(
            [], [(one, self._prefers) for one in self._chosen]
        )
        if seed.status is not Status.OPTIMAL:
            self.complete = seed.status is Status.INFEASIBLE
            return None
        numbers = [i for i, one in enumerate(self._chosen) if seed[one]]
        feasible = self._feasible(numbers)
        if feasible is None:
            return None
        chosen = self._grown(set(numbers)) if feasible else self._minimal(numbers)
        if chosen is None:
            return None
        if feasible:
            self._map.add(Or(tuple(one for i, one in enumerate(self._chosen) if i not in chosen)))
        else:
            self._map.add(Or(tuple(Not(self._chosen[i]) for i in sorted(chosen))))
        return _Chosen(chosen, feasible)

    def _grown(self, numbers: set[int]) -> frozenset[int] | None:
        """A maximal set that has a solution, with those that do; None if time runs out."""
        for number in range(len(self._candidates)):
            self._add_satisfied(numbers)
            if number in numbers:
                continue
            feasible = self._feasible([*sorted(numbers), number])
            if feasible is None:
                return None
            if feasible:
                numbers.add(number)
        return frozenset(numbers)

    def _add_satisfied(self, numbers: set[int]) -> None:
        """Add what the last solution satisfies."""
        if not self._solution:
            return
        for i, candidate in enumerate(self._candidates):
            if i not in numbers and candidate.expr.evaluate(self._solution):
                numbers.add(i)
        self._solution = {}

    def _minimal(self, numbers: list[int]) -> frozenset[int] | None:
        """A minimal set without a solution, out of those that have none; None if time runs out."""
        numbers = self._shrunk(numbers)
        for number in list(numbers):
            without = [i for i in numbers if i != number]
            feasible = self._feasible(without)
            if feasible is None:
                return None
            if not feasible:
                numbers = without
        return frozenset(numbers)

    def _shrunk(self, numbers: list[int]) -> list[int]:
        """As few as possible of some candidates that contradict each other linearly; else all of them."""
        if self._linear is None:
            return numbers
        core = self._linear.shrunk([*self._given, *(self._number[i] for i in numbers)])
        return numbers if core is None else [i for i in numbers if self._number[i] in set(core)]

    def _feasible(self, numbers: Sequence[int]) -> bool | None:
        """Whether constraints have a solution beside the background, which is then kept.

        None if that is not decided in time.
        """
        if self._linear is not None:
            known = self._linear.is_feasible([*self._given, *(self._number[i] for i in numbers)])
            if known is not None:
                self._solution = self._linear.solution if known else {}
                return known
        part = Declarations(self._model.name)
        part.settings = self._model.settings
        part.variables, part.lets = self._model.variables, self._model.lets
        part.constraints = [*self._background, *(self._candidates[i] for i in numbers)]
        try:
            found = Solver(part, options_of(time_limit=self._deadline.rest, learn="auto")).best([], [])
        except UnboundedError:
            return None
        status = found.status
        self._solution = {one: found[one] for one in self._model.variables.values()} if found else {}
        return None if status is Status.UNKNOWN else status is not Status.INFEASIBLE


def amount_of(constraint: Constraint) -> IntExpr | Rational:
    """By how much a constraint is violated: the distance of an inequality or equation, else 1.

    The distance is that of the sides as they were written, before fractions were multiplied out.
    """
    expr = constraint.expr
    if not isinstance(expr, Comparison) or expr.operator == "!=":
        return Sum(((1, Not(expr)),), 0)
    left, right = expr.left, expr.right
    if definedness(left) or definedness(right):
        return Sum(((1, Not(expr)),), 0)
    if expr.operator in ("<", "<="):
        amount = max_(0, left - right + (expr.operator == "<"))
    elif expr.operator in (">", ">="):
        amount = max_(0, right - left + (expr.operator == ">"))
    else:
        amount = abs(left - right)
    if expr.scale is None:
        return amount
    from constrint.expr.rational import Rational

    return Rational(amount, expr.scale.denominator, expr.scale.is_float)
