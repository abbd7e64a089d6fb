"""The backend of tilings on a stand-in driver whose device memory is a byte array."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made import hand_made
from msgspec.structs import replace

from kerneltune.inputs.descriptions import Kernels
from kerneltune.measuring.measure import tiling_plan
from kerneltune.measuring.serving import Server
from kerneltune.messages import Answer, Built, Failed, Order, Request
from kerneltune.pipeline.tilings import order_of
from kerneltune.running.case_maker import make_case


class Device:
    """Memory, a clock that ticks once per launch, and the echo kernel."""

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
        wx, _, _, states, workspace = np.frombuffer(arguments[:40], np.uint64).astype(int)
        steps, batch, heads = np.frombuffer(arguments[40:52], np.int32)
        shape = (steps, batch, heads, 64, 4)
        source = self.memory[wx : wx + int(np.prod(shape)) * 2].view(np.uint16).reshape(shape)
        count = 2 * (steps + 1) * batch * heads * 64
        out = self.memory[states : states + count * 2 + self.overrun].view(np.uint16)
        view = out[:count].reshape(2, steps + 1, batch, heads, 64)
        assert np.isnan((view[:, 1:].astype(np.uint32) << 16).view(np.float32)).all() or self.launches
        view[0, 1:], view[1, 1:] = source[..., 0], source[..., 1]
        out[count:] = 7
        zero = self.memory[workspace : workspace + 64]
        assert not zero.any()
        zero[:] = 1  # a kernel may leave anything behind
        self.launches.append(settings)


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
            device.launch(bytes(memoryview(argument)), **settings)

    class Module:
        def get_function(self, name: str) -> Function:
            assert name == "kernel"
            return Function()

    def fill(place: int, value: int, size: int, stream: Any = None) -> None:
        device.memory[place : place + size] = value

    def upload(place: int, host: np.ndarray[Any, Any]) -> None:
        device.memory[place : place + host.nbytes] = host.reshape(-1).view(np.uint8)

    def download(host: np.ndarray[Any, Any], place: int) -> None:
        host[:] = device.memory[place : place + host.nbytes]

    driver.Stream, driver.Event = Stream, Event  # type: ignore[attr-defined]
    driver.mem_alloc = lambda size: Buffer(device.allocate(size))  # type: ignore[attr-defined]
    driver.memset_d8_async, driver.memcpy_htod, driver.memcpy_dtoh = fill, upload, download  # type: ignore[attr-defined]
    driver.module_from_buffer = lambda cubin: Module()  # type: ignore[attr-defined]
    driver.function_attribute = types.SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES="shared")  # type: ignore[attr-defined]
    primary = types.ModuleType("pycuda.autoprimaryctx")
    primary.device = types.SimpleNamespace(  # type: ignore[attr-defined]
        name=lambda: "stand-in", compute_capability=lambda: (9, 0), pci_bus_id=lambda: "0000:00:00.0"
    )
    package = types.ModuleType("pycuda")
    package.driver, package.autoprimaryctx = driver, primary  # type: ignore[attr-defined]
    return {"pycuda": package, "pycuda.driver": driver, "pycuda.autoprimaryctx": primary}


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def backend(device: Device, monkeypatch: pytest.MonkeyPatch, fake_kernels: Kernels) -> Iterator[Any]:
    for name, module in stand_in_modules(device).items():
        monkeypatch.setitem(sys.modules, name, module)
    ours = [f"kerneltune.measuring.{name}" for name in ("gpu", "tiling_backend")]
    for name in ours:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(ours[1]).TilingBackend(fake_kernels)
    for name in ours:
        sys.modules.pop(name, None)


def order(fake_kernels: Kernels, folder: Path) -> Order:
    """The stand-in tiling on a case in a folder."""
    candidate = hand_made(workspace=64)
    make_case(candidate.problem, fake_kernels, 1, folder)
    return replace(order_of(candidate, False), case=str(folder))


def test_a_trial_from_upload_to_times(
    fake_kernels: Kernels, backend: Any, device: Device, tmp_path: Path
) -> None:
    asked = order(fake_kernels, tmp_path)
    server = Server(backend, tiling_plan(2, 70))
    built = Built(cubin=b"cubin")
    for number in range(2):
        top = device.top
        found = server.answer(Request(trial=number, order=asked, built=built))
        assert isinstance(found, Answer), found
        assert found.relative_error == 0
        assert found.timing is not None
        assert (found.timing.median, found.timing.samples) == (1.0, 70)
        assert len(device.launches) == (number + 1) * (2 + 70 + 3)  # two runs, 70 timed, three to warm up
    assert device.top - top < 4096  # the case is on the GPU once
    assert device.allocated == {*backend.inputs.values(), *(p - 4096 for p in backend.places.values())}
    assert backend.facts.compute_capability == "9.0"
    assert device.launches[0]["block"] == (256, 1, 1)
    assert device.launches[0]["grid"] == (24, 1)
    assert device.launches[0]["shared"] == 2304
    loaded = backend.load(asked, built)
    loaded.run(0)
    assert (loaded.read()["states"][:, 0] == backend.case.outputs["states"].initial).all()


def test_writing_beside_the_states_is_found(
    fake_kernels: Kernels, backend: Any, device: Device, tmp_path: Path
) -> None:
    device.overrun = 2
    asked = order(fake_kernels, tmp_path)
    found = Server(backend, tiling_plan(1, 0)).answer(Request(order=asked, built=Built(cubin=b"cubin")))
    assert isinstance(found, Failed)
    assert "wrote outside the array 'states'" in found.failure
    assert found.lost
