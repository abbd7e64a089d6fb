"""On a machine with an H100: loading, launching, poisoning and timing the stand-in kernel.

The stand-in needs neither a cluster nor a cooperative grid; launching it with them shows that they work.
"""

from dataclasses import replace

import pytest
from made import hand_made

from kerneltune.compiling.compile import Compiler
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import load_profile
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.pipeline.tilings import CompiledTiling, require_gpu, run_tilings
from kerneltune.tiling.candidate import Candidate

pytestmark = pytest.mark.gpu


def trial_of(kernels: Kernels, candidate: Candidate, *, cooperative: bool = False) -> TilingTrial:
    cubin = Compiler(kernels, load_profile("h100_sxm")).compile(candidate).cubin
    (trial,) = run_tilings(
        [CompiledTiling(candidate, cubin, cooperative, 3)], kernels.root, tiling_plan(5, 5)
    )
    return trial


@pytest.mark.parametrize("cluster", [1, 2, 8, 16])
@pytest.mark.parametrize("cooperative", [False, True])
@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_every_kind_of_launch(fake_kernels: Kernels, cluster: int, cooperative: bool, dtype: str) -> None:
    candidate = hand_made(dtype=dtype, cluster=cluster, blocks=32, workspace=1024)
    candidate = replace(candidate, problem=replace(candidate.problem, heads=16))  # type: ignore[arg-type]
    trial = trial_of(fake_kernels, candidate, cooperative=cooperative)
    assert trial.failure is None
    assert trial.relative_error == 0
    assert trial.time is not None
    assert trial.fastest is not None
    assert 0 < trial.fastest <= trial.time
    assert trial.samples == 5


def test_a_grid_that_misses_a_head_leaves_poison(fake_kernels: Kernels) -> None:
    trial = trial_of(fake_kernels, hand_made(blocks=23))
    assert trial.failure is not None
    assert "left unwritten" in trial.failure


def test_a_launch_that_is_refused_costs_one_trial(fake_kernels: Kernels) -> None:
    cubin = Compiler(fake_kernels, load_profile("h100_sxm")).compile(hand_made()).cubin
    tilings = [
        CompiledTiling(candidate, cubin, False) for candidate in (hand_made(threads=1000000), hand_made())
    ]
    found = list(run_tilings(tilings, fake_kernels.root, tiling_plan(1, 0)))
    assert [trial.passed for trial in found] == [False, True]
    assert found[0].failure


def test_candidates_of_several_requests_share_a_process(fake_kernels: Kernels) -> None:
    """Their inputs and outputs replace those before, on the GPU too."""
    few = hand_made()
    more = replace(few, problem=replace(few.problem, steps=13))
    cubin = Compiler(fake_kernels, load_profile("h100_sxm")).compile(few).cubin
    tilings = [CompiledTiling(one, cubin, False, seed) for one in (few, more, few) for seed in (1, 2)]
    found = list(run_tilings(tilings, fake_kernels.root, tiling_plan(2, 3)))
    assert [trial.failure for trial in found] == [None] * 6
    assert {trial.relative_error for trial in found} == {0.0}


def test_another_gpu_is_not_run_on(fake_kernels: Kernels) -> None:
    with pytest.raises(KernelTuneError, match=r"the tiling is for t4, 7\.5"):
        require_gpu(load_profile("t4"), fake_kernels)
