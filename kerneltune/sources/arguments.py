"""Arguments of a kernel: arrays that it reads, writes or both, numbers, and constant memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import InputError

READ, WRITTEN, BOTH, NUMBER = "in", "out", "inout", "number"
KINDS = (READ, WRITTEN, BOTH, NUMBER)


@dataclass(frozen=True, eq=False)
class Argument:
    """One argument in the kernel's order.

    Attributes:
        kind: `in`, `out`, `inout` or `number`.
        value: The array or numpy number; of an output, an array of its shape and type.
        name: Its name in messages.
    """

    kind: str
    value: Any
    name: str = ""

    @property
    def is_output(self) -> bool:
        """Whether the kernel writes it."""
        return self.kind in (WRITTEN, BOTH)

    @property
    def nbytes(self) -> int:
        """Its size; of an output, that of an array of its shape and type."""
        return int(np.prod(self.value.shape, dtype=object)) * int(self.value.dtype.itemsize)

    def signature(self) -> list[Any]:
        """Kind, type and shape; of a number its value too."""
        value = np.asarray(self.value)
        shown = value.item() if self.kind == NUMBER else None
        return [self.name, self.kind, str(value.dtype), list(value.shape), shown]


def In(array: object, name: str = "") -> Argument:  # noqa: N802
    """An array that the kernel reads."""
    return Argument(READ, as_array(array, name or "an argument"), name)


def Out(array: object, name: str = "") -> Argument:  # noqa: N802
    """An array that the kernel writes; only its shape and type count."""
    return Argument(WRITTEN, as_array(array, name or "an argument"), name)


def InOut(array: object, name: str = "") -> Argument:  # noqa: N802
    """An array that the kernel reads and writes; it is restored before each run that is verified."""
    return Argument(BOTH, as_array(array, name or "an argument"), name)


def as_array(value: object, where: str) -> NDArray[np.generic]:
    """A contiguous numpy array of anything that is one: numpy, torch, cupy.

    Raises:
        InputError: It is none, or holds Python objects.
    """
    if hasattr(value, "detach"):  # torch
        tensor: Any = value.detach().cpu()
        if str(tensor.dtype) == "torch.bfloat16":
            raise InputError(f"{where}: numpy has no bfloat16: give the bits as an array of 16-bit integers")
        value = tensor.numpy()
    elif hasattr(value, "get") and hasattr(value, "__cuda_array_interface__"):  # cupy
        value = value.get()
    if not isinstance(value, np.ndarray):
        raise InputError(f"{where}: expected an array, found {type(value).__name__}")
    if value.dtype.hasobject:
        raise InputError(f"{where}: an array of Python objects cannot go to a GPU")
    return np.ascontiguousarray(value)


def number(value: object, where: str) -> np.generic:
    """A numpy number: a Python integer becomes 32 bits (64 if it must), a float 32 bits.

    Raises:
        InputError: It is no number.
    """
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise InputError(f"{where}: {value} has more than 64 bits")
        fits = -(2**31) <= value < 2**31
        return np.int32(value) if fits else np.int64(value) if value < 2**63 else np.uint64(value)
    if isinstance(value, float):
        return np.float32(value)
    raise InputError(f"{where}: expected a number or an array, found {type(value).__name__}")


def arguments_of(given: Sequence[object]) -> tuple[Argument, ...]:
    """Arguments with a name each; plain arrays are `in`, plain numbers numbers."""
    found = []
    for place, one in enumerate(given):
        if not isinstance(one, Argument):
            where = f"argument {place + 1}"
            is_array = isinstance(one, np.ndarray) or hasattr(one, "detach") or hasattr(one, "get")
            one = Argument(READ, as_array(one, where)) if is_array else Argument(NUMBER, number(one, where))
        found.append(Argument(one.kind, one.value, one.name or f"arg{place}"))
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two arguments are called '{twice}'")
    return tuple(found)
