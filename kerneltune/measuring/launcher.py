"""Launches of a tuned kernel in the current context, on arrays of torch, cupy and pycuda."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from kerneltune.compiling.cubin_cache import CubinCache
from kerneltune.compiling.nvrtc import compile_job, job_of
from kerneltune.errors import InputError
from kerneltune.messages import Built, Order
from kerneltune.running import driver
from kerneltune.running.launch import (
    FREE_SHARED_BYTES,
    DriverLaunch,
    DriverModule,
    Held,
    addresses_of,
    set_attribute,
    shaped,
)
from kerneltune.sources.arguments import NUMBER, Argument


class KernelLauncher:
    """A compiled kernel; called with its arguments and a stream.

    Args:
        order: The order of a configuration.
        arguments: The described arguments: kinds and types.
    """

    def __init__(self, order: Order, arguments: Sequence[Argument]) -> None:
        self._order, self._arguments = order, list(arguments)
        driver.use_primary_context()
        built = ptx_of(order) if order.kind == "ptx" else compile_job(job_of(order), CubinCache())
        self._module = DriverModule(built.cubin)
        self._functions = functions_of(self._module, order, built)

    def __call__(self, arguments: Sequence[object], stream: object) -> None:
        """Queue one launch."""
        if len(arguments) != len(self._arguments):
            raise InputError(f"the kernel has {len(self._arguments)} arguments, not {len(arguments)}")
        held = [_held(given, one) for given, one in zip(arguments, self._arguments, strict=True)]
        place = stream_of(stream, arguments)
        for launch in launches_of(self._module, self._functions, self._order, held):
            launch.queue(place)


def functions_of(module: DriverModule, order: Order, built: Built) -> list[ctypes.c_void_p]:
    """The kernels of an order's launches, ready for their shared memory."""
    found = []
    bytes_of_each = [order.shared_memory, *(one.shared_memory for one in order.then)]
    for name, shared in zip(built.lowered, bytes_of_each, strict=False):  # constants follow the kernels
        function = module.function(name)
        if shared > FREE_SHARED_BYTES:
            set_attribute(function, driver.DYNAMIC_SHARED_MEMORY, shared)
        found.append(function)
    return found


def launches_of(
    module: DriverModule, functions: Sequence[ctypes.c_void_p], order: Order, held: Sequence[Held]
) -> list[DriverLaunch]:
    """An order's launches, in order."""
    takes = range(len(held)) if order.takes is None else order.takes
    shape = shaped(order.grid, order.block, order.shared_memory, order.cooperative)
    found = [DriverLaunch(module, functions[0], *shape, addresses_of([held[place] for place in takes]))]
    for function, one in zip(functions[1:], order.then, strict=True):
        shape = shaped(one.grid, one.block, one.shared_memory)
        own = addresses_of([held[place] for place in one.takes])
        found.append(DriverLaunch(module, function, *shape, own))
    return found


def ptx_of(order: Order) -> Built:
    """The text of PTX as machine code: the driver compiles it when it is loaded."""
    names = order.entry, *(one.entry for one in order.then)
    return Built(cubin=order.source.encode() + b"\0", lowered=names)


def number_held(value: object) -> Held:
    """A number of numpy as a parameter."""
    raw = np.ascontiguousarray(value).tobytes()
    return ctypes.create_string_buffer(raw, len(raw))


def _held(given: object, one: Argument) -> Held:
    if one.kind == NUMBER:
        return number_held(np.asarray(given, np.asarray(one.value).dtype))
    return ctypes.c_void_p(address_of(given, one))


def address_of(array: Any, one: Argument) -> int:
    """The device address of an array of torch, cupy, pycuda, or with the CUDA array interface.

    Raises:
        InputError: It has none, or another type than was described.
    """
    wanted = np.dtype(one.value.dtype)
    if hasattr(array, "data_ptr"):  # torch
        if not array.is_cuda or not array.is_contiguous():
            raise InputError(f"'{one.name}' must be a contiguous tensor on the GPU")
        if array.element_size() != wanted.itemsize:
            raise InputError(f"'{one.name}' must be {wanted}, not {array.dtype}")
        return int(array.data_ptr())
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:  # cupy, numba
        if np.dtype(interface["typestr"]) != wanted or not _is_contiguous(interface):
            raise InputError(f"'{one.name}' must be a contiguous array of {wanted}")
        return int(interface["data"][0])
    if hasattr(array, "gpudata"):  # pycuda
        if np.dtype(array.dtype) != wanted:
            raise InputError(f"'{one.name}' must be an array of {wanted}, not {array.dtype}")
        return int(array.gpudata)
    if isinstance(array, int) and not isinstance(array, bool):
        return array
    raise InputError(f"'{one.name}' must be an array on the GPU, not {type(array).__name__}")


def _is_contiguous(interface: dict[str, Any]) -> bool:
    strides, step = interface.get("strides"), np.dtype(interface["typestr"]).itemsize
    if strides is None:
        return True
    for size, stride in zip(reversed(interface["shape"]), reversed(strides), strict=True):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def stream_of(stream: Any, arguments: Sequence[Any]) -> int:
    """The handle of a stream; if none is given, of torch's current one for tensors, else 0, the default."""
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if stream is not None:
        return int(stream)
    if any(hasattr(one, "data_ptr") for one in arguments):
        import sys

        torch = sys.modules.get("torch")
        if torch is not None:
            return int(torch.cuda.current_stream().cuda_stream)
    return 0
