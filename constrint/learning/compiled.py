"""The compiled learning search, built as in `engine.compiled`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache as once
from typing import Any, cast

import numba
import numpy as np
from numba.experimental import structref

from constrint.engine import cache
from constrint.engine.compiled import (
    _CELLS,
    _STATE,
    Structure,
    compiled_dispatch,
    loaded_or_made,
    named_copy,
    structure_of,
    twins_of,
)
from constrint.learning import generic, loop
from constrint.learning.build import full
from constrint.learning.layout import FAULT, LEARN_COMPILABLE, Learner
from constrint.propagators import dispatch
from constrint.store.state import COMPILABLE, State


@structref.register
class LearnerType(numba.types.StructRef):
    """The type of a structure of the learner's arrays."""

    def __init__(self, fields: Sequence[tuple[str, Any]]) -> None:
        super().__init__(fields)  # type: ignore[no-untyped-call] # numba is untyped
        self.name = "Learner"


class LearnerStructure(structref.StructRefProxy):
    """The Python object of the structure."""


structref.define_proxy(LearnerStructure, LearnerType, list(Learner._fields))  # type: ignore[no-untyped-call] # numba is untyped

_LEARNER = LearnerType([(name, _CELLS) for name in Learner._fields])


def no_propagator(ls: Any, st: Any, p: int) -> bool:
    """Replaces `run_propagator` if no propagator needs it, so that its callees need not be compiled.

    It is never called. If it is, the search ends as `BROKEN`, since a constraint was left out.
    """
    ls.scalar[FAULT] = 1
    return True


@once
def _run(has_propagators: bool) -> Callable[[Any, Any, int], int]:
    """`loop.run`, compiled or loaded."""
    part = "learn" if has_propagators else "learn-sums"

    def twins() -> dict[int, Any]:
        called = [function for function in [*COMPILABLE, *LEARN_COMPILABLE] if function is not loop.run]
        if has_propagators:
            return twins_of(called, part, {id(dispatch): compiled_dispatch()})
        return twins_of(
            called,
            part,
            {id(generic.run_propagator): numba.njit(error_model="numpy")(named_copy(no_propagator, part))},
        )

    run = loaded_or_made(part, loop.run, RUN, twins)
    cache.note_loaded(part)
    return cast("Callable[[Any, Any, int], int]", run)


RUN = numba.int64(_LEARNER, _STATE, numba.int64)


def load(has_propagators: bool) -> None:
    """Load a compiled version, or compile it."""
    with cache.LOADING:
        _run(has_propagators)


class CompiledLearning:
    """A learning search that runs compiled.

    Attributes:
        ls: The learner, with arrays instead of lists; valid until `grow`.
        st: The engine's state on which propagators of the registry run.
    """

    def __init__(self, ls: Learner, st: State, has_propagators: bool) -> None:
        with cache.LOADING:
            self._compiled = _run(has_propagators)
        arrays = [np.array(cells, dtype=np.int64) for cells in st]
        self.st = State(*cast("list[list[int]]", arrays))
        self._state, _ = structure_of(Structure, _STATE, arrays)
        self._take(ls)

    def _take(self, ls: Learner) -> None:
        arrays = [np.array(cells, dtype=np.int64) for cells in ls]
        # Arrays pass under the type of lists: both are only indexed.
        self.ls = Learner(*cast("list[list[int]]", arrays))
        self._structure, _ = structure_of(LearnerStructure, _LEARNER, arrays)

    def run(self, budget: int) -> int:
        """Run `loop.run` on the learner."""
        return int(self._compiled(self._structure, self._state, budget))

    def grow(self) -> Learner:
        """Double the space of all fields that are full."""
        ls = self.ls
        fields = {name: np.asarray(getattr(ls, name)) for name in full(ls)}
        longer: dict[str, Any] = {
            name: np.append(cells, np.zeros(len(cells) + 8, np.int64)) for name, cells in fields.items()
        }
        self._take(ls._replace(**longer))
        return self.ls
