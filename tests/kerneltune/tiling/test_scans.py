"""Scans without a GPU: requests, tilings and what the compiler makes of them, references, the CPU's own."""

from __future__ import annotations

import json
import os
import random
import shutil
import textwrap
from pathlib import Path

import numpy as np
import pytest

from kerneltune.cli.failures import run_app
from kerneltune.cli.main import app
from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.errors import InputError
from kerneltune.inputs.hardware import load_profile, profile_names
from kerneltune.inputs.scan_descriptions import discover_scans, linear_cells
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.running.scan_arrays import state_width, widths_of
from kerneltune.running.scan_cpu import linear_scan
from kerneltune.running.scan_reference import ScanInputs, backward, forward
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

SCANS = discover_scans()
PASSES = ("forward", "backward")
PROFILES = int(os.environ.get("KERNELTUNE_SCAN_PROFILES", "5"))  # about so many of all profiles
BF16_GPUS = [name for name in profile_names() if load_profile(name).mma_depth("bf16")]


def inputs_of(cell: str, random_seed: int, *, reverse: bool = False) -> ScanInputs:
    draw = np.random.default_rng(random_seed)
    shape = 3, 9, 4
    widths, state = widths_of(SCANS.cell(cell)), state_width(SCANS.cell(cell))
    read = tuple(draw.normal(size=(3, 9, 4 * width)) for width in widths)
    first = draw.normal(size=(3, 4 * state))
    lengths = np.array([9, 0, 5], np.int32)
    return ScanInputs(read, first, lengths, draw.random(shape[:2]) < 0.2, reverse)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", sorted(linear_cells()))
def test_gradients_of_the_references_are_differences(cell: str, reverse: bool) -> None:
    module = SCANS.cell(cell).reference_module()
    inputs = inputs_of(cell, 1, reverse=reverse)
    draw = np.random.default_rng(2)
    by_hidden, by_last = draw.normal(size=inputs.read[-1].shape), draw.normal(size=inputs.initial.shape)

    def loss(changed: ScanInputs) -> float:
        hidden, last = forward(module, changed)
        return float((hidden * by_hidden).sum() + (last * by_last).sum())

    found, by_initial = backward(module, inputs, by_hidden, by_last)
    for which in range(len(inputs.read) + 1):
        array = inputs.initial if which == len(inputs.read) else inputs.read[which]
        analytic = by_initial if which == len(inputs.read) else found[which]
        for place in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = array.copy()
                moved[place] += step
                read = [moved if i == which else part for i, part in enumerate(inputs.read)]
                initial = moved if which == len(inputs.read) else inputs.initial
                ends.append(loss(inputs._replace(read=tuple(read), initial=initial)))
            assert analytic[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_cpu_is_the_reference(reverse: bool) -> None:
    inputs = inputs_of("linear", 3, reverse=reverse)
    expected, last = forward(SCANS.cell("linear").reference_module(), inputs)
    single = [part.astype(np.float32) for part in (*inputs.read, inputs.initial)]
    after, before, end = linear_scan(*single, inputs.lengths, inputs.resets, reverse=reverse)  # type: ignore[arg-type, call-arg, misc]
    np.testing.assert_allclose(after, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(end, last, rtol=1e-5, atol=1e-6)
    first = 8 if reverse else 0
    kept = np.where(inputs.resets[0, first], 0.0, inputs.initial[0])
    np.testing.assert_allclose(before[0, first], kept, rtol=1e-6)


def test_the_minimal_lstm_has_no_quotient_of_gates() -> None:
    """Where both gates are 0 to the last bit their ratio is still known: by their logarithms."""
    module = SCANS.cell("minlstm").reference_module()
    low = np.full((1, 1, 1), -2000.0)
    a, b = module.coefficients(low, low, np.zeros((1, 1, 1)))
    assert a.item() == pytest.approx(0.5)
    assert b.item() == pytest.approx(0.25)


@pytest.mark.parametrize("direction", PASSES)
@pytest.mark.parametrize("gpu", BF16_GPUS[:: max(1, len(BF16_GPUS) // PROFILES)])
def test_every_gpu_has_tilings_of_any_shape(gpu: str, direction: str) -> None:
    for shape in ((1, 1, 1), (2, 100_000, 1), (1, 5, 4097), (8, 65536, 1536)):
        space = TilingSpace(ScanProblem("linear", *shape, "bf16", direction), load_profile(gpu), SCANS)
        candidate = space.best()
        assert candidate.cycles > 0
        assert Candidate.from_json(json.loads(json.dumps(candidate.to_json()))) == candidate


@pytest.mark.parametrize("direction", PASSES)
def test_drawn_tilings_keep_their_promises(direction: str) -> None:
    """Shared memory to the byte, registers bounded; a spill only in few, which the register loop mends."""
    draw = random.Random(direction)
    profile = load_profile("h100_sxm")
    compiler = Compiler(SCANS, profile)
    for cell in sorted(linear_cells()):
        problem = ScanProblem(
            *(cell, draw.randint(1, 9), draw.randint(1, 5000), draw.choice([3, 64, 1000])),
            draw.choice(["bf16", "fp16", "fp32"]),
            direction,
            draw.random() < 0.5,
            draw.random() < 0.5,
            draw.random() < 0.5,
        )
        space = TilingSpace(problem, profile, SCANS)
        report = settle(space, compiler).compiled.report
        assert not report.broken_promises()
        (candidate,) = space.draw(space.applicable()[0], 1, seed=draw.randrange(1 << 30))
        report = compiler.compile(candidate).report
        assert report.registers <= report.predicted_registers
        assert report.shared_memory == report.predicted_shared_memory
        assert report.blocks_per_sm >= report.predicted_blocks_per_sm


def test_rows_that_are_not_aligned_take_short_vectors() -> None:
    for channels, dtype, widest in ((1536, "bf16", 16), (6, "bf16", 4), (7, "bf16", 2), (7, "fp32", 4)):
        problem = ScanProblem("linear", 2, 500, channels, dtype)
        assert problem.row_alignment == widest
        candidate = TilingSpace(problem, load_profile("h100_sxm"), SCANS).best()
        assert candidate.parameters["vector_bytes"] <= widest
    assert ScanProblem("linear", 2, 500, 1536, "bf16", alignment=8).row_alignment == 8


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"dtype": "bf17"}, "unknown dtype"),
        ({"channels": 0}, "channels is 0"),
        ({"steps": 2**30}, "below 2\\^30"),
        ({"alignment": 3}, "multiple of 2 bytes"),
        ({"direction": "trianing"}, "unknown pass"),
    ],
)
def test_bad_requests_say_what_is_wrong(wrong: dict[str, object], said: str) -> None:
    asked = {"cell": "linear", "batch": 1, "steps": 1, "channels": 1, "dtype": "bf16", **wrong}
    with pytest.raises(InputError, match=said):
        ScanProblem(**asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("tile scan --batch 8 --steps 65536 --channels 1536 --json", 0, ""),
        ("tile mingru --batch 2 --channels 100 --pass backward --reverse --lengths --resets --json", 0, ""),
        ("tile scan --batch 8", 2, "--channels is missing"),
        ("tile scan --batch 8 --channels 8 --heads 3", 2, "--heads"),
        ("tile lstm --batch 8 --channels 8", 2, "--channels"),
        ("tile lstm --batch 8 --head-dim 64", 2, "--heads is missing"),
    ],
)
def test_scans_on_the_command_line(
    words: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(app, [*words.split(), "--gpu", "h100_sxm"]) == code
    captured = capsys.readouterr()
    assert said in captured.err + captured.out
    if code == 0:
        (candidate,) = json.loads(captured.out)["candidates"]
        assert candidate["strategy"] in ("look_back", "sequential")
        assert candidate["problem"]["family"] == "scan"


OWN = [
    ("complex.cell", "my_complex.cell"),
    ("diag_gru.cell", "my_diagonal.cell"),
    ("mingru.cell", "my_minimal.cell"),
]


@pytest.mark.parametrize(("cell", "mine"), OWN)
def test_a_cell_of_ones_own_is_a_file(
    cell: str, mine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its tiling is solved for and it compiles, from another kernels folder."""
    cells = tmp_path / "kernels" / "scan" / "cells"
    shutil.copytree(SCANS.root, tmp_path / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (cells / cell).rename(cells / mine)
    check_tiled_and_compiled(mine.partition(".")[0], tmp_path / "kernels", capsys)


def check_tiled_and_compiled(cell: str, kernels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--kernels", str(kernels), "--gpu", "h100_sxm"]
    size = ["--batch", "2", "--steps", "4096", "--channels", "64"]
    for command in ("tile", "compile"):
        assert run_app(app, [command, cell, *size, *where, "--json"]) == 0
        assert cell in capsys.readouterr().out


FOLDER = {
    "cell.yaml": """
        name: turning
        summary: h' = a h + b in complex numbers
        gates: [a, b]
        states: [h]
        widths: [2, 2]
        state_width: 2
        gradient_inputs: 1
        coefficients: [a]
        cell_struct: TurningCell
    """,
    "cell.cuh": """
        #pragma once
        #include "scan/common/factors.cuh"
        namespace kerneltune {
        struct TurningCell {
          using Factor = ComplexFactor;
          static constexpr int inputs = 4, arrays = 2, first_width = 2, gradient_arrays = 1;
          template <class Math>
          static __device__ void coefficients(const float (&x)[4], float (&a)[2], float (&b)[2]) {
            a[0] = x[0], a[1] = x[1], b[0] = x[2], b[1] = x[3];
          }
          template <class Math>
          static __device__ void gradients(const float (&x)[4], const float (&h)[2], const float (&g)[2],
                                           float (&by)[4]) {
            by[0] = g[0] * h[0] + g[1] * h[1], by[1] = g[1] * h[0] - g[0] * h[1], by[2] = g[0], by[3] = g[1];
          }
        };
        }  // namespace kerneltune
    """,
}


def test_a_cell_of_ones_own_is_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One written in CUDA, whose arrays have several numbers."""
    shutil.copytree(SCANS.root, tmp_path / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "kernels" / "scan" / "cells" / "turning"
    folder.mkdir()
    for name, text in FOLDER.items():
        (folder / name).write_text(textwrap.dedent(text))
    check_tiled_and_compiled("turning", tmp_path / "kernels", capsys)
