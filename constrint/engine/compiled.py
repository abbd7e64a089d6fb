"""The compiled twin of the engine: the same kernels, rebuilt for numba. The only module that imports it.

Each kernel is copied with its global names pointing to the compiled callees, in order of definition, and
`run` is compiled for one signature. Numba keeps its machine code on disk, where `cache` says.

Compiled kernels get the state as one pointer to a structure of its arrays. (As a NamedTuple it would be
passed array by array, each with its reference count, at every call: 18 times slower, and 3 times as long
to compile.) Attribute access reads the same in both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache as once
from types import FunctionType
from typing import Any, cast

import numba
import numpy as np
from numba.core import config
from numba.experimental import structref

from constrint.engine import cache, dfs
from constrint.engine.build import grow
from constrint.engine.state import KERNELS, State


@structref.register
class StructureType(numba.types.StructRef):
    """The type of a structure of arrays."""


class Structure(structref.StructRefProxy):
    """What Python holds of a structure; made from its arrays, in the order of the fields of `State`."""


structref.define_proxy(Structure, StructureType, list(State._fields))  # type: ignore[no-untyped-call] # numba is untyped

_CELLS = numba.types.Array(numba.int64, 1, "C")
_STATE = StructureType([(name, _CELLS) for name in State._fields])  # type: ignore[no-untyped-call] # as above


@once
def _run() -> Callable[[Any, int, int], int]:
    """`dfs.run`, compiled or loaded."""
    setattr(config, "CACHE_DIR", str(cache.folder()))  # noqa: B010 - numba sets its options at run time
    is_new = not cache.is_filled()
    if is_new:
        sys.stderr.write(
            "constrint: compiling the search engine, once on this machine (about half a minute)…\n"
        )
        sys.stderr.flush()
    signature = numba.int64(_STATE, numba.int64, numba.int64)
    twins: dict[int, Any] = {}
    for function in KERNELS:
        names = {name: twins.get(id(value), value) for name, value in function.__globals__.items()}
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        copy.__qualname__ = function.__qualname__
        copy.__module__ = function.__module__
        # Kernels never divide by zero (interpreted, that would raise), so the checks are left out.
        if function is dfs.run:
            twins[id(function)] = numba.njit(signature, cache=True, error_model="numpy")(copy)
        else:
            twins[id(function)] = numba.njit(error_model="numpy")(copy)
    if is_new:
        cache.mark_filled()
    return cast("Callable[[Any, int, int], int]", twins[id(dfs.run)])


class Session:
    """A search that was handed over.

    Attributes:
        state: The state, with arrays in place of lists; valid until `grow`.
    """

    def __init__(self, state: State) -> None:
        self._compiled = _run()
        self._take(state)

    def _take(self, state: State) -> None:
        arrays = [np.array(cells, dtype=np.int64) for cells in state]
        # Arrays stand in for lists under the same type: both are only indexed.
        self.state = State(*cast("list[list[int]]", arrays))
        self._structure = Structure(*arrays)  # type: ignore[no-untyped-call] # numba is untyped

    def run(self, nodes: int, propagations: int) -> int:
        """`dfs.run` on the state."""
        return int(self._compiled(self._structure, nodes, propagations))

    def grow(self) -> State:
        """Give the trails and levels twice the room."""
        self._take(grow(State(*[[int(cell) for cell in cells] for cells in self.state])))
        return self.state
