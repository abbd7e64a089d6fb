"""Diagonal cells without a GPU: references, the CPU's own, tilings and what the compiler makes of them."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from kerneltune.cli.failures import run_app
from kerneltune.cli.main import app
from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.inputs.hardware import load_profile, profile_names
from kerneltune.inputs.scan_descriptions import discover_scans, is_nonlinear
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.running import diagonal_cpu
from kerneltune.running.diagonal_reference import DiagonalInputs, backward, forward
from kerneltune.running.scan_case import random_scan
from kerneltune.tiling.space import TilingSpace

SCANS = discover_scans()
CELLS = {name: cell for name, cell in SCANS.cells.items() if is_nonlinear(cell)}
STRATEGIES = ("sequential", "overlap")
PASSES = ("forward", "training", "backward")


def drawn(cell: str, reverse: bool) -> DiagonalInputs:
    draw, spec = np.random.default_rng(5), CELLS[cell].spec
    shape = 3, 37, 4

    def single(*size: int) -> np.ndarray:  # numbers that float32 has
        return draw.normal(size=size).astype(np.float32).astype(np.float64)

    return DiagonalInputs(
        tuple(single(*shape) for _ in spec.gates),
        single(CELLS[cell].constants()["weights"], shape[2]),
        single(len(spec.states), shape[0], shape[2]),
        np.array([37, 0, 20], np.int32),
        draw.random(shape[:2]) < 0.1,
        reverse,
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_gradients_of_the_references_are_differences(cell: str, reverse: bool) -> None:
    module, inputs, draw = CELLS[cell].reference_module(), drawn(cell, reverse), np.random.default_rng(6)
    by_hidden, by_last = draw.normal(size=inputs.read[0].shape), draw.normal(size=inputs.initial.shape)
    by_input, by_initial, by_weights = backward(module, inputs, by_hidden, by_last)

    def loss(changed: DiagonalInputs) -> float:
        found = forward(module, changed)
        return float((found.hidden * by_hidden).sum() + (found.last * by_last).sum())

    def moved(name: str, which: int, by: np.ndarray) -> DiagonalInputs:
        if name == "read":
            read = list(inputs.read)
            read[which] = read[which] + by
            return inputs._replace(read=tuple(read))
        return inputs._replace(**{name: getattr(inputs, name) + by})

    asked = [("read", which, gradient) for which, gradient in enumerate(by_input)]
    asked += [("initial", 0, by_initial), ("weights", 0, by_weights.sum(0))]
    for name, which, gradient in asked:
        for _ in range(3):
            way = draw.normal(size=gradient.shape)
            ends = [loss(moved(name, which, step * way)) for step in (1e-6, -1e-6)]
            expected = float((gradient * way).sum())
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(expected, rel=1e-6, abs=1e-6), name


@pytest.mark.parametrize("cell", sorted(CELLS))
def test_the_cpu_is_the_reference(cell: str) -> None:
    """The states that are kept for the way back, too; forwards and backwards in time."""
    module, draw = CELLS[cell].reference_module(), np.random.default_rng(7)
    for reverse in (False, True):
        inputs = drawn(cell, reverse)
        read = diagonal_cpu.CpuInputs(
            np.stack(inputs.read).astype(np.float32),
            inputs.weights.astype(np.float32),
            *(inputs.lengths, inputs.resets, reverse),
        )
        found = diagonal_cpu.forward(cell, read, inputs.initial.astype(np.float32))
        for mine, expected in zip(found, forward(module, inputs), strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-6, atol=1e-6)
        gradient, last = (
            draw.normal(size=a.shape).astype(np.float32) for a in (inputs.read[0], inputs.initial)
        )
        mine_back = diagonal_cpu.backward(cell, read, found[2], gradient, last)
        expected_back = backward(module, inputs, gradient.astype(np.float64), last.astype(np.float64))
        for mine, wanted in zip(
            (*mine_back[0], *mine_back[1:]), (*expected_back[0], *expected_back[1:]), strict=True
        ):
            np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("direction", PASSES)
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_a_wrong_number_anywhere_is_seen(cell: str, direction: str) -> None:
    """What a perfect kernel writes is right; with any array shifted by a channel it is not."""
    problem = ScanProblem(cell, 2, 40, 8, "fp32", direction, lengths=True, resets=True)
    case = random_scan(problem, CELLS[cell], 3)
    names = {"after": "output0", "last": "final_state", "by_initial": "final_state", "kept": "checkpoints"}
    names |= {"by_weights": "weight_gradient"} | {f"by_output{i}": f"output{i}" for i in range(4)}
    results = {names[name]: array.astype(np.float32) for name, array in case.expected.items()}
    bits = {n: a.view(np.uint32) if n.startswith("output") else a for n, a in results.items()}
    bits["repaired"] = np.zeros(4, np.int32)  # type: ignore[assignment]
    assert {n: a.shape for n, a in bits.items()} == {n: o.shape for n, o in case.outputs.items()}
    assert case.judge(bits).right
    for name in bits.keys() - {"repaired"}:
        assert not case.judge({**bits, name: np.roll(bits[name], 1, axis=-1)}).right, name
        hole = {**bits, name: bits[name].copy()}
        hole[name].reshape(-1)[-1:] = ~np.zeros(1, np.uint32) if name.startswith("output") else np.nan
        assert case.judge(hole).unwritten == 1, name


@pytest.mark.parametrize("gpu", profile_names()[::5])
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_every_gpu_has_tilings_of_any_shape(gpu: str, cell: str) -> None:
    dtype = "fp16"
    for shape in ((1, 1, 1), (1, 5, 4097), (8, 16384, 256)):
        for direction in ("forward", "backward"):
            space = TilingSpace(ScanProblem(cell, *shape, dtype, direction), load_profile(gpu), SCANS)
            assert space.best().strategy in STRATEGIES


def test_many_channels_go_in_order_and_few_overlap() -> None:
    profile = load_profile("h100_sxm")
    for direction in ("forward", "backward"):
        many = TilingSpace(ScanProblem("diag_gru", 32, 2048, 2048, "bf16", direction), profile, SCANS)
        few = TilingSpace(ScanProblem("diag_gru", 1, 65536, 64, "bf16", direction), profile, SCANS)
        assert (many.best().strategy, few.best().strategy) == STRATEGIES
    linear = TilingSpace(ScanProblem("linear", 1, 65536, 64, "bf16"), profile, SCANS)
    assert linear.best().strategy == "look_back"
    assert not linear.of_strategy("overlap").candidates()


def test_walks_take_neither_pairs_nor_divided_rows() -> None:
    """Strategies in order refuse what they are not written for, and the reason says so."""
    profile = load_profile("h100_sxm")
    divided = TilingSpace(ScanProblem("linear", 1, 100, 8, "bf16", sequences=3), profile, SCANS)
    pairs = TilingSpace(ScanProblem("complex", 1, 100, 8, "bf16"), profile, SCANS)
    for space, reason in ((divided, "sequences"), (pairs, "several numbers")):
        assert all(reason in space.refusals()[strategy] for strategy in STRATEGIES)
        assert space.best().strategy == "look_back"
    diagonal = TilingSpace(ScanProblem("diag_gru", 1, 100, 8, "bf16", sequences=3), profile, SCANS)
    assert "sequential: it does not divide a row" in diagonal.why_empty()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_drawn_tilings_keep_their_promises(cell: str, strategy: str) -> None:
    """Shared memory to the byte and registers bounded, of the best tiling and of any."""
    draw = random.Random(f"{cell} {strategy}")
    profile = load_profile("h100_sxm")
    compiler = Compiler(SCANS, profile)
    direction = draw.choice(PASSES)
    sizes = draw.randint(1, 9), draw.randint(1, 5000), draw.choice([3, 64, 1000])
    options = [draw.random() < 0.5 for _ in range(3)]
    problem = ScanProblem(cell, *sizes, draw.choice(["bf16", "fp16", "fp32"]), direction, *options)  # type: ignore[arg-type]
    space = TilingSpace(problem, profile, SCANS, strategy)
    if strategy == "sequential":
        assert not settle(space, compiler).compiled.report.broken_promises()
    (candidate,) = space.draw(space.applicable()[0], 1, seed=draw.randrange(1 << 30))
    report = compiler.compile(candidate).report
    assert report.registers <= report.predicted_registers
    assert report.shared_memory == report.predicted_shared_memory


@pytest.mark.parametrize("cell", sorted(CELLS))
def test_diagonal_cells_on_the_command_line(cell: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"tile {cell} --gpu h100_sxm --batch 1 --steps 65536 --channels 64 --json"
    assert run_app(app, words.split()) == 0
    (candidate,) = json.loads(capsys.readouterr().out)["candidates"]
    assert candidate["strategy"] == "overlap"
    words += " --strategy look_back"
    assert run_app(app, words.split()) == 1
    assert "look_back" in capsys.readouterr().out
