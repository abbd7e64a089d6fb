"""The compiled twin of the engine: the same kernels, rebuilt for numba. The only module that imports it.

Each kernel is copied with its global names pointing to the compiled callees, in order of definition, and
`run` is compiled for one signature. Its machine code is kept on the disk, where `cache` says.

Compiled kernels get the state as one pointer to a structure of its arrays. (As a NamedTuple it would be
passed array by array, each with its reference count, at every call: 18 times slower, and 3 times as long
to compile.) Attribute access reads the same in both.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache as once
from itertools import accumulate, chain
from types import FunctionType
from typing import Any, cast

import numba
import numpy as np
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import default_manager  # type: ignore[attr-defined] # numba is untyped
from numba.core.runtime import rtsys  # type: ignore[attr-defined] # as above
from numba.core.serialize import dumps
from numba.experimental import structref

from constrint.engine import cache, claims, dfs
from constrint.engine.build import full, grow
from constrint.engine.fixpoint import FAILED, INTERRUPTED, STABLE
from constrint.propagators import dispatch
from constrint.store.state import (
    EXHAUSTED,
    KERNELS,
    LEVEL,
    NODES,
    PATIENCE,
    PAUSED,
    PHASE,
    REFUTED,
    SOLUTION,
    TRAIL,
    WORD_TRAIL,
    State,
)


@structref.register
class StructureType(numba.types.StructRef):
    """The type of a structure of arrays."""

    def __init__(self, fields: Sequence[tuple[str, Any]]) -> None:
        super().__init__(fields)  # type: ignore[no-untyped-call] # numba is untyped
        self.name = "State"  # all fields, otherwise: they would be in the name of each compiled function


class Structure(structref.StructRefProxy):
    """What Python holds of a structure; made from its arrays, in the order of the fields of `State`."""


structref.define_proxy(Structure, StructureType, list(State._fields))  # type: ignore[no-untyped-call] # numba is untyped

ARRAY_WORDS = 7  # of a one-dimensional array inside a structure
_LENGTH, _ITEM_SIZE, _DATA, _SHAPE, _STRIDE = 2, 3, 4, 5, 6  # which of them

_CELLS = numba.types.Array(numba.int64, 1, "C")
_STATE = StructureType([(name, _CELLS) for name in State._fields])


def twins_of(
    kernels: Sequence[Callable[..., Any]], part: str, known: Mapping[int, Any] | None = None
) -> dict[int, Any]:
    """Numba's version of each kernel, by the kernel's identity; callees come before callers.

    None is compiled before it is called by what is: they all become parts of that.

    Args:
        kernels: The kernels.
        part: What they are compiled for; it becomes a part of their names.
        known: Versions to take in place of making them.
    """
    twins: dict[int, Any] = dict(known or {})
    for function in kernels:
        if id(function) not in twins:
            names = {name: twins.get(id(value), value) for name, value in function.__globals__.items()}
            # Kernels never divide by zero (interpreted, that would raise), so the checks are left out.
            twins[id(function)] = numba.njit(error_model="numpy")(named_copy(function, part, names))
    return twins


def named_copy(function: Callable[..., Any], part: str, names: dict[str, Any] | None = None) -> FunctionType:
    """A function with other global names, which says in its own name what part it is compiled for.

    The symbols of machine code are made from it and from a number that counts anew in each process. Where
    a process loads machine code that several have made, LLVM takes functions of one name for one function.
    """
    copy = FunctionType(function.__code__, names or function.__globals__, function.__name__)
    copy.__defaults__ = function.__defaults__
    copy.__qualname__ = f"{part.replace('-', '_')}.{function.__qualname__}"
    copy.__module__ = function.__module__
    return copy


def symbol_of(twin: Any, signature: Any) -> str:
    """The name of a compiled function in its machine code."""
    return str(twin.overloads[tuple(signature.args)].fndesc.mangled_name)


def loaded_or_made(
    part: str, function: Callable[..., Any], signature: Any, twins: Callable[[], Mapping[int, Any]]
) -> Any:
    """A kernel's compiled version: from the disk, or compiled and kept there.

    Args:
        part: Its name on the disk.
        function: The kernel.
        signature: Its types.
        twins: What makes the versions of the kernels that it calls.
    """
    found = from_disk(part, function, signature)
    if found is not None:
        return found
    with claims.claimed(part):
        found = from_disk(part, function, signature)  # another process may have compiled it meanwhile
        if found is None:
            if part in cache.ABOUT:
                sys.stderr.write(f"constrint: compiling {cache.ABOUT[part]}…\n")
                sys.stderr.flush()
            found = _compiled(part, function, signature, twins())
            _keep(part, found, signature)
    return found


def _compiled(part: str, function: Callable[..., Any], signature: Any, twins: Mapping[int, Any]) -> Any:
    names = {name: twins.get(id(value), value) for name, value in function.__globals__.items()}
    # Other threads run meanwhile: what is compiled touches the arrays of its own state only.
    return numba.njit(signature, error_model="numpy", nogil=True)(named_copy(function, part, names))


def _keep(part: str, twin: Any, signature: Any) -> None:
    """Write machine code to the disk, as numba does that itself."""
    try:
        result = twin.overloads[tuple(signature.args)]
        if not result.library.has_dynamic_globals:
            code = dumps((str(twin.targetctx.codegen().magic_tuple()), result._reduce()))  # type: ignore[no-untyped-call] # numba is untyped
            cache.write(part, code)
    except (AttributeError, TypeError):  # another version of numba
        return


def from_disk(part: str, function: Callable[..., Any], signature: Any) -> Any:
    """A compiled kernel with the machine code that is on the disk; None where there is none to be used.

    What could not be loaded is removed. Numba's own cache is not asked: it reads its files unchecked, and
    imports all that compiling could need first (a quarter of a second).
    """
    code = cache.read(part)
    if code is None:
        return None
    twin = numba.njit(error_model="numpy", nogil=True)(named_copy(function, part))
    try:
        with global_compiler_lock:
            context: Any = twin.targetctx
            rtsys.initialize(context)
            target, payload = pickle.loads(code)  # noqa: S301 - our own, checked by `cache.read`
            if target != str(context.codegen().magic_tuple()):
                raise ValueError("machine code for another processor")
            result = CompileResult._rebuild(context, *payload)  # type: ignore[no-untyped-call] # numba is untyped
            if not result.fndesc.qualname.endswith(twin.py_func.__qualname__):
                raise ValueError("machine code of another part")
            context.insert_user_function(result.entry_point, result.fndesc, [result.library])
            twin.add_overload(result)
    except Exception:  # whatever another numba, or another mind, may have written there
        cache.discard(part)
        return None
    twin.disable_compile()
    return twin


_DISPATCH = numba.boolean(_STATE, numba.int64)
_RUN = numba.int64(_STATE, numba.int64, numba.int64)


@once
def compiled_dispatch() -> Any:
    """`dispatch`, compiled or loaded: what takes longest to compile, and is a part of all that dispatches."""
    return loaded_or_made("dispatch", dispatch, _DISPATCH, lambda: twins_of(_CALLED, "dispatch"))


_CALLED = [function for function in KERNELS if function is not dispatch and function is not dfs.run]


@once
def _run() -> Callable[[Any, int, int], int]:
    """`dfs.run`, compiled or loaded."""

    def twins() -> dict[int, Any]:
        return twins_of(_CALLED, "engine", {id(dispatch): compiled_dispatch()})

    run = loaded_or_made("engine", dfs.run, _RUN, twins)
    cache.note_loaded("engine")
    return cast("Callable[[Any, int, int], int]", run)


def load() -> None:
    """Compile the engine, or load it."""
    with cache.LOADING:
        _run()


# An array in memory: count, owner, length, item size, data, shape, stride.
_LAYOUT = "{ptr, ptr, i64, i64, ptr, [1 x i64], [1 x i64]}"


@once
def _is_layout_known() -> bool:
    """Whether numba lays arrays out in memory as is said here."""
    layout = str(default_manager[_CELLS].get_value_type())
    return layout.replace("i8*", "ptr").replace("i64*", "ptr") == _LAYOUT


def structure_of(
    proxy: Any, kind: Any, arrays: Sequence[Any], addresses: Sequence[int] | None = None
) -> tuple[Any, Any]:
    """A structure of arrays, which must live as long as it, and its memory, a row for each array.

    Numba has a function for that, which it compiles in every process (0.6 s), and whose structures count who
    refers to their arrays, at every use (a fifth of the time of a search): that is left for where numba lays
    them out otherwise, and there is no memory then.
    """
    if not _is_layout_known():
        return proxy(*arrays), None
    memory = rtsys.meminfo_alloc(8 * ARRAY_WORDS * len(arrays))  # type: ignore[no-untyped-call] # as above
    cells = (ctypes.c_int64 * (ARRAY_WORDS * len(arrays))).from_address(memory.data)
    words = np.ctypeslib.as_array(cells).reshape(len(arrays), ARRAY_WORDS)
    words[:] = 0
    words[:, _ITEM_SIZE] = words[:, _STRIDE] = 8
    words[:, _LENGTH] = words[:, _SHAPE] = list(map(len, arrays))
    words[:, _DATA] = addresses or [array.__array_interface__["data"][0] for array in arrays]
    return proxy._numba_box_(kind, memory), words


_NUMBERS = {name: number for number, name in enumerate(State._fields)}

# For each field of the state the scalar that says how much of it is in use, where the rest is room.
_TOPS = [
    {"trail": TRAIL, "level": LEVEL, "refuted": REFUTED}.get(name.partition("_")[0], -1)
    if name not in ("trail_word", "trail_bits", "trail_word_stamp")
    else WORD_TRAIL
    for name in State._fields
]
_FULL_FIRST = sorted(range(len(_TOPS)), key=lambda number: _TOPS[number] >= 0)
_ROOMS = sum(top >= 0 for top in _TOPS)


def arrays_of(state: State) -> tuple[list[Any], list[int]]:
    """A state's lists as arrays in one memory, its arrays as they are, and the addresses of all.

    Room is made, not converted.
    """
    arrays: list[Any] = [*state]
    addresses = [0] * len(arrays)
    places = [number for number in _FULL_FIRST if type(arrays[number]) is list]
    full = len(places) - _ROOMS
    if len(places) < len(arrays):
        full = sum(_TOPS[number] < 0 for number in places)
        for number, cells in enumerate(arrays):
            if type(cells) is not list:
                addresses[number] = cells.__array_interface__["data"][0]
    lists = [arrays[number] for number in places]
    ends = list(accumulate(map(len, lists), initial=0))
    whole = np.zeros(ends[-1], dtype=np.int64)
    whole[: ends[full]] = list(chain.from_iterable(lists[:full]))
    first = whole.__array_interface__["data"][0]
    for number, begin, end in zip(places, ends, ends[1:], strict=False):
        arrays[number] = whole[begin:end]
        addresses[number] = first + whole.itemsize * begin
    scalar = state.scalar
    is_fresh = not (scalar[NODES] or scalar[LEVEL] or scalar[TRAIL] or scalar[WORD_TRAIL] or scalar[PHASE])
    for number, cells in zip(places[full:], lists[full:], strict=True) if not is_fresh else ():
        used = cells[: scalar[_TOPS[number]] + 1]  # a decision may stand above the topmost level
        if any(used):
            arrays[number][: len(used)] = used
    return arrays, addresses


class Session:
    """A search that was handed over.

    Attributes:
        state: The state, with arrays in place of lists; valid until `grow`.
    """

    def __init__(self, state: State) -> None:
        with cache.LOADING:
            self._compiled = _run()
        self._take(state)

    def _take(self, state: State) -> None:
        arrays, addresses = arrays_of(state)
        # Arrays stand in for lists under the same type: both are only indexed.
        self.state = State(*cast("list[list[int]]", arrays))
        self._structure, self._words = structure_of(Structure, _STATE, arrays, addresses)

    def run(self, nodes: int, propagations: int) -> int:
        """`dfs.run` on the state."""
        return int(self._compiled(self._structure, nodes, propagations))

    def replace(self, fields: Mapping[str, list[int]]) -> State:
        """Give the state other arrays for some of its fields."""
        if self._words is None:
            self._take(listed(self.state._replace(**fields)))
            return self.state
        whole = np.concatenate([np.asarray(cells, dtype=np.int64) for cells in fields.values()])
        data: int = whole.__array_interface__["data"][0]
        words = self._words
        arrays: list[Any] = [*self.state]
        begin = 0
        for name, cells in fields.items():
            end = begin + len(cells)
            number = _NUMBERS[name]
            arrays[number] = whole[begin:end]
            words[number, _LENGTH] = words[number, _SHAPE] = len(cells)
            words[number, _DATA] = data + begin * whole.itemsize
            begin = end
        self.state = State(*arrays)
        return self.state

    def grow(self, refutations: int = 0) -> State:
        """Give whatever is full twice the room."""
        if self._words is None:
            self._take(grow(listed(self.state), refutations))
            return self.state
        # The compiler knows arrays under the type of lists: numpy's are made longer without lists of them.
        fields = {name: np.asarray(getattr(self.state, name)) for name in full(self.state, refutations)}
        longer = {
            name: np.append(cells, np.zeros(len(cells) + 8, np.int64)) for name, cells in fields.items()
        }
        return self.replace(cast("Mapping[str, list[int]]", longer))


def listed(state: State) -> State:
    """The state with lists in place of arrays."""
    return State(*[cells if isinstance(cells, list) else np.asarray(cells).tolist() for cells in state])


_AT_ROOT = {SOLUTION: STABLE, EXHAUSTED: FAILED, PAUSED: INTERRUPTED}
_DOMAINS = ("lo", "hi", "step", "hole", "base", "words")
NEVER_SPLIT = 1 << 40


def propagate(session: Session, budget: int) -> int:
    """`fixpoint`, for a session of a state that has not begun and decides nothing."""
    session.state.scalar[PATIENCE] = NEVER_SPLIT
    return _AT_ROOT[session.run(1, budget)]


def read_at_root(session: Session) -> State:
    """The state of a session, to be read only, with lists for the domains."""
    read = {name: np.asarray(getattr(session.state, name)).tolist() for name in _DOMAINS}
    return session.state._replace(**read)
