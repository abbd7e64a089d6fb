"""The order of shared-memory accesses in a cluster: after __syncwarp, lane 0 arrives for its warp.

racecheck cannot verify that: it runs kernels in which every lane arrives. The emulator runs both variants.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulator.build import EmulationError, Emulator
from emulator.passes import run_case
from emulator.variants import changed

from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import PASSES, Problem
from kerneltune.running.case import random_case
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

PROFILE = load_profile("h100_sxm")
EVERY_LANE_ARRIVES = "KERNELTUNE_EVERY_LANE_ARRIVES"
# Each takes away one link of the chain: reads, arrival, wait, writes. By file:
# what stands there, and what instead, where {} is the rest of what the kernel gives to PartialSums::add.
LATE = "float late[Shape::results] = {{}}; partials.add(late, 0{}); if (late[0] == 1.2345e-30f) return;"
LOST = {
    "arrival behind the reads": {
        "kernel.cu": ("elements.save();", LATE + " elements.save();"),
        "backward.cu": ("elements.write();", LATE + " elements.write();"),
    },
    "wait before the writes": {
        "kernel.cu": ("if (step > 0) exchange", "if (step < 0) exchange"),
        "backward.cu": ("if (done > 0) exchange", "if (done < 0) exchange"),
    },
}


def drawn(kernels: Kernels, direction: str, *, split: bool) -> Candidate:
    """A tiling of several warps that split the sum, two of which finish, or do not."""
    problem = Problem("gru", 2, 32, 5, "fp16", 4, direction)
    space = TilingSpace(problem, PROFILE, kernels, "cluster")
    tilings = space.draw(space.kernels.strategy("cluster"), 300, seed=1)
    return next(
        tiling
        for tiling in tilings
        if (tiling.parameters["k_splits"] > 1) == split
        and tiling.parameters["batch_tile"] == 8
        and tiling.threads > 32
    )


def runs(emulator: Emulator, kernels: Kernels, tiling: Candidate, seed: int) -> bool:
    case = random_case(tiling.problem, kernels.cell("gru"), seed=3)  # type: ignore[arg-type]
    return case.judge(run_case(emulator, kernels, PROFILE, tiling, case, seed)).right


def races(emulator: Emulator, kernels: Kernels, tiling: Candidate, seed: int) -> list[int]:
    """Where in shared memory a run raced, if it did."""
    try:
        runs(emulator, kernels, tiling, seed)
    except EmulationError as error:
        return [
            int(byte) for byte in re.findall(r"shared memory byte (\d+): .* no barrier orders", str(error))
        ]
    return []


def place_of_sums(tiling: Candidate) -> range:
    """Bytes of the partial sums: the last before the barriers."""
    end = tiling.shared_memory - 16
    results = 1 if tiling.problem.direction == "backward" else 3
    return range(end - 4 * 32 * results * tiling.values["groups"] * tiling.parameters["k_splits"], end)


@pytest.mark.emulated
@pytest.mark.parametrize("direction", ["training", "backward"])
def test_split_sums_are_ordered(emulator: Emulator, kernels: Kernels, direction: str) -> None:
    tiling = drawn(kernels, direction, split=True)
    assert all(runs(emulator, kernels, tiling, seed) for seed in range(8))


@pytest.mark.emulated
@pytest.mark.parametrize("split", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("direction", PASSES)
def test_right_where_every_lane_arrives(
    emulator: Emulator, kernels: Kernels, direction: str, split: bool
) -> None:
    arriving = Emulator(kernels.root, emulator.folder, (EVERY_LANE_ARRIVES,))
    tiling = drawn(kernels, direction, split=split)
    assert all(runs(arriving, kernels, tiling, seed) for seed in range(4))


@pytest.mark.emulated
@pytest.mark.parametrize("direction", ["training", "backward"])
def test_an_arrival_in_front_of_syncwarp_races_unless_every_lane_arrives(
    emulator: Emulator, kernels: Kernels, tmp_path: Path, direction: str
) -> None:
    """What __syncwarp gives the shipped kernel, and that the arrivals alone give the other."""
    root = tmp_path / "kernels"
    first, later = "    if (lane.lane == 0)", "    if (last) return;\n"
    moved = ("    __syncwarp();\n" + first, first), (later, "    __syncwarp();\n" + later)
    changed(kernels, root, "common/exchange/cluster_exchange.cuh", *moved)
    late = discover(root)
    plain = Emulator(root, emulator.folder)
    switched = Emulator(root, emulator.folder, (EVERY_LANE_ARRIVES,))
    for split in (False, True):
        tiling = drawn(late, direction, split=split)
        assert any(races(plain, late, tiling, seed) for seed in range(4))
        assert all(runs(switched, late, tiling, seed) for seed in range(4))


@pytest.mark.emulated
@pytest.mark.parametrize("lost", sorted(LOST))
def test_without_a_link_of_the_order_they_race(
    emulator: Emulator, kernels: Kernels, tmp_path: Path, lost: str
) -> None:
    root = tmp_path / "kernels"
    for name, (before, after) in LOST[lost].items():
        text = (kernels.root / "strategies" / "cluster" / name).read_text(encoding="utf-8")
        (add,) = re.findall(r"partials\.add\(sum, group(.*?)\);", text)
        changed(kernels, root, f"strategies/cluster/{name}", (before, after.format(add)))
    broken, racing = discover(root), Emulator(root, emulator.folder)
    for direction in ("training", "backward"):
        tiling = drawn(broken, direction, split=True)
        raced = [byte for seed in range(8) for byte in races(racing, broken, tiling, seed)]
        assert any(byte in place_of_sums(tiling) for byte in raced), raced


READ = "const uint4 value = *reinterpret_cast<const uint4*>(source[pass] + buffer * Tile::buffer_elements);"
# A lane with nothing to write would read where others write.
ANYWHERE = ("source[pass] = lane.finishes() ? tile", "source[pass] = present[pass] ? tile")


@pytest.mark.emulated
@pytest.mark.parametrize("broken", [False, True])
def test_lanes_with_no_row_to_write_read_what_their_warp_wrote(
    emulator: Emulator, kernels: Kernels, tmp_path: Path, broken: bool
) -> None:
    """Compilers may leave such a read out; here each is seen."""
    root = tmp_path / "kernels"
    each_seen = READ, READ + " volatile unsigned seen = value.x; (void)seen;"
    changed(kernels, root, "common/exchange/hidden_tile.cuh", each_seen, *((ANYWHERE,) if broken else ()))
    seen, reading = discover(root), Emulator(root, emulator.folder)
    tiling = drawn(seen, "forward", split=False)
    raced = [byte for seed in range(8) for byte in races(reading, seen, tiling, seed)]
    assert bool(raced) == broken
