"""Kernels of several launches with one set of parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerneltune import In, Out
from kerneltune.compiling.nvrtc import compile_job, job_of
from kerneltune.errors import InfeasibleError, InputError
from kerneltune.inputs.hardware import load_profile
from kerneltune.messages import Built, Order, decoded, encoded
from kerneltune.sources.description import Description
from kerneltune.sources.folder import read_folder
from kerneltune.sources.kernel import Kernel
from kerneltune.sources.launches import Then
from kerneltune.tuning.kernel_work import KernelWork

EXAMPLE = Path(__file__).parents[3] / "examples" / "tuning" / "split_k"
SOURCE = """
template <int N> __global__ void add_up(float* to, const float* parts) { to[threadIdx.x] = parts[N * SPLIT]; }
extern "C" __global__ void split(float* parts, const float* from) { parts[threadIdx.x] = from[SPLIT]; }
"""


def kernel(**more: Any) -> Kernel:
    a = np.ones(64, np.float32)
    given: dict[str, Any] = {
        "entry": "split",
        "params": {"SPLIT": [1, 2, 4], "ADDING": [32, 64]},
        "grid": "SPLIT",
        "block": 64,
        "arguments": [In(a, "from"), Out(a, "to"), Out(a, "parts")],
        "takes": ["parts", "from"],
        "then": [Then("add_up<ADDING>", "min(SPLIT - 1, 1)", "ADDING", 1024, ["to", "parts"])],
        **more,
    }
    return Description(SOURCE, **given).kernel(load_profile("h100_sxm"))


def test_each_launch_has_its_shape_and_its_arguments() -> None:
    order = kernel().order({"SPLIT": 4, "ADDING": 32})
    assert (order.entry, order.grid, order.takes) == ("split", (4, 1, 1), (2, 0))
    (then,) = order.then
    assert (then.entry, then.grid, then.block) == ("add_up<32>", (1, 1, 1), (32, 1, 1))
    assert (then.shared_memory, then.takes) == (1024, (1, 2))
    assert decoded(encoded(order), Order) == order


def test_a_grid_of_0_leaves_a_launch_out() -> None:
    assert kernel().order({"SPLIT": 1, "ADDING": 32}).then == ()


def test_all_kernels_are_compiled_and_reported() -> None:
    order = kernel().order({"SPLIT": 2, "ADDING": 64})
    built = compile_job(job_of(order), None)
    assert built.lowered[0] == "split"
    assert "add_up" in built.lowered[1]
    assert len(built.then) == 1
    assert built.then[0][0] > 0


def test_a_kernel_that_follows_must_be_launchable_too() -> None:
    work = KernelWork(kernel())
    order = kernel().order({"SPLIT": 2, "ADDING": 64})
    assert work.refused(order, Built(registers=32, then=((40, 0),))) is None
    wide = kernel(then=[Then("add_up<ADDING>", 1, 1024, None, ["to", "parts"])])
    said = KernelWork(wide).refused(
        wide.order({"SPLIT": 2, "ADDING": 64}), Built(registers=32, then=((128, 0),))
    )
    assert said == "add_up<64>: no block of 1024 threads with 128 registers each fits an SM"
    with pytest.raises(InfeasibleError, match="2048 threads, but h100_sxm has 1024"):
        kernel(then=[Then("add_up<ADDING>", 1, 2048, None, ["to", "parts"])]).order(
            {"SPLIT": 2, "ADDING": 64}
        )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"takes": ["part"]}, "takes: there is no argument 'part': did you mean 'parts'"),
        ({"then": [Then("add_up", 1, 1, None, ["tos"])]}, "then: add_up: there is no argument 'tos'"),
        ({"then": [Then("add_up", [1, 1, 1, 1], 1)]}, "grid has one to three numbers"),
        ({"then": [Then("add_up", "SPLITS", 1, None, ["to", "parts"])]}, "SPLITS"),
    ],
)
def test_wrong_launches_are_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        kernel(**more)


def test_another_sequence_is_another_kernel() -> None:
    assert (
        kernel().identity()
        != kernel(then=[]).identity()
        != kernel(then=[], takes=["from", "parts"]).identity()
    )


def test_only_cuda_has_launches_that_follow() -> None:
    with pytest.raises(InputError, match="launches follow a kernel of CUDA or PTX"):
        Description(lambda SPLIT: 1.0, params={"SPLIT": [1]}, then=[Then("a", 1, 1)]).kernel(None)


def test_the_example_is_read() -> None:
    described = read_folder(EXAMPLE, with_arrays=False).description
    order = described.kernel(load_profile("h100_sxm")).order(
        {"TILE": 16, "SPLIT": 8, "UNROLL": 4, "ADDING": 128}
    )
    assert (order.grid, order.takes) == ((16, 16, 8), (0, 1, 2, 4, 5, 6))
    assert [(one.entry, one.grid, one.takes) for one in order.then] == [("add_up", (512, 1, 1), (2, 3, 7))]
