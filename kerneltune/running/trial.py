"""Trials in a child process: a crash, a hang or a sticky CUDA error costs one candidate, never the run.

The parent sends trials as one JSON document; the child answers each with a line of JSON. If the child dies,
is silent for too long or answers nonsense, its present trial fails, and a new child continues with the next.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.request import Request
from kerneltune.running.answers import BadAnswerError, Failed, Measured, Ready, Started, parsed
from kerneltune.running.case_maker import case_bytes, make_case
from kerneltune.running.child_process import MODULE, ChildProcess, SilentError
from kerneltune.running.measure import Measurement, TrialPlan
from kerneltune.running.runner import other_gpu
from kerneltune.running.scratch import scratch_folder
from kerneltune.tiling.candidate import Candidate

CHILD = (MODULE, "kerneltune.running.child")
BYTES_AT_A_TIME = 1 << 28  # bytes of input and references on disk at a time; a larger request is alone
LOADED_PER_SECOND = 1e8  # least rate at which a child reads them, in bytes


@dataclass(frozen=True)
class Trial:
    """A compiled candidate and the work to do on it."""

    candidate: Candidate
    cubin: bytes
    cooperative: bool
    compute_capability: str
    plan: TrialPlan = field(default_factory=TrialPlan)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial: a measurement, or the reason why there is none.

    Attributes:
        candidate: The candidate.
        measurement: The result; None if the candidate did not finish.
        failure: The reason why there is no measurement.
        died: Whether the process crashed, hung or answered nonsense, which is the candidate's fault.
        limit: The time limit in seconds that was exceeded; None if none was.
    """

    candidate: Candidate
    measurement: Measurement | None
    failure: str | None = None
    died: bool = False
    limit: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the candidate ran, was correct and gave the same bits in every run."""
        return self.measurement is not None and self.measurement.passed

    def is_final(self, limit: float) -> bool:
        """Whether another try with this time limit would tell nothing new.

        True if the candidate was measured, or if its process died without exceeding a lower limit.
        """
        if self.measurement is not None:
            return True
        return self.died and (self.limit is None or self.limit >= limit)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        measured = self.measurement.to_json() if self.measurement else None
        return {
            "candidate": self.candidate.to_json(),
            "measurement": measured,
            "failure": self.failure,
            "passed": self.passed,
        }


def require_gpu(
    profile: HardwareProfile, kernels_root: Path, *, timeout: float = 120.0, child: Sequence[str] = CHILD
) -> None:
    """Ask a child process whether trials can run here, so that nothing is compiled in vain.

    Raises:
        KernelTuneError: The GPU is another than the profile's.
        MissingExtraError: The extra is missing.
        RunError: There is no GPU, or the process ended without an answer.
    """
    try:
        with started(child, _job((), kernels_root)) as running:
            answer = parsed(running.line(timeout))
    except (SilentError, BadAnswerError) as error:
        raise RunError(f"no kernel can be run here: {error}") from None
    if isinstance(answer, Failed):
        if answer.exit_code == MissingExtraError.exit_code:
            raise MissingExtraError.said(answer.reason)
        raise (RunError if answer.exit_code == RunError.exit_code else KernelTuneError)(answer.reason)
    if not isinstance(answer, Ready):
        raise RunError(
            "no kernel can be run here: the process that was asked for its GPU gave another answer"
        )
    refused = other_gpu(answer.device, answer.compute_capability, profile.name, profile.compute_capability)
    if refused:
        raise KernelTuneError(refused)


def run_trials(
    trials: Sequence[Trial],
    kernels_root: Path,
    *,
    timeout: float = 120.0,
    child: Sequence[str] = CHILD,
) -> Iterator[Outcome]:
    """Run each trial in a child process, in order, and yield each outcome when it is known.

    Input and reference of a request are made once, before the child that needs them is started. If a
    reference cannot be made, the trials of its request fail, and the others run.

    Args:
        trials: The trials.
        kernels_root: The kernels folder, for the reference.
        timeout: Seconds for one trial, from when its input is loaded.
        child: The command of the child process.

    Raises:
        RunError: The child cannot be started.
    """
    kernels = discover(kernels_root)
    with scratch_folder() as folder:
        for number, group in enumerate(_groups(trials, kernels)):
            own = folder / str(number)
            own.mkdir()
            yield from _run_group(group, kernels, own, timeout, child)
            shutil.rmtree(own, ignore_errors=True)


@dataclass(frozen=True)
class Prepared:
    """A trial with the files of its case, or the reason why it cannot run."""

    trial: Trial
    cubin: Path
    case: Path
    failure: str | None = None

    @property
    def loading_seconds(self) -> float:
        """Seconds for loading the input, in addition to the time limit."""
        return sum(path.stat().st_size for path in self.case.iterdir()) / LOADED_PER_SECOND

    def described(self) -> dict[str, Any]:
        """The trial as data for the child."""
        return {
            "candidate": self.trial.candidate.to_json(),
            "cubin": str(self.cubin),
            "case": str(self.case),
            "cooperative": self.trial.cooperative,
            "compute_capability": self.trial.compute_capability,
            "plan": asdict(self.trial.plan),
        }


def _request(trial: Trial) -> tuple[Request, int]:
    """The values that input and reference depend on."""
    return trial.candidate.problem, trial.plan.seed


def _groups(trials: Sequence[Trial], kernels: Kernels) -> Iterator[list[Trial]]:
    """Consecutive trials whose files may be on disk at the same time."""
    group: list[Trial] = []
    requests: set[tuple[Request, int]] = set()
    size = 0
    for trial in trials:
        request = _request(trial)
        if request not in requests:
            more = case_bytes(request[0], kernels)
            if group and size + more > BYTES_AT_A_TIME:
                yield group
                group, requests, size = [], set(), 0
            requests.add(request)
            size += more
        group.append(trial)
    if group:
        yield group


def _run_group(
    trials: Sequence[Trial], kernels: Kernels, folder: Path, timeout: float, child: Sequence[str]
) -> Iterator[Outcome]:
    prepared = _prepared(trials, kernels, folder)
    position = 0
    while position < len(prepared):
        failure = prepared[position].failure
        if failure is not None:
            yield Outcome(prepared[position].trial.candidate, None, failure)
            position += 1
            continue
        end = next((i for i in range(position, len(prepared)) if prepared[i].failure), len(prepared))
        for outcome in _serve(prepared[position:end], kernels.root, timeout, child):
            position += 1
            yield outcome


def _prepared(trials: Sequence[Trial], kernels: Kernels, folder: Path) -> list[Prepared]:
    """Write the cases of the trials; one for each request."""
    cases: dict[tuple[Request, int], tuple[Path, str | None]] = {}
    found = []
    for number, trial in enumerate(trials):
        request = _request(trial)
        if request not in cases:
            case = folder / f"case{len(cases)}"
            case.mkdir()
            cases[request] = case, failure_of_making(request, kernels, case)
        cubin = folder / f"{number}.cubin"
        cubin.write_bytes(trial.cubin)
        found.append(Prepared(trial, cubin, *cases[request]))
    return found


def failure_of_making(request: tuple[Request, int], kernels: Kernels, folder: Path) -> str | None:
    """Make a request's input and reference; returns the reason of a failure, or None."""
    problem, seed = request
    try:
        make_case(problem, kernels, seed, folder)
    except Exception as error:  # a cell's reference.py may raise anything
        shutil.rmtree(folder, ignore_errors=True)
        return str(error) if isinstance(error, KernelTuneError) else f"there is no reference: {error!r}"
    return None


def _serve(
    prepared: Sequence[Prepared], kernels_root: Path, timeout: float, child: Sequence[str]
) -> Iterator[Outcome]:
    """Outcomes of at least one trial from one process, up to the trial at which it ends.

    If the process announces trials and ends between two, the second is not to blame: it has no outcome here,
    and another process begins with it.
    """
    with started(child, _job(prepared, kernels_root)) as running:
        tells = False
        for number, entry in enumerate(prepared):
            answer, begun = answer_of(running, number, timeout, entry.loading_seconds)
            if isinstance(answer, Lost) and tells and not begun:
                return
            yield outcome_of(entry.trial, answer)
            if isinstance(answer, Lost) or (isinstance(answer, Failed) and answer.context_lost):
                return
            tells = begun


@dataclass(frozen=True)
class Lost:
    """No answer: the process ended, hung, or answered nonsense."""

    reason: str
    limit: float | None = None


def answer_of(
    running: ChildProcess, number: int, timeout: float, loading: float
) -> tuple[Measured | Failed | Lost, bool]:
    """The process's answer to a trial, and whether it announced the trial before."""
    begun = False
    try:
        answer = parsed(running.line(timeout + loading))
        if isinstance(answer, Started):
            if answer.trial != number:
                raise BadAnswerError(f"it began with trial {answer.trial}, not {number}")
            begun = True
            answer = parsed(running.line(timeout))
        if not isinstance(answer, Measured | Failed) or answer.trial not in (None, number):
            raise BadAnswerError(f"it answered something else than trial {number}")
        return answer, begun
    except SilentError as error:
        if error.timed_out:
            reason = f"no answer within {timeout:g} s: the process was ended (a hang in the kernel?)"
            return Lost(reason, timeout), begun
        return Lost(str(error)), begun
    except BadAnswerError as error:
        running.end()
        return Lost(f"the process that ran it gave no answer that can be used: {error}"), begun


def started(child: Sequence[str], job: bytes | None) -> ChildProcess:
    """The process that runs kernels; without a job, its standard input stays open."""
    try:
        return ChildProcess(child, job)
    except OSError as error:
        raise RunError(f"the process that runs kernels cannot be started: {error}") from None


def _job(prepared: Sequence[Prepared], kernels_root: Path) -> bytes:
    described = [entry.described() for entry in prepared]
    return json.dumps({"kernels_root": str(kernels_root), "trials": described}).encode()


def outcome_of(trial: Trial, answer: Measured | Failed | Lost) -> Outcome:
    """The outcome of a trial, from its answer."""
    if isinstance(answer, Measured):
        return Outcome(trial.candidate, answer.measurement)
    if isinstance(answer, Failed):
        return Outcome(trial.candidate, None, answer.reason, died=answer.context_lost)
    return Outcome(trial.candidate, None, answer.reason, died=True, limit=answer.limit)
