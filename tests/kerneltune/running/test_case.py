"""Cases of each pass: the input of a launch, and verdicts that detect wrong results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerneltune.compiling.arguments import FIELDS, STRUCTS, packed
from kerneltune.compiling.halffloat import decode, encode
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.problem import Problem
from kerneltune.running.case import LayerCase, random_case
from kerneltune.running.verify import TOLERANCE, judged

KERNELS = discover()
Results = dict[str, np.ndarray[Any, Any]]


def case_of(cell: str, direction: str) -> LayerCase:
    return random_case(Problem(cell, 2, 16, 3, "fp16", 5, direction), KERNELS.cell(cell), seed=4)


def right_results(case: LayerCase) -> Results:
    """What a perfect kernel writes, by the reference."""
    module = KERNELS.cell(case.problem.cell).reference_module()
    forward = case_of(case.problem.cell, "forward")
    wx, r, bias, initial = (
        decode(np.ascontiguousarray(bits), "fp16").astype(np.float64)
        for bits in (
            forward.inputs["input"],
            forward.inputs["recurrent"],
            forward.inputs["bias"],
            forward.outputs["states"].initial,
        )
    )
    states = module.forward(wx, r, bias, initial)
    values, kept = module.saved(wx, r, bias, states)
    wide: Results = {"states": states, "saved_values": values, "saved_states": kept}
    if case.problem.direction == "backward":
        by_output, by_last = (
            decode(case.inputs[name], "fp16").astype(np.float64)
            for name in ("output_gradient", "last_gradient")
        )
        found = module.backward(wx, r, bias, states, by_output, by_last)
        wide = {
            "input_gradient": found.input,
            "recurrent_gradient": found.recurrent,
            "initial_gradient": found.initial,
        }
    return {
        name: wide[name].astype(np.float32) if output.dtype == np.float32 else encode(wide[name], "fp16")
        for name, output in case.outputs.items()
    }


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
@pytest.mark.parametrize("cell", sorted(KERNELS.cells))
def test_a_perfect_kernel_is_right_and_any_wrong_output_is_seen(cell: str, direction: str) -> None:
    case = case_of(cell, direction)
    results = right_results(case)
    assert {name: (a.shape, a.dtype) for name, a in results.items()} == {
        name: (output.shape, output.dtype) for name, output in case.outputs.items()
    }
    assert case.judge(results).right
    for name, array in results.items():
        hole = {**results, name: array.copy()}
        hole[name].reshape(-1)[-1] = np.nan if array.dtype == np.float32 else 0xFFFF
        assert case.judge(hole).unwritten, name
        other = {**results, name: np.roll(array, 1, axis=-2)}
        assert not case.judge(other).right, name


@pytest.mark.parametrize("direction", sorted(STRUCTS))
def test_arguments_are_packed_in_the_order_of_the_struct(direction: str) -> None:
    problem = Problem("gru", 3, 16, 5, "bf16", 7, direction)
    fields = FIELDS[STRUCTS[direction]]
    addresses = {name: 1000 + number for number, name in enumerate(fields)}
    found = packed(problem, addresses)
    sizes = {"steps": 7, "batch": 5, "heads": 3, "step": 0}
    layout = np.dtype([(n, np.int32 if n in sizes else np.uint64) for n in fields], align=True)
    (values,) = np.frombuffer(found, layout)
    assert {name: int(values[name]) for name in fields} == {**addresses, **sizes}
    (empty,) = np.frombuffer(packed(problem, {}), layout)
    assert not any(empty[name] for name in fields if name not in sizes)


def test_numbers_that_fp16_does_not_hold_are_no_error() -> None:
    """A gradient that vanished is 0 in fp16, and not in bf16."""
    tiny, large = np.full((2, 50), 1e-9), np.full((2, 50), 1e-3)
    assert judged([[(0 * tiny, tiny)]], 2e-3, dtype="fp16").right
    assert not judged([[(0 * tiny, tiny)]], 2e-3, dtype="bf16").right
    assert not judged([[(tiny, large)]], 2e-3, dtype="fp16").right
    assert not judged([[(large, tiny)]], 2e-3, dtype="fp16").right


def test_saved_values_that_jump_are_judged_by_their_share() -> None:
    """A comparison of rounded numbers may come out otherwise now and then, but not often."""
    flags = np.random.default_rng(0).integers(0, 2, 10_000).astype(float)
    few, many = flags.copy(), flags.copy()
    few[:5], many[:200] = 1 - few[:5], 1 - many[:200]
    assert not judged([[(few, flags)]], 2e-3).right
    assert judged([[(few, flags)]], 2e-3, by_share=True).right
    assert not judged([[(many, flags)]], 2e-3, by_share=True).right
    assert not judged([[(np.full_like(flags, np.nan), flags)]], 2e-3, by_share=True).right
    cell = EquationCell("jumps", gates="a b", states="h", equations="h' = tanh(abs(a) + a + max(h, b))")
    values = cell.derivation.saved.values
    jumping = {values[number].op for number in cell.reference_module().jumping}
    assert jumping == {"add", "at_least"}  # 1 + sign(a), and h >= b
    assert "tanh_slope" in {value.op for value in values} - jumping


def test_values_that_rounding_decides_on_are_not_compared() -> None:
    """The comparison behind a saved value: where its sides are near each other, and nowhere else."""
    cell = EquationCell("jumps", gates="a b", states="h", equations="h' = tanh(a + max(R.b, W.b))")
    case = random_case(Problem("jumps", 2, 32, 4, "fp16", 5, "training"), cell, 3)
    expected = case.expected["saved_values"]
    (jump,) = cell.reference_module().jumping
    open_ = np.isnan(expected[..., jump])
    assert 0 < open_.mean() < 0.02
    assert not np.isnan(np.delete(expected, jump, -1)).any()
    right = {
        "states": np.zeros(case.outputs["states"].shape, np.uint16),
        "saved_values": encode(np.nan_to_num(expected), "fp16"),
    }
    right["states"][0, 1:] = encode(case.expected["hidden"], "fp16")
    assert case.judge(right).right
    for chosen, is_right in ((open_, True), (~open_, False)):
        values = np.nan_to_num(expected)
        values[..., jump] = np.where(chosen, 1 - values[..., jump], values[..., jump])
        assert case.judge({**right, "saved_values": encode(values, "fp16")}).right == is_right


def test_a_cell_that_enlarges_differences_is_judged_by_how_far_rounding_moves_it() -> None:
    """Of two cells with the same error the one is wrong and the other is not."""
    error = 0.05
    for factor, is_right in ((1.0, False), (40.0, True)):
        cell = EquationCell("chaos", gates="a", states="h", equations=f"h' = tanh({factor} * R.a + W.a)")
        case = random_case(Problem("chaos", 1, 32, 4, "bf16", 30, "forward"), cell, 3)
        hidden, states = case.expected["hidden"], np.zeros(case.outputs["states"].shape, np.uint16)
        noise = np.random.default_rng(0).standard_normal(hidden.shape)
        states[0, 1:] = encode(hidden, "bf16")
        assert case.judge({"states": states}).tolerance == TOLERANCE["bf16"]
        off = error * np.linalg.norm(hidden) / np.linalg.norm(noise)
        states[0, 1:] = encode(hidden + off * noise, "bf16")
        verdict = case.judge({"states": states})
        assert verdict.right == is_right, verdict
        assert verdict.relative_error == pytest.approx(error, rel=0.1)
        states[0, 1:] = encode(np.random.default_rng(1).standard_normal(hidden.shape), "bf16")
        assert case.judge({"states": states}).right is False


def test_a_gradient_that_is_left_of_a_sum_that_cancels_may_be_zero() -> None:
    cell = EquationCell(
        "cancels",
        gates="a",
        states="h c",
        equations="""
        h' = tanh(a + c + (1 - c) + 1e-9 * c)
        c' = tanh(W.a)
    """,
    )
    case = random_case(Problem("cancels", 1, 16, 3, "bf16", 4, "backward"), cell, 3)
    wanted = case.expected["initial_gradient"]
    assert 0 < np.abs(wanted[1]).max() < 1e-8 < np.abs(wanted[0]).max()
    results = {name: encode(case.expected[name], "bf16") for name in case.outputs}
    assert case.judge(results).right
    results["initial_gradient"][1] = 0
    assert case.judge(results).right
    results["initial_gradient"][1] = encode(wanted[0] * 1e-4, "bf16")
    assert not case.judge(results).right
