"""The slots of the grid's exchange are reused, each protected by its arrival mark."""

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
FILES = {"forward": "strategies/grid/tiling.constrint", "backward": "strategies/grid/backward.constrint"}
SHIPPED = "exchange_slots := "
CLEARED = "if (received % cleared_at_once != 0) return;"

pytestmark = [pytest.mark.emulated, pytest.mark.parametrize("direction", sorted(FILES))]


def drawn(kernels: Kernels, direction: str, steps: int) -> Candidate:
    """Four blocks that exchange what their warps compute, some of which finish nothing."""
    problem = Problem("lstm", 1, 64, 3, "bf16", steps, direction)
    space = TilingSpace(problem, PROFILE, kernels, "grid")
    tilings = space.draw(space.kernels.strategy("grid"), 100, seed=1)
    return next(
        tiling
        for tiling in tilings
        if tiling.values["group_blocks"] == 4 and tiling.values["finishing_warps"] < tiling.values["warps"]
    )


@pytest.mark.parametrize("slots", [6, 8, 32])
def test_slots_are_used_again(emulator: Emulator, tmp_path: Path, direction: str, slots: int) -> None:
    changed(KERNELS, tmp_path / "kernels", FILES[direction], (SHIPPED, f"{SHIPPED}{slots} + 0 * "))
    kernels = discover(tmp_path / "kernels")
    tiling = drawn(kernels, direction, steps=2 * slots + 5)
    assert tiling.parameters["exchange_slots"] == slots
    check_case(emulator, kernels, PROFILE, tiling, seeds=(1, 2))


def test_without_marks_old_words_are_taken_for_new(
    emulator: Emulator, tmp_path: Path, direction: str
) -> None:
    root = tmp_path / "kernels"
    changed(KERNELS, root, FILES[direction], (SHIPPED, f"{SHIPPED}6 + 0 * "))
    changed(KERNELS, root, "common/exchange/grid_exchange.cuh", (CLEARED, "return;"))
    kernels = discover(root)
    tiling = drawn(kernels, direction, steps=15)
    # Wrong, or other bits in another order of threads, or a race
    with pytest.raises((AssertionError, EmulationError)):
        check_case(Emulator(root, emulator.folder), kernels, PROFILE, tiling, seeds=(1, 2))
