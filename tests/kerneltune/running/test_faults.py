"""Faulty child processes: any failure costs one candidate, and the run continues."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from faulty_child import GOOD, HANGS, MODES, NAMES
from made import FAKE_KERNELS, hand_made
from numpy_runner import NumpyRunner, measured
from processes import is_running

from kerneltune.errors import KernelTuneError, RunError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import load_profile
from kerneltune.running.measure import TrialPlan, with_times
from kerneltune.running.trial import Outcome, Trial, require_gpu, run_trials
from kerneltune.tuning.store import Store, trial_key

CHILD = (sys.executable, str(FAKE_KERNELS.with_name("faulty_child.py")))
AMPLE = 120.0  # seconds: no mode but a hang takes so long, on a machine however busy
PASSES = {"good"}
GOES_ON = {"good", "a refusal"}  # the same process serves the next trial


def trial(name: str, number: int = 0) -> Trial:
    """A trial with that mode; the number makes it another candidate."""
    candidate = replace(hand_made(), workspace_fill=number)
    return Trial(candidate, b"cubin", False, "9.0", TrialPlan(timed=NAMES.index(name), runs=2))


def outcomes_of(names: list[str], kernels: Kernels, timeout: float = AMPLE) -> list[Outcome]:
    trials = [trial(name, number) for number, name in enumerate(names)]
    return list(run_trials(trials, kernels.root, timeout=timeout, child=CHILD))


def check(names: list[str], outcomes: list[Outcome]) -> None:
    assert len(outcomes) == len(names)
    for number, (name, outcome) in enumerate(zip(names, outcomes, strict=True)):
        assert outcome.candidate.workspace_fill == number
        assert outcome.passed == (name in PASSES), (name, outcome)
        assert (outcome.failure is None) == outcome.passed, name
        assert outcome.died == (name not in GOES_ON), name
        assert outcome.limit is None, (name, outcome.failure)


@pytest.mark.parametrize("seed", range(4))
def test_every_failure_costs_one_candidate_and_is_kept(
    fake_kernels: Kernels, tmp_path: Path, seed: int
) -> None:
    names = [name for i, name in enumerate(MODES) if i % 4 == seed and name != "good"]
    names += ["good"] * (len(names) // 3)
    random.Random(seed).shuffle(names)
    outcomes = outcomes_of(names, fake_kernels)
    check(names, outcomes)
    store = Store(tmp_path / "trials.sqlite")
    for outcome in outcomes:
        store.add(trial_key("content", outcome.candidate), outcome)
    again = Store(tmp_path / "trials.sqlite")
    assert [stored.outcome for stored in again.trials()] == outcomes
    assert Counter(stored.key for stored in again.trials()).most_common(1)[0][1] == 1
    finals = [stored.outcome.is_final(AMPLE) for stored in again.trials()]
    assert finals == [name != "a refusal" for name in names]


def test_every_hang_ends_at_the_limit(fake_kernels: Kernels) -> None:
    with ThreadPoolExecutor(len(HANGS)) as threads:
        found = threads.map(lambda name: outcomes_of([name], fake_kernels, 4.0), HANGS)
        for name, (outcome,) in zip(HANGS, found, strict=True):
            assert outcome.failure == (
                "no answer within 4 s: the process was ended (a hang in the kernel?)"
            ), name
            assert outcome.died
            assert outcome.limit == 4.0
            assert outcome.is_final(4.0)
            assert outcome.is_final(3.0)
            assert not outcome.is_final(4.1)


def test_what_a_failure_says(fake_kernels: Kernels) -> None:
    said = {
        "signal 11": "was ended by SIGSEGV",
        "signal 40": "was ended by signal 40",
        "nothing": "ended with exit code 0",
        "an exception": "ZeroDivisionError: in the child",
        "an empty object": "missing required field `message`: '{}'",
        "nan milliseconds": "at `$.milliseconds`",
        "half an answer": "was cut off or has no end",
        "noise": "xxxx",
    }
    outcomes = outcomes_of(list(said), fake_kernels)
    for (name, words), outcome in zip(said.items(), outcomes, strict=True):
        assert words in (outcome.failure or ""), name
        assert len(outcome.failure or "") < 8000, name


TELLS = """
import json, os, sys
for line in sys.stdin:
    order = json.loads(line)
    mode, number = order["plan"]["timed"], order["trial"]
    print(json.dumps({{"message": "Started", "trial": number}}), flush=True)
    if mode == 2:
        os.abort()
    print(json.dumps({{"message": "Measured", "measurement": {good}, "trial": number}}), flush=True)
    if mode == 1:
        os.abort()
    if mode == 3:
        print(json.dumps({{"message": "Failed", "failure": "again", "trial": number}}), flush=True)
"""


@pytest.mark.parametrize("mode", [1, 3])
def test_a_process_that_fails_between_two_trials_is_not_the_second_ones_fault(
    fake_kernels: Kernels, mode: int
) -> None:
    plans = [TrialPlan(timed=number) for number in (0, mode, 0, mode, mode, 2, 0)]
    trials = [Trial(hand_made(), b"", False, "9.0", plan) for plan in plans]
    child = (sys.executable, "-c", TELLS.format(good=GOOD))
    found = list(run_trials(trials, fake_kernels.root, timeout=AMPLE, child=child))
    assert [outcome.passed for outcome in found] == [True, True, True, True, True, False, True]


def test_grandchildren_end_with_the_trial(fake_kernels: Kernels, tmp_path: Path) -> None:
    mark = str(tmp_path / "pid")
    code = (
        "import os, subprocess, sys\nsys.stdin.readline()\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({mark!r}, 'w').write(str(child.pid))\nos._exit(0)\n"
    )
    (outcome,) = run_trials(
        [trial("good")], fake_kernels.root, timeout=AMPLE, child=(sys.executable, "-c", code)
    )
    assert outcome.died
    assert not is_running(int(Path(mark).read_text()))


@pytest.mark.parametrize("name", ["signal 6", "nothing", "an empty object", "a long line", "good"])
def test_a_gpu_that_is_asked_for_in_vain(name: str) -> None:
    code = f"import faulty_child; faulty_child.MODES[{name!r}]()"
    with pytest.raises(RunError, match="no kernel can be run here: "):
        require_gpu(
            load_profile("h100_sxm"),
            child=("env", f"PYTHONPATH={CHILD_PATH}", CHILD[0], "-c", code),
        )


CHILD_PATH = os.pathsep.join([str(FAKE_KERNELS.parent), os.environ.get("PYTHONPATH", "")])


def test_a_child_that_cannot_be_started_is_said(fake_kernels: Kernels) -> None:
    with pytest.raises(RunError, match=r"the process that runs kernels cannot be started: .*no such program"):
        list(run_trials([trial("good")], fake_kernels.root, child=("/no such program",)))


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -1.0, 0.0])
def test_a_clock_that_is_wrong_is_a_failure(time: float) -> None:
    from kerneltune.inputs.descriptions import discover

    kernels = discover(FAKE_KERNELS)
    good = measured(kernels, NumpyRunner())
    with pytest.raises(KernelTuneError, match="which is no time"):
        with_times(good, hand_made(), [1.0, time, 2.0])
