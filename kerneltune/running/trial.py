"""Trials in a child process: a crash, a hang or a sticky CUDA error costs one candidate, never the run.

The parent sends one trial after the other; the child answers each with a line. If the child dies, is silent
for too long or answers nonsense, its present trial fails, and a new child continues with the next.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kerneltune.errors import KernelTuneError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.request import Request
from kerneltune.messages import Failed, Measured, Probe, TilingOrder
from kerneltune.running.case_maker import case_bytes, make_case
from kerneltune.running.child_output import LONGEST
from kerneltune.running.child_process import MODULE
from kerneltune.running.children import Child, hang_of_kernel, unusable
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


def require_gpu(profile: HardwareProfile, *, timeout: float = 120.0, child: Sequence[str] = CHILD) -> None:
    """Ask a child process whether trials can run here, so that nothing is compiled in vain.

    Raises:
        KernelTuneError: The GPU is another than the profile's.
        MissingExtraError: The extra is missing.
        RunError: There is no GPU, or the process ended without an answer.
    """
    asked = Child(child, Probe(), patience=timeout)
    asked.start()
    asked.finish()
    answer = asked.facts
    assert answer is not None
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

    Input and reference of a request are made once. If a reference cannot be made, the trials of its request
    fail, and the others run.

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
            with TrialStream(kernels_root, own, timeout, child) as stream:
                yield from map(stream.run, group)
            shutil.rmtree(own, ignore_errors=True)


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


class TrialStream:
    """A child process for trials that come one at a time, which lives as long as they pass.

    Args:
        kernels_root: The kernels folder, for the reference.
        folder: A folder for the cases' and kernels' files.
        timeout: Seconds for one trial, from when its input is loaded.
        child: The command of the child process.
    """

    def __init__(
        self, kernels_root: Path, folder: Path, timeout: float = 120.0, child: Sequence[str] = CHILD
    ) -> None:
        self._kernels, self._folder = discover(kernels_root), folder
        self._timeout, self._child = timeout, Child(child, longest=LONGEST)
        self._cases: dict[tuple[Request, int], tuple[Path, str | None]] = {}
        self._count = 0

    def __enter__(self) -> TrialStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self._child.finish()
        self._child.end()

    def run(self, trial: Trial) -> Outcome:
        """The outcome of a trial; raises `RunError` if the child cannot be started."""
        request = _request(trial)
        if request not in self._cases:
            case = self._folder / f"case{len(self._cases)}"
            case.mkdir()
            self._cases[request] = case, _failure_of_making(request, self._kernels, case)
        folder, failure = self._cases[request]
        if failure is not None:
            return Outcome(trial.candidate, None, failure)
        cubin = self._folder / "kernel.cubin"
        cubin.write_bytes(trial.cubin)
        order = TilingOrder(
            trial=self._count,
            kernels_root=str(self._kernels.root),
            candidate=trial.candidate.to_json(),
            cubin=str(cubin),
            case=str(folder),
            cooperative=trial.cooperative,
            compute_capability=trial.compute_capability,
            plan=asdict(trial.plan),
        )
        self._count += 1
        loading = sum(path.stat().st_size for path in folder.iterdir()) / LOADED_PER_SECOND
        return self._asked(trial.candidate, order, loading)

    def _asked(self, candidate: Candidate, order: TilingOrder, loading: float) -> Outcome:
        child = self._child
        announces = child.is_running and child.announced
        answer: Failed | Measured = child.ask(order, Measured, self._timeout, loading)
        if isinstance(answer, Measured):
            try:
                return Outcome(candidate, Measurement.from_json(answer.measurement))
            except ValueError as error:
                child.end()
                answer = unusable(error)
        if answer.died and announces and not child.announced:
            return self._asked(candidate, order, loading)  # it ended between two trials: not this one's fault
        return Outcome(candidate, None, hang_of_kernel(answer), died=answer.lost, limit=answer.limit)

    def end(self) -> None:
        """Kill the process, if there is one."""
        self._child.end()


def _failure_of_making(request: tuple[Request, int], kernels: Kernels, folder: Path) -> str | None:
    """Make a request's input and reference; returns the reason of a failure, or None."""
    problem, seed = request
    try:
        make_case(problem, kernels, seed, folder)
    except Exception as error:  # a cell's reference.py may raise anything
        shutil.rmtree(folder, ignore_errors=True)
        return str(error) if isinstance(error, KernelTuneError) else f"there is no reference: {error!r}"
    return None
