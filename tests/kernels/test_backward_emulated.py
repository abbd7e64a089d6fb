"""Training and backward kernels of every strategy and cell on the emulated GPU, with random tilings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from emulator.arguments import struct_layout
from emulator.build import Emulator
from emulator.crossed import crossed, more, one_each
from emulator.passes import check_case, run_case

from kerneltune.compiling.arguments import FIELDS
from kerneltune.compiling.halffloat import decode, encode
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.running.case import random_case
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

KERNELS = discover()
SEEDS = 3  # orders of threads
PASSES = [
    (direction, strategy)
    for direction in ("training", "backward")
    for strategy in sorted(KERNELS.for_pass(direction).strategies)
]


def drawn(
    random: random.Random,
    gpu: str,
    direction: str,
    strategy: str,
    cell: str,
    dtypes: Sequence[str] = ("bf16", "fp16"),
) -> Candidate:
    """A tiling of a small request that the strategy can serve."""
    profile = load_profile(gpu)
    kernels = KERNELS.for_pass(direction)
    dtypes = [d for d in kernels.strategy(strategy).spec.dtypes if d in dtypes and profile.mma_depth(d)]
    for _ in range(40):
        problem = Problem(
            cell,
            heads=random.randint(1, 3),
            head_dim=8 * random.randint(1, 8),
            batch=random.randint(1, 9),
            dtype=random.choice(dtypes),
            steps=random.randint(1, 6),
            direction=direction,
        )
        space = TilingSpace(problem, profile, KERNELS, strategy)
        found = space.draw(kernels.strategy(strategy), 1, seed=random.randrange(1 << 30))
        if found:
            return found[0]
    raise AssertionError(f"{strategy} serves none of the small requests on {gpu}")


def check(emulator: Emulator, gpu: str, candidate: Candidate, seed: int, blocks: int | None = None) -> None:
    check_case(emulator, KERNELS, load_profile(gpu), candidate, range(seed, seed + SEEDS), blocks)


@pytest.mark.emulated
@pytest.mark.parametrize("number", more(2))
@pytest.mark.parametrize(("part", "cell"), one_each(PASSES, sorted(KERNELS.cells)))
def test_right_in_every_order_of_threads(
    emulator: Emulator, part: tuple[str, str], cell: str, number: int
) -> None:
    direction, strategy = part
    draw = random.Random(f"{direction} {strategy} {cell} {number}")
    check(emulator, "h100_sxm", drawn(draw, "h100_sxm", direction, strategy, cell), seed=10 * number)


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("strategy", "cell"),
    crossed(sorted(s.name for s in KERNELS.backward.values() if "fp32" in s.spec.dtypes), KERNELS.cells),
)
def test_backward_in_32_bits(emulator: Emulator, strategy: str, cell: str) -> None:
    draw = random.Random(f"{strategy} {cell} in 32 bits")
    check(emulator, "h100_sxm", drawn(draw, "h100_sxm", "backward", strategy, cell, ["fp32"]), seed=1)
    if cell in ("lstm", "gru"):
        check(emulator, "h100_sxm", drawn(draw, "h100_sxm", "backward", strategy, cell, ["tf32"]), seed=2)


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("cell", "dtype", "forward_clip"), one_each(sorted(KERNELS.cells), ["fp16", "fp32"], [0.0, 0.25])
)
def test_backward_reads_what_training_kept(
    emulator: Emulator, cell: str, dtype: str, forward_clip: float
) -> None:
    """Both passes in turn, as a layer runs them: gradients of the loss by the inputs of the forward pass."""
    profile = load_profile("h100_sxm")
    training = Problem(cell, 2, 32, 5, dtype, 7, "training", forward_clip=forward_clip)
    kept: dict[str, np.ndarray] = {}
    for problem in (training, replace(training, direction="backward")):
        case = random_case(problem, KERNELS.cell(cell), seed=11)
        case = replace(case, inputs={**case.inputs, **{k: v for k, v in kept.items() if k in case.inputs}})
        candidate = TilingSpace(problem, profile, KERNELS, "block").best()
        kept = run_case(emulator, KERNELS, profile, candidate, case, seed=2)
        verdict = case.judge(kept)
        assert verdict.right, verdict.sentence


@pytest.mark.emulated
@pytest.mark.parametrize("options", [{"gate_gradient_clip": 0.25}, {"cut_recurrent_gradient": True}])
@pytest.mark.parametrize(
    ("cell", "strategy"),
    [
        *((cell, strategy) for cell in ("lstm", "gru") for strategy in ("block", "streamed")),
        ("gru", "warpgroup"),
    ],
)
def test_options_of_the_backward_pass(
    emulator: Emulator, cell: str, strategy: str, options: dict[str, Any]
) -> None:
    problem = Problem(cell, 2, 32, 3, "bf16", 5, "backward", **options)
    space = TilingSpace(problem, load_profile("h100_sxm"), KERNELS, strategy)
    check(emulator, "h100_sxm", space.best(), seed=3)


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("cell", "strategy", "dtype"),
    [
        *(("lstm", strategy, "bf16") for strategy in sorted(KERNELS.backward)),
        ("gru", "block", "fp16"),  # gradients of two kinds
        ("gru", "streamed", "fp32"),
    ],
)
def test_a_clipped_gradient_that_is_no_number_stays_none(
    emulator: Emulator, cell: str, strategy: str, dtype: str
) -> None:
    """One NaN among the gradients by the last h is one in all that follows from it, and nowhere else."""
    profile = load_profile("h100_sxm")
    problem = Problem(cell, 2, 32, 3, dtype, 4, "backward", gate_gradient_clip=0.25)
    candidate = TilingSpace(problem, profile, KERNELS, strategy).best()
    case = random_case(problem, KERNELS.cell(cell), seed=6)
    row, head, unit = 1, 1, 5
    spoilt = case.inputs["output_gradient"].copy()
    spoilt[-1, row, head, unit] = encode(np.array([np.nan]), dtype)[0]
    inputs = {**case.inputs, "output_gradient": spoilt}
    plain = run_case(emulator, KERNELS, profile, candidate, case, seed=1)
    found = run_case(emulator, KERNELS, profile, candidate, replace(case, inputs=inputs), seed=1)
    for name, array in found.items():
        lost = np.zeros(array.shape, bool)
        lost[:, row, head] = True  # R takes it to every unit
        if name != "initial_gradient":
            lost[-1, row, head, :unit] = lost[-1, row, head, unit + 1 :] = False
        np.testing.assert_array_equal(np.isnan(decode(array, dtype)), lost, name)
        np.testing.assert_array_equal(array[~lost], plain[name][~lost], name)


@pytest.mark.emulated
@pytest.mark.parametrize(("dtype", "bound"), [("bf16", 4e-3), ("fp16", 1.3e-3)])
def test_units_near_saturation_have_their_slope(emulator: Emulator, dtype: str, bound: float) -> None:
    """A tight clip leaves small gradients, most of them of an h near 1, which in 16 bits lacks its slope."""
    profile = load_profile("h100_sxm")
    training = Problem("elman", 2, 32, 8, dtype, 20, "training")
    backward = replace(training, direction="backward", gate_gradient_clip=0.05)
    kept: dict[str, np.ndarray] = {}
    for problem in (training, backward):
        case = random_case(problem, KERNELS.cell("elman"), seed=11)
        case = replace(case, inputs={**case.inputs, **{k: v for k, v in kept.items() if k in case.inputs}})
        candidate = TilingSpace(problem, profile, KERNELS, "block").best()
        kept = run_case(emulator, KERNELS, profile, candidate, case, seed=2)
        verdict = case.judge(kept)
        assert verdict.relative_error < bound, verdict.sentence


@pytest.mark.emulated
@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("strategy", [s.name for s in KERNELS.backward.values() if s.spec.cooperative])
def test_a_group_of_blocks_takes_jobs_in_turn(emulator: Emulator, strategy: str, steps: int) -> None:
    """One group for all (head, batch tile) jobs: slots, rings and partial sums are used again."""
    problem = Problem("lstm", heads=3, head_dim=64, batch=5, dtype="bf16", steps=steps, direction="backward")
    space = TilingSpace(problem, load_profile("h100_sxm"), KERNELS, strategy)
    tilings = space.draw(KERNELS.backward[strategy], 60, seed=steps)
    rows = min(c.parameters["batch_tile"] for c in tilings)
    candidate = next(
        c for c in tilings if c.parameters["batch_tile"] == rows and c.parameters["block_units"] < 64
    )
    check(emulator, "h100_sxm", candidate, seed=steps, blocks=candidate.values["group_blocks"])


@pytest.mark.emulated
@pytest.mark.parametrize("cell", ["gru", pytest.param("slstm", marks=pytest.mark.slow)])
@pytest.mark.parametrize("warp_units", [8, 16, 32])
def test_blocks_that_do_not_divide_the_head(emulator: Emulator, cell: str, warp_units: int) -> None:
    """The last block of the streamed strategy begins early; the sum ends within a pair of k tiles."""
    problem = Problem(cell, heads=2, head_dim=56, batch=3, dtype="bf16", steps=4, direction="backward")
    space = TilingSpace(problem, load_profile("h100_sxm"), KERNELS, "streamed")
    tilings = space.draw(KERNELS.backward["streamed"], 300, seed=1)
    candidate = next(
        c
        for c in tilings
        if 56 % c.parameters["block_units"]
        and c.parameters["warp_units"] == warp_units
        and c.parameters["k_splits"] in (2, 4)
    )
    check(emulator, "h100_sxm", candidate, seed=5)


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("in_shared", "in_registers"),
    [*(pytest.param(*pair, marks=pytest.mark.slow) for pair in ((0, 0), (3, 0), (1, 2))), (2, 1)],
)
@pytest.mark.parametrize(("direction", "head_dim"), [("training", 136), ("backward", 40)])
def test_pairs_of_r_that_stay_on_the_chip(
    emulator: Emulator, direction: str, head_dim: int, in_shared: int, in_registers: int
) -> None:
    """However the pairs of k tiles are divided into streamed, kept in shared memory and kept in registers."""
    problem = Problem("lstm", heads=2, head_dim=head_dim, batch=5, dtype="bf16", steps=3, direction=direction)
    space = TilingSpace(problem, load_profile("h100_sxm"), KERNELS, "streamed")
    drawn_tilings = space.draw(KERNELS.for_pass(direction).strategy("streamed"), 300, seed=1)
    candidate = next(
        c
        for c in drawn_tilings
        if not c.parameters["keeps"]
        and c.values["warp_k_tiles"] // 2 in (4, 5)
        and c.values["stream_stages"] < 8
        and c.values["blocks"] * c.values["threads"] < 3000
    )
    more = in_shared * candidate.values["warps"] * candidate.values["row_halves"] * 512
    changed = {
        "shared_pairs": in_shared,
        "register_pairs": in_registers,
        "shared_memory": candidate.shared_memory + more,
    }
    candidate = replace(
        candidate,
        values={**candidate.values, **changed},
        parameters={**candidate.parameters, **changed},
    )
    check(emulator, "h100_sxm", candidate, seed=9)


@pytest.mark.emulated
@pytest.mark.parametrize("direction", ["training", "backward"])
@pytest.mark.parametrize("head_dim", [8, 136])
def test_one_row_and_one_step(emulator: Emulator, direction: str, head_dim: int) -> None:
    problem = Problem("lstm", heads=1, head_dim=head_dim, batch=1, dtype="fp16", steps=1, direction=direction)
    space = TilingSpace(problem, load_profile("a100_sxm_80gb"), KERNELS, "streamed")
    check(emulator, "a100_sxm_80gb", space.best(), seed=1)


@pytest.mark.emulated
@pytest.mark.parametrize(("strategy", "cell"), crossed(sorted(KERNELS.backward), KERNELS.cells))
def test_no_gradient_passes_through_a_clipped_h(emulator: Emulator, strategy: str, cell: str) -> None:
    draw = random.Random(f"clipped {strategy} {cell}")
    dtype, head_dim = draw.choice(["bf16", "fp32"]), 16 * draw.randint(2, 4)
    dtype = dtype if dtype in KERNELS.backward[strategy].spec.dtypes else "fp16"
    problem = Problem(cell, 2, head_dim, 3, dtype, 5, "backward", forward_clip=0.3)
    best = TilingSpace(problem, load_profile("h100_sxm"), KERNELS, strategy).best()
    case = random_case(problem, KERNELS.cell(cell), seed=5)
    exact = random_case(replace(problem, forward_clip=0.0), KERNELS.cell(cell), seed=5)
    check(emulator, "h100_sxm", best, seed=5)
    found = run_case(emulator, KERNELS, load_profile("h100_sxm"), best, case, seed=5)
    assert not exact.judge(found).right  # the option makes a difference


@pytest.mark.emulated
@pytest.mark.parametrize("direction", ["training", "backward"])
def test_long_sums_keep_the_bits_of_float32(emulator: Emulator, direction: str) -> None:
    """Tensor cores cut their sums off: 2e-5 over 256 k tiles, were they added up there."""
    problem = Problem("lstm", 1, 512, 1, "fp32", 2, direction)
    profile = load_profile("h100_sxm")
    drawn_tilings = TilingSpace(problem, profile, KERNELS, "streamed").draw(
        KERNELS.for_pass(direction).strategy("streamed"), 60, seed=1
    )
    candidate = next(
        c for c in drawn_tilings if c.parameters["k_splits"] == 1 and c.parameters["mma_chains"] == 1
    )
    case = random_case(problem, KERNELS.cell("lstm"), 1)
    verdict = case.judge(run_case(emulator, KERNELS, profile, candidate, case, seed=3))
    assert verdict.relative_error < 2e-6


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("direction", "strategy"), [(d, s) for d, s in PASSES if s not in {"cluster", "warpgroup", "product"}]
)
def test_without_asynchronous_copies(emulator: Emulator, direction: str, strategy: str) -> None:
    candidate = drawn(random.Random(f"old {direction} {strategy}"), "t4", direction, strategy, "lstm")
    assert candidate.parameters["async_copy"] == 0
    check(emulator, "t4", candidate, seed=7)


@pytest.mark.parametrize("struct", sorted(FIELDS))
def test_the_host_packs_the_struct_of_the_header(struct: str) -> None:
    layout = struct_layout(KERNELS.root / "common" / "arguments.cuh", struct)
    assert layout.names == FIELDS[struct]
