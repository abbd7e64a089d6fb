"""A CUDA driver that remembers what it was asked, and a device whose tensors are on the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kerneltune.running.driver import LaunchConfig

DEVICE_NAME = b"NVIDIA H100 80GB HBM3"


class FakeLibrary:
    """The driver's functions, as ctypes calls them.

    Attributes:
        launches: Of each: grid, block, shared memory, stream, attributes, and the parameter's first bytes.
        fills: Of each: address, byte, size, stream.
        failing: Status by the name of a function that fails.
        name: What the GPU calls itself.
    """

    def __init__(self) -> None:
        self.launches: list[dict[str, Any]] = []
        self.fills: list[tuple[int, int, int, int]] = []
        self.loaded: list[bytes] = []
        self.attributes: dict[int, int] = {}
        self.contexts: list[int] = []
        self.failing: dict[str, int] = {}
        self.name = DEVICE_NAME

    def cuInit(self, flags: int) -> int:
        return self.failing.get("cuInit", 0)

    def cuDeviceGet(self, device: Any, number: int) -> int:
        return 0

    def cuDeviceGetName(self, place: Any, size: int, device: Any) -> int:
        ctypes.memmove(place, self.name, len(self.name))
        return 0

    def cuDeviceTotalMem_v2(self, size: Any, device: Any) -> int:
        size._obj.value = 1 << 36
        return 0

    def cuDeviceGetAttribute(self, value: Any, number: int, device: Any) -> int:
        value._obj.value = 9
        return 0

    def cuGetErrorName(self, status: int, place: Any) -> int:
        place._obj.value = {200: b"CUDA_ERROR_INVALID_IMAGE"}.get(status, b"CUDA_ERROR_UNKNOWN")
        return 0

    def cuGetErrorString(self, status: int, place: Any) -> int:
        place._obj.value = b"device image is invalid" if status == 200 else None
        return 0

    def cuCtxGetCurrent(self, context: Any) -> int:
        context._obj.value = 99
        return 0

    def cuCtxSetCurrent(self, context: Any) -> int:
        self.contexts.append(context.value)
        self.failing.pop("cuLaunchKernelEx", None)
        return 0

    def cuModuleLoadData(self, module: Any, image: Any) -> int:
        self.loaded.append(image.value)
        return self.failing.get("cuModuleLoadData", 0)

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        assert name == b"kernel"
        function._obj.value = len(self.loaded)
        return 0

    def cuModuleUnload(self, module: Any) -> int:
        return 0

    def cuFuncSetAttribute(self, function: Any, attribute: int, value: int) -> int:
        self.attributes[attribute] = value
        return 0

    def cuMemsetD8Async(self, address: int, byte: int, size: int, stream: int) -> int:
        self.fills.append((address, byte, size, stream))
        return 0

    def cuLaunchKernelEx(self, config: Any, function: Any, parameters: Any, extra: None) -> int:
        if "cuLaunchKernelEx" in self.failing:
            return self.failing["cuLaunchKernelEx"]
        asked = LaunchConfig.from_address(config.value)
        place = ctypes.c_void_p.from_address(parameters.value).value
        assert place is not None
        self.launches.append(
            {
                "grid": (asked.grid_x, asked.grid_y, asked.grid_z),
                "block": (asked.block_x, asked.block_y, asked.block_z),
                "shared_memory": asked.shared_memory,
                "stream": asked.stream,
                "function": function.value,
                "attributes": {
                    asked.attributes[i].id: tuple(asked.attributes[i].value[:3])
                    for i in range(asked.attribute_count)
                },
                "arguments": ctypes.string_at(place, 128),
            }
        )
        return 0


class CpuDevice:
    """What a launch asks of torch, answered on a machine without a GPU.

    Attributes:
        now: The number of the GPU that this thread works on.
        handle: The current stream.
        captures: Whether that is being recorded.
    """

    def __init__(self) -> None:
        self.now, self.handle, self.captures = 0, 77, False
        self.allocated: list[Any] = []

    def index(self, tensor: Any) -> int:
        return 0

    def current(self) -> int:
        return self.now

    @contextmanager
    def on(self, index: int) -> Iterator[None]:
        before, self.now = self.now, index
        yield
        self.now = before

    def stream(self, index: int) -> int:
        return self.handle

    def is_capturing(self) -> bool:
        return self.captures

    def empty(self, size: int, index: int) -> Any:
        import torch

        self.allocated.append(torch.empty(size, dtype=torch.uint8))
        return self.allocated[-1]

    def lasting(self, size: int, index: int) -> int:
        assert not self.captures
        return int(self.empty(size, index).data_ptr())
