"""Every strategy with every cell on the emulated GPU, with small shapes and random tilings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from emulator.build import Emulator
from emulator.crossed import crossed, more, one_each
from emulator.passes import check_case, run_case

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.running.case import random_case
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

pytestmark = pytest.mark.emulated

KERNELS = discover()
STRATEGIES = sorted(KERNELS.strategies)
SEEDS = 4  # orders of threads
SIXTEEN_BITS = ("bf16", "fp16")


def drawn(
    random: random.Random,
    gpu: str,
    strategy: str,
    cell: str,
    count: int,
    dtypes: Sequence[str] = SIXTEEN_BITS,
) -> list[Candidate]:
    """Tilings of small requests that the strategy can serve."""
    found: list[Candidate] = []
    profile = load_profile(gpu)
    dtypes = [d for d in dtypes if profile.mma_depth(d)]
    for _ in range(40):
        problem = Problem(
            cell,
            heads=random.randint(1, 3),
            head_dim=8 * random.randint(1, 8),
            batch=random.randint(1, 9),
            dtype=random.choice(dtypes),
            steps=random.randint(1, 6),
        )
        space = TilingSpace(problem, profile, KERNELS, strategy)
        found += space.draw(KERNELS.strategy(strategy), 1, seed=random.randrange(1 << 30))
        if len(found) == count:
            return found
    raise AssertionError(f"{strategy} serves none of the small requests on {gpu}")


def check(emulator: Emulator, gpu: str, candidate: Candidate, seed: int, blocks: int | None = None) -> None:
    check_case(emulator, KERNELS, load_profile(gpu), candidate, range(seed, seed + SEEDS), blocks)


@pytest.mark.parametrize("number", more(3))
@pytest.mark.parametrize(("strategy", "cell"), crossed(STRATEGIES, KERNELS.cells))
def test_forward_is_right_in_every_order_of_threads(
    emulator: Emulator, strategy: str, cell: str, number: int
) -> None:
    draw = random.Random(f"{strategy} {cell} {number}")
    (candidate,) = drawn(draw, "h100_sxm", strategy, cell, 1)
    check(emulator, "h100_sxm", candidate, seed=100 * number)


WIDE = [(s.name, d) for s in KERNELS.strategies.values() for d in s.spec.dtypes if d not in SIXTEEN_BITS]


@pytest.mark.parametrize(("wide", "cell"), one_each(WIDE, sorted(KERNELS.cells)))
def test_forward_in_32_bits(emulator: Emulator, wide: tuple[str, str], cell: str) -> None:
    strategy, dtype = wide
    (candidate,) = drawn(random.Random(f"{strategy} {dtype} {cell}"), "h100_sxm", strategy, cell, 1, [dtype])
    check(emulator, "h100_sxm", candidate, seed=100)


@pytest.mark.parametrize(("strategy", "dtype"), WIDE)
def test_training_in_32_bits_saves_what_it_should(emulator: Emulator, strategy: str, dtype: str) -> None:
    problem = Problem("slstm", heads=2, head_dim=64, batch=5, dtype=dtype, steps=3, direction="training")
    profile = load_profile("h100_sxm")
    candidate = TilingSpace(problem, profile, KERNELS, strategy).best()
    case = random_case(problem, KERNELS.cell("slstm"), 1)
    verdict = case.judge(run_case(emulator, KERNELS, profile, candidate, case, seed=3))
    assert verdict.right, verdict.sentence


@pytest.mark.parametrize(("strategy", "cell"), crossed(STRATEGIES, KERNELS.cells))
def test_forward_clipping_bounds_h(emulator: Emulator, strategy: str, cell: str) -> None:
    """A bound that bf16 does not have: it is rounded, and h reaches what it is rounded to."""
    problem = Problem(cell, heads=2, head_dim=64, batch=3, dtype="bf16", steps=4, forward_clip=0.3)
    profile = load_profile("h100_sxm")
    candidate = TilingSpace(problem, profile, KERNELS, strategy).best()
    check(emulator, "h100_sxm", candidate, seed=6)
    case = random_case(problem, KERNELS.cell(cell), 6)
    h = decode(run_case(emulator, KERNELS, profile, candidate, case, seed=1)["states"][0, 1:], "bf16")
    bound = 0.30078125
    assert np.abs(h).max() == bound
    assert 0.05 < (np.abs(h) == bound).mean() < 0.95


T4 = load_profile("t4")


@pytest.mark.parametrize(
    "strategy",
    [
        s.name
        for s in KERNELS.strategies.values()
        if "mma_k" in s.spec.parameters and not s.refusal(T4, "fp16")
    ],
)
def test_forward_without_asynchronous_copies_and_with_shallow_products(
    emulator: Emulator, strategy: str
) -> None:
    (candidate,) = drawn(random.Random(f"old {strategy}"), "t4", strategy, "lstm", 1)
    assert candidate.parameters["mma_k"] == 8
    assert candidate.parameters["async_copy"] == 0
    check(emulator, "t4", candidate, seed=7)


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize("cell", sorted(KERNELS.cells))
def test_what_is_no_number_stays_none(emulator: Emulator, cell: str, dtype: str) -> None:
    """A NaN in W x of any gate of one unit is one in its h, and in every h a step later."""
    profile = load_profile("h100_sxm")
    problem = Problem(cell, 1, 32, 2, dtype, 2)
    case = random_case(problem, KERNELS.cell(cell), seed=1)
    tiling = TilingSpace(problem, profile, KERNELS, "block").best()
    for gate in range(len(KERNELS.cell(cell).spec.gates)):
        spoilt = case.inputs["input"].copy()
        spoilt[0, 1, 0, 5, gate] = encode(np.array([np.nan]), dtype)[0]
        inputs = {**case.inputs, "input": spoilt}
        states = run_case(emulator, KERNELS, profile, tiling, replace(case, inputs=inputs), seed=1)["states"]
        lost = np.isnan(decode(states[0], dtype))
        assert lost[1, 1, 0].tolist() == [unit == 5 for unit in range(32)]
        assert lost[2, 1].all()
        assert not lost[:, 0].any()


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("strategy", [s.name for s in KERNELS.strategies.values() if s.spec.cooperative])
def test_a_group_of_blocks_takes_jobs_in_turn(emulator: Emulator, strategy: str, steps: int) -> None:
    """One group for six (head, batch tile) jobs or more: slots, rings and partial sums are used again."""
    problem = Problem("lstm", heads=3, head_dim=64, batch=9, dtype="bf16", steps=steps)
    space = TilingSpace(problem, load_profile("h100_sxm"), KERNELS, strategy)
    tilings = space.draw(KERNELS.strategy(strategy), 60, seed=steps)
    smallest = min(c.parameters["batch_tile"] for c in tilings)
    candidate = next(c for c in tilings if c.parameters["batch_tile"] == smallest)
    check(emulator, "h100_sxm", candidate, seed=steps, blocks=candidate.values["group_blocks"])


@pytest.mark.parametrize(("direction", "warpgroups"), [("forward", 2), ("training", 1)])
def test_two_batch_tiles_in_flight(emulator: Emulator, direction: str, warpgroups: int) -> None:
    """Two jobs of two tiles for each group, the last tile short; R in registers and in shared memory."""
    problem = Problem("lstm", heads=1, head_dim=96, batch=27, dtype="fp16", steps=5, direction=direction)
    profile = load_profile("h100_sxm")
    tilings = TilingSpace(problem, profile, KERNELS, "warpgroup").draw(
        KERNELS.for_pass(direction).strategy("warpgroup"), 400, seed=1
    )
    wanted = {"batch_tile": 8, "tiles_in_flight": 2, "warpgroups": warpgroups}
    candidate = next(
        c
        for c in tilings
        if wanted.items() <= c.parameters.items() and 0 < c.parameters["register_k_tiles"] < 6
    )
    check(emulator, "h100_sxm", candidate, seed=1, blocks=candidate.values["group_blocks"])


def test_blocks_that_do_not_divide_the_head(emulator: Emulator) -> None:
    """The last block of the streamed strategy begins early; the sum ends within a pair of k tiles."""
    problem = Problem("lstm", heads=2, head_dim=56, batch=3, dtype="bf16", steps=4)
    space = TilingSpace(problem, load_profile("h100_sxm"), KERNELS, "streamed")
    tilings = space.draw(KERNELS.strategy("streamed"), 200, seed=1)
    candidate = next(c for c in tilings if 56 % c.parameters["block_units"] and c.parameters["k_splits"] == 2)
    check(emulator, "h100_sxm", candidate, seed=5)
