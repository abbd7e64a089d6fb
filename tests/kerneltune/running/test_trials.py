"""Verification, measurement and the child process without a GPU: a stand-in runner computes with numpy."""

import json
import sys

import numpy as np
import pytest
from made import hand_made, numbered
from numpy_runner import measured

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.errors import MissingExtraError, RunError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.pipeline.tilings import CompiledTiling, run_tilings
from kerneltune.running import cases
from kerneltune.running.drawn_input import random_arrays
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
    found = measured(fake_kernels)
    assert found.passed
    assert found.relative_error == 0
    assert found.notes["runs"] == 3
    assert found.time == 0.003
    assert found.microseconds_per_step == pytest.approx(0.375)
    assert found.ratio == pytest.approx(0.375 / (384 / 1980), abs=1e-3)
    assert found.verdict == "relative error 0.00e+00, within 5e-03"
    assert TilingTrial.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_report_has_the_measurement(fake_kernels: Kernels) -> None:
    """Other programs read this."""
    data = measured(fake_kernels).reported()
    assert data["passed"]
    assert data["failure"] is None
    assert data["candidate"]["strategy"] == "plain"
    assert data["measurement"] == {
        "device": "numpy",
        "seed": 5,
        "relative_error": 0.0,
        "right": True,
        "verdict": "relative error 0.00e+00, within 5e-03",
        "runs": 3,
        "runs_with_same_bits": 3,
        "milliseconds": 0.003,
        "fastest": 0.002,
        "microseconds_per_step": 0.375,
        "predicted_microseconds_per_step": 0.1939,
        "ratio": 1.934,
        "passed": True,
    }


def test_wrong_candidate_is_not_timed(fake_kernels: Kernels) -> None:
    found = measured(fake_kernels, "wrong")
    assert not found.passed
    assert found.time is None
    assert found.failure is not None
    assert "wrong result: relative error" in found.failure
    assert found.sentence.startswith("WRONG: ")
    assert TilingTrial.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found


def test_unwritten_output_is_found(fake_kernels: Kernels) -> None:
    found = measured(fake_kernels, "hole")
    assert found.failure == "wrong result: 1 values were left unwritten or are NaN"


def test_unsteady_candidate_does_not_pass(fake_kernels: Kernels) -> None:
    found = measured(fake_kernels, "unsteady")
    assert found.failure is not None
    assert "repeated runs differ" in found.failure
    assert found.died


def test_seeds_give_other_inputs(fake_kernels: Kernels) -> None:
    problem, cell = hand_made().problem, fake_kernels.cell("echo")
    one, same, other = (random_arrays(problem, cell, seed) for seed in (1, 1, 2))  # type: ignore[arg-type]
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
sys.stdin.readline()
print(json.dumps({"message": "Facts", "device": "pretended", "compute_capability": "9.0"}), flush=True)
for line in sys.stdin:
    fill = json.loads(line)["order"]["candidate"]["workspace_fill"]
    if fill == 1:
        print("the kernel did this", file=sys.stderr, flush=True)
        os.abort()
    if fill == 2:
        time.sleep(60)
    if fill == 3:
        print(json.dumps({"message": "Failed", "failure": "illegal address", "lost": True}), flush=True)
        sys.exit()
    if fill == 4:
        print(json.dumps({"message": "Failed", "failure": "not this GPU"}), flush=True)
    else:
        answer = {"message": "Answer", "timing": None, "notes": {"process": os.getpid()}}
        print(json.dumps(answer), flush=True)
"""


def trials_of(fills: list[int], kernels: Kernels, timeout: float = 20.0) -> list[TilingTrial]:
    tilings = [CompiledTiling(numbered(fill), b"cubin", False) for fill in fills]
    child = (sys.executable, "-c", CHILD)
    return list(run_tilings(tilings, kernels.root, tiling_plan(1, 0), timeout=timeout, child=child))


def test_one_child_serves_all_trials(fake_kernels: Kernels) -> None:
    found = trials_of([0, 4, 7], fake_kernels)
    assert [trial.passed for trial in found] == [True, False, True]
    assert found[1].failure == "not this GPU"
    assert found[0].notes["process"] == found[2].notes["process"]
    assert {trial.device for trial in found} == {"pretended"}


def test_a_crash_costs_one_trial(fake_kernels: Kernels) -> None:
    found = trials_of([0, 1, 7], fake_kernels)
    assert [trial.passed for trial in found] == [True, False, True]
    assert found[1].failure == "the process that ran it was ended by SIGABRT:\nthe kernel did this"
    assert found[0].notes["process"] != found[2].notes["process"]


def test_a_hang_costs_one_trial(fake_kernels: Kernels) -> None:
    found = trials_of([2, 7], fake_kernels, timeout=3.0)
    assert [trial.passed for trial in found] == [False, True]
    assert found[0].failure is not None
    assert found[0].failure.startswith("no answer within 3 s")


def test_a_lost_context_gets_a_fresh_process(fake_kernels: Kernels) -> None:
    found = trials_of([3, 7], fake_kernels)
    assert [trial.passed for trial in found] == [False, True]
    assert found[0].failure == "illegal address"


def test_child_without_pycuda_says_so(fake_kernels: Kernels) -> None:
    tilings = [CompiledTiling(hand_made(), b"cubin", False)]
    blocked = "import sys; sys.modules['pycuda'] = None; from kerneltune.measuring.child import main; main()"
    said = r"running kernels needs the extra 'gpu': pip install 'constrint\[gpu\]'"
    with pytest.raises(MissingExtraError, match=said):
        list(run_tilings(tilings, fake_kernels.root, tiling_plan(), child=(sys.executable, "-c", blocked)))


def test_a_reference_that_cannot_be_made_costs_its_candidates(
    fake_kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def full(problem: object, kernels: object, seed: int, folder: object) -> None:
        made.append(seed)
        if seed == 13:
            raise RunError("no space for the float64 reference")

    monkeypatch.setattr(cases, "make_case", full)
    tilings = [CompiledTiling(numbered(7), b"cubin", False, seed) for seed in (13, 13, 2)]
    child = (sys.executable, "-c", CHILD)
    found = list(run_tilings(tilings, fake_kernels.root, tiling_plan(1, 0), child=child))
    assert [trial.failure for trial in found] == ["no space for the float64 reference"] * 2 + [None]
    assert [trial.died for trial in found] == [False] * 3
    assert made == [13, 2]
