"""The backend of users' CUDA kernels on a stand-in driver; the checks compute what judge.cu does."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from fake_driver import FakeLibrary
from fake_pycuda import Device, imported

from kerneltune import In, InOut, Out
from kerneltune.measuring import launcher
from kerneltune.measuring.case import Case, kept_outputs
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.measuring.serving import Server
from kerneltune.messages import Answer, Built, Failed, Finals, NextLaunch, Order, OwnLaunch, Request, Turns
from kerneltune.running import driver
from kerneltune.running.driver import LaunchConfig
from kerneltune.sources.arguments import Argument

COUNT = 1000
SUMS, LARGEST = 5, 2


class FakeCuda(FakeLibrary):
    """A driver that finds any kernel and runs those that it has in Python."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device
        self.names: list[str] = []
        self.registers: list[int] = []
        self.symbols = {"factors": (device.allocate(16), 16)}
        self.kernels: dict[str, Callable[..., None]] = {
            "distance_float32": self.distance,
            "different": self.different,
            "disturbed": self.disturbed,
        }

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        self.names.append(name.decode())
        function._obj.value = len(self.names)
        return 0

    def cuModuleLoadDataEx(self, module: Any, image: Any, count: int, kinds: Any, values: Any) -> int:
        assert (count, kinds[0]) == (1, driver.MAX_REGISTERS)
        self.registers.append(values[0])
        return self.cuModuleLoadData(module, image)

    def cuModuleGetGlobal_v2(self, place: Any, size: Any, module: Any, name: bytes) -> int:
        place._obj.value, size._obj.value = self.symbols[name.decode()]
        return 0

    def cuModuleUnload(self, module: Any) -> int:
        return self.failing.get("cuModuleUnload", 0)

    def cuLaunchKernelEx(self, config: Any, function: Any, parameters: Any, extra: None) -> int:
        asked = LaunchConfig.from_address(config.value)
        name = self.names[function.value - 1]
        self.device.launches.append({"name": name, "grid": asked.grid_x, "block": asked.block_x})
        self.kernels[name]((ctypes.c_void_p * 6).from_address(parameters.value))
        return self.failing.get("cuLaunchKernelEx", 0)

    def array(self, place: int, dtype: str, count: int) -> np.ndarray[Any, Any]:
        """What lies at an address."""
        return self.device.memory[place : place + count * np.dtype(dtype).itemsize].view(dtype)

    def distance(self, values: Any) -> None:
        got, wanted, count, sums, _ = (number(values[i]) for i in range(5))
        one, other = (self.array(place, "f4", count).astype("f8") for place in (got, wanted))
        far = self.array(sums, "f8", SUMS)
        far[0] += np.nansum((one - other) ** 2)
        far[1] += np.sum(other**2)
        far[2] += np.isnan(one).sum()
        most = self.array(sums + 8 * SUMS, "f4", LARGEST)
        most[:] = np.nanmax(np.abs(one - other)), np.abs(other).max()

    def different(self, values: Any) -> None:
        one, other, size, sums = (number(values[i]) for i in range(4))
        self.array(sums, "f8", SUMS)[3] += (
            self.array(one, "u1", size) != self.array(other, "u1", size)
        ).sum()

    def disturbed(self, values: Any) -> None:
        place, size, sums = (number(values[i]) for i in (0, 2, 3))
        byte = ctypes.c_ubyte.from_address(values[1]).value
        self.array(sums, "f8", SUMS)[4] += (self.array(place, "u1", size) != byte).sum()


def number(place: int) -> int:
    """A parameter of eight bytes."""
    return ctypes.c_ulonglong.from_address(place).value


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def cuda(device: Device, monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    found = FakeCuda(device)
    monkeypatch.setattr(driver, "library", lambda: found)
    return found


@pytest.fixture
def module(device: Device, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for found in imported("cuda_backend", device, monkeypatch):
        monkeypatch.setattr(
            "kerneltune.measuring.device_checks.compile_job", lambda job, cache: Built(cubin=b"j")
        )
        yield found


def case() -> Case:
    """Three times an array, beside a count that is read and written."""
    a = np.random.default_rng(0).standard_normal(COUNT, np.float32)
    arguments = In(a, "a"), Out(np.empty_like(a), "c"), InOut(np.arange(4, dtype=np.int32), "n")
    whole = (*arguments, Argument("number", np.int32(COUNT), "count"))
    return Case(
        whole, {"c": 3 * a, "n": np.arange(4, dtype=np.int32) + 1}, None, {"factors": np.ones(4, np.float32)}
    )


def scale(cuda: FakeCuda, fault: str = "") -> Callable[[Any], None]:
    def kernel(values: Any) -> None:
        a, c, n = (number(values[i]) for i in range(3))
        count = ctypes.c_int32.from_address(values[3]).value
        assert (cuda.array(cuda.symbols["factors"][0], "f4", 4) == 1).all()
        source, out = cuda.array(a, "f4", count), cuda.array(c, "f4", count)
        written = out[:-1] if fault == "hole" else out
        written[:] = 3 * source[: len(written)]
        cuda.array(n, "i4", 4)[:] += 1
        if fault == "wrong":
            out[7] = -1
        if fault == "outside":
            cuda.array(c + 4 * count, "f4", 1)[:] = 1
        if fault == "unsteady":
            out[0] += len(cuda.device.launches) * 1e-6

    return kernel


def order(kind: str = "cuda") -> Order:
    return Order(
        kind=kind,
        configuration={},
        source="ptx",
        entry="scale",
        grid=(4, 1, 1),
        block=(256, 1, 1),
        registers=40,
    )


BUILT = Built(cubin=b"cubin", lowered=("scale", "factors"))


def test_a_right_kernel_is_verified_and_timed(module: Any, cuda: FakeCuda, device: Device) -> None:
    cuda.kernels["scale"] = scale(cuda)
    server = Server(
        module.CudaBackend(case()), MeasuringPlan(runs=3, timed=70, warm_up=2, flush=True, patience=0.0)
    )
    found = server.answer(Request(trial=0, order=order(), built=BUILT))
    assert isinstance(found, Answer), found
    assert found.timing is not None
    assert (found.timing.median, found.timing.samples) == (1.0, 70)
    assert found.relative_error == 0
    runs = [launch for launch in device.launches if launch["name"] == "scale"]
    assert len(runs) == 3 + 2 + 70
    assert (runs[0]["grid"], runs[0]["block"]) == (4, 256)
    turns = server.answer(
        Finals(trial=1, orders=(order(), order()), builts=(BUILT, BUILT), rounds=2, samples=3)
    )
    assert isinstance(turns, Turns)
    assert turns.times == ((1.0,) * 6,) * 2


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("wrong", "wrong result: relative error"),
        ("hole", "wrong result: 1 values were left unwritten or are NaN"),
        ("outside", "wrote outside the array 'c'"),
        ("unsteady", "repeated runs differ"),
    ],
)
def test_faults_are_found(module: Any, cuda: FakeCuda, fault: str, said: str) -> None:
    cuda.kernels["scale"] = scale(cuda, fault)
    found = Server(module.CudaBackend(case()), MeasuringPlan()).answer(Request(order=order(), built=BUILT))
    assert isinstance(found, Failed)
    assert said in found.failure
    assert found.lost


def test_ptx_is_compiled_by_the_driver_with_the_registers_that_were_promised(
    module: Any, cuda: FakeCuda
) -> None:
    cuda.kernels["scale"] = scale(cuda)
    found = Server(module.CudaBackend(case()), MeasuringPlan()).answer(Request(order=order("ptx")))
    assert isinstance(found, Answer), found
    assert cuda.registers == [40]
    assert cuda.loaded[-1] == b"ptx"


def test_the_first_error_is_told(module: Any, cuda: FakeCuda) -> None:
    """After an illegal address, nothing works: freeing a module fails too."""
    cuda.kernels["scale"] = scale(cuda)
    cuda.failing = {"cuLaunchKernelEx": 700, "cuModuleUnload": 700}
    found = Server(module.CudaBackend(case()), MeasuringPlan()).answer(Request(order=order(), built=BUILT))
    assert isinstance(found, Failed)
    assert found.failure.startswith("launching: ")
    assert found.lost


def test_constants_that_do_not_fit_are_refused(module: Any, cuda: FakeCuda) -> None:
    cuda.symbols["factors"] = 256, 8
    found = Server(module.CudaBackend(case()), MeasuringPlan()).answer(Request(order=order(), built=BUILT))
    assert isinstance(found, Failed)
    assert found.failure == "constant memory 'factors' has 8 bytes, but 16 are given"


class OnTheGpu:
    """An array with the CUDA array interface."""

    def __init__(self, place: int, dtype: str) -> None:
        self.__cuda_array_interface__ = {"data": (place, False), "typestr": dtype, "shape": (COUNT,)}


def test_a_loaded_kernel_takes_arrays_and_a_foreign_stream(
    cuda: FakeCuda, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "compile_job", lambda job, cache: BUILT)
    cuda.kernels["scale"] = scale(cuda)
    cuda.array(cuda.symbols["factors"][0], "f4", 4)[:] = 1
    places = [device.allocate(4 * COUNT) for _ in range(3)]
    cuda.array(places[0], "f4", COUNT)[:] = 2
    kernel = launcher.KernelLauncher(order(), case().arguments)
    arrays = [OnTheGpu(place, dtype) for place, dtype in zip(places, ("<f4", "<f4", "<i4"), strict=True)]
    kernel([*arrays, COUNT], None)
    assert (cuda.array(places[1], "f4", COUNT) == 6).all()


def test_outputs_are_kept_for_the_process_that_judges(module: Any, cuda: FakeCuda, tmp_path: Path) -> None:
    cuda.kernels["scale"] = scale(cuda)
    server = Server(module.CudaBackend(case()), MeasuringPlan(timed=0), outputs=tmp_path)
    built = Built(cubin=b"c", lowered=("scale", "factors"))
    answer = server.answer(Request(trial=3, order=order(), built=built))
    assert isinstance(answer, Answer), answer
    found = kept_outputs(tmp_path, 3)
    assert np.allclose(found["c"], 3 * case().arguments[0].value)
    assert not list(tmp_path.iterdir())


def test_launches_follow_one_another_with_their_own_arguments(module: Any, cuda: FakeCuda) -> None:
    """Half of `c` by the first kernel, all by the second; `n` is scratch, which the reference leaves out."""

    def first(values: Any) -> None:
        c, a = number(values[0]), number(values[1])
        cuda.array(c, "f4", COUNT)[: COUNT // 2] = 2 * cuda.array(a, "f4", COUNT)[: COUNT // 2]

    def second(values: Any) -> None:
        a, c, n = (number(values[i]) for i in range(3))
        cuda.array(c, "f4", COUNT)[:] = 3 * cuda.array(a, "f4", COUNT)
        cuda.array(n, "i4", 4)[0] = len(cuda.device.launches)

    cuda.kernels |= {"scale": first, "finish": second}
    whole = replace(case(), expected={"c": case().expected["c"]})
    then = (NextLaunch("finish", (7, 1, 1), (32, 1, 1), 0, (0, 1, 2)),)
    several = msgspec.structs.replace(order(), takes=(1, 0), then=then)
    built = Built(cubin=b"c", lowered=("scale", "finish", "factors"), then=((32, 0),))
    answer = Server(module.CudaBackend(whole), MeasuringPlan(timed=2)).answer(
        Request(trial=0, order=several, built=built)
    )
    assert isinstance(answer, Answer), answer
    names = [one["name"] for one in cuda.device.launches if one["name"] in ("scale", "finish")]
    assert names == ["scale", "finish"] * (len(names) // 2)
    assert len(names) >= 2 * (2 + 2)


def test_a_launch_that_the_compiler_chose_is_the_drivers(module: Any, cuda: FakeCuda, device: Device) -> None:
    """As Triton's: its own block, a number of 64 bits, one that stands in the code, null pointers behind."""
    seen: list[tuple[int, ...]] = []

    def kernel(values: Any) -> None:
        a, c, count = (number(values[i]) for i in range(3))
        seen.append((count, number(values[3]), number(values[4])))
        cuda.array(c, "f4", COUNT)[:] = 3 * cuda.array(a, "f4", COUNT)

    cuda.kernels["scale"] = kernel
    arguments = (*case().arguments[:2], Argument("number", np.int32(1), "one"), case().arguments[3])
    launch = OwnLaunch((64, 1, 1), 50_000, ("*fp32", "*fp32", "", "i64"), scratch=2)
    built = Built(cubin=b"c", lowered=("scale",), launch=launch)
    backend = module.CudaBackend(Case(arguments, {"c": case().expected["c"]}))
    found = Server(backend, MeasuringPlan(timed=1)).answer(Request(order=order("triton"), built=built))
    assert isinstance(found, Answer), found
    assert set(seen) == {(COUNT, 0, 0)}
    runs = [one for one in device.launches if one["name"] == "scale"]
    assert {(one["grid"], one["block"]) for one in runs} == {(4, 64)}
    assert cuda.attributes[driver.DYNAMIC_SHARED_MEMORY] == 50_000
    asked = (order("triton"), msgspec.structs.replace(order("triton"), grid=(8, 1, 1)))
    turns = Server(backend, MeasuringPlan()).answer(
        Finals(trial=1, orders=asked, builts=(built, built), rounds=2, samples=3)
    )
    assert isinstance(turns, Turns), turns
    assert turns.times == ((1.0,) * 6,) * 2
    assert {one["grid"] for one in device.launches if one["name"] == "scale"} == {4, 8}
