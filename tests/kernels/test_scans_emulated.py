"""Scans on the emulated GPU: tilings drawn from all of them, launches on one workspace in any order."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import numpy as np
import pytest
from emulator.arguments import struct_layout
from emulator.build import Buffer, Emulator, run
from emulator.passes import POISON, launch_of

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.compiling.scan_arguments import ARRAYS, HEADER, STRUCT, scalars
from kerneltune.compiling.source import KERNEL_NAME, translation_unit
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import discover_scans, linear_cells
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.running.scan_case import ScanCase, random_scan
from kerneltune.running.scan_reference import ScanInputs, backward, forward
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

pytestmark = pytest.mark.emulated

SCANS = discover_scans()
DRAWN = int(os.environ.get("KERNELTUNE_DRAWN_SCANS", "1"))  # requests for each cell, pass and GPU


def launches(
    emulator: Emulator,
    candidate: Candidate,
    cases: list[ScanCase],
    seed: int,
    gpu: str = "h100_sxm",
    row_gap: int = 0,
) -> list[dict[str, np.ndarray]]:
    """The outputs of launches one after the other on one workspace, each in an order of threads of its own.

    With a gap, steps of all arrays lie so many channels further apart; what is between must stay as it was.
    """
    executable = emulator.compile(translation_unit(candidate, SCANS, load_profile(gpu)), KERNEL_NAME)
    problem = candidate.problem
    assert isinstance(problem, ScanProblem)
    workspace = np.full(max(candidate.workspace, 16), candidate.workspace_fill, np.uint8)
    found = []
    for number, case in enumerate(cases):
        arrays = dict(case.inputs)
        for name, output in case.outputs.items():
            arrays[name] = np.empty(output.shape, output.dtype)
            arrays[name].view(np.uint8)[...] = POISON
        places = {name: spread(array, problem, row_gap) for name, array in arrays.items() if name in ARRAYS}
        strides = {name: (array.shape[1] * array.shape[2], array.shape[2]) for name, array in places.items()}
        written = {*case.outputs}
        buffers = [Buffer(name, places.get(name, a), written=name in written) for name, a in arrays.items()]
        results = run(
            executable,
            launch_of(candidate, SCANS.for_pass(problem.direction)),
            struct_layout(SCANS.root / HEADER, STRUCT),
            scalars(problem, strides),
            [*buffers, Buffer("workspace", workspace, written=True)],
            seed + number,
        )
        workspace = results.pop("workspace")  # type: ignore[assignment]
        for name, array in results.items():
            if name in ARRAYS and row_gap:
                gap = np.ascontiguousarray(array[..., arrays[name].shape[-1] :])
                assert (gap.view(np.uint8) == POISON).all(), "wrote between the rows"
        found.append({n: a[..., : arrays[n].shape[-1]] if n in ARRAYS else a for n, a in results.items()})
    return found


def spread(array: np.ndarray, problem: ScanProblem, row_gap: int) -> np.ndarray:
    """The array with a gap of so many channels behind each step."""
    length = array.shape[-1] // problem.channels * (problem.channels + row_gap)
    wide = np.empty((*array.shape[:2], length), array.dtype)
    wide.view(np.uint8)[...] = POISON
    wide[..., : array.shape[-1]] = array
    return wide


def check(
    emulator: Emulator, candidate: Candidate, seed: int, gpu: str = "h100_sxm", row_gap: int = 0
) -> None:
    """Right; right again with other input and what the first launch left behind; and then the same bits."""
    cell = SCANS.cell(candidate.problem.cell)
    case, other = (random_scan(candidate.problem, cell, number) for number in (seed, seed + 1))  # type: ignore[arg-type]
    first, second, third = launches(emulator, candidate, [case, other, case], seed, gpu, row_gap)
    for results, judged in ((first, case), (second, other)):
        verdict = judged.judge(results)
        assert verdict.right, f"{verdict.sentence}: {candidate}"
    for name, array in third.items():
        np.testing.assert_array_equal(array.view(np.uint8), first[name].view(np.uint8), str(candidate))


def drawn_problem(
    draw: random.Random, cell: str, direction: str, dtypes: tuple[str, ...], *, divided: bool = True
) -> ScanProblem:
    sequences = draw.choice([0, 0, 1, 4, 9]) if divided else 0
    return ScanProblem(
        cell,
        batch=1 if sequences else draw.randint(1, 3),
        steps=draw.choice([1, 2, 3, 17, 64, 150, 301]),
        channels=draw.choice([1, 2, 3, 5, 8, 12, 24, 40]),
        dtype=draw.choice(dtypes),
        direction=direction,
        reverse=draw.random() < 0.5,
        lengths=not sequences and draw.random() < 0.3,
        resets=draw.random() < 0.3,
        sequences=sequences,
    )


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("cell", sorted(linear_cells()))
@pytest.mark.parametrize("gpu", ["h100_sxm", "t4"])
def test_drawn_scans_are_right_in_every_order_of_threads(
    emulator: Emulator, gpu: str, cell: str, direction: str
) -> None:
    """Any sizes, options and tilings, three launches on one workspace; a T4 has no asynchronous copies."""
    draw = random.Random(f"{gpu} {cell} {direction}")
    dtypes = ("bf16", "fp16", "fp32") if gpu == "h100_sxm" else ("fp16", "fp32")
    for number in range(DRAWN):
        problem = drawn_problem(draw, cell, direction, dtypes)
        space = TilingSpace(problem, load_profile(gpu), SCANS)
        drawn = [space.draw(one, 1, seed=draw.randrange(1 << 30)) for one in space.applicable()]
        candidate = draw.choice([found[0] for found in drawn if found])
        check(emulator, candidate, 10 * number, gpu, row_gap=draw.choice([0, problem.channels]))


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("cell", ["mingru", "minlstm"])
def test_gates_that_are_shut_or_open_for_good(emulator: Emulator, cell: str, direction: str) -> None:
    """Infinite and very large inputs of gates, every pair of them, give what the reference gives."""
    problem = ScanProblem(cell, 1, 49, 2, "fp32", direction)
    special = np.array([-np.inf, -1e4, -100.0, 0.0, 100.0, 1e4, np.inf], np.float32)
    candidate = small_tiles(problem, 1)
    case = random_scan(problem, SCANS.cell(cell), 3)
    gates = {"input0": np.repeat(special, 7)}
    if cell == "minlstm":
        gates["input1"] = np.tile(special, 7)
    changed = {n: np.repeat(encode(g, "fp32")[None, :, None], 2, axis=2) for n, g in gates.items()}
    arrays = {**case.inputs, **changed}
    read = [decode(arrays[f"input{i}"], "fp32").astype(np.float64) for i in range(len(gates) + 1)]
    inputs = ScanInputs(
        tuple(read),
        case.inputs["first_hidden" if direction == "backward" else "initial"].astype(np.float64),
        np.array([49], np.int32),
        np.zeros((1, 49), bool),
    )
    module = SCANS.cell(cell).reference_module()
    with np.errstate(over="ignore", invalid="ignore"):
        hidden, _ = forward(module, inputs)
        expected: tuple[np.ndarray, ...] = (hidden,)
        if direction == "backward":
            arrays["hidden"] = encode(hidden, "fp32")
            by_hidden = decode(arrays["gradient"], "fp32").astype(np.float64)
            expected, _ = backward(module, inputs, by_hidden, arrays["initial"].astype(np.float64))
    known = np.isfinite(hidden)
    (results,) = launches(emulator, candidate, [replace(case, inputs=arrays)], 1)
    for i, array in enumerate(expected):
        found = decode(np.ascontiguousarray(results[f"output{i}"]), "fp32")
        np.testing.assert_allclose(found[known], array[known], rtol=2e-5, atol=2e-5)


def small_tiles(problem: ScanProblem, window: int) -> Candidate:
    """Of all tilings with this window, one of the fewest steps in a tile."""
    every = TilingSpace(problem, load_profile("h100_sxm"), SCANS, "look_back").candidates(10**6)
    of_window = [c for c in every if c.parameters["window"] == window and c.parameters["threads"] == 128]
    return min(of_window, key=lambda c: c.parameters["segment_steps"] / c.parameters["columns"])


@pytest.mark.parametrize("window", [1, 2, 16])
def test_states_pass_from_window_to_window(emulator: Emulator, window: int) -> None:
    """Many tiles of one row of channels: every state is another block's, and a window is not full."""
    candidate = small_tiles(ScanProblem("linear", 1, 600, 8, "fp32"), window)
    tiles = -(-600 // (128 // candidate.parameters["columns"] * candidate.parameters["segment_steps"]))
    assert tiles > 2 * window
    check(emulator, candidate, seed=window)


@pytest.mark.parametrize("cell", ["mingru", "minlstm"])
def test_coefficients_take_the_place_of_what_was_read(emulator: Emulator, cell: str) -> None:
    """In the ring itself, of two stages; in bf16 they need more room than what they were computed from."""
    problem = ScanProblem(cell, 1, 90, 8, "bf16", resets=True)
    space = TilingSpace(problem, load_profile("h100_sxm"), SCANS, "look_back")
    (strategy,) = space.applicable()
    model = space.model(strategy)
    for name, value in {"keeps": 2, "stages": 2, "segment_steps": 3, "threads": 128}.items():
        model.add(model.variables[name] == value)
    check(emulator, space._candidate(strategy, model.solve().values), seed=5)


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_stays_in_its_channel_and_row(emulator: Emulator, special: float) -> None:
    problem = ScanProblem("linear", 2, 200, 6, "bf16", resets=True)
    candidate = small_tiles(problem, 2)
    case = random_scan(problem, SCANS.cell("linear"), 1)
    spoilt = case.inputs["input1"].copy()
    spoilt[1, 20, 3] = encode(np.array([special]), "bf16")[0]
    a = case.inputs["input0"].copy()
    a[1, :, 3] = encode(np.array([0.5]), "bf16")[0]
    resets = np.zeros_like(case.inputs["resets"])
    resets[1, 150] = 1
    changed = replace(case, inputs={**case.inputs, "input1": spoilt, "input0": a, "resets": resets})
    (results,) = launches(emulator, candidate, [changed], 1)
    lost = ~np.isfinite(decode(np.ascontiguousarray(results["output0"]), "bf16"))
    expected = np.zeros_like(lost)
    expected[1, 20:150, 3] = True  # and no longer: a reset drops even this
    np.testing.assert_array_equal(lost, expected)
