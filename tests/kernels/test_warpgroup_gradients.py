"""The ring and the flags through which a warpgroup's backward pass receives gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator.build import EmulationError, Emulator
from emulator.passes import check_case
from emulator.variants import changed

from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

PROFILE = load_profile("h100_sxm")
KERNELS = discover()
EXCHANGE = "common/exchange/arriving_gradients.cuh"
KERNEL = "strategies/warpgroup/backward.cu"
pytestmark = pytest.mark.emulated


def tiled(kernels: Kernels, problem: Problem, **chosen: int) -> Candidate:
    """The best tiling of these sizes."""
    space = TilingSpace(problem, PROFILE, kernels, "warpgroup")
    found = space.best_with(space.kernels.strategy("warpgroup"), chosen)
    assert found is not None
    return found


def lstm(head_dim: int, batch: int, steps: int, heads: int = 1) -> Problem:
    return Problem("lstm", heads, head_dim, batch, "bf16", steps, "backward")


@pytest.mark.parametrize(
    ("problem", "chosen"),
    [
        # A step fills a ring of two stages three times.
        (lstm(96, 6, 4), {"block_units": 16, "ring_stages": 2, "stage_parts": 1, "cluster": 1}),
        # The ring's first stage in a step is another one each time; three columns of eight units.
        (lstm(96, 70, 4), {"block_units": 24, "ring_stages": 3, "stage_parts": 1, "cluster": 2}),
        # More blocks than flags that a producer warp asks for at once
        (lstm(288, 2, 2), {"block_units": 8, "ring_stages": 4, "stage_parts": 4, "cluster": 1}),
        (lstm(64, 130, 3), {"block_units": 16, "warpgroups": 2, "stage_parts": 2, "cluster": 4}),
    ],
)
def test_rings_and_clusters(emulator: Emulator, problem: Problem, chosen: dict[str, int]) -> None:
    check_case(emulator, KERNELS, PROFILE, tiled(KERNELS, problem, **chosen), seeds=(1, 2))


def test_clusters_take_jobs_in_turn(emulator: Emulator) -> None:
    """Two heads of two batch tiles by one group of two clusters; R is another one in each job."""
    candidate = tiled(KERNELS, lstm(32, 70, 3, heads=2), block_units=8, warpgroups=1, cluster=2)
    check_case(emulator, KERNELS, PROFILE, candidate, seeds=(1, 2), blocks=candidate.values["group_blocks"])


LOST = {
    "the wait for a stage that all have read": (EXCHANGE, "empty(stage).wait_in_block(parity ^ 1);", ""),
    "the word to the other block": (EXCHANGE, "if (lane < CLUSTER)", "if (lane == cluster_block_rank())"),
    "the wait for products": (EXCHANGE, "warpgroup_wait<1>();", ""),
    "the look for the flags of later stages": (
        EXCHANGE,
        "present = missing == 0 ? at_once : __ffs(missing) - 1;",
        "present = at_once;",
    ),
    "the fence before copies": (EXCHANGE, "fence_device_for_async();", ""),
    "the fence after R": (KERNEL, "      fence_shared_for_async();\n      Pairs", "      Pairs"),
    "the meeting at the end": (KERNEL, "cluster_synchronize();  // other blocks", "{}  // other blocks"),
}


@pytest.mark.parametrize("lost", sorted(LOST))
def test_without_a_link_of_the_order_it_fails(emulator: Emulator, tmp_path: Path, lost: str) -> None:
    root = tmp_path / "kernels"
    name, before, after = LOST[lost]
    changed(KERNELS, root, name, (before, after))
    broken = discover(root)
    candidate = tiled(broken, lstm(64, 3, 5), block_units=16, ring_stages=2, stage_parts=1, cluster=2)
    # Wrong, or other bits in another order of threads, or a race, or for ever
    with pytest.raises((AssertionError, EmulationError)):
        check_case(Emulator(root, emulator.folder), broken, PROFILE, candidate, seeds=range(1, 7))
