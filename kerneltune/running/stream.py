"""Trials one after the other in one child process that lives as long as they pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.request import Request
from kerneltune.running.answers import Failed
from kerneltune.running.child_process import ChildProcess
from kerneltune.running.trial import (
    CHILD,
    Lost,
    Outcome,
    Prepared,
    Trial,
    answer_of,
    failure_of_making,
    outcome_of,
    started,
)


class TrialStream:
    """A child process for trials that come one at a time.

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
        self._timeout, self._child = timeout, child
        self._running: ChildProcess | None = None
        self._cases: dict[tuple[Request, int], tuple[Path, str | None]] = {}
        self._count = 0
        self._tells = False  # whether the process announces trials

    def __enter__(self) -> TrialStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def run(self, trial: Trial) -> Outcome:
        """The outcome of a trial; raises `RunError` if the child cannot be started."""
        request = trial.candidate.problem, trial.plan.seed
        if request not in self._cases:
            case = self._folder / f"case{len(self._cases)}"
            case.mkdir()
            self._cases[request] = case, failure_of_making(request, self._kernels, case)
        folder, failure = self._cases[request]
        if failure is not None:
            return Outcome(trial.candidate, None, failure)
        cubin = self._folder / "kernel.cubin"
        cubin.write_bytes(trial.cubin)
        return self._asked(Prepared(trial, cubin, folder))

    def _asked(self, prepared: Prepared) -> Outcome:
        if self._running is None:
            self._running, self._count, self._tells = started(self._child, None), 0, False
        job = {"kernels_root": str(self._kernels.root), "trials": [prepared.described()]}
        self._running.send(json.dumps(job).encode() + b"\n")
        answer, begun = answer_of(self._running, self._count, self._timeout, prepared.loading_seconds)
        self._count += 1
        told, self._tells = self._tells, begun
        if isinstance(answer, Lost) or (isinstance(answer, Failed) and answer.context_lost):
            self.end()
            if isinstance(answer, Lost) and told and not begun:
                return self._asked(prepared)  # the process ended between two trials: this one is not to blame
        return outcome_of(prepared.trial, answer)

    def end(self) -> None:
        """Kill the process, if there is one."""
        running, self._running = self._running, None
        if running is not None:
            running.end()
