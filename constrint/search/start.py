"""Searches of a call: the model is made ready, the chosen method starts, and gives the first solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from constrint.errors import ModelError, UnboundedError
from constrint.lowering.problem import HUGE_BITS
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchStep
from constrint.presolve import Root
from constrint.search.choose import Case, main_method, may_search_briefly, why_no_portfolio
from constrint.search.depth_first import DepthFirstRun
from constrint.search.near_zero import nearby_roots
from constrint.search.portfolio import Portfolio

if TYPE_CHECKING:
    from constrint.preparing.search_protocol import Search
    from constrint.search.call import CallContext


def prepared_for(
    call: CallContext,
    bits: int = HUGE_BITS,
    is_every: bool = False,
    before_presolve: Callable[[Prepared, Root], None] | None = None,
) -> Prepared:
    """The prepared model of a call; raises `Stopped` at the time limit.

    Args:
        call: The call.
        bits: How wide the range is that stands for all integers.
        is_every: Whether all solutions are wanted.
        before_presolve: Called with the prepared model and its root before presolve.
    """
    options = call.options
    is_first = not (call.goals or call.preferences or is_every)
    return Prepared(
        call.model,
        call.goals,
        call.preferences,
        bits,
        options.brancher,
        call.deadline,
        may_compile=options.engine != "interpreted",
        may_postpone=is_first and may_search_briefly(options, call.learning_gave_up),
        before_presolve=before_presolve,
        proof=options.proof,
    )


def start_search(
    call: CallContext,
    prepared: Prepared,
    root: Root,
    goal: tuple[int, str] | None = None,
    is_every: bool = False,
    begun: DepthFirstRun | None = None,
) -> Search:
    """Start a search of the chosen kind: for one solution, for all, or for better ones.

    Args:
        call: The call.
        prepared: The prepared model.
        root: The root of the search.
        goal: The objective that each further solution must improve, or None.
        is_every: Whether all solutions are wanted.
        begun: A tree search that ended early, to be continued; not with workers.
    """
    options = call.options
    if call.beside is not None:
        options = options.watched(call.beside)
    case = Case(prepared, root, options, call.learning_gave_up)
    method = main_method(case).method
    if method not in ("portfolio", "side by side") and not is_every:
        call.work.statistics = call.work.statistics.missing("portfolio", why_no_portfolio(case))
    if method == "learning":
        from constrint.learning.session import LearningRun
        from constrint.presolve.breaking import without_symmetries

        if not is_every and options.proof is None:  # a proof has no step for symmetries
            root = without_symmetries(root, goal, prepared.variables.values()).root
        return LearningRun(call.task(prepared, root, goal, options))
    if options.proof is not None:
        if call.learning_gave_up:
            raise ModelError("the proof grew too long: bounds creep in small steps; bound the variables")
        raise ModelError("a proof needs numbers that fit int64: bound the variables")
    task = call.task(prepared, root, goal, options)
    if method == "side by side" and not is_every:
        from constrint.search.threaded_portfolio import ThreadedPortfolio

        return ThreadedPortfolio(task)
    if options.sharing is not None:
        return options.sharing.start(task, is_every)
    if method == "portfolio":
        return Portfolio(task, begun)
    if begun is not None:
        begun.go_on(options)
        return begun
    return DepthFirstRun(task)


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
        run = DepthFirstRun(call.task(prepared, root), most_nodes=most)
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
        run = DepthFirstRun(call.task(prepared, near, goal), most_nodes=most)
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
