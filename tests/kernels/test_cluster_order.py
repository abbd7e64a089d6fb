"""What orders the partial sums in a cluster, which racecheck does not follow: the emulator does."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from emulator.build import EmulationError, Emulator
from emulator.passes import run_case

from kerneltune.candidate import Candidate
from kerneltune.case import random_case
from kerneltune.hardware import load_profile
from kerneltune.kernel import Kernels, discover
from kerneltune.problem import Problem
from kerneltune.space import TilingSpace

PROFILE = load_profile("h100_sxm")
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


def split(kernels: Kernels, direction: str) -> Candidate:
    """A tiling of two blocks whose warps split the sum, and two of which finish."""
    problem = Problem("gru", 2, 32, 5, "fp16", 4, direction)
    space = TilingSpace(problem, PROFILE, kernels, "cluster")
    tilings = space.draw(space.kernels.strategy("cluster"), 300, seed=1)
    return next(
        tiling
        for tiling in tilings
        if tiling.parameters["k_splits"] > 1 and tiling.parameters["batch_tile"] == 8
    )


def run_split(emulator: Emulator, kernels: Kernels, direction: str, seed: int) -> bool:
    tiling = split(kernels, direction)
    case = random_case(tiling.problem, kernels.cell("gru"), seed=3)
    return case.judge(run_case(emulator, kernels, PROFILE, tiling, case, seed)).right


def races(emulator: Emulator, kernels: Kernels, direction: str, seed: int) -> list[int]:
    """Where in shared memory a run raced, if it did."""
    try:
        run_split(emulator, kernels, direction, seed)
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
    assert all(run_split(emulator, kernels, direction, seed) for seed in range(8))


@pytest.mark.emulated
@pytest.mark.parametrize("lost", sorted(LOST))
def test_without_a_link_of_the_order_they_race(kernels: Kernels, tmp_path: Path, lost: str) -> None:
    root = tmp_path / "kernels"
    shutil.copytree(kernels.root, root)
    for name, (before, after) in LOST[lost].items():
        text = (root / "cluster" / name).read_text(encoding="utf-8")
        adds = re.findall(r"partials\.add\(sum, group(.*?)\);", text)
        assert (text.count(before), len(adds)) == (1, 1)
        (root / "cluster" / name).write_text(text.replace(before, after.format(*adds)), encoding="utf-8")
    broken, emulator = discover(root), Emulator(root, tmp_path / "made")
    for direction in ("training", "backward"):
        sums = place_of_sums(split(broken, direction))
        raced = [byte for seed in range(8) for byte in races(emulator, broken, direction, seed)]
        assert any(byte in sums for byte in raced), raced
