"""The backend of tilings on a stand-in driver whose device memory is a byte array."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_pycuda import Device, imported
from made import hand_made
from msgspec.structs import replace

from kerneltune.inputs.descriptions import Kernels
from kerneltune.measuring.measure import tiling_plan
from kerneltune.measuring.serving import Server
from kerneltune.messages import Answer, Built, Failed, Order, Request
from kerneltune.pipeline.tilings import order_of
from kerneltune.running.case_maker import make_case


class EchoDevice(Device):
    """The echo kernel."""

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


@pytest.fixture
def device() -> EchoDevice:
    return EchoDevice()


@pytest.fixture
def backend(device: EchoDevice, monkeypatch: pytest.MonkeyPatch, fake_kernels: Kernels) -> Iterator[Any]:
    for module in imported("tiling_backend", device, monkeypatch):
        yield module.TilingBackend(fake_kernels)


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


@pytest.mark.parametrize("changes", [{"stepwise": True}, {"cluster": 2}, {"cooperative": True}])
def test_the_driver_launches_what_pycuda_cannot(
    backend: Any, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    made = SimpleNamespace(resident_clusters=lambda: 1)
    module = sys.modules[type(backend.gpu).__module__]
    monkeypatch.setattr(module, "kernel_of", lambda cubin, candidate, cooperative: made)
    candidate = hand_made(cluster=changes.get("cluster", 1))
    candidate = dataclasses.replace(candidate, stepwise=changes.get("stepwise", False))
    assert backend.gpu.load(b"c", candidate, cooperative=changes.get("cooperative", False)) is made
    assert backend.gpu.load(b"c", hand_made(), cooperative=False) is not made


def test_writing_beside_the_states_is_found(
    fake_kernels: Kernels, backend: Any, device: Device, tmp_path: Path
) -> None:
    device.overrun = 2
    asked = order(fake_kernels, tmp_path)
    found = Server(backend, tiling_plan(1, 0)).answer(Request(order=asked, built=Built(cubin=b"cubin")))
    assert isinstance(found, Failed)
    assert "wrote outside the array 'states'" in found.failure
    assert found.lost
