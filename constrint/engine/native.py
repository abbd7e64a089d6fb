"""Machine code of compiled functions, loaded and called without numba.

A function that numba has compiled is an object file with an entry point. LLVM links it into the process
within milliseconds. To import numba, and to have it rebuild the function, takes a quarter of a second.

The calling convention is numba's: `entry(result, exception, *arguments)` with a pointer to the place of the
result; it returns 0 unless an exception was raised. An argument is an int64, or a pointer to a structure: to
numba's header of counted memory, whose fourth word is the address of the data. The data are one description
of seven words for each array. `making` checks all of that when it compiles.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from functools import cache as once
from typing import Any

import numpy as np

from constrint.errors import InternalError

ARRAY_WORDS = 7  # words of a one-dimensional array: count, owner, length, item size, data, shape, stride
_LENGTH, _ITEM_SIZE, _DATA, _SHAPE, _STRIDE = 2, 3, 4, 5, 6
HEADER_WORDS = 6  # words of counted memory: count, destructor and its argument, data, size, allocator
HEADER_DATA = 3
_COUNTED = 1 << 40  # references that nobody gives back: the destructor is never called

# Parts of Python and of numba's runtime are called only by what wraps the function for Python, and where
# memory is freed or an exception raised: never here.
RUNTIME = ("NRT_", "numba_", "Py", "_Py")

_engines: list[Any] = []  # keep the code in memory


@once
def target() -> str:
    """The processor for which LLVM compiles in this process."""
    import llvmlite.binding as llvm

    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()}"


def packed(symbol: str, arguments: int, externals: Sequence[str], code: bytes) -> bytes:
    """An object file with a description of its entry point.

    Args:
        symbol: The name of the entry point.
        arguments: Number of its arguments.
        externals: Names that the object file leaves to others.
        code: The object file.
    """
    about: dict[str, Any] = {"symbol": symbol, "arguments": arguments, "externals": list(externals)}
    about |= {"target": target(), "size": len(code)}
    return json.dumps(about).encode() + b"\n" + code


def loaded(content: bytes, part: str) -> Entry:
    """The function of a packed object file; raises `ValueError` if it cannot be used here.

    Args:
        content: What `packed` returned.
        part: Name of the part to which its functions must belong.
    """
    head, _, code = content.partition(b"\n")
    try:
        about = json.loads(head)
        symbol, arguments, externals = about["symbol"], about["arguments"], about["externals"]
        is_whole = len(code) == about["size"]  # LLVM crashes on others
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("no machine code") from None
    if not is_whole:
        raise ValueError("part of a file of machine code")
    if about["target"] != target():
        raise ValueError("machine code for another processor")
    if part.replace("-", "_") not in symbol:
        raise ValueError("machine code of another part")
    return Entry(_linked(symbol, externals, code), arguments)


def _linked(symbol: str, externals: Sequence[str], code: bytes) -> int:
    """Link an object file into this process; the address of a function in it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    stubs = [name for name in externals if name.startswith(RUNTIME)]
    for name in externals:  # LLVM would end the process
        if name not in stubs and not llvm.address_of_symbol(name):
            raise ValueError(f"machine code that needs {name}")
    text = "declare void @abort()\n" + "".join(
        f"define void @{name}() {{\n call void @abort()\n unreachable\n}}\n" for name in stubs
    )
    try:
        machine = llvm.Target.from_default_triple().create_target_machine(opt=0, jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = int(engine.get_function_address(symbol))
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    if not address:
        raise ValueError(f"machine code without {symbol}")
    _engines.append(engine)
    return address


class Entry:
    """A compiled function; Python's lock is released while it runs, as it only touches its own arrays.

    Args:
        address: Where it is.
        arguments: Number of its arguments.
    """

    __slots__ = ("_function",)

    def __init__(self, address: int, arguments: int) -> None:
        pointer = ctypes.c_void_p
        kinds = [pointer, pointer, *[ctypes.c_int64] * arguments]
        self._function = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(address)

    def bound(self, *first: int) -> Callable[..., int]:
        """The function of the other arguments; it may be called by one thread at a time."""
        function, result, exception = self._function, ctypes.c_int64(), ctypes.c_void_p()
        places = ctypes.byref(result), ctypes.byref(exception), *first

        def call(*rest: int) -> int:
            if function(*places, *rest):
                raise InternalError("an exception in compiled code")
            return result.value

        return call


class Structure:
    """A structure of arrays, which must outlive it.

    Args:
        arrays: One-dimensional arrays of int64.
        addresses: Of their data, where known.

    Attributes:
        address: What compiled functions get.
    """

    __slots__ = ("_memory", "_words", "address")

    def __init__(self, arrays: Sequence[Any], addresses: Sequence[int] | None = None) -> None:
        memory = np.zeros(HEADER_WORDS + ARRAY_WORDS * len(arrays), np.int64)
        self.address: int = memory.__array_interface__["data"][0]
        memory[0] = _COUNTED
        memory[HEADER_DATA] = self.address + memory.itemsize * HEADER_WORDS
        words = memory[HEADER_WORDS:].reshape(len(arrays), ARRAY_WORDS)
        words[:, _ITEM_SIZE] = words[:, _STRIDE] = memory.itemsize
        words[:, _LENGTH] = words[:, _SHAPE] = np.array(list(map(len, arrays)))
        words[:, _DATA] = addresses or [array.__array_interface__["data"][0] for array in arrays]
        self._memory = memory
        self._words = words

    def replace(self, number: int, length: int, address: int) -> None:
        """Put another array in the place of one."""
        self._words[number, _LENGTH] = self._words[number, _SHAPE] = length
        self._words[number, _DATA] = address
