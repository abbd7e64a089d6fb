"""The compiled engine: the same functions, rebuilt for numba. The only module that imports numba.

Each function is copied with its global names bound to the compiled callees, in order of definition, and `run`
is compiled for one signature. `cache` keeps the machine code on disk.

Compiled functions get the state as one pointer to a structure of its arrays. As a NamedTuple it would be
passed array by array, with reference counts, at every call: 18 times slower, and 3 times as long to compile.
Attribute access looks the same in both.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache as once
from itertools import accumulate, chain
from struct import pack_into
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
    COMPILABLE,
    EXHAUSTED,
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
        self.name = "State"  # otherwise every compiled function's name would contain all fields


class Structure(structref.StructRefProxy):
    """The Python object of a structure; made from its arrays, in the order of `State`'s fields."""


structref.define_proxy(Structure, StructureType, list(State._fields))  # type: ignore[no-untyped-call] # numba is untyped

ARRAY_WORDS = 7  # words of a one-dimensional array in a structure
_LENGTH, _ITEM_SIZE, _DATA, _SHAPE, _STRIDE = 2, 3, 4, 5, 6  # indices into these words

_CELLS = numba.types.Array(numba.int64, 1, "C")
_STATE = StructureType([(name, _CELLS) for name in State._fields])


def twins_of(
    functions: Sequence[Callable[..., Any]], part: str, known: Mapping[int, Any] | None = None
) -> dict[int, Any]:
    """Numba's version of each function, by the function's identity; callees come before callers.

    Each is compiled as a part of its callers.

    Args:
        functions: The functions.
        part: The part that they are compiled for; it becomes part of their names.
        known: Existing versions to use.
    """
    twins: dict[int, Any] = dict(known or {})
    for function in functions:
        if id(function) not in twins:
            names = {name: twins.get(id(value), value) for name, value in function.__globals__.items()}
            # Propagators never divide by zero (interpreted, that would raise), so numba's checks are left
            # out.
            twins[id(function)] = numba.njit(error_model="numpy")(named_copy(function, part, names))
    return twins


def named_copy(function: Callable[..., Any], part: str, names: dict[str, Any] | None = None) -> FunctionType:
    """A copy of a function with other globals, and with the part in its name.

    The symbols of machine code consist of this name and a number that restarts in each process. If a process
    loads machine code made by several processes, LLVM takes functions of the same name for one function.
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
    """A function's compiled version: loaded from disk, or compiled and stored.

    Args:
        part: Its name on disk.
        function: The function.
        signature: Its types.
        twins: Makes the compiled versions of its callees.
    """
    found = from_disk(part, function, signature)
    if found is not None:
        return found
    with claims.claimed(part):
        found = from_disk(part, function, signature)  # another process may have compiled it in the meantime
        if found is None:
            if part in cache.ABOUT:
                sys.stderr.write(f"constrint: compiling {cache.ABOUT[part]}…\n")
                sys.stderr.flush()
            found = _compiled(part, function, signature, twins())
            _keep(part, found, signature)
    return found


def _compiled(part: str, function: Callable[..., Any], signature: Any, twins: Mapping[int, Any]) -> Any:
    names = {name: twins.get(id(value), value) for name, value in function.__globals__.items()}
    # The GIL is released: compiled code only touches the arrays of its own state.
    return numba.njit(signature, error_model="numpy", nogil=True)(named_copy(function, part, names))


def _keep(part: str, twin: Any, signature: Any) -> None:
    """Write machine code to disk in numba's serialisation."""
    try:
        result = twin.overloads[tuple(signature.args)]
        if not result.library.has_dynamic_globals:
            code = dumps((str(twin.targetctx.codegen().magic_tuple()), result._reduce()))  # type: ignore[no-untyped-call] # numba is untyped
            cache.write(part, code)
    except (AttributeError, TypeError):  # another version of numba
        return


def from_disk(part: str, function: Callable[..., Any], signature: Any) -> Any:
    """A compiled function with the machine code from disk; None if there is no usable file.

    Files that cannot be loaded are removed. Numba's own cache is not used: it reads files unchecked, and
    imports everything that compiling might need (a quarter of a second).
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
    except Exception:  # anything may be in a file of another numba, or of an attacker
        cache.discard(part)
        return None
    twin.disable_compile()
    return twin


_DISPATCH = numba.boolean(_STATE, numba.int64)
_RUN = numba.int64(_STATE, numba.int64, numba.int64)


@once
def compiled_dispatch() -> Any:
    """`dispatch`, compiled or loaded: it takes longest to compile, and all parts that dispatch link it."""
    return loaded_or_made("dispatch", dispatch, _DISPATCH, lambda: twins_of(_CALLED, "dispatch"))


_CALLED = [function for function in COMPILABLE if function is not dispatch and function is not dfs.run]


@once
def _run() -> Callable[[Any, int, int], int]:
    """`dfs.run`, compiled or loaded."""

    def twins() -> dict[int, Any]:
        return twins_of(_CALLED, "engine", {id(dispatch): compiled_dispatch()})

    run = loaded_or_made("engine", dfs.run, _RUN, twins)
    cache.note_loaded("engine")
    return cast("Callable[[Any, int, int], int]", run)


def load() -> None:
    """Load the engine, or compile it."""
    with cache.LOADING:
        _run()


# The layout of an array in memory: count, owner, length, item size, data, shape, stride.
_LAYOUT = "{ptr, ptr, i64, i64, ptr, [1 x i64], [1 x i64]}"


@once
def _is_layout_known() -> bool:
    """Whether numba's memory layout of arrays is the one assumed here."""
    layout = str(default_manager[_CELLS].get_value_type())
    return layout.replace("i8*", "ptr").replace("i64*", "ptr") == _LAYOUT


@once
def _memory_of(arrays: int) -> Any:
    """The type of the memory of a structure; made once, since a type is garbage with cycles."""
    return ctypes.c_byte * (8 * ARRAY_WORDS * arrays)


def structure_of(
    proxy: Any, kind: Any, arrays: Sequence[Any], addresses: Sequence[int] | None = None
) -> tuple[Any, Any]:
    """A structure of arrays, which must outlive it, and its memory with a row for each array.

    Numba has a function for this, but compiles it in every process (0.6 s), and its structures count
    references at every use of an array (a fifth of the time of a search). It is used only if numba's layout
    is unknown; there is no memory then.
    """
    if not _is_layout_known():
        return proxy(*arrays), None
    memory = rtsys.meminfo_alloc(8 * ARRAY_WORDS * len(arrays))  # type: ignore[no-untyped-call] # as above
    words = np.frombuffer(_memory_of(len(arrays)).from_address(memory.data), np.int64)
    words = words.reshape(len(arrays), ARRAY_WORDS)
    words[:] = 0
    words[:, _ITEM_SIZE] = words[:, _STRIDE] = 8
    lengths = np.array(list(map(len, arrays)))
    words[:, _LENGTH] = lengths
    words[:, _SHAPE] = lengths
    words[:, _DATA] = addresses or [array.__array_interface__["data"][0] for array in arrays]
    return proxy._numba_box_(kind, memory), words


_NUMBERS = {name: number for number, name in enumerate(State._fields)}

# For each field with spare space, the scalar that tells how much of it is in use.
_TOPS = [
    {"trail": TRAIL, "level": LEVEL, "refuted": REFUTED}.get(name.partition("_")[0], -1)
    if name not in ("trail_word", "trail_bits", "trail_word_stamp")
    else WORD_TRAIL
    for name in State._fields
]
_FULL_FIRST = sorted(range(len(_TOPS)), key=lambda number: _TOPS[number] >= 0)
_ROOMS = sum(top >= 0 for top in _TOPS)


def arrays_of(state: State) -> tuple[list[Any], list[int]]:
    """A state's lists as arrays in one memory block (arrays are kept), and the addresses of all.

    Spare space is allocated without converting it.
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
    # Twice as fast as assigning the list.
    pack_into(f"={ends[full]}q", whole.data, 0, *chain.from_iterable(lists[:full]))
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


class CompiledSearch:
    """A search that runs compiled.

    Attributes:
        state: The state, with arrays instead of lists; valid until `grow`.
    """

    def __init__(self, state: State) -> None:
        with cache.LOADING:
            self._compiled = _run()
        self._take(state)

    def _take(self, state: State) -> None:
        arrays, addresses = arrays_of(state)
        # Arrays pass under the type of lists: both are only indexed.
        self.state = State(*cast("list[list[int]]", arrays))
        self._structure, self._words = structure_of(Structure, _STATE, arrays, addresses)

    def run(self, nodes: int, propagations: int) -> int:
        """Run `dfs.run` on the state."""
        return int(self._compiled(self._structure, nodes, propagations))

    def replace(self, fields: Mapping[str, list[int]]) -> State:
        """Replace the arrays of some fields."""
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
        """Double the space of all fields that are full."""
        if self._words is None:
            self._take(grow(listed(self.state), refutations))
            return self.state
        # `full` and `grow` are typed for lists; numpy arrays are extended without converting them.
        fields = {name: np.asarray(getattr(self.state, name)) for name in full(self.state, refutations)}
        longer = {
            name: np.append(cells, np.zeros(len(cells) + 8, np.int64)) for name, cells in fields.items()
        }
        return self.replace(cast("Mapping[str, list[int]]", longer))


def listed(state: State) -> State:
    """The state with lists instead of arrays."""
    return State(*[cells if isinstance(cells, list) else np.asarray(cells).tolist() for cells in state])


_AT_ROOT = {SOLUTION: STABLE, EXHAUSTED: FAILED, PAUSED: INTERRUPTED}
_DOMAINS = ("lo", "hi", "step", "hole", "base", "words")
NEVER_SPLIT = 1 << 40


def propagate(session: CompiledSearch, budget: int) -> int:
    """`fixpoint` for a session whose state has not begun to search and has no decisions."""
    session.state.scalar[PATIENCE] = NEVER_SPLIT
    return _AT_ROOT[session.run(1, budget)]


def read_at_root(session: CompiledSearch) -> State:
    """A read-only view of a session's state, with lists for the domains."""
    read = {name: np.asarray(getattr(session.state, name)).tolist() for name in _DOMAINS}
    return session.state._replace(**read)
