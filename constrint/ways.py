"""What the arguments of `Model.solve` that say how to search mean together."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from constrint.branching import Brancher, Branching, as_brancher
from constrint.errors import ModelError
from constrint.restarts import RestartRule, Restarts

if TYPE_CHECKING:
    from constrint.prepare import Learning


class Ways(TypedDict):
    """Fields of `Options`."""

    brancher: Brancher
    restarts: Restarts | None
    lns: bool


# Where search begins anew, what it has learned of failures is to lead it elsewhere.
LED_BY_FAILURES = Brancher("dom_w_deg", "best_so_far")


def ways_to_search(
    branching: Branching | None,
    restarts: RestartRule | Restarts | None,
    lns: bool,
    learn: Learning,
    has_goal: bool,
) -> Ways:
    """The options, with the brancher that suits the others where none is given."""
    if learn not in (True, False, "auto"):
        raise ModelError(f'learn is True, False or "auto", not {learn!r}')
    if learn is True and (lns or restarts is not None):
        raise ModelError("the learning search restarts by itself: leave out lns and restarts, or learn")
    if lns and restarts is not None:
        raise ModelError("large-neighbourhood search begins anew by itself: leave out lns or restarts")
    if lns and not has_goal:
        raise ModelError("large-neighbourhood search improves a solution: say what to minimize or maximize")
    if isinstance(restarts, str):
        restarts = Restarts(restarts)
    if restarts is not None and not isinstance(restarts, Restarts):
        raise ModelError(f'restarts are "luby", "geometric" or Restarts(…), not {restarts!r}')
    brancher = as_brancher(branching)
    if branching is None and (lns or restarts is not None):
        brancher = LED_BY_FAILURES
    return Ways(brancher=brancher, restarts=restarts, lns=lns)
