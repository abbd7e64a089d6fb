"""The strategies "sequential" and "overlap" on the emulated GPU: drawn tilings, repairs."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import numpy as np
import pytest
from emulator.build import Emulator
from test_scans_emulated import SCANS, check, drawn_problem, launches

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import is_nonlinear, linear_cells
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.running.scan_arrays import state_width
from kerneltune.running.scan_case import ScanCase, random_scan
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

pytestmark = pytest.mark.emulated

CELLS = sorted(name for name, cell in SCANS.cells.items() if is_nonlinear(cell))
NARROW = sorted(name for name, cell in linear_cells().items() if state_width(cell) == 1)
DRAWN = int(os.environ.get("KERNELTUNE_DRAWN_SCANS", "1"))  # requests for each cell, strategy and pass


def drawn_candidate(draw: random.Random, cell: str, strategy: str, direction: str, gpu: str) -> Candidate:
    dtypes = ("bf16", "fp16", "fp32") if gpu == "h100_sxm" else ("fp16", "fp32")
    problem = drawn_problem(draw, cell, direction, dtypes, divided=False)
    space = TilingSpace(problem, load_profile(gpu), SCANS, strategy)
    (candidate,) = space.draw(space.applicable()[0], 1, seed=draw.randrange(1 << 30))
    return candidate


def check_drawn(
    emulator: Emulator, draw: random.Random, cell: str, strategy: str, direction: str, gap: int | None = None
) -> None:
    """Of both GPUs, requests and tilings; the gap between steps is that, or as wide as the channels."""
    for number in range(DRAWN):
        gpu = draw.choice(["h100_sxm", "t4"])
        candidate = drawn_candidate(draw, cell, strategy, direction, gpu)
        problem = candidate.problem
        assert isinstance(problem, ScanProblem)
        gaps = [0, problem.channels if gap is None else gap]
        check(emulator, candidate, 10 * number, gpu, row_gap=draw.choice(gaps))


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
@pytest.mark.parametrize("strategy", ["sequential", "overlap"])
@pytest.mark.parametrize("cell", CELLS)
def test_diagonal_cells_are_right_in_every_order_of_threads(
    emulator: Emulator, cell: str, strategy: str, direction: str
) -> None:
    draw = random.Random(f"{cell} {strategy} {direction}")
    check_drawn(emulator, draw, cell, strategy, direction)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("cell", NARROW)
def test_linear_cells_in_order_are_right(emulator: Emulator, cell: str, direction: str) -> None:
    """Of cells whose state is a number."""
    check_drawn(emulator, random.Random(f"{cell} {direction}"), cell, "sequential", direction)


def overlapping(problem: ScanProblem, bulk: int = 0) -> Candidate:
    """Of all tilings, one of short chunks by warps of their own."""
    space = TilingSpace(problem, load_profile("h100_sxm"), SCANS, "overlap")
    model = space.model(space.applicable()[0])
    given = {"chunk_steps": 32, "warm_steps": 96, "threads": 32, "tile_steps": 16, "bulk": bulk, "stages": 2}
    for name, value in given.items():
        model.add(model.variables[name] == value)
    return space._candidate(space.applicable()[0], model.solve().values)


def held(problem: ScanProblem, kind: str) -> ScanCase:
    """A launch whose states outlast any warm-up."""
    case = random_scan(problem, SCANS.cell("diag_gru"), 5)
    draw = np.random.default_rng(6)
    arrays = dict(case.inputs)
    shape = arrays["input0"].shape

    def put(name: str, values: np.ndarray) -> None:
        arrays[name] = encode(np.broadcast_to(values, shape).astype(np.float32), problem.dtype)

    if kind == "slow":  # a gate that is nearly shut: Newton's method has it in a round or two
        put("input0", draw.normal(size=shape) - 9.0)
    else:  # a latch that changes sign now and then: only order tells in which state it is
        put("input0", np.array(8.0))
        put("input1", np.array(0.0))
        put("input2", np.where(draw.random(shape) < 0.0005, 6.0 * np.sign(draw.normal(size=shape)), 0.0))
        weights = np.zeros_like(arrays["weights"])
        weights[1], weights[2] = 8.0, 6.0
        arrays["weights"] = weights
    arrays["initial"] = np.ones_like(arrays["initial"])
    return replace(case, inputs=arrays)


@pytest.mark.parametrize("kind", ["slow", "latch"])
def test_what_is_not_forgotten_is_repaired(emulator: Emulator, kind: str) -> None:
    """The answer is that of the steps in order, and the counts say that it was not so at first."""
    problem = ScanProblem("diag_gru", 1, 1000, 4, "fp32")
    case, candidate = held(problem, kind), overlapping(problem)
    in_order = TilingSpace(problem, load_profile("h100_sxm"), SCANS, "sequential").best()
    (expected,) = launches(emulator, in_order, [case], 1)
    first, second = launches(emulator, candidate, [case, case], 2)
    moved, rounds, walked, boundaries = first["repaired"].tolist()
    assert boundaries == 31 * 4
    assert moved > 0
    assert rounds >= 1
    assert walked < moved if kind == "slow" else walked > 0
    for name, array in first.items():
        np.testing.assert_array_equal(array.view(np.uint8), second[name].view(np.uint8), name)
    found, wanted = (decode(results["output0"], "fp32") for results in (first, expected))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 if kind == "slow" else 1e-6)
    assert not expected["repaired"].any()


@pytest.mark.parametrize("strategy", ["sequential", "overlap"])
@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_stays_in_its_channel_and_row(
    emulator: Emulator, strategy: str, special: float
) -> None:
    """And no longer than until the state is dropped; an infinite input only shuts or opens a gate."""
    problem = ScanProblem("diag_gru", 2, 400, 6, "fp32", resets=True)
    case = random_scan(problem, SCANS.cell("diag_gru"), 1)
    arrays = dict(case.inputs)
    for name in ("input0", "input1", "input2"):
        arrays[name] = arrays[name].copy()
        arrays[name][1, 20, 3] = encode(np.array([special]), "fp32")[0]
    arrays["resets"] = np.zeros_like(case.inputs["resets"])
    arrays["resets"][1, 350] = 1
    space = TilingSpace(problem, load_profile("h100_sxm"), SCANS, "sequential")
    candidate = space.best() if strategy == "sequential" else overlapping(problem)
    (results,) = launches(emulator, candidate, [replace(case, inputs=arrays)], 1)
    lost = ~np.isfinite(decode(np.ascontiguousarray(results["output0"]), "fp32"))
    expected = np.zeros_like(lost)
    expected[1, 20:350, 3] = bool(np.isnan(special))
    np.testing.assert_array_equal(lost, expected)
