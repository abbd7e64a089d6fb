"""Arrays of numpy, CuPy and torch as a caller has them: copies, comparisons, and times on their device."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable
from time import perf_counter
from types import ModuleType
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import InputError
from kerneltune.measuring.case import TOLERANCES, compared
from kerneltune.running.verify import Verdict

BFLOAT16 = 8e-3  # relative L2 error of a type that numpy does not have
FLUSHED = 1 << 28  # bytes that are overwritten, more than any L2 cache has
MICROSECOND = 1e-3


Array = TypeVar("Array")
HostArray: TypeAlias = NDArray[np.generic]


class Arrays(Protocol[Array]):
    """The operations of one library's arrays."""

    device: str

    def copied(self, array: Array) -> Array:
        """A copy."""

    def restore(self, array: Array, copy: Array) -> None:
        """Write a copy back."""

    def fill(self, array: Array, byte: int) -> None:
        """Write a number that depends on the byte, NaN where it is 255, into all of an array."""

    def zero(self, array: Array) -> None:
        """Write zeros."""

    def same(self, array: Array, other: Array) -> bool:
        """Whether two arrays are equal, NaN to NaN."""

    def verdict(self, array: Array, expected: object, tolerance: float) -> Verdict:
        """How far an array is from the expected one; a tolerance of 0 asks for equality."""

    def wait(self) -> None:
        """Wait for the device."""

    def timed(self, call: Callable[[], object], count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of calls, each by itself."""


class HasType(Protocol):
    """An array of any library."""

    @property
    def dtype(self) -> object:
        """Its element type."""


def is_array(value: object) -> bool:
    """Whether a value is an array of any library; a scalar of numpy is none."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, np.generic)


def dtype_of(array: HasType) -> str:
    """The name of an array's type, such as float32."""
    return str(array.dtype).rpartition(".")[2]


def tolerance_for(array: HasType) -> float:
    """The bound of an output's relative L2 error; 0 for integers and Booleans."""
    name = dtype_of(array)
    return BFLOAT16 if name == "bfloat16" else TOLERANCES.get(name, 0.0)


def filling(kind: str, byte: int) -> float | int:
    """The number that stands for a byte in an array: NaN of floating-point numbers for 255."""
    if kind == "f":
        return float("nan") if byte == 0xFF else float(byte)
    return byte & (1 if kind == "b" else 0x7F)


def arrays_of(values: Iterable[object]) -> Arrays[Any]:
    """The library of some arguments' arrays.

    Raises:
        InputError: They are of several.
    """
    arrays = [one for one in values if is_array(one)]
    names = sorted({_library(one) for one in arrays})
    if len(names) > 1:
        raise InputError(f"the arrays of a call are of {' and '.join(names)}: give those of one library")
    if names == ["torch"]:
        from kerneltune.measuring.torch_arrays import TorchArrays

        return TorchArrays(arrays[0])
    if names == ["cupy"]:
        return CupyArrays(sys.modules["cupy"])
    return HostArrays()


def _library(array: object) -> str:
    """The library of an array; a subclass of a tensor, such as a parameter, is torch's."""
    if any(one.__module__ == "torch" for one in type(array).__mro__):
        return "torch"
    return type(array).__module__.partition(".")[0]


class HostArrays:
    """Arrays of numpy, and whatever has its methods, by Python's clock."""

    def __init__(self, library: ModuleType = np) -> None:
        self.library = library
        self.device = platform.processor() or platform.machine() or "a processor"

    def copied(self, array: HostArray) -> HostArray:
        """A copy."""
        return array.copy()

    def restore(self, array: HostArray, copy: HostArray) -> None:
        """Write a copy back."""
        array[...] = copy

    def fill(self, array: HostArray, byte: int) -> None:
        """Write a number that depends on the byte into all of an array."""
        array[...] = filling("f" if array.dtype.kind in "fc" else array.dtype.kind, byte)

    def zero(self, array: HostArray) -> None:
        """Write zeros."""
        array[...] = 0

    def same(self, array: HostArray, other: HostArray) -> bool:
        """Whether two arrays are equal, NaN to NaN."""
        equal = (array == other) | ((array != array) & (other != other))
        return bool(equal.all())

    def verdict(self, array: HostArray, expected: object, tolerance: float) -> Verdict:
        """How far an array is from the expected one."""
        return compared(self.on_host(array), self.on_host(expected), tolerance)

    def on_host(self, array: object) -> HostArray:
        """The array for numpy."""
        return np.asarray(array)

    def wait(self) -> None:
        """Nothing runs besides."""

    def timed(self, call: Callable[[], object], count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of calls."""
        for _ in range(warm_up):
            call()
        found = []
        for _ in range(count):
            started = perf_counter()
            call()
            found.append(max(1e3 * (perf_counter() - started), MICROSECOND))
        return found


class CupyArrays(HostArrays):
    """Arrays of CuPy, by the GPU's clock."""

    def __init__(self, library: ModuleType) -> None:
        super().__init__(library)
        facts = library.cuda.runtime.getDeviceProperties(library.cuda.Device().id)
        self.device = facts["name"].decode()

    def on_host(self, array: object) -> HostArray:
        """The array for numpy."""
        found: HostArray = self.library.asnumpy(array)
        return found

    def wait(self) -> None:
        """Wait for the device."""
        self.library.cuda.Device().synchronize()

    def timed(self, call: Callable[[], object], count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of calls, between events of the current stream."""
        cuda = self.library.cuda
        flushed = self.library.empty(FLUSHED, dtype="int8") if flush else None
        for _ in range(warm_up):
            call()
        pairs = []
        for _ in range(count):
            if flushed is not None:
                flushed.fill(0)
            before, after = cuda.Event(), cuda.Event()
            before.record()
            call()
            after.record()
            pairs.append((before, after))
        self.wait()
        return [float(cuda.get_elapsed_time(before, after)) for before, after in pairs]
