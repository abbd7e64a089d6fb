"""Verification, measurement and the child process without a GPU: a stand-in runner computes with numpy."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from made import hand_made
from numpy_runner import NumpyRunner, measured

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.inputs.descriptions import Kernels
from kerneltune.running.drawn_input import random_arrays
from kerneltune.running.measure import Measurement, TrialPlan
from kerneltune.running.trial import Outcome, Trial, run_trials
from kerneltune.running.verify import compare


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_halffloat_rounds_to_nearest_even(dtype: str) -> None:
    bits = {"bf16": 8, "fp16": 11}[dtype]
    unit = 2.0 ** (1 - bits)  # distance of neighbours above 1
    values = np.array([1.0, 1 + unit, 1 + unit / 2, 1 + 1.5 * unit, -1 - unit * 0.51, 0.0, -3.5])
    expected = [1.0, 1 + unit, 1.0, 1 + 2 * unit, -1 - unit, 0.0, -3.5]
    assert decode(encode(values, dtype), dtype).tolist() == expected


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_every_number_survives_encoding(dtype: str) -> None:
    every = np.arange(2**16, dtype=np.uint16)
    numbers = decode(every, dtype)
    finite = np.isfinite(numbers)
    assert finite.sum() > 60000
    assert (encode(numbers[finite], dtype) == every[finite]).all()


def test_poison_is_a_nan() -> None:
    poison = np.full(4, 0xFFFF, np.uint16)
    assert np.isnan(decode(poison, "bf16")).all()
    assert np.isnan(decode(poison, "fp16")).all()


def test_right_candidate_is_timed(fake_kernels: Kernels) -> None:
    found = measured(fake_kernels, NumpyRunner())
    assert found.passed
    assert found.relative_error == 0
    assert found.runs_with_same_bits == 3
    assert found.milliseconds == 0.003
    assert found.microseconds_per_step == pytest.approx(0.375)
    assert found.ratio == pytest.approx(0.375 / (384 / 1980), abs=1e-3)
    assert Measurement.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_wrong_candidate_is_not_timed(fake_kernels: Kernels) -> None:
    found = measured(fake_kernels, NumpyRunner("wrong"))
    assert not found.right
    assert found.relative_error > 5e-3
    assert found.milliseconds is None
    assert not found.passed


def test_unwritten_output_is_found(fake_kernels: Kernels) -> None:
    found = measured(fake_kernels, NumpyRunner("hole"))
    assert not found.right
    assert found.verdict == "1 values were left unwritten or are NaN"
    again = Measurement.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False)))
    assert again == found
    assert np.isinf(again.relative_error)


def test_unsteady_candidate_does_not_pass(fake_kernels: Kernels) -> None:
    found = measured(fake_kernels, NumpyRunner("unsteady"))
    assert found.runs_with_same_bits == 2
    assert not found.passed


def test_seeds_give_other_inputs(fake_kernels: Kernels) -> None:
    problem, cell = hand_made().problem, fake_kernels.cell("echo")
    one, same, other = (random_arrays(problem, cell, seed) for seed in (1, 1, 2))
    assert (one["input"] == same["input"]).all()
    assert (one["input"] != other["input"]).mean() > 0.9
    assert one["input"].shape == (8, 16, 12, 64, 4)


def test_initial_states_are_not_judged() -> None:
    reference = np.zeros((1, 2, 1, 1, 2))
    reference[0, 1] = 1.0
    states = encode(reference, "bf16")
    states[0, 0] = 0x4000
    assert compare(states, reference, "bf16").relative_error == 0


CHILD = """
import json, os, sys, time
for line in sys.stdin:
    seed = json.loads(line)["plan"]["seed"]
    if seed == 1:
        print("the kernel did this", file=sys.stderr, flush=True)
        os.abort()
    if seed == 2:
        time.sleep(60)
    if seed == 3:
        print(json.dumps({"message": "Failed", "failure": "illegal address", "lost": True}), flush=True)
        sys.exit()
    answer = {"device": str(os.getpid()), "seed": seed, "relative_error": None, "right": True, "verdict": "",
              "runs": 1, "runs_with_same_bits": 1}
    if seed == 4:
        print(json.dumps({"message": "Failed", "failure": "not this GPU"}), flush=True)
    else:
        print(json.dumps({"message": "Measured", "measurement": answer}), flush=True)
"""


def outcomes_of(seeds: list[int], kernels: Kernels, timeout: float = 20.0) -> list[Outcome]:
    trials = [Trial(hand_made(), b"cubin", False, "9.0", TrialPlan(seed=seed)) for seed in seeds]
    child = (sys.executable, "-c", CHILD)
    return list(run_trials(trials, kernels.root, timeout=timeout, child=child))


def test_one_child_serves_all_trials(fake_kernels: Kernels) -> None:
    found = outcomes_of([0, 4, 7], fake_kernels)
    assert [outcome.passed for outcome in found] == [True, False, True]
    assert found[1].failure == "not this GPU"
    assert found[0].measurement
    assert found[2].measurement
    assert found[0].measurement.device == found[2].measurement.device


def test_a_crash_costs_one_trial(fake_kernels: Kernels) -> None:
    found = outcomes_of([0, 1, 7], fake_kernels)
    assert [outcome.passed for outcome in found] == [True, False, True]
    assert found[1].failure == "the process that ran it was ended by SIGABRT:\nthe kernel did this"
    assert found[0].measurement
    assert found[2].measurement
    assert found[0].measurement.device != found[2].measurement.device


def test_a_hang_costs_one_trial(fake_kernels: Kernels) -> None:
    found = outcomes_of([2, 7], fake_kernels, timeout=3.0)
    assert [outcome.passed for outcome in found] == [False, True]
    assert found[0].failure is not None
    assert found[0].failure.startswith("no answer within 3 s")


def test_a_lost_context_gets_a_fresh_process(fake_kernels: Kernels) -> None:
    found = outcomes_of([3, 7], fake_kernels)
    assert [outcome.passed for outcome in found] == [False, True]
    assert found[0].failure == "illegal address"


def test_child_without_pycuda_says_so(fake_kernels: Kernels, tmp_path: Path) -> None:
    trials = [Trial(hand_made(), b"cubin", False, "9.0")]
    blocked = "import sys; sys.modules['pycuda'] = None; from kerneltune.running.child import main; main()"
    (found,) = run_trials(trials, fake_kernels.root, child=(sys.executable, "-c", blocked))
    assert found.failure
    assert found.failure.startswith("running kernels needs the extra 'gpu': pip install 'constrint[gpu]'")
