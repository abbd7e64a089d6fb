"""The child process of ``trial``: reads tilings from standard input, one on each line, and answers each.

Asked for nothing but its GPU, it says which that is, or why there is none.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.inputs.descriptions import discover
from kerneltune.messages import TILINGS, Facts, Failed, Measured, Probe, Started, TilingOrder, required
from kerneltune.running.any_case import AnyCase
from kerneltune.running.case_files import load_case
from kerneltune.running.child_output import private_stdout, say
from kerneltune.running.lifeline import follow_parent
from kerneltune.running.measure import Measurement, TrialPlan, try_candidate
from kerneltune.running.runner import Runner, other_gpu
from kerneltune.tiling.candidate import Candidate


def main() -> None:
    """Answer every trial; stop after the first that leaves the GPU's context unusable."""
    follow_parent()
    answers = private_stdout()
    cases, runner = _Cases(), None
    for line in sys.stdin:
        order: Probe | TilingOrder = required(line, TILINGS)
        try:
            runner = runner or _runner()
        except KernelTuneError as error:
            say(answers, Failed(trial=order.trial, failure=str(error), exit_code=error.exit_code))
            continue
        if isinstance(order, Probe):
            say(answers, Facts(device=runner.device, compute_capability=runner.compute_capability))
        elif not _answered(answers, runner, order, cases):
            return


def _answered(answers: TextIO, runner: Runner, order: TilingOrder, cases: _Cases) -> bool:
    """Run a trial and say what came of it; returns whether the process can go on."""
    try:
        case = cases.at(Path(order.case), Path(order.kernels_root))
        say(answers, Started(trial=order.trial))
        say(answers, Measured(trial=order.trial, measurement=_run(runner, order, case).to_json()))
    except KernelTuneError as error:
        # Driver errors are sticky: the next trial gets a new process.
        lost = isinstance(error, RunError)
        say(answers, Failed(trial=order.trial, failure=str(error), lost=lost))
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


def _run(runner: Runner, order: TilingOrder, case: AnyCase) -> Measurement:
    candidate = Candidate.from_json(order.candidate)
    refused = other_gpu(runner.device, runner.compute_capability, candidate.gpu, order.compute_capability)
    if refused:
        raise KernelTuneError(refused)
    cubin = Path(order.cubin).read_bytes()
    try:
        runner.prepare(candidate, cubin, case, cooperative=order.cooperative)
        return try_candidate(runner, candidate, case, TrialPlan(**order.plan))
    except KernelTuneError:
        raise
    except Exception as error:  # pycuda's and numpy's own classes: this candidate fails with the message
        raise RunError(f"{type(error).__name__}: {error}") from None


class _Cases:
    """A cache of one case: consecutive trials of one request share input and reference."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._case: AnyCase | None = None

    def at(self, folder: Path, kernels_root: Path) -> AnyCase:
        if self._case is None or self._folder != folder:
            self._case = load_case(folder, discover(kernels_root))
            self._folder = folder
        return self._case


if __name__ == "__main__":
    main()
