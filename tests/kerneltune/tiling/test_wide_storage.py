"""32-bit storage, and heads too large for the chip: tilings and their predictions."""

from __future__ import annotations

import numpy as np
import pytest

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.halffloat import POISON, decode, encode
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.tiling.space import TilingSpace

KERNELS = discover()
GPUS = ["h100_sxm", pytest.param("a100_sxm_80gb", marks=pytest.mark.slow)]


def space(gpu: str, dtype: str, heads: int, head_dim: int, batch: int, strategy: str | None) -> TilingSpace:
    problem = Problem("lstm", heads, head_dim, batch, dtype)
    return TilingSpace(problem, load_profile(gpu), KERNELS, strategy)


@pytest.mark.parametrize("dtype", ["fp32", "tf32"])
@pytest.mark.parametrize("gpu", GPUS)
def test_tilings_of_32_bits_keep_their_promises(gpu: str, dtype: str) -> None:
    compiler = Compiler(KERNELS, load_profile(gpu))
    strategies = set()
    for heads, head_dim, batch in [(12, 64, 16), (2, 72, 5), (3, 256, 16), (1, 1024, 16)]:
        for strategy in space(gpu, dtype, heads, head_dim, batch, None).applicable():
            for best in space(gpu, dtype, heads, head_dim, batch, strategy.name).candidates(1):
                report = compiler.compile(best).report
                assert report.broken_promises() == [], best
                strategies.add(strategy.name)
    assert {"block", "streamed"} <= strategies


@pytest.mark.parametrize("dtype", ["fp32", "tf32"])
@pytest.mark.parametrize("gpu", GPUS)
def test_backward_tilings_of_32_bits_keep_their_promises(gpu: str, dtype: str) -> None:
    compiler = Compiler(KERNELS, load_profile(gpu))
    strategies = set()
    for cell, heads, head_dim, batch in [("lstm", 3, 256, 16), ("gru", 12, 64, 16), ("slstm", 2, 72, 5)]:
        problem = Problem(cell, heads, head_dim, batch, dtype, direction="backward")
        for strategy in TilingSpace(problem, load_profile(gpu), KERNELS).applicable():
            for best in TilingSpace(problem, load_profile(gpu), KERNELS, strategy.name).candidates(1):
                assert compiler.compile(best).report.broken_promises() == [], best
                strategies.add(strategy.name)
    assert strategies == {"streamed", "block", "grid", "product"} | (
        {"cluster"} if gpu == "h100_sxm" else set()
    )


def test_three_products_cost_more_than_one() -> None:
    exact, rounded = (space("h100_sxm", dtype, 6, 128, 16, "cluster").best() for dtype in ("fp32", "tf32"))
    assert exact.cycles > rounded.cycles


def test_32_bits_are_kept_as_they_are() -> None:
    values = np.random.default_rng(1).standard_normal(100).astype(np.float32)
    for dtype in ("fp32", "tf32"):
        bits = encode(values, dtype)
        assert bits.dtype == np.uint32
        np.testing.assert_array_equal(decode(bits, dtype), values)
        assert np.isnan(decode(np.full(4, 0x01010101 * POISON, np.uint32), dtype)).all()


def test_a_gpu_without_tf32_has_no_32_bits() -> None:
    refusals = space("t4", "fp32", 1, 64, 4, None).refusals()
    assert refusals["block"] == "fp32 has no tensor-core shape on t4 (sm_75)"


@pytest.mark.parametrize(("head_dim", "batch"), [(4096, 16), (8168, 1), (16384, 16), (16384, 64)])
def test_heads_that_fit_nowhere_can_be_streamed(head_dim: int, batch: int) -> None:
    best = space("h100_sxm", "bf16", 1, head_dim, batch, "streamed").best()
    assert best.values["group_blocks"] * best.parameters["block_units"] >= head_dim
    assert best.blocks <= 132 * best.blocks_per_sm
    # No step is predicted to be faster than R through the data sheet's bandwidth.
    bytes_of_r = 4 * head_dim * head_dim * 2
    assert best.microseconds_per_step > bytes_of_r / 3350e3
    assert Compiler(KERNELS, load_profile("h100_sxm")).compile(best).report.broken_promises() == []


def test_heads_that_fit_are_not_streamed() -> None:
    for heads, head_dim in [(12, 64), (3, 256), (1, 1024), (1, 2048)]:
        assert space("h100_sxm", "bf16", heads, head_dim, 16, None).best().strategy != "streamed"
