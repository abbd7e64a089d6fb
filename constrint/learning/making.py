"""Compilation of the learning search by numba, as in `engine.making`."""

from __future__ import annotations

from typing import Any

import numba

from constrint.engine.making import STATE, StructureType, code_of, dispatch_twin, named_copy, twins_of
from constrint.learning import generic, loop
from constrint.learning.layout import FAULT, LEARN_COMPILABLE, Learner
from constrint.propagators import dispatch
from constrint.store.state import COMPILABLE

LEARNER = StructureType("Learner", Learner._fields)
RUN = numba.int64(LEARNER, STATE, numba.int64)


def no_propagator(ls: Any, st: Any, p: int) -> bool:
    """Replaces `run_propagator` if no propagator needs it, so that its callees need not be compiled.

    It is never called. If it is, the search ends as `BROKEN`, since a constraint was left out.
    """
    ls.scalar[FAULT] = 1
    return True


def derives_nothing(ls: Any, st: Any, p: int, b: int, k: int) -> bool:
    """Replaces `derives`, in the same way."""
    ls.scalar[FAULT] = 1
    return False


def learning_code(part: str) -> bytes:
    """The machine code of `loop.run`, with propagators ("learn") or without ("learn-sums")."""
    called = [function for function in [*COMPILABLE, *LEARN_COMPILABLE] if function is not loop.run]
    known: dict[int, Any]
    if part == "learn":
        known = {id(dispatch): dispatch_twin()}
    else:
        stub = numba.njit(error_model="numpy")(named_copy(no_propagator, part))
        nothing = numba.njit(error_model="numpy")(named_copy(derives_nothing, part))
        known = {id(generic.run_propagator): stub, id(generic.derives): nothing}
    return code_of(loop.run, part, RUN, twins_of(called, part, known))
