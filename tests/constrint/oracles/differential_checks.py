"""Every kind of answer for a random model, compared with brute force."""

from __future__ import annotations

from typing import Any

from random_models import RandomModel, build
from random_truth import Assignment, Tree

from constrint import Model, Status
from constrint.preparing.options import Engine

TIME_LIMIT = 60.0
"""Seconds for one question about one small model: needing longer is a failure."""


def wrong_answers(drawn: RandomModel, *, engine: Engine = "auto", from_text: bool = True) -> list[str]:
    """What is answered wrongly about a model; empty where all is right.

    Args:
        drawn: The model.
        engine: Which engine answers.
        from_text: Whether the model goes through its text or is built with Python's operators.
    """
    check = _Check(drawn, engine, from_text)
    check.one_solution()
    check.all_solutions()
    check.optimum("min")
    check.optimum("max")
    check.preference()
    return [f"{complaint}\n{drawn.text()}" for complaint in check.complaints]


class _Check:
    def __init__(self, drawn: RandomModel, engine: Engine, from_text: bool) -> None:
        self.drawn = drawn
        self.engine: Any = engine
        self.from_text = from_text
        self.expected = drawn.solutions()
        self.names = [*drawn.domains, *drawn.lets]
        self.complaints: list[str] = []

    def model(self) -> Model:
        return Model.from_text(self.drawn.text()) if self.from_text else self.drawn.build()

    def expression(self, model: Model, tree: Tree) -> Any:
        return build(tree, {**model.variables, **model.lets})

    def complain(self, question: str, got: object, expected: object) -> None:
        self.complaints.append(f"{question}: got {got}, expected {expected}")

    def valued(self, solution: Assignment) -> Assignment:
        """A solution together with the values of the named expressions."""
        lets = {name: self.drawn.value(tree, solution) for name, tree in self.drawn.lets.items()}
        return {**solution, **{name: value for name, value in lets.items() if value is not None}}

    def one_solution(self) -> None:
        result = self.model().solve(engine=self.engine, time_limit=TIME_LIMIT)
        if not self.expected:
            if result.status is not Status.INFEASIBLE:
                self.complain("solve", (result.status, dict(result.values)), "infeasible")
        elif result.status is not Status.OPTIMAL:
            self.complain("solve", result.status, f"one of {len(self.expected)} solutions")
        elif dict(result.values) not in [self.valued(solution) for solution in self.expected]:
            self.complain("solve", dict(result.values), "a solution")

    def all_solutions(self) -> None:
        model = self.model()
        found = [dict(result.values) for result in model.iter_solutions(engine=self.engine)]
        expected = [self.valued(solution) for solution in self.expected]
        if _ordered(found, self.names) != _ordered(expected, self.names):
            missing = [solution for solution in expected if solution not in found]
            extra = [solution for solution in found if solution not in expected]
            got = f"{len(found)} solutions; missing: {missing[:2]}, …; not in it: {extra[:2]}, …"
            self.complain("iter_solutions", got, len(expected))
        number = model.count(engine=self.engine)
        if number != len(expected):
            self.complain("count", number, len(expected))
        few = len(list(self.model().iter_solutions(limit=2, engine=self.engine)))
        if few != min(2, len(expected)):
            self.complain("iter_solutions(limit=2)", few, min(2, len(expected)))

    def optimum(self, direction: str) -> None:
        tree = self.drawn.objective
        values = [self.drawn.value(tree, solution) for solution in self.expected]
        defined = [value for value in values if value is not None]
        model = self.model()
        goal = self.expression(model, tree)
        if direction == "min":
            result = model.solve(minimize=goal, engine=self.engine, time_limit=TIME_LIMIT)
        else:
            result = model.solve(maximize=goal, engine=self.engine, time_limit=TIME_LIMIT)
        question = f"{direction} of {tree}"
        if not defined:
            if result.status is not Status.INFEASIBLE:
                self.complain(question, result, "infeasible")
            return
        best = min(defined) if direction == "min" else max(defined)
        if result.status is not Status.OPTIMAL or result.objective != best:
            self.complain(question, (result.status, result.objective, dict(result.values)), best)
        elif dict(result.values) not in [self.valued(solution) for solution in self.expected]:
            self.complain(question, dict(result.values), "a solution")

    def preference(self) -> None:
        goals = self.drawn.prefer
        signs = [1 if direction == "min" else -1 for _, direction in goals]
        keys = []
        for solution in self.expected:
            values = [self.drawn.value(tree, solution) for tree, _ in goals]
            known = [value for value in values if value is not None]
            if len(known) == len(goals):  # without a value of a preference it is no solution
                keys.append(tuple(sign * value for sign, value in zip(signs, known, strict=True)))
        model = self.model()
        wanted: Any = [(self.expression(model, tree), direction) for tree, direction in goals]
        result = model.solve(prefer=wanted, engine=self.engine, time_limit=TIME_LIMIT)
        if not keys:
            if result.status is not Status.INFEASIBLE:
                self.complain(f"prefer {goals}", result, "infeasible")
            return
        if result.status is not Status.OPTIMAL:
            self.complain(f"prefer {goals}", result.status, "optimal")
            return
        got = tuple(sign * int(result[expr]) for sign, (expr, _) in zip(signs, wanted, strict=True))
        if got != min(keys):
            self.complain(f"prefer {goals}", got, min(keys))


def _ordered(solutions: list[Assignment], names: list[str]) -> list[list[tuple[bool, int]]]:
    """Solutions in an order; a named expression that is undefined has no value there."""
    return sorted([[(name in row, row.get(name, 0)) for name in names] for row in solutions])


def wrong_counts(drawn: RandomModel, count: int, least: Assignment | None = None) -> list[str]:
    """What is answered wrongly about a model, where another solver says how many solutions there are.

    Args:
        drawn: The model.
        count: The number of solutions.
        least: The lexicographically least solution, if it is known.
    """
    complaints = []
    model = Model.from_text(drawn.text())
    number = model.count()
    if number != count:
        complaints.append(f"count: got {number}, expected {count}\n{drawn.text()}")
    if bool(model.solve(time_limit=TIME_LIMIT)) != (count > 0):
        complaints.append(f"solve: got {not count}, expected {bool(count)}\n{drawn.text()}")
    if least is not None:
        wanted: Any = [(variable, "min") for variable in model.variables.values()]
        result = model.solve(prefer=wanted, time_limit=TIME_LIMIT)
        if dict(result.values) != least:
            complaints.append(f"least: got {dict(result.values)}, expected {least}\n{drawn.text()}")
    return complaints
