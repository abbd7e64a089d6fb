"""Machine code of compiled functions, loaded and called.

A part is an object file with an entry point (`making`), which LLVM links into the process within
milliseconds. An argument is a 64-bit integer or the address of a structure: for each array the address of
its data, then its length. The result is a 64-bit integer.
"""

from __future__ import annotations

import ctypes
import json
from array import array
from collections.abc import Callable, Sequence
from functools import cache as once
from functools import partial
from typing import Any

ARRAY_WORDS = 2  # words of an array in a structure: address and length
INTEGER = "q"  # the typecode of arrays
BYTES = 8

_engines: list[object] = []  # keep the code in memory


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
    about: dict[str, object] = {"symbol": symbol, "arguments": arguments, "externals": list(externals)}
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
        symbol, arguments = str(about["symbol"]), int(about["arguments"])
        externals = [str(name) for name in about["externals"]]
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
    for name in externals:  # LLVM would end the process
        if not llvm.address_of_symbol(name):
            raise ValueError(f"machine code that needs {name}")
    try:
        machine = llvm.Target.from_default_triple().create_target_machine(opt=0, jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
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
        self._function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arguments)(address)

    def bound(self, *first: int) -> Callable[..., int]:
        """The function of the other arguments; its structures may be used by one thread at a time."""
        return partial(self._function, *first)


def array_of(cells: Any) -> array[int]:
    """A list or an array of any kind as an array; an array as it is. numpy is not loaded for that."""
    if isinstance(cells, array):
        return cells
    return array(INTEGER, cells if isinstance(cells, list) else cells.tobytes())


def zeros(count: int) -> array[int]:
    """An array of zeros."""
    return array(INTEGER, bytes(BYTES * count))


def address_of(cells: Any) -> int:
    """The address of the data of an array of any kind, or of a view of one; 0 of an empty one."""
    return ctypes.addressof(ctypes.c_char.from_buffer(cells)) if len(cells) else 0


class NativeStructure:
    """A structure of arrays, which must outlive it.

    Args:
        arrays: One-dimensional arrays of int64.
        addresses: Of their data, where known.

    Attributes:
        address: What compiled functions get.
    """

    __slots__ = ("_words", "address")

    def __init__(self, arrays: Sequence[Any], addresses: Sequence[int] | None = None) -> None:
        self._words = zeros(ARRAY_WORDS * len(arrays))
        self._words[::ARRAY_WORDS] = array(INTEGER, addresses or map(address_of, arrays))
        self._words[1::ARRAY_WORDS] = array(INTEGER, map(len, arrays))
        self.address = address_of(self._words)

    def replace(self, number: int, length: int, address: int) -> None:
        """Put another array in the place of one."""
        self._words[ARRAY_WORDS * number] = address
        self._words[ARRAY_WORDS * number + 1] = length
