"""Kernels in the current context, launched by the driver's extensible launch.

It makes what pycuda cannot: cooperative grids, and clusters larger than the portable size. Memory, streams
and events are shared with whatever else uses the context.
"""

from __future__ import annotations

import ctypes
from typing import Any

from kerneltune.compiling.source import KERNEL_NAME
from kerneltune.running import driver
from kerneltune.running.driver import LaunchAttribute, LaunchConfig, call, check
from kerneltune.tiling.candidate import Candidate

PARAMETER_BYTES = 4096  # most that a kernel's parameters have on every GPU


class ExtendedKernel:
    """A candidate's kernel, loaded into the current context and launched with attributes.

    A launch is made ready once: ``arguments`` holds the bytes of the kernel's one by-value parameter, which
    the driver copies at each launch. One thread at a time may write them and launch.
    """

    def __init__(self, cubin: bytes, candidate: Candidate, *, cooperative: bool) -> None:
        self._module, self._context = ctypes.c_void_p(), ctypes.c_void_p()
        self._function = ctypes.c_void_p()
        call("asking for the context", "cuCtxGetCurrent", ctypes.byref(self._context))
        call("loading the cubin", "cuModuleLoadData", ctypes.byref(self._module), ctypes.c_char_p(cubin))
        call(
            "finding the kernel",
            "cuModuleGetFunction",
            ctypes.byref(self._function),
            self._module,
            KERNEL_NAME.encode(),
        )
        self._set(driver.DYNAMIC_SHARED_MEMORY, candidate.shared_memory)
        if candidate.cluster > 1:
            self._set(driver.NON_PORTABLE_CLUSTERS, 1)
        self._config, self._attributes = configuration(candidate, cooperative)
        self.arguments = ctypes.create_string_buffer(PARAMETER_BYTES)
        self._parameters = (ctypes.c_void_p * 1)(ctypes.addressof(self.arguments))
        self._launch = driver.library().cuLaunchKernelEx
        self._call = (
            ctypes.c_void_p(ctypes.addressof(self._config)),
            self._function,
            ctypes.c_void_p(ctypes.addressof(self._parameters)),
            None,
        )

    def _set(self, attribute: int, value: int) -> None:
        call("setting up the kernel", "cuFuncSetAttribute", self._function, attribute, value)

    def resident_clusters(self) -> int:
        """Number of clusters of this launch that the GPU holds at a time."""
        found = ctypes.c_int()
        function = "cuOccupancyMaxActiveClusters"
        call("asking for clusters", function, ctypes.byref(found), self._function, self._call[0])
        return found.value

    def queue(self, stream: int) -> None:
        """Queue one launch with ``arguments`` as they are, on the stream with this handle."""
        self._config.stream = stream
        status = self._launch(*self._call)
        if status:
            if status == driver.INVALID_CONTEXT:  # a thread in which nothing has asked for the GPU yet
                call("setting the context", "cuCtxSetCurrent", self._context)
                status = self._launch(*self._call)
            check("launching", status)

    def launch(self, arguments: bytes, stream: Any) -> None:
        """Queue one launch on a stream that has a ``handle``, with one by-value parameter of these bytes."""
        ctypes.memmove(self.arguments, arguments, len(arguments))
        self.queue(int(stream.handle))

    def unload(self) -> None:
        """Free the module."""
        call("unloading the cubin", "cuModuleUnload", self._module)


def configuration(candidate: Candidate, cooperative: bool) -> tuple[LaunchConfig, Any]:
    """The launch of a candidate, and the array of attributes that it points to."""
    attributes = []
    if candidate.cluster > 1:
        attributes.append(_attribute(driver.CLUSTER_DIMENSION, candidate.cluster, 1, 1))
    if cooperative:
        attributes.append(_attribute(driver.COOPERATIVE, 1))
    array = (LaunchAttribute * max(1, len(attributes)))(*attributes)
    config = LaunchConfig(
        *(candidate.blocks, 1, 1, candidate.threads, 1, 1, candidate.shared_memory),
        attributes=array,
        attribute_count=len(attributes),
    )
    return config, array


def _attribute(kind: int, *values: int) -> LaunchAttribute:
    return LaunchAttribute(kind, b"", (ctypes.c_uint * 16)(*values))
