"""Whether the root is propagated by the compiled engine."""

from __future__ import annotations

from itertools import accumulate

from constrint.engine.cache import is_filled, is_loaded
from constrint.propagators import Propagator
from constrint.settings import PresolveSettings
from constrint.support.deadline import Deadline


def is_at_hand(propagators: list[Propagator], deadline: Deadline, rules: PresolveSettings) -> bool:
    """Whether the compiled engine is loaded, and pays; it is loaded from disk for large problems."""
    if is_loaded():
        return _is_large(propagators, rules.large)
    if not _is_large(propagators, rules.worth_loading) or not is_filled("engine"):
        return False
    from constrint.engine.background_compile import LOADING, load_engine, loaded  # small problems need none

    if deadline.left < LOADING:
        return False
    loaded(load_engine, deadline)
    return True


def _is_large(propagators: list[Propagator], least: int) -> bool:
    """Whether handing over to the compiled engine pays."""
    return any(size >= least for size in accumulate(len(node.scope()) for node in propagators))
