"""Faulty child processes: any failure costs one candidate, and the run continues."""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from faulty_child import FACTS, HANGS, MODES, NAMES
from made import FAKE_KERNELS, numbered
from numpy_runner import measured
from processes import is_running

from kerneltune.errors import RunError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.pipeline.tilings import CompiledTiling, require_gpu, run_tilings
from kerneltune.tuning.memory import row_of, trial_key
from kerneltune.tuning.store import Store

CHILD = (sys.executable, str(FAKE_KERNELS.with_name("faulty_child.py")))
AMPLE = 120.0  # seconds: no mode but a hang takes so long, on a machine however busy
PASSES = {"good"}
GOES_ON = {"good", "a refusal"}  # the same process serves the next trial


def tiling(name: str, number: int = 0) -> CompiledTiling:
    """A tiling with that mode; the number makes it another candidate."""
    candidate = numbered(number)
    values = {**candidate.values, "mode": NAMES.index(name)}
    return CompiledTiling(replace(candidate, values=values), b"cubin", False)


def trials_of(names: list[str], kernels: Kernels, timeout: float = AMPLE) -> list[TilingTrial]:
    tilings = [tiling(name, number) for number, name in enumerate(names)]
    return list(run_tilings(tilings, kernels.root, tiling_plan(2, 3), timeout=timeout, child=CHILD))


def check(names: list[str], trials: list[TilingTrial]) -> None:
    assert len(trials) == len(names)
    for number, (name, trial) in enumerate(zip(names, trials, strict=True)):
        assert trial.candidate.workspace_fill == number
        assert trial.passed == (name in PASSES), (name, trial)
        assert trial.died == (name not in GOES_ON), name
        assert trial.limit is None, (name, trial.failure)


@pytest.mark.parametrize("seed", range(4))
def test_every_failure_costs_one_candidate_and_is_kept(
    fake_kernels: Kernels, tmp_path: Path, seed: int
) -> None:
    names = [name for i, name in enumerate(MODES) if i % 4 == seed and name != "good"]
    names += ["good"] * (len(names) // 3)
    random.Random(seed).shuffle(names)
    trials = trials_of(names, fake_kernels)
    check(names, trials)
    store = Store(tmp_path / "trials.sqlite")
    for trial in trials:
        store.add(trial_key("content", trial.candidate), row_of(trial, "content"))
    again = Store(tmp_path / "trials.sqlite").tilings()
    assert [stored.trial for stored in again] == trials
    assert Counter(stored.key for stored in again).most_common(1)[0][1] == 1


def test_every_hang_ends_at_the_limit(fake_kernels: Kernels) -> None:
    with ThreadPoolExecutor(len(HANGS)) as threads:
        found = threads.map(lambda name: trials_of([name], fake_kernels, 4.0), HANGS)
        for name, (trial,) in zip(HANGS, found, strict=True):
            assert trial.failure == ("no answer within 4 s: the process was ended (a hang in the kernel?)"), (
                name
            )
            assert trial.died
            assert trial.limit == 4.0
            assert trial.is_final(4.0)
            assert trial.is_final(3.0)
            assert not trial.is_final(4.1)


def test_what_a_failure_says(fake_kernels: Kernels) -> None:
    said = {
        "signal 11": "was ended by SIGSEGV",
        "signal 40": "was ended by signal 40",
        "nothing": "ended with exit code 0",
        "an exception": "ZeroDivisionError: in the child",
        "an empty object": "missing required field `message`: '{}'",
        "nan milliseconds": "at `$.timing.median`",
        "half an answer": "was cut off or has no end",
        "noise": "xxxx",
    }
    trials = trials_of(list(said), fake_kernels)
    for (name, words), trial in zip(said.items(), trials, strict=True):
        assert words in (trial.failure or ""), name
        assert len(trial.failure or "") < 8000, name


TELLS = """
import json, os, sys
sys.stdin.readline()
print({facts!r}, flush=True)
for line in sys.stdin:
    request = json.loads(line)
    mode, number = request["order"]["candidate"]["workspace_fill"], request["trial"]
    if mode == 2:
        os.abort()
    print(json.dumps({{"message": "Answer", "timing": None, "trial": number}}), flush=True)
    if mode == 1:
        os.abort()
    if mode == 3:
        print(json.dumps({{"message": "Failed", "failure": "again", "trial": number}}), flush=True)
"""


@pytest.mark.parametrize("mode", [1, 3])
def test_a_process_that_fails_between_two_trials_is_not_the_second_ones_fault(
    fake_kernels: Kernels, mode: int
) -> None:
    tilings = [CompiledTiling(numbered(fill), b"", False) for fill in (0, mode, 0, mode, mode, 2, 0)]
    child = (sys.executable, "-c", TELLS.format(facts=json.dumps(FACTS)))
    found = list(run_tilings(tilings, fake_kernels.root, tiling_plan(1, 0), timeout=AMPLE, child=child))
    assert [trial.passed for trial in found] == [True, True, True, True, True, False, True]


def test_grandchildren_end_with_the_trial(fake_kernels: Kernels, tmp_path: Path) -> None:
    mark = str(tmp_path / "pid")
    code = (
        f"import os, subprocess, sys\nsys.stdin.readline()\nprint({json.dumps(FACTS)!r}, flush=True)\n"
        "sys.stdin.readline()\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({mark!r}, 'w').write(str(child.pid))\nos._exit(0)\n"
    )
    child = (sys.executable, "-c", code)
    (trial,) = run_tilings([tiling("good")], fake_kernels.root, tiling_plan(), timeout=AMPLE, child=child)
    assert trial.died
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
        list(run_tilings([tiling("good")], fake_kernels.root, tiling_plan(), child=("/no such program",)))


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -1.0, 0.0])
def test_a_clock_that_is_wrong_is_a_failure(time: float) -> None:
    found = measured(discover(FAKE_KERNELS), times=[1.0, time, 2.0])
    assert found.failure is not None
    assert "which is no time" in found.failure
