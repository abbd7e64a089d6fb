"""The child process of ``trial``: reads trials from standard input, answers each with a line.

Each line of the input is a JSON document with some trials; trials are numbered on from line to line.

Without trials it says which GPU it would run them on, or why it cannot.
"""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.running.answers import private_stdout, say
from kerneltune.running.any_case import AnyCase
from kerneltune.running.case_files import load_case
from kerneltune.running.lifeline import follow_parent
from kerneltune.running.measure import TrialPlan, try_candidate
from kerneltune.running.runner import Runner, other_gpu
from kerneltune.tiling.candidate import Candidate


def main() -> None:
    """Answer every trial; stop after the first that leaves the GPU's context unusable."""
    follow_parent()
    answers = private_stdout()
    first = sys.stdin.readline()
    if not first:
        return
    job = json.loads(first)
    kernels = discover(Path(job["kernels_root"]))
    try:
        runner = _runner()
    except KernelTuneError as error:
        for number, _ in enumerate(job["trials"] or [None]):
            say(answers, {"failure": str(error), "exit_code": error.exit_code, "trial": number})
        return
    if not job["trials"]:
        say(answers, {"device": runner.device, "compute_capability": runner.compute_capability})
    cases = _Cases(kernels)
    number = 0
    for line in chain([first], sys.stdin):
        for trial in json.loads(line)["trials"]:
            if not _answered(answers, runner, number, trial, cases):
                return
            number += 1


def _answered(answers: TextIO, runner: Runner, number: int, trial: dict[str, Any], cases: _Cases) -> bool:
    """Run a trial and say what came of it; returns whether the process can go on."""
    try:
        case = cases.at(Path(trial["case"]))
        say(answers, {"started": number})
        say(answers, {"measurement": _run(runner, trial, case), "trial": number})
    except KernelTuneError as error:
        # Driver errors are sticky: the next trial gets a new process.
        lost = isinstance(error, RunError)
        say(answers, {"failure": str(error), "context_lost": lost, "trial": number})
        return not lost
    return True


def _runner() -> Runner:
    try:
        from kerneltune.running.pycuda_runner import PycudaRunner
    except ModuleNotFoundError:
        raise MissingExtraError("running kernels", "gpu") from None
    except ImportError as error:
        raise RunError(f"pycuda cannot be loaded, is there a GPU driver? {error}") from None
    except Exception as error:  # pycuda raises its own classes while it initialises the driver
        raise RunError(f"no GPU can be used: {error}") from None
    return PycudaRunner()


def _run(runner: Runner, trial: dict[str, Any], case: AnyCase) -> dict[str, Any]:
    candidate = Candidate.from_json(trial["candidate"])
    refused = other_gpu(runner.device, runner.compute_capability, candidate.gpu, trial["compute_capability"])
    if refused:
        raise KernelTuneError(refused)
    plan = TrialPlan(**trial["plan"])
    cubin = Path(trial["cubin"]).read_bytes()
    try:
        runner.prepare(candidate, cubin, case, cooperative=trial["cooperative"])
        return try_candidate(runner, candidate, case, plan).to_json()
    except KernelTuneError:
        raise
    except Exception as error:  # pycuda's and numpy's own classes: this candidate fails with the message
        raise RunError(f"{type(error).__name__}: {error}") from None


class _Cases:
    """A cache of one case: consecutive trials of one request share input and reference."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels
        self._folder: Path | None = None
        self._case: AnyCase | None = None

    def at(self, folder: Path) -> AnyCase:
        if self._case is None or self._folder != folder:
            self._case = load_case(folder, self._kernels)
            self._folder = folder
        return self._case


if __name__ == "__main__":
    main()
