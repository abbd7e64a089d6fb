"""On a machine with an H100: loading, launching, poisoning and timing the stand-in kernel.

The stand-in needs neither a cluster nor a cooperative grid; launching it with them shows that they work.
"""

from dataclasses import replace

import pytest
from made import hand_made

from kerneltune.compiling.compile import Compiler
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import load_profile
from kerneltune.running.measure import TrialPlan
from kerneltune.running.trial import Outcome, Trial, run_trials
from kerneltune.tiling.candidate import Candidate

pytestmark = pytest.mark.gpu


def outcome_of(kernels: Kernels, candidate: Candidate, *, cooperative: bool = False) -> Outcome:
    profile = load_profile("h100_sxm")
    cubin = Compiler(kernels, profile).compile(candidate).cubin
    plan = TrialPlan(runs=5, timed=5, seed=3)
    trial = Trial(candidate, cubin, cooperative, profile.compute_capability, plan)
    (outcome,) = run_trials([trial], kernels.root)
    return outcome


@pytest.mark.parametrize("cluster", [1, 2, 8, 16])
@pytest.mark.parametrize("cooperative", [False, True])
@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_every_kind_of_launch(fake_kernels: Kernels, cluster: int, cooperative: bool, dtype: str) -> None:
    candidate = hand_made(dtype=dtype, cluster=cluster, blocks=32, workspace=1024)
    candidate = replace(candidate, problem=replace(candidate.problem, heads=16))
    outcome = outcome_of(fake_kernels, candidate, cooperative=cooperative)
    assert outcome.failure is None
    assert outcome.measurement is not None
    assert outcome.measurement.relative_error == 0
    assert outcome.passed
    assert outcome.measurement.milliseconds
    assert 0 < outcome.measurement.fastest <= outcome.measurement.milliseconds


def test_a_grid_that_misses_a_head_leaves_poison(fake_kernels: Kernels) -> None:
    outcome = outcome_of(fake_kernels, hand_made(blocks=23))
    assert outcome.failure is None
    assert outcome.measurement is not None
    assert "left unwritten" in outcome.measurement.verdict
    assert not outcome.passed


def test_a_launch_that_is_refused_costs_one_trial(fake_kernels: Kernels) -> None:
    profile = load_profile("h100_sxm")
    cubin = Compiler(fake_kernels, profile).compile(hand_made()).cubin
    refused, fine = hand_made(threads=1000000), hand_made()
    plan = TrialPlan(runs=1, timed=0)
    trials = [Trial(candidate, cubin, False, "9.0", plan) for candidate in (refused, fine)]
    found = list(run_trials(trials, fake_kernels.root))
    assert [outcome.passed for outcome in found] == [False, True]
    assert found[0].failure


def test_another_gpu_is_not_run_on(fake_kernels: Kernels) -> None:
    cubin = Compiler(fake_kernels, load_profile("h100_sxm")).compile(hand_made()).cubin
    trial = Trial(hand_made(), cubin, False, "7.5", TrialPlan(runs=1, timed=0))
    (outcome,) = run_trials([trial], fake_kernels.root)
    assert outcome.failure is not None
    assert "the tiling is for h100_sxm, 7.5" in outcome.failure
