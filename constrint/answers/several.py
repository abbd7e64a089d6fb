"""Answers that take more than one search: streams of solutions and Pareto fronts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast, overload

from constrint.answers.presented import PresentedGoals
from constrint.answers.search_arguments import options_of
from constrint.errors import shown
from constrint.expr import BoolExpr, Comparison, IntExpr, Or, as_expr, linear
from constrint.modelling.objectives import Goal, Units, WrittenGoal, as_written
from constrint.modelling.result import Result, Statistics, Status
from constrint.preparing.options import Engine
from constrint.search.solver import Solver
from constrint.support.record import public_names

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd  # type: ignore[import-untyped] # stubs are a package of their own

    from constrint.modelling.declarations import Declarations
    from constrint.search.all_solutions import AllSolutions


class Solutions(Iterator[Result]):
    """An iterator over the solutions of a model, which are found on demand."""

    def __init__(
        self, enumeration: AllSolutions, limit: int | None, variables: Sequence[IntExpr] | None = None
    ) -> None:
        self._enumeration = enumeration
        self._results = enumeration.every(limit, variables)
        self._given = 0

    @property
    def complete(self) -> bool:
        """Whether all solutions have been given; False before the end, and after a limit."""
        return self._enumeration.complete

    def __next__(self) -> Result:
        found = next(self._results)
        self._given += 1
        return found

    def __repr__(self) -> str:
        state = "these are all" if self.complete else "`next`, `for` and `list` find more"
        return f"Solutions({self._given:,} given; {state})"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """The values of all variables as an array, a row for each remaining solution."""
        from constrint.modelling.export import to_numpy

        return to_numpy(self)

    def to_pandas(self) -> pd.DataFrame:
        """The values of all variables as a data frame, a row for each remaining solution; needs pandas."""
        from constrint.modelling.export import to_pandas

        return to_pandas(self)


MOST_SHOWN = 10  # optima that the text of a front shows


class Front(Sequence["Result[Any]"]):
    """The Pareto optima of a model: none is at least as good as another in every goal.

    Attributes:
        goals: The (expression, "max" | "min") pairs.
        complete: Whether these are all optima; False after a limit or Ctrl-C.
    """

    _internal = ("in_units",)
    __dir__ = public_names
    _kind = "Pareto optima"

    def __init__(self, goals: Sequence[WrittenGoal], results: Sequence[Result], complete: bool) -> None:
        self.goals = tuple(goals)
        self.complete = complete
        self._results = tuple(results)

    @overload
    def __getitem__(self, number: int) -> Result[Any]: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Result[Any]]: ...

    def __getitem__(self, number: int | slice) -> Result[Any] | Sequence[Result[Any]]:
        return self._results[number]

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        goals = ", ".join([f"{direction} {expr}" for expr, direction in self.goals])
        first = [shown(str(result.objective)) for result in self._results[:MOST_SHOWN]]
        more = [f"… {len(self) - len(first)} more"] if len(self) > len(first) else []
        listed = f": {', '.join([*first, *more])}" if first else ""
        number = "1 optimum" if len(self) == 1 else f"{len(self)} optima"
        return f"Front({number} of {goals}{'' if self.complete else ', incomplete'}{listed})"

    def _repr_html_(self) -> str:
        from constrint.modelling.notebook import front_html

        return front_html(self.goals, self._results, self.complete, self._kind)

    def in_units(self, units: Units) -> Front:
        """The same optima, with the values of goals that have fractional coefficients as fractions."""
        if not units:
            return self
        presented = PresentedGoals(cast("list[Goal]", list(self.goals)), units, {})
        results = [presented.result(one) for one in self._results]
        return Front(as_written(presented.goals, units), results, self.complete)

    @property
    def objectives(self) -> list[tuple[int, ...]]:
        """The values of the goals, a tuple for each optimum."""
        return [_objective(result) for result in self._results]

    def to_dicts(self) -> list[dict[str, int]]:
        """The values of all variables, a dictionary for each optimum."""
        return [result.to_dict() for result in self._results]

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """The values of all variables as an array, a row for each optimum."""
        from constrint.modelling.export import to_numpy

        return to_numpy(self._results)

    def to_pandas(self) -> pd.DataFrame:
        """The values of all variables as a data frame, a row for each optimum; needs pandas."""
        from constrint.modelling.export import to_pandas

        return to_pandas(self._results)


def _objective(result: Result) -> tuple[int, ...]:
    objective = result.objective
    return objective if isinstance(objective, tuple) else () if objective is None else (objective,)


@dataclass
class ParetoSearch:
    """Finds the Pareto optima: by listing all solutions if there are few enough, otherwise one by one.

    One by one, each is an optimum under the constraint that it beats every earlier one in some goal. With two
    goals it is the lexicographic optimum, so that one bound on the second goal excludes all earlier ones.
    With more goals the sum of the goals is optimised: one search instead of one for each goal.
    """

    model: Declarations
    goals: list[Goal]
    limit: int | None
    deadline: float | None
    engine: Engine

    def run(self) -> Front:
        """The front, as far as the limits allow."""
        results: list[Result] = []
        complete = False
        try:
            listed = self._listed()
            if listed is not None:
                return listed
            for result in self._optima():
                if result is None:
                    complete = True
                    break
                results.append(result)
                if self.limit is not None and len(results) >= self.limit:
                    break
        except KeyboardInterrupt:
            if not results:
                raise
        results.sort(key=self._rank, reverse=True)
        return Front(self.goals, results, complete)

    def _listed(self) -> Front | None:
        """The front by listing all solutions; None if there are too many."""
        if self.engine != "auto":
            return None
        started = perf_counter()
        from constrint.answers.pareto import planned_front
        from constrint.preparing.checks import check_solution, values_of

        found = planned_front(self.model, self.goals, self.deadline)
        if found is None:
            return None
        results = []
        for values in found:
            assignment: dict[IntExpr, int] = {self.model.variables[name]: x for name, x in values.items()}
            check_solution(self.model, assignment)
            objective = tuple(int(expr.evaluate(assignment)) for expr, _ in self.goals)
            statistics = Statistics(seconds=perf_counter() - started, engine="tables")
            goal = objective if len(objective) > 1 else objective[0]
            known = values_of(self.model, assignment)
            intervals = self.model.intervals.copy()
            results.append(Result(Status.OPTIMAL, known, goal, statistics, assignment, intervals))
        results.sort(key=self._rank, reverse=True)
        limit = len(results) if self.limit is None else self.limit
        return Front(self.goals, results[:limit], len(results) <= limit)

    def _rank(self, result: Result) -> tuple[int, ...]:
        """A sort key: the values of the goals, first goal first, so that a greater key is better."""
        pairs = zip(_objective(result), self.goals, strict=True)
        return tuple(value if direction == "max" else -value for value, (_, direction) in pairs)

    def _optima(self) -> Iterator[Result | None]:
        """Optima one by one, then None if they are all; without None if the time limit came first."""
        rest = self.model.copy()
        own = len(rest.constraints)
        goals: list[Goal] = self.goals
        if len(goals) > 2:
            goals = [(linear([(1 if way == "max" else -1, expr) for expr, way in goals]), "max")]
        while True:
            remaining = None if self.deadline is None else max(0.0, self.deadline - perf_counter())
            options = options_of(time_limit=remaining, engine=self.engine, learn="auto", has_goal=True)
            result = Solver(rest, options).best(goals, [])
            if result.status is Status.INFEASIBLE:
                yield None
                return
            if result.status is not Status.OPTIMAL:
                return
            result = replace(result, objective=tuple(int(result[expr]) for expr, _ in self.goals))
            yield result
            if len(self.goals) <= 2:
                # Optima come in the order of the first goal, so the last one has the best value of the
                # second.
                del rest.constraints[own:]
            rest.add(self._better(_objective(result)))

    def _better(self, objective: tuple[int, ...]) -> BoolExpr:
        """The condition to beat an optimum in some goal; with two goals, in the second."""
        pairs = list(zip(self.goals, objective, strict=True))
        if len(pairs) <= 2:
            pairs = pairs[-1:]
        return Or(
            tuple(
                Comparison(">" if direction == "max" else "<", expr, as_expr(value))
                for (expr, direction), value in pairs
            )
        )
