"""pycuda on a stand-in GPU whose memory is a byte array."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest


class Device:
    """Memory, and a clock that ticks once a launch."""

    def __init__(self) -> None:
        self.memory = np.zeros(1 << 24, np.uint8)
        self.top = 256
        self.launches: list[dict[str, Any]] = []
        self.overrun = 0
        self.allocated: set[int] = set()

    def allocate(self, size: int) -> int:
        start = self.top
        self.top += -(-size // 256) * 256
        self.allocated.add(start)
        return start

    def launch(self, arguments: bytes, **settings: Any) -> None:
        """A launch by pycuda."""
        raise AssertionError("there is no kernel")


def primary_context() -> types.ModuleType:
    """The module that makes the context current."""
    primary = types.ModuleType("pycuda.autoprimaryctx")
    primary.device = types.SimpleNamespace(  # type: ignore[attr-defined]
        name=lambda: "stand-in",
        compute_capability=lambda: (9, 0),
        pci_bus_id=lambda: "0000:00:00.0",
        get_attribute=lambda kind: 1 << 10,
    )
    return primary


def stand_in_modules(device: Device) -> dict[str, types.ModuleType]:
    driver = types.ModuleType("pycuda.driver")

    class Buffer(int):
        def free(self) -> None:
            device.allocated.remove(int(self))

    class Stream:
        handle = 77

        def synchronize(self) -> None: ...

    class Event:
        def record(self, stream: Any) -> None:
            self.at = len(device.launches)

        def time_till(self, other: Any) -> float:
            return float(other.at - self.at)

    class Function:
        def set_attribute(self, attribute: str, value: int) -> None:
            self.limit = value

        def __call__(self, argument: np.void, **settings: Any) -> None:
            assert isinstance(argument, np.void)
            assert settings["shared"] == self.limit
            device.launch(bytes(memoryview(argument)), **settings)  # type: ignore[arg-type]

    class Module:
        def get_function(self, name: str) -> Function:
            assert name == "kernel"
            return Function()

    def fill(place: int, value: int, size: int, stream: Any = None) -> None:
        device.memory[place : place + size] = value

    def upload(place: int, host: np.ndarray[Any, Any]) -> None:
        device.memory[place : place + host.nbytes] = host.reshape(-1).view(np.uint8)

    def copy(place: int, source: int, size: int, stream: Any) -> None:
        device.memory[place : place + size] = device.memory[source : source + size]

    def download(host: np.ndarray[Any, Any], place: int) -> None:
        host[:] = device.memory[place : place + host.nbytes]

    driver.Stream, driver.Event = Stream, Event  # type: ignore[attr-defined]
    driver.mem_alloc = lambda size: Buffer(device.allocate(size))  # type: ignore[attr-defined]
    driver.memset_d8_async, driver.memcpy_htod, driver.memcpy_dtoh = fill, upload, download  # type: ignore[attr-defined]
    driver.memcpy_dtod_async = copy  # type: ignore[attr-defined]
    driver.device_attribute = types.SimpleNamespace(L2_CACHE_SIZE=38)  # type: ignore[attr-defined]
    driver.module_from_buffer = lambda cubin: Module()  # type: ignore[attr-defined]
    driver.function_attribute = types.SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES="shared")  # type: ignore[attr-defined]
    primary = primary_context()
    package = types.ModuleType("pycuda")
    package.driver, package.autoprimaryctx = driver, primary  # type: ignore[attr-defined]
    return {"pycuda": package, "pycuda.driver": driver, "pycuda.autoprimaryctx": primary}


def imported(name: str, device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of `kerneltune.measuring` on this device, for as long as a fixture needs it."""
    for known, module in stand_in_modules(device).items():
        monkeypatch.setitem(sys.modules, known, module)
    ours = [
        f"kerneltune.measuring.{one}" for one in ("gpu", "device_checks", "cuda_backend", "tiling_backend")
    ]
    kept = {one: sys.modules.pop(one, None) for one in ours}
    yield importlib.import_module(f"kerneltune.measuring.{name}")
    for one in ours:
        sys.modules.pop(one, None)
    sys.modules.update({one: module for one, module in kept.items() if module is not None})
