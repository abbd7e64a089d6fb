"""The compiled twin of the engine: the same kernels, rebuilt for numba. The only module that imports it.

Each kernel is copied with its global names pointing to the compiled callees, in order of definition, and
compiled for one signature. Numba keeps the machine code of the entry on disk, where `cache` says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache as once
from types import FunctionType
from typing import Any, cast

import numpy as np

from constrint.engine import cache, dfs
from constrint.engine.build import grow
from constrint.engine.state import KERNELS, State


@once
def _twins() -> dict[str, Any]:
    """The compiled kernels by name; the entry is compiled when this returns."""
    import numba
    from numba.core import config

    setattr(config, "CACHE_DIR", str(cache.folder()))  # noqa: B010 - numba sets its options at run time
    is_new = not cache.is_filled()
    if is_new:
        sys.stderr.write("constrint: compiling the search engine, once on this machine (about a minute)…\n")
        sys.stderr.flush()
    twins: dict[int, Any] = {}
    cells = numba.types.Array(numba.int64, 1, "C")
    state = numba.types.NamedUniTuple(cells, len(State._fields), State)  # type: ignore[no-untyped-call] # numba is untyped
    signature = numba.int64(state, numba.int64, numba.int64)
    # Kernels never divide by zero (interpreted, that would raise): leaving out the checks saves a third of
    # the compile time.
    for function in KERNELS:
        names = {name: twins.get(id(value), value) for name, value in function.__globals__.items()}
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        copy.__qualname__ = function.__qualname__
        copy.__module__ = function.__module__
        if function is dfs.run:
            twins[id(function)] = numba.njit(signature, cache=True, error_model="numpy")(copy)
        else:
            twins[id(function)] = numba.njit(error_model="numpy")(copy)
    if is_new:
        cache.mark_filled()
    return {function.__name__: twins[id(function)] for function in KERNELS}


def run(state: State, nodes: int, propagations: int) -> int:
    """`dfs.run`, compiled."""
    return int(_entry()(state, nodes, propagations))


@once
def _entry() -> Callable[[State, int, int], int]:
    return cast("Callable[[State, int, int], int]", _twins()["run"])


def kernel(name: str) -> Callable[..., Any]:
    """The compiled twin of one kernel, for tests."""
    return cast("Callable[..., Any]", _twins()[name])


def to_arrays(state: State) -> State:
    """The state with int64 arrays in place of lists; every value must fit."""
    # Arrays stand in for lists under the same type: kernels only index them.
    return State(*[cast("list[int]", np.array(cells, dtype=np.int64)) for cells in state])


def to_lists(state: State) -> State:
    """The state with lists of Python integers in place of arrays."""
    return State(*[[int(cell) for cell in cells] for cells in state])


def grow_arrays(state: State) -> State:
    """The same state with twice the room for trails and levels."""
    return to_arrays(grow(to_lists(state)))
