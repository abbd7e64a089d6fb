"""Kernels in the current context, launched by the driver's extensible launch.

It makes launches that pycuda cannot: cooperative grids, clusters larger than the portable size, parameters of
any type, streams of other libraries. Memory, streams and events are shared with all libraries in the context.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, TypeAlias

from kerneltune.compiling.source import KERNEL_NAME
from kerneltune.running import driver
from kerneltune.running.driver import LaunchAttribute, LaunchConfig, call, check
from kerneltune.tiling.candidate import Candidate

PARAMETER_BYTES = 4096  # most that a kernel's parameters have on every GPU
FREE_SHARED_BYTES = 48 * 1024  # bytes of dynamic shared memory that need no permission
Shape = tuple[int, int, int]
Held: TypeAlias = "ctypes.Array[ctypes.c_char] | ctypes.c_void_p | ctypes.c_ulonglong | ctypes.c_ubyte"
Parameters: TypeAlias = "ctypes.Array[ctypes.c_void_p]"


class DriverModule:
    """Machine code or PTX in the current context.

    Args:
        code: The code; PTX ends with a zero byte.
        registers: Most registers of a thread, where the driver compiles.
    """

    def __init__(self, code: bytes, registers: int | None = None) -> None:
        self.context, self._module = ctypes.c_void_p(), ctypes.c_void_p()
        call("asking for the context", "cuCtxGetCurrent", ctypes.byref(self.context))
        place, image, what = ctypes.byref(self._module), ctypes.c_char_p(code), "loading the kernel"
        if registers is None:
            call(what, "cuModuleLoadData", place, image)
        else:
            kinds, values = (ctypes.c_int * 1)(driver.MAX_REGISTERS), (ctypes.c_void_p * 1)(registers)
            call(what, "cuModuleLoadDataEx", place, image, 1, kinds, values)

    def function(self, name: str) -> ctypes.c_void_p:
        """A kernel."""
        found = ctypes.c_void_p()
        what = "finding the kernel"
        call(what, "cuModuleGetFunction", ctypes.byref(found), self._module, name.encode())
        return found

    def symbol(self, name: str) -> tuple[int, int]:
        """The address and the size of a variable."""
        place, size = ctypes.c_uint64(), ctypes.c_size_t()
        found = ctypes.byref(place), ctypes.byref(size)
        call(f"finding constant memory '{name}'", "cuModuleGetGlobal_v2", *found, self._module, name.encode())
        return place.value, size.value

    def unload(self) -> None:
        """Free it."""
        call("unloading the kernel", "cuModuleUnload", self._module)


class DriverLaunch:
    """A launch that was made ready once.

    Args:
        module: The module of the kernel.
        function: The kernel.
        config: Its shape.
        attributes: The attributes that ``config`` points to.
        parameters: The addresses of its parameters, which the driver copies at each launch.
    """

    def __init__(
        self,
        module: DriverModule,
        function: ctypes.c_void_p,
        config: LaunchConfig,
        attributes: ctypes.Array[LaunchAttribute],
        parameters: Parameters,
    ) -> None:
        self._context, self._function = module.context, function
        self._config, self._attributes, self._parameters = config, attributes, parameters
        self._launch = driver.library().cuLaunchKernelEx
        self._call = (
            ctypes.c_void_p(ctypes.addressof(config)),
            function,
            ctypes.c_void_p(ctypes.addressof(parameters)),
            None,
        )

    def queue(self, stream: int) -> None:
        """Queue one launch with the parameters as they are, on the stream with this handle."""
        self._config.stream = stream
        status = self._launch(*self._call)
        if status:
            if status == driver.INVALID_CONTEXT:  # a thread in which nothing has asked for the GPU yet
                call("setting the context", "cuCtxSetCurrent", self._context)
                status = self._launch(*self._call)
            check("launching", status)


class ExtendedKernel(DriverLaunch):
    """A candidate's kernel, loaded into the current context and launched with attributes.

    ``arguments`` holds the bytes of the kernel's one by-value parameter. One thread at a time may write them
    and launch.
    """

    def __init__(self, cubin: bytes, candidate: Candidate, *, cooperative: bool) -> None:
        self._module = DriverModule(cubin)
        function = self._module.function(KERNEL_NAME)
        set_attribute(function, driver.DYNAMIC_SHARED_MEMORY, candidate.shared_memory)
        if candidate.cluster > 1:
            set_attribute(function, driver.NON_PORTABLE_CLUSTERS, 1)
        self.arguments = ctypes.create_string_buffer(PARAMETER_BYTES)
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(self.arguments))
        super().__init__(self._module, function, *configuration(candidate, cooperative), parameters)

    def resident_clusters(self) -> int:
        """Number of clusters of this launch that the GPU holds at a time."""
        found = ctypes.c_int()
        function = "cuOccupancyMaxActiveClusters"
        call("asking for clusters", function, ctypes.byref(found), self._function, self._call[0])
        return found.value

    def launch(self, arguments: bytes, stream: Any) -> None:
        """Queue one launch on a stream that has a ``handle``, with one by-value parameter of these bytes."""
        ctypes.memmove(self.arguments, arguments, len(arguments))
        self.queue(int(stream.handle))

    def unload(self) -> None:
        """Free the module."""
        self._module.unload()


def set_attribute(function: ctypes.c_void_p, attribute: int, value: int) -> None:
    """Set an attribute of a kernel."""
    call("setting up the kernel", "cuFuncSetAttribute", function, attribute, value)


def configuration(
    candidate: Candidate, cooperative: bool
) -> tuple[LaunchConfig, ctypes.Array[LaunchAttribute]]:
    """The launch of a candidate, and the array of attributes that it points to."""
    grid, block = (candidate.blocks, 1, 1), (candidate.threads, 1, 1)
    return shaped(grid, block, candidate.shared_memory, cooperative, candidate.cluster)


def shaped(
    grid: Shape, block: Shape, shared_memory: int, cooperative: bool = False, cluster: int = 1
) -> tuple[LaunchConfig, ctypes.Array[LaunchAttribute]]:
    """A launch of a shape, and the array of attributes that it points to."""
    attributes = []
    if cluster > 1:
        attributes.append(_attribute(driver.CLUSTER_DIMENSION, cluster, 1, 1))
    if cooperative:
        attributes.append(_attribute(driver.COOPERATIVE, 1))
    array = (LaunchAttribute * max(1, len(attributes)))(*attributes)
    count = len(attributes)
    config = LaunchConfig(*grid, *block, shared_memory, attributes=array, attribute_count=count)
    return config, array


def addresses_of(held: Sequence[Held]) -> Parameters:
    """The addresses of parameters, which must live as long as these."""
    return (ctypes.c_void_p * max(len(held), 1))(*[ctypes.addressof(one) for one in held])


def _attribute(kind: int, *values: int) -> LaunchAttribute:
    return LaunchAttribute(kind, b"", (ctypes.c_uint * 16)(*values))
