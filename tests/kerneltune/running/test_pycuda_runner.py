"""The pycuda runner on a stand-in driver whose device memory is a byte array."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from made import hand_made

from kerneltune.errors import RunError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.running.case import random_case
from kerneltune.running.measure import TrialPlan, try_candidate


class Device:
    """Memory, a clock that ticks once per launch, and the echo kernel."""

    def __init__(self) -> None:
        self.memory = np.zeros(1 << 24, np.uint8)
        self.top = 256
        self.launches: list[dict[str, Any]] = []
        self.overrun = 0

    def allocate(self, size: int) -> int:
        start = self.top
        self.top += -(-size // 256) * 256
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
            device.memory[int(self)] = 0

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
        name=lambda: "stand-in", compute_capability=lambda: (9, 0)
    )
    package = types.ModuleType("pycuda")
    package.driver, package.autoprimaryctx = driver, primary  # type: ignore[attr-defined]
    return {"pycuda": package, "pycuda.driver": driver, "pycuda.autoprimaryctx": primary}


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def runner(device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, module in stand_in_modules(device).items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "kerneltune.running.pycuda_runner", raising=False)
    yield importlib.import_module("kerneltune.running.pycuda_runner").PycudaRunner()
    sys.modules.pop("kerneltune.running.pycuda_runner", None)


def test_a_trial_from_upload_to_times(fake_kernels: Kernels, runner: Any, device: Device) -> None:
    candidate = hand_made(workspace=64)
    case = random_case(candidate.problem, fake_kernels.cell("echo"), seed=1)
    runner.prepare(candidate, b"cubin", case, cooperative=False)
    assert runner.compute_capability == "9.0"
    found = try_candidate(runner, candidate, case, TrialPlan(runs=2, timed=4, seed=1))
    assert found.relative_error == 0
    assert found.passed
    assert found.milliseconds == 1.0
    assert len(device.launches) == 2 + 4 + 3  # two runs, four timed, three to warm up
    assert device.launches[0]["block"] == (256, 1, 1)
    assert device.launches[0]["grid"] == (24, 1)
    assert device.launches[0]["shared"] == 2304
    assert (runner.read()["states"][:, 0] == case.outputs["states"].initial).all()
    runner.prepare(candidate, b"cubin", case, cooperative=False)


def test_writing_beside_the_states_is_found(fake_kernels: Kernels, runner: Any, device: Device) -> None:
    candidate = hand_made(workspace=64)
    case = random_case(candidate.problem, fake_kernels.cell("echo"), seed=1)
    runner.prepare(candidate, b"cubin", case, cooperative=False)
    device.overrun = 2
    runner.run_once()
    with pytest.raises(RunError, match="wrote outside the array 'states'"):
        runner.read()
