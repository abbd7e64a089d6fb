"""The child process of ``trial``: reads trials as JSON from standard input, answers each with a line.

Without trials it says which GPU it would run them on, or why it cannot.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.running.case import Case, random_case
from kerneltune.running.measure import TrialPlan, try_candidate
from kerneltune.running.runner import Runner, other_gpu
from kerneltune.tiling.candidate import Candidate


def main() -> None:
    """Answer every trial; stop at the first after which the GPU's context cannot be trusted."""
    answers = _private_stdout()
    job = json.load(sys.stdin)
    kernels = discover(Path(job["kernels_root"]))
    try:
        runner = _runner()
    except KernelTuneError as error:
        for _ in job["trials"] or [None]:
            _say(answers, {"failure": str(error), "exit_code": error.exit_code})
        return
    if not job["trials"]:
        _say(answers, {"device": runner.device, "compute_capability": runner.compute_capability})
    known: dict[Any, Case] = {}
    for trial in job["trials"]:
        try:
            _say(answers, {"measurement": _run(runner, kernels, trial, known)})
        except KernelTuneError as error:
            # Errors of the driver are sticky: the next trial gets a fresh process.
            _say(answers, {"failure": str(error), "context_lost": isinstance(error, RunError)})
            if isinstance(error, RunError):
                return


def _private_stdout() -> TextIO:
    """Standard output for the answers alone: whatever a library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


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


def _run(runner: Runner, kernels: Kernels, trial: dict[str, Any], known: dict[Any, Case]) -> dict[str, Any]:
    candidate = Candidate.from_json(trial["candidate"])
    refused = other_gpu(runner.device, runner.compute_capability, candidate.gpu, trial["compute_capability"])
    if refused:
        raise KernelTuneError(refused)
    plan = TrialPlan(**trial["plan"])
    case = _case(kernels, candidate, plan, known)
    cubin = Path(trial["cubin"]).read_bytes()
    try:
        runner.prepare(candidate, cubin, case, cooperative=trial["cooperative"])
        return try_candidate(runner, candidate, case, plan).to_json()
    except KernelTuneError:
        raise
    except Exception as error:  # pycuda's and numpy's own classes: one candidate is lost, and says why
        raise RunError(f"{type(error).__name__}: {error}") from None


def _case(kernels: Kernels, candidate: Candidate, plan: TrialPlan, known: dict[Any, Case]) -> Case:
    """Input and reference, kept while the trials ask for the same: candidates of one request share them."""
    key = (candidate.problem, plan.seed)
    if key not in known:
        known.clear()
        known[key] = random_case(candidate.problem, kernels.cell(candidate.problem.cell), plan.seed)
    return known[key]


if __name__ == "__main__":
    main()
