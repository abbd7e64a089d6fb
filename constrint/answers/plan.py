"""`Model.plan`: the methods that solve a model, and the diagrams that count its solutions."""

from __future__ import annotations

from constrint.answers.planned import applies
from constrint.answers.search_arguments import options_of
from constrint.diagrams.describe import Explanation, explain_plan
from constrint.modelling.declarations import Declarations
from constrint.preparing.branching import Branching
from constrint.preparing.prepared import Prepared
from constrint.preparing.restart_rules import Restarts
from constrint.presolve import Root
from constrint.presolve.left_out import left_out
from constrint.search.admission import prospects
from constrint.search.solver import Solver
from constrint.support.deadline import Deadline, Stopped, until


def explain_methods(
    model: Declarations,
    time_limit: float | None = None,
    branching: Branching | None = None,
    restarts: Restarts | None = None,
) -> list[str]:
    """The methods that `solve` tries, in order, each with the condition that makes it so."""
    options = options_of(
        time_limit=time_limit,
        learn="auto",
        has_goal=bool(model.goals),
        branching=branching,
        restarts=restarts,
    )
    solver = Solver(model, options)
    try:
        prepared = solver.prepare(model.goals, model.preferences)
    except Stopped:
        return ["solve: time limit reached before the model was lowered and presolved"]
    if prepared.root is None:
        return ["solve: presolve proves that there is no solution"]
    lines = [str(choice) for choice in solver.choices(prepared, prepared.root)]
    if applies(solver.options, bool(model.goals or model.preferences)):
        patience = model.settings.diagrams.patience
        lines.append(f"diagrams: where search has no answer after {patience:g} s, if they are small")
    lines = [f"solve {n}: {line}" for n, line in enumerate(lines, 1)]
    if solver.choices(prepared, prepared.root)[-1].method in ("portfolio", "side by side"):
        lines += _members(solver, prepared, prepared.root)
    return lines + [f"presolve: {line}" for line in left_out(prepared.root)]


def _members(solver: Solver, prepared: Prepared, root: Root) -> list[str]:
    """The members of the portfolio beside tree search, each with the reason why it joins late or never."""
    call = solver.call()
    task = call.task(prepared, root, prepared.goals[0] if prepared.goals else None)
    try:
        with until(call.deadline):
            return [f"portfolio: {prospect}" for prospect in prospects(task)]
    except Stopped:
        return ["portfolio: time limit reached before its members were known"]


def explain(model: Declarations, time_limit: float | None = None) -> Explanation:
    """How `solve` searches, and what `solutions` and `count` build; or what is known of it by the limit."""
    deadline = Deadline(time_limit)
    methods = explain_methods(model, time_limit)
    left = max(0.0, deadline.left) if deadline.is_set else None
    return Explanation([*methods, *explain_plan(model, left).lines])
