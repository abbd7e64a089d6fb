"""The driver through ctypes: structs and numbers are those of cuda.h, launches say what they should."""

from __future__ import annotations

import ctypes
import types

import pytest
from fake_driver import FakeLibrary
from made import hand_made

from kerneltune.errors import RunError
from kerneltune.running import driver
from kerneltune.running.launch import ExtendedKernel, configuration


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    found = FakeLibrary()
    monkeypatch.setattr(driver, "library", lambda: found)
    return found


@pytest.mark.parametrize(("cluster", "cooperative"), [(1, True), (2, False), (16, True)])
def test_extended_launch(library: FakeLibrary, cluster: int, cooperative: bool) -> None:
    candidate = hand_made(cluster=cluster, blocks=32)
    kernel = ExtendedKernel(b"cubin", candidate, cooperative=cooperative)
    kernel.launch(b"ab\0cd", types.SimpleNamespace(handle=77))
    (launch,) = library.launches
    assert launch["arguments"].startswith(b"ab\0cd")
    assert (launch["grid"], launch["block"]) == ((32, 1, 1), (256, 1, 1))
    assert (launch["shared_memory"], launch["stream"]) == (2304, 77)
    wanted = {driver.CLUSTER_DIMENSION: (cluster, 1, 1)} if cluster > 1 else {}
    wanted |= {driver.COOPERATIVE: (1, 0, 0)} if cooperative else {}
    assert launch["attributes"] == wanted
    assert library.attributes[driver.DYNAMIC_SHARED_MEMORY] == 2304
    assert library.attributes.get(driver.NON_PORTABLE_CLUSTERS, 0) == (cluster > 1)


def test_a_driver_error_names_the_step(library: FakeLibrary) -> None:
    library.failing["cuModuleLoadData"] = 200
    with pytest.raises(RunError, match="loading the kernel: CUDA_ERROR_INVALID_IMAGE: device image is"):
        ExtendedKernel(b"cubin", hand_made(), cooperative=True)


def test_a_thread_without_a_context_gets_the_kernels(library: FakeLibrary) -> None:
    kernel = ExtendedKernel(b"cubin", hand_made(), cooperative=False)
    library.failing["cuLaunchKernelEx"] = driver.INVALID_CONTEXT
    kernel.queue(5)
    assert library.contexts == [99]
    assert [launch["stream"] for launch in library.launches] == [5]
    library.failing["cuLaunchKernelEx"] = 1
    with pytest.raises(RunError, match="launching: CUDA_ERROR_UNKNOWN: unknown"):
        kernel.queue(5)


def test_structs_and_numbers_are_those_of_the_bindings() -> None:
    bindings = pytest.importorskip("cuda.bindings.driver")
    candidate = hand_made(cluster=4, blocks=32)
    mine, _ = configuration(candidate, True)
    theirs = bindings.CUlaunchConfig()
    theirs.gridDimX, theirs.gridDimY, theirs.gridDimZ = 32, 1, 1
    theirs.blockDimX, theirs.blockDimY, theirs.blockDimZ = 256, 1, 1
    theirs.sharedMemBytes, theirs.hStream = 2304, bindings.CUstream(77)
    mine.stream = 77
    parts = []
    for kind, values in (("CLUSTER_DIMENSION", (4, 1, 1)), ("COOPERATIVE", (1,))):
        part = bindings.CUlaunchAttribute()
        part.id = getattr(bindings.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{kind}")
        value = bindings.CUlaunchAttributeValue()
        if kind == "COOPERATIVE":
            value.cooperative = values[0]
        else:
            value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = values  # type: ignore[misc]
        part.value = value
        parts.append(part)
    theirs.attrs, theirs.numAttrs = parts, 2
    raw = driver.LaunchConfig.from_address(int(theirs.getPtr()))
    for name, _ in driver.LaunchConfig._fields_:  # type: ignore[misc]
        if name != "attributes":
            assert getattr(raw, name) == getattr(mine, name), name
    for i in range(2):
        assert raw.attributes[i].id == mine.attributes[i].id
        assert tuple(raw.attributes[i].value)[:3] == tuple(mine.attributes[i].value)[:3]
    assert ctypes.sizeof(driver.LaunchAttribute) == 72
    kinds = bindings.CUdevice_attribute
    for name, number in driver.DEVICE_ATTRIBUTES.items():
        assert int(getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}")) == number
    limits = bindings.CUfunction_attribute
    assert int(limits.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) == driver.DYNAMIC_SHARED_MEMORY
    assert int(limits.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) == driver.NON_PORTABLE_CLUSTERS
    assert int(bindings.CUjit_option.CU_JIT_MAX_REGISTERS) == driver.MAX_REGISTERS
    assert int(bindings.CUresult.CUDA_ERROR_INVALID_CONTEXT) == driver.INVALID_CONTEXT
