"""Launches that pycuda cannot make: cooperative grids, and clusters larger than the portable size.

They use the driver's extensible launch in the current context, so they share memory, streams and events with
pycuda.
"""

from __future__ import annotations

import ctypes
from typing import Any

from cuda.bindings import driver

from kerneltune.compiling.source import KERNEL_NAME
from kerneltune.errors import RunError
from kerneltune.tiling.candidate import Candidate


class ExtendedKernel:
    """A candidate's kernel, loaded into the current context and launched with attributes."""

    def __init__(self, cubin: bytes, candidate: Candidate, *, cooperative: bool) -> None:
        self._cubin = cubin
        self._module = _call("loading the cubin", driver.cuModuleLoadData(cubin))
        self._function = _call(
            "finding the kernel", driver.cuModuleGetFunction(self._module, KERNEL_NAME.encode())
        )
        limits = driver.CUfunction_attribute
        self._set(limits.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, candidate.shared_memory)
        if candidate.cluster > 1:
            self._set(limits.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
        self._config = _configuration(candidate, cooperative)

    def _set(self, attribute: Any, value: int) -> None:
        _call(f"setting {attribute.name}", driver.cuFuncSetAttribute(self._function, attribute, value))

    def resident_clusters(self) -> int:
        """Number of clusters of this launch that the GPU holds at a time."""
        return int(
            _call("asking for clusters", driver.cuOccupancyMaxActiveClusters(self._function, self._config))
        )

    def launch(self, arguments: bytes, stream: Any) -> None:
        """Queue one launch on a stream that has a ``handle``, with one by-value parameter of these bytes."""
        buffer = ctypes.create_string_buffer(arguments, len(arguments))
        pointers = (ctypes.c_void_p * 1)(ctypes.addressof(buffer))
        self._config.hStream = driver.CUstream(int(stream.handle))
        _call(
            "launching",
            driver.cuLaunchKernelEx(self._config, self._function, ctypes.addressof(pointers), 0),
        )

    def unload(self) -> None:
        """Free the module."""
        _call("unloading the cubin", driver.cuModuleUnload(self._module))


def _configuration(candidate: Candidate, cooperative: bool) -> Any:
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = candidate.blocks, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = candidate.threads, 1, 1
    config.sharedMemBytes = candidate.shared_memory
    attributes = []
    kinds = driver.CUlaunchAttributeID
    if candidate.cluster > 1:
        value = driver.CUlaunchAttributeValue()
        value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = candidate.cluster, 1, 1
        attributes.append(_attribute(kinds.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value))
    if cooperative:
        value = driver.CUlaunchAttributeValue()
        value.cooperative = 1
        attributes.append(_attribute(kinds.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value))
    config.attrs = attributes
    config.numAttrs = len(attributes)
    return config


def _attribute(kind: Any, value: Any) -> Any:
    attribute = driver.CUlaunchAttribute()
    attribute.id = kind
    attribute.value = value
    return attribute


def _call(what: str, answer: tuple[Any, ...]) -> Any:
    status, *results = answer
    if status != driver.CUresult.CUDA_SUCCESS:
        _, text = driver.cuGetErrorString(status)
        words = text.decode() if isinstance(text, bytes) else str(status)
        raise RunError(f"{what}: {status.name}: {words}")
    return results[0] if results else None


def device_facts() -> dict[str, Any]:
    """The driver's facts about the first GPU, by the names that profiles use."""
    try:
        answer = driver.cuInit(0)
    except Exception as error:  # without the driver's library, an exception class of a private package
        raise RunError(f"there is no NVIDIA driver here: {error}") from None
    _call("starting the driver", answer)
    device = _call("finding a GPU", driver.cuDeviceGet(0))
    name = _call("asking its name", driver.cuDeviceGetName(128, device))
    kinds = driver.CUdevice_attribute

    def attribute(kind: str) -> int:
        number = getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{kind}")
        return int(_call(f"asking {kind}", driver.cuDeviceGetAttribute(number, device)))

    major, minor = (attribute(f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
    return {
        "name": name.partition(b"\0")[0].decode(errors="replace").strip(),
        "compute_capability": f"{major}.{minor}",
        "sm_count": attribute("MULTIPROCESSOR_COUNT"),
        "registers_per_sm": attribute("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        "smem_per_sm": attribute("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        "smem_per_block_optin": attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        "memory_bytes": int(_call("asking its memory", driver.cuDeviceTotalMem(device))),
    }
