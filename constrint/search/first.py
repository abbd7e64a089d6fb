"""The first solution of a model, or the preferred one; of unbounded variables one near 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrint.errors import UnboundedError
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchStep
from constrint.presolve import Root
from constrint.search.depth_first import DepthFirstRun
from constrint.search.near_zero import nearby_roots
from constrint.search.start import start_search

if TYPE_CHECKING:
    from constrint.preparing.search_protocol import Search
    from constrint.search.call import CallContext


def first_solution(
    call: CallContext, prepared: Prepared, root: Root, begun: DepthFirstRun | None = None
) -> SearchStep:
    """A solution, the preferred one if the prepared model has preferences, or why there is none.

    Args:
        call: The call.
        prepared: The prepared model.
        root: The root of the search.
        begun: A tree search that ended early, to be continued, or None.
    """
    left: Root | None = root
    if root.postponed:
        most = root.settings.search.nodes_before_presolve
        run = DepthFirstRun(prepared, root, call.options, call.started, most_nodes=most)
        step = _first_of(call, prepared, root, run)
        if step.outcome is not Outcome.GAVE_UP:
            return step
        left = prepared.reason()
    if left is None:
        return SearchStep(Outcome.EXHAUSTED)
    step = _first_of(call, prepared, left, start_search(call, prepared, left, begun=begun))
    if step.outcome is Outcome.GAVE_UP:
        step = _first_of(call, prepared, left, start_search(call.without_learning(), prepared, left))
    return step


def _first_of(call: CallContext, prepared: Prepared, root: Root, run: Search) -> SearchStep:
    """The first solution of a search."""
    step = SearchStep(Outcome.STOPPED)
    try:
        step = run.next()
        if step.outcome is Outcome.UNBOUNDED:
            near = SearchStep(Outcome.EXHAUSTED) if prepared.preferences else nearby(call, prepared, root)[0]
            if near.outcome is Outcome.EXHAUSTED:
                raise UnboundedError(step.unbounded)
            step = near
        if step.found is not None:
            call.report(step.found, run.statistics())  # it is the last
    finally:
        call.work.add(run, 1 if step.found else 0)
    return step


def nearby(
    call: CallContext, prepared: Prepared, root: Root, goal: tuple[int, str] | None = None
) -> tuple[SearchStep, int]:
    """A solution near 0 that is better than others there, and the value of its objective.

    `EXHAUSTED` says that none is there, which proves nothing.
    """
    most = root.settings.search.nodes_near_zero
    for near in nearby_roots(prepared, root):
        run = DepthFirstRun(prepared, near, call.options, call.started, goal, most_nodes=most)
        best, value = SearchStep(Outcome.EXHAUSTED), 0
        try:
            while (step := run.next()).found is not None:
                best, value = step, run.value(goal[0]) if goal else 0
                if goal is None:
                    break
        finally:
            call.work.add(run, 0)
        if best.found is not None or step.outcome is Outcome.STOPPED:
            return (best if best.found is not None else step), value
    return SearchStep(Outcome.EXHAUSTED), 0
