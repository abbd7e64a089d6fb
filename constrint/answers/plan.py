"""`Model.plan`: the methods that solve a model, and the diagrams that count its solutions."""

from __future__ import annotations

from constrint.answers.options import options_of
from constrint.diagrams.describe import Explanation, explain_plan
from constrint.modelling.declarations import Declarations
from constrint.search.solver import Solver


def explain_methods(model: Declarations) -> list[str]:
    """The methods that `solve` tries, in order, each with its reason."""
    solver = Solver(model, options_of(learn="auto", has_goal=bool(model.goals)))
    plan = solver.prepared(model.goals, model.preferences)
    if plan.root is None:
        return ["solve: presolve proves that there is no solution"]
    return [f"solve {n}: {choice}" for n, choice in enumerate(solver.choices(plan, plan.root), 1)]


def explain(model: Declarations) -> Explanation:
    """The plan of `solve`, and of `solutions` and `count`."""
    return Explanation([*explain_methods(model), *explain_plan(model).lines])
