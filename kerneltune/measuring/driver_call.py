"""Calls of the CUDA driver for kernels that users bring."""

from __future__ import annotations

from typing import Any

from cuda.bindings import driver

from kerneltune.errors import RunError
from kerneltune.messages import Built, Order


def call(what: str, answer: tuple[Any, ...]) -> Any:
    """The result of a driver call; raises `RunError` with the driver's words if it failed."""
    status, *results = answer
    if status != driver.CUresult.CUDA_SUCCESS:
        _, text = driver.cuGetErrorString(status)
        words = text.decode() if isinstance(text, bytes) else str(status)
        raise RunError(f"{what}: {status.name}: {words}")
    return results[0] if results else None


def start(ordinal: int = 0) -> tuple[Any, str, str]:
    """Make a GPU's primary context current; returns the device, its name and its compute capability.

    Raises:
        RunError: There is no driver or no GPU.
    """
    try:
        answer = driver.cuInit(0)
    except Exception as error:  # without the driver's library, an exception class of a private package
        raise RunError(f"there is no NVIDIA driver here: {error}") from None
    call("starting the driver", answer)
    device = call("finding a GPU", driver.cuDeviceGet(ordinal))
    name = call("asking its name", driver.cuDeviceGetName(128, device))
    kinds = driver.CUdevice_attribute
    major, minor = (
        call("asking what it can", driver.cuDeviceGetAttribute(kind, device))
        for kind in (
            kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    context = call("using the GPU", driver.cuDevicePrimaryCtxRetain(device))
    call("using the GPU", driver.cuCtxSetCurrent(context))
    return device, name.partition(b"\0")[0].decode(errors="replace").strip(), f"{major}.{minor}"


def ptx_of(order: Order) -> Built:
    """The text of PTX as machine code: the driver compiles it when it is loaded."""
    return Built(cubin=order.source.encode() + b"\0", lowered=(order.entry,))


def attribute(device: Any, name: str) -> int:
    """A number that the driver tells of a device."""
    kind = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(call(f"asking {name}", driver.cuDeviceGetAttribute(kind, device)))


def bus_id(device: Any) -> str:
    """The device's place on the bus, by which NVML finds it."""
    raw = call("asking its place", driver.cuDeviceGetPCIBusId(32, device))
    return str(raw.partition(b"\0")[0].decode())
