"""Warm starts: a solution at or near the hinted values, found before the search proper begins.

Hints are values to try, never constraints. First all hinted values are required together; if that has no
solution, a short search takes the nearest ones that remain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from constrint.engine.state_arrays import Box
from constrint.preparing.branching import PLAIN
from constrint.preparing.checks import Assignment
from constrint.search.depth_first import DepthFirstRun
from constrint.search.easy import hint_of

if TYPE_CHECKING:
    from constrint.modelling.objectives import Goal
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root
    from constrint.search.call import CallContext


@dataclass(frozen=True)
class WarmStart:
    """A solution from which a search starts.

    Attributes:
        solution: The solution.
        value: The value of the first objective's variable; 0 without one.
    """

    solution: Assignment
    value: int = 0


def near_hints(call: CallContext, prepared: Prepared, root: Root) -> tuple[CallContext, WarmStart | None]:
    """A call whose searches a solution near the model's hints leads, or else the hints; and that solution."""
    hint = hint_of(call.model.variables, call.model.hints)
    if not hint:
        return call, None
    led = replace(call, options=replace(call.options, hint=hint, is_solution=False))
    if call.options.proof is not None:
        return led, None  # a proof has only solutions that the learning search found
    start = warm_start(led, prepared, root)
    if start is not None:
        led = replace(call, options=replace(call.options, hint=start.solution, is_solution=True))
    return led, start


def is_as_good(start: Assignment, best: Assignment | None, goals: Iterable[Goal]) -> bool:
    """Whether a solution has the values of the goals that the best one has, or there is no best one."""
    return best is None or all(expr.evaluate(start) == expr.evaluate(best) for expr, _ in goals)


def warm_start(call: CallContext, prepared: Prepared, root: Root) -> WarmStart | None:
    """A solution at or near the hinted values of the options; None if a short search finds none."""
    targets = [*prepared.goals, *prepared.preferences]
    goal = targets[0][0] if targets else None
    hinted = prepared.hinted(call.options)
    options = replace(call.options, lns=False, restarts=None, brancher=PLAIN, watch=None, is_solution=False)
    near = replace(root, settled=None)  # the state is left to the search proper
    for part in (restricted(near, hinted), near):
        if part is None:
            continue
        rules = part.settings.search
        run = DepthFirstRun(
            call.task(prepared, part, options=options),
            most_nodes=rules.nodes_near_hints + 2 * len(prepared.variables),
            most_failures=rules.failures_near_hints,
        )
        run.finder = "hint"
        found: Assignment | None = None
        try:
            found = run.next().found
        finally:
            call.work.add(run, 1 if found else 0)
        if found is not None:
            return WarmStart(found, 0 if goal is None else run.value(goal))
    return None


def restricted(root: Root, values: Mapping[int, int]) -> Root | None:
    """The root with these values of variables; None if a domain lacks one of them."""
    box = root.box
    lo, hi, step, listed = list(box.lo), list(box.hi), list(box.step), list(box.values)
    for v, value in values.items():
        own = listed[v]
        if not lo[v] <= value <= hi[v] or (value - lo[v]) % step[v] or (own is not None and value not in own):
            return None
        lo[v] = hi[v] = value
        step[v] = 1
        listed[v] = None
    return replace(root, box=Box(lo, hi, step, listed))
