"""Several good solutions: the best ones in their order, and ones that differ as much as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import TYPE_CHECKING, Literal, TypeAlias

from constrint.answers.presented import PresentedGoals
from constrint.answers.search_arguments import options_of
from constrint.answers.several import Front
from constrint.expr import And, BoolExpr, Comparison, IntExpr, Not, Or, as_expr
from constrint.expr.functions import min_, sum_
from constrint.modelling.blocking import blocking
from constrint.modelling.objectives import as_written
from constrint.modelling.result import Result, Status
from constrint.search.all_solutions import AllSolutions
from constrint.search.solver import Solver
from constrint.support.deadline import Deadline
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from fractions import Fraction

    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal
    from constrint.preparing.options import Engine, Options

Distance: TypeAlias = Literal["hamming", "manhattan"]


class Ranking(Front):
    """Several solutions: the best ones, the best first, or diverse ones in the order of finding.

    Attributes:
        goals: The (expression, "max" | "min") pairs by which solutions are ranked, the most important first;
            with soft constraints, the total weight of those that are violated leads.
        complete: Whether the list is proven to be what was asked for; False where time ran out.
    """

    _kind = "solutions"

    def __repr__(self) -> str:
        goals = f" by {', '.join([f'{way} {expr}' for expr, way in self.goals])}" if self.goals else ""
        return f"Ranking({counted(len(self), 'solution')}{goals}{'' if self.complete else ', incomplete'})"


@dataclass
class Several:
    """A search for several solutions.

    Attributes:
        model: The model.
        presented: What is optimised.
        variables: The variables by which solutions differ.
        deadline: When it ends.
        engine: As for `Model.solve`.
        seed: As for `Model.solve`.
    """

    model: Declarations
    presented: PresentedGoals
    variables: Sequence[IntExpr]
    deadline: Deadline
    engine: Engine = "auto"
    seed: int = 0

    def _options(self, has_goal: bool = True) -> Options:
        learn: Literal["auto", False] = "auto" if has_goal else False
        return options_of(
            time_limit=self.deadline.rest, engine=self.engine, seed=self.seed, learn=learn, has_goal=has_goal
        )

    def _ranking(self, found: Sequence[Result], complete: bool) -> Ranking:
        goals = as_written(self.presented.goals, self.presented.units)
        return Ranking(goals, [self.presented.result(one) for one in found], complete)

    def best(self, number: int) -> Ranking:
        """The best solutions: those of each value of the goals are listed before the next value is sought."""
        rest = self.model.copy()
        found: list[Result] = []
        goals = self.presented.goals
        while len(found) < number:
            best = Solver(rest, self._options()).best(goals, [])
            if best.status is Status.INFEASIBLE:
                return self._ranking(found, True)
            if best.status is not Status.OPTIMAL:
                return self._ranking([*found, best] if best else found, False)
            values = [best[expr] for expr, _ in goals]
            level = rest.copy()
            pairs = zip(goals, values, strict=True)
            level.add(*(Comparison("==", expr, as_expr(value)) for (expr, _), value in pairs))
            listing = AllSolutions(level, self._options(has_goal=False))
            fresh = list(listing.every(number - len(found), self.variables))
            found += [replace(one, objective=best.objective, bound=best.bound) for one in fresh]
            if len(found) < number and not listing.complete:
                return self._ranking(found, False)
            rest.add(_worse(self.presented, values))
            rest.add(*(blocking(rest, one, self.variables) for one in fresh))
        return self._ranking(found, True)

    def diverse(self, number: int, within: Fraction, distance: Distance) -> Ranking:
        """Solutions of which each is as far as possible from the nearest of those before it."""
        rest = self.model.copy()
        goals = self.presented.goals
        found: list[Result] = []
        far: list[IntExpr] = []
        while len(found) < number:
            wanted: list[Goal] = [(min_(far), "max")] if far else goals
            result = Solver(rest, self._options(bool(wanted))).best(wanted, [])
            if result.status is Status.INFEASIBLE:
                break
            if result.status is not Status.OPTIMAL:
                return self._ranking([*found, self._valued(result)] if result else found, False)
            if goals and not found:
                rest.add(*self._near([result[expr] for expr, _ in goals], within))
            rest.add(blocking(rest, result, self.variables))
            far.append(_distance(self.variables, result, distance))
            found.append(self._valued(result))
        return self._ranking(found, True)

    def _near(self, values: Sequence[int], within: Fraction) -> Iterator[BoolExpr]:
        """The conditions that the goals have these values; the last one may be worse, within a distance."""
        *first, (last, direction) = self.presented.goals
        for (expr, _), value in zip(first, values, strict=False):
            yield Comparison("==", expr, as_expr(value))
        unit = self.presented.units.get(last)
        farthest = floor(within * (1 if unit is None else unit.denominator))
        if direction == "max":
            yield Comparison(">=", last, as_expr(values[-1] - farthest))
        else:
            yield Comparison("<=", last, as_expr(values[-1] + farthest))

    def _valued(self, result: Result) -> Result:
        """The result with the values of the goals as its objective."""
        values = tuple(result[expr] for expr, _ in self.presented.goals)
        objective = None if not values else values[0] if len(values) == 1 else values
        return replace(result, objective=objective, bound=None)


def _worse(presented: PresentedGoals, values: Sequence[int]) -> BoolExpr:
    """The condition that the goals are worse than some values, in lexicographic order."""
    ways: list[BoolExpr] = []
    equal: list[BoolExpr] = []
    for (expr, direction), value in zip(presented.goals, values, strict=True):
        ways.append(And((*equal, Comparison("<" if direction == "max" else ">", expr, as_expr(value)))))
        equal.append(Comparison("==", expr, as_expr(value)))
    return Or(tuple(ways))


def _distance(variables: Sequence[IntExpr], result: Result, distance: Distance) -> IntExpr:
    """The distance from a solution."""
    if distance == "manhattan":
        return sum_([abs(variable - result[variable]) for variable in variables])
    return sum_([Not(Comparison("==", variable, as_expr(int(result[variable])))) for variable in variables])
