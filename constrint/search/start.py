"""The begin of a search: the model is made ready, and the chosen method starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.lowering.problem import HUGE_BITS
from constrint.preparing.prepared import Prepared
from constrint.presolve import Root
from constrint.presolve.breaking import without_symmetries
from constrint.search.choose import Case, main_method, may_search_briefly
from constrint.search.depth_first import DepthFirstRun
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
    options, started = call.options, call.started
    if call.beside is not None:
        options = options.watched(call.beside)
    method = main_method(Case(prepared, root, options, call.learning_gave_up)).method
    if method == "learning":
        from constrint.learning.session import LearningRun

        if not is_every and options.proof is None:  # a proof has no step for symmetries
            root = without_symmetries(root, goal, prepared.variables.values()).root
        return LearningRun(prepared, root, options, started, goal)
    if options.proof is not None:
        if call.learning_gave_up:
            raise ModelError("the proof grew too long: bounds creep in small steps; bound the variables")
        raise ModelError("a proof needs numbers that fit int64: bound the variables")
    if method == "side by side" and not is_every:
        from constrint.search.threaded_portfolio import ThreadedPortfolio

        return ThreadedPortfolio(prepared, root, options, started, goal)
    if options.sharing is not None:
        return options.sharing.start(prepared, root, options, started, goal, is_every)
    if method == "portfolio":
        return Portfolio(prepared, root, options, started, goal, begun)
    if begun is not None:
        begun.go_on(options)
        return begun
    return DepthFirstRun(prepared, root, options, started, goal)
