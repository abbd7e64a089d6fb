"""Compilation by numba: the same functions, rebuilt. Only this module and `learning.making` import numba.

Each function is copied with its global names bound to the compiled callees, in order of definition, and an
entry point is compiled for one signature. `cache` keeps the machine code on disk, and `native` calls it.

Compiled functions get the state as one pointer to a structure of its arrays. As a NamedTuple it would be
passed array by array, with reference counts, at every call: 18 times slower, and 3 times as long to compile.
Attribute access looks the same in both.
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import cache as once
from types import FunctionType
from typing import Any

import numba
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import default_manager  # type: ignore[attr-defined] # numba is untyped
from numba.core.runtime import rtsys  # type: ignore[attr-defined] # as above
from numba.core.serialize import dumps
from numba.experimental import structref

from constrint.engine import cache, claims, dfs, native
from constrint.errors import InternalError
from constrint.propagators import dispatch
from constrint.store.state import COMPILABLE, State


@structref.register
class StructureType(numba.types.StructRef):
    """The type of a structure of arrays."""

    def __init__(self, name: str, fields: Sequence[str]) -> None:
        super().__init__([(field, CELLS) for field in fields])  # type: ignore[no-untyped-call] # numba is untyped
        self.name = name  # otherwise every compiled function's name would contain all fields


CELLS = numba.types.Array(numba.int64, 1, "C")
STATE = StructureType("State", State._fields)
DISPATCH = numba.boolean(STATE, numba.int64)
RUN = numba.int64(STATE, numba.int64, numba.int64)


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


def code_of(function: Callable[..., Any], part: str, signature: Any, twins: Mapping[int, Any]) -> bytes:
    """A function's machine code for `native`: compiled with the compiled versions of its callees.

    Raises:
        InternalError: This version of numba calls functions, or lays out memory, in another way.
    """
    twin = compiled(function, part, signature, twins)
    result = twin.overloads[tuple(signature.args)]
    module = result.library._final_module
    entry = module.get_function(result.fndesc.llvm_func_name)
    kinds = [str(argument.type) for argument in entry.arguments]
    expected = ["i64" if kind == numba.int64 else "ptr" for kind in signature.args]
    if not _is_layout_known() or [_kind(kind) for kind in kinds] != ["ptr", "ptr", *expected]:
        raise InternalError(f"numba {numba.__version__} calls compiled code in a way that is not known here")
    externals = [
        *[f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")],
        *[v.name for v in module.global_variables if v.is_declaration],
    ]
    code = result.library.serialize_using_object_code()[2][0]
    return native.packed(entry.name, len(expected), externals, code)


def _kind(kind: str) -> str:
    """A type of LLVM, with pointers as they are written since LLVM 15."""
    return "ptr" if kind.endswith("*") else kind


def compiled(function: Callable[..., Any], part: str, signature: Any, twins: Mapping[int, Any]) -> Any:
    """A function's version by numba for one signature."""
    names = {name: twins.get(id(value), value) for name, value in function.__globals__.items()}
    return numba.njit(signature, error_model="numpy")(named_copy(function, part, names))


# The layout of an array in memory: count, owner, length, item size, data, shape, stride.
_LAYOUT = "{ptr, ptr, i64, i64, ptr, [1 x i64], [1 x i64]}"


@once
def _is_layout_known() -> bool:
    """Whether numba lays out arrays and counted memory as `native` does."""
    layout = str(default_manager[CELLS].get_value_type())
    memory = rtsys.meminfo_alloc(8)  # type: ignore[no-untyped-call] # numba is untyped
    header = (ctypes.c_int64 * native.HEADER_WORDS).from_address(_address_of(memory))
    is_header = memory.data in header and list(header).index(memory.data) == native.HEADER_DATA
    return layout.replace("i8*", "ptr").replace("i64*", "ptr") == _LAYOUT and is_header


def _address_of(memory: Any) -> int:
    """The address of the header of counted memory, which follows the head of its Python object."""
    return ctypes.c_size_t.from_address(id(memory) + object.__basicsize__).value


def dispatch_twin() -> Any:
    """`dispatch` as numba's, from disk or compiled: it takes longest to compile, and other parts link it."""
    found = _dispatch_on_disk()
    if found is None:
        with claims.claimed("dispatch"):
            found = _dispatch_on_disk()  # another process may have compiled it in the meantime
            if found is None:
                found = compiled(dispatch, "dispatch", DISPATCH, twins_of(CALLED, "dispatch"))
                _keep_dispatch(found)
    return found


CALLED = [function for function in COMPILABLE if function is not dispatch and function is not dfs.run]
"""What `dispatch` and `dfs.run` may call."""


def _keep_dispatch(twin: Any) -> None:
    """Write it to disk in numba's serialisation."""
    try:
        result = twin.overloads[tuple(DISPATCH.args)]
        if not result.library.has_dynamic_globals:
            code = dumps((str(twin.targetctx.codegen().magic_tuple()), result._reduce()))  # type: ignore[no-untyped-call] # numba is untyped
            cache.write("dispatch", code)
    except (AttributeError, TypeError):  # another version of numba
        return


def _dispatch_on_disk() -> Any:
    """What `_keep_dispatch` wrote; None if there is no usable file. Others are removed.

    Numba's own cache is not used: it reads files unchecked.
    """
    code = cache.read("dispatch")
    if code is None:
        return None
    twin = numba.njit(error_model="numpy")(named_copy(dispatch, "dispatch"))
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
        cache.discard("dispatch")
        return None
    twin.disable_compile()
    return twin


def engine_code() -> bytes:
    """The machine code of `dfs.run`."""
    twins = twins_of(CALLED, "engine", {id(dispatch): dispatch_twin()})
    return code_of(dfs.run, "engine", RUN, twins)
