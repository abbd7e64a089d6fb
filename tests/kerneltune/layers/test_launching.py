"""Launches on torch's tensors, with a stand-in for the driver: arguments, workspaces, streams, cost."""

from __future__ import annotations

import struct
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from fake_driver import CpuDevice, FakeLibrary

from kerneltune.compiling.arguments import packed
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.running import driver

torch = pytest.importorskip("torch")
WITH_WORKSPACE = Problem("elman", 1, 1024, 4, "bf16", steps=3)
WITHOUT = Problem("elman", 2, 16, 4, "bf16", steps=3)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    found = FakeLibrary()
    monkeypatch.setattr(driver, "library", lambda: found)
    return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def device() -> CpuDevice:
    return CpuDevice()


@pytest.fixture
def launcher(library: FakeLibrary, device: CpuDevice, shared: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from kerneltune.torch.launching import DeviceLauncher

    monkeypatch.setenv("KERNELTUNE_CACHE_DIR", str(shared))
    return DeviceLauncher(load_profile("h100_sxm"), device=device)  # type: ignore[arg-type]


def tensors_of(problem: Problem) -> dict[str, Any]:
    from kerneltune.torch.launching import arrays_of

    arrays = arrays_of(problem, discover().cell(problem.cell).spec)
    names = ["input", "recurrent", "bias", "states"]
    names += ["weights"] if discover().cell(problem.cell).spec.weights else []
    if problem.direction == "training":
        names += ["saved_values", "saved_states"]
    found = {}
    for name in names:
        dtype, count, of_step = arrays[name]
        found[name] = torch.zeros(count + of_step * problem.steps, dtype=dtype)
    return found


def addresses(tensors: dict[str, Any]) -> dict[str, int]:
    return {name: tensor.data_ptr() for name, tensor in tensors.items()}


WEIGHTED = EquationCell("own", gates="a", states="h", weights="u", equations="h' = tanh(a + u * h)")


@pytest.mark.parametrize("cell", ["elman", WEIGHTED.key])
@pytest.mark.parametrize("direction", ["forward", "training"])
def test_arguments_are_the_struct(launcher: Any, library: FakeLibrary, direction: str, cell: str) -> None:
    for steps in (3, 70_000):
        asked = Problem(cell, 2, 16, 4, "bf16", steps, direction)
        tensors = tensors_of(asked)
        launcher.launch(asked, tensors)
        wanted = packed(asked, addresses(tensors))
        assert library.launches[-1]["arguments"][: len(wanted)] == wanted
    assert len({launch["function"] for launch in library.launches}) == 1
    assert [launch["stream"] for launch in library.launches] == [77, 77]


@pytest.mark.parametrize("name", ["input", "recurrent", "bias", "states", "saved_values", "saved_states"])
def test_an_array_that_the_kernel_would_misread_is_refused(
    launcher: Any, library: FakeLibrary, name: str
) -> None:
    problem = Problem("lstm", 2, 16, 4, "bf16", 3, "training")
    whole = tensors_of(problem)
    for wrong in (
        whole[name].double(),
        whole[name][:-1],
        torch.stack([whole[name]] * 2, dim=-1)[:, 0],
    ):
        with pytest.raises(InputError, match=f"{name} is .* but the kernel reads"):
            launcher.launch(problem, {**whole, name: wrong})
    assert not library.launches


def test_a_workspace_is_kept_by_stream_and_filled_anew(
    launcher: Any, library: FakeLibrary, device: CpuDevice
) -> None:
    places = []
    for handle in (1, 2, 1):
        device.handle = handle
        launcher.launch(WITH_WORKSPACE, tensors_of(WITH_WORKSPACE))
        place, byte, size, stream = library.fills[-1]
        places.append(place)
        assert stream == handle
        (at,) = struct.unpack_from("P", library.launches[-1]["arguments"], 32)
        assert at == place
        assert device.allocated[0].numel() >= size > 0
        assert byte in (0, 255)
    assert places[0] == places[2] != places[1]
    assert len(device.allocated) == 2
    launcher.launch(WITHOUT, tensors_of(WITHOUT))
    assert len(library.fills) == 3


def test_a_recorded_launch_has_a_workspace_of_its_own(
    launcher: Any, library: FakeLibrary, device: CpuDevice
) -> None:
    launcher.launch(WITH_WORKSPACE, tensors_of(WITH_WORKSPACE))
    device.captures = True
    launcher.launch(WITH_WORKSPACE, tensors_of(WITH_WORKSPACE))
    device.captures = False
    launcher.launch(WITH_WORKSPACE, tensors_of(WITH_WORKSPACE))
    eager, recorded, again = (fill[0] for fill in library.fills)
    assert eager == again != recorded


def test_a_launch_on_another_gpu_goes_there(launcher: Any, library: FakeLibrary, device: CpuDevice) -> None:
    device.now = 3
    seen = []
    found = device.stream
    device.stream = lambda index: seen.append((index, device.now)) or found(index)  # type: ignore[method-assign, func-returns-value]
    launcher.launch(WITHOUT, tensors_of(WITHOUT))
    assert seen == [(0, 0)]
    assert device.now == 3


def test_threads_do_not_mix_their_arguments(launcher: Any, library: FakeLibrary) -> None:
    launcher.launch(WITHOUT, tensors_of(WITHOUT))
    made = [tensors_of(WITHOUT) for _ in range(8)]
    threads = [
        Thread(target=lambda one=one: [launcher.launch(WITHOUT, one) for _ in range(50)]) for one in made
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = {packed(WITHOUT, addresses(one)) for one in made}
    size = len(next(iter(wanted)))
    found = {launch["arguments"][:size] for launch in library.launches[1:]}
    assert found == wanted
    assert len(library.launches) == 401


def test_tensors_on_the_cpu_are_refused() -> None:
    from kerneltune.torch.launching import DeviceLauncher

    with pytest.raises(InputError, match="the tensors are on cpu, but kernels run on a GPU"):
        DeviceLauncher(load_profile("h100_sxm")).launch(WITHOUT, tensors_of(WITHOUT))


def test_training_compiles_the_backward_pass_too(launcher: Any, library: FakeLibrary) -> None:
    problem = Problem("elman", 1, 24, 2, "bf16", 3, "training")
    launcher.launch(problem, tensors_of(problem))
    begun = {request.direction: future for request, future in launcher.supply._begun.items()}
    assert begun["backward"].result().candidate.problem.direction == "backward"
    assert len(library.loaded) == 1


def test_prepared_requests_are_loaded(launcher: Any, library: FakeLibrary) -> None:
    problems = [Problem("elman", 1, 32, 2, "bf16", 3, name) for name in ("forward", "training", "backward")]
    launcher.prepare(problems)
    assert len(library.loaded) == 3
    launcher.launch(problems[0], tensors_of(problems[0]))
    assert len(library.loaded) == 3


def test_prepare_takes_shapes(launcher: Any, library: FakeLibrary) -> None:
    from kerneltune.torch import prepare

    shape = Problem("elman", 1, 32, 2, "bf16", direction="backward", gate_gradient_clip=1.0)
    prepare([shape], training=False, runs_on=launcher)
    assert [key[0].direction for key in launcher._loaded] == ["forward"]
    prepare([shape], runs_on=launcher)
    assert [key[0].direction for key in launcher._loaded] == ["forward", "training", "backward"]
    assert len(library.loaded) == 3


def test_a_launch_takes_the_host_little(launcher: Any, library: FakeLibrary) -> None:
    """Beside a fixed piece of Python in the same run."""
    library.cuLaunchKernelEx = lambda *_: 0  # type: ignore[method-assign]
    tensors = tensors_of(WITH_WORKSPACE)

    def seconds(do: Any) -> float:
        do()
        found = []
        for _ in range(5):
            started = time.process_time()
            for _ in range(400):
                do()
            found.append(time.process_time() - started)
        return min(found)

    def piece() -> None:
        sum(len(str(number)) for number in range(30))

    assert seconds(lambda: launcher.launch(WITH_WORKSPACE, tensors)) < 4 * seconds(piece)
