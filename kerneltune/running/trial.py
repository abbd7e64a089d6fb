"""Trials in a child process: a crash, a hang or a sticky CUDA error costs one candidate, never the run.

The parent sends all trials as one JSON document; the child answers each with a line of JSON. When the child
dies or is silent for too long, the trial it was at is lost, and a new child goes on with the next one.
"""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from kerneltune.errors import KernelTuneError, RunError
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.running.measure import Measurement, TrialPlan
from kerneltune.running.runner import other_gpu
from kerneltune.tiling.candidate import Candidate

CHILD = (sys.executable, "-m", "kerneltune.running.child")
STDERR_LINES = 12  # how much of a dead child's last words is shown


@dataclass(frozen=True)
class Trial:
    """A compiled candidate and what to do with it."""

    candidate: Candidate
    cubin: bytes
    cooperative: bool
    compute_capability: str
    plan: TrialPlan = field(default_factory=TrialPlan)


@dataclass(frozen=True)
class Outcome:
    """What became of a trial: a measurement, or the reason why there is none.

    Attributes:
        candidate: What was tried.
        measurement: What was found; None where it did not run to its end.
        failure: Why there is no measurement.
        died: Whether the process that ran it crashed or hung: the candidate's own doing.
    """

    candidate: Candidate
    measurement: Measurement | None
    failure: str | None = None
    died: bool = False

    @property
    def passed(self) -> bool:
        """Whether the candidate ran, was right and gave the same bits in every run."""
        return self.measurement is not None and self.measurement.passed

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
    """Ask a child process whether trials can run here at all, so that nothing is compiled in vain.

    Raises:
        KernelTuneError: The extra is missing, or the GPU is another than the profile's; it says what to do.
        RunError: There is no GPU, or the process ended without an answer.
    """
    job = _job([], [], kernels_root)
    with (
        tempfile.TemporaryDirectory(prefix="kerneltune-") as folder,
        _Child(child, job, Path(folder, "stderr")) as running,
    ):
        answer = running.answer(timeout)
    if "died" in answer:
        raise RunError(f"no kernel can be run here: {answer['died']}")
    if "failure" in answer:
        failed = RunError if answer["exit_code"] == RunError.exit_code else KernelTuneError
        raise failed(answer["failure"])
    refused = other_gpu(
        answer["device"], answer["compute_capability"], profile.name, profile.compute_capability
    )
    if refused:
        raise KernelTuneError(refused)


def run_trials(
    trials: Sequence[Trial],
    kernels_root: Path,
    *,
    timeout: float = 120.0,
    child: Sequence[str] = CHILD,
) -> Iterator[Outcome]:
    """Run each trial in a child process, in order, and yield its outcome as soon as it is known.

    Args:
        trials: What to run.
        kernels_root: The kernels folder, for the reference.
        timeout: Seconds that one trial may take, the reference included.
        child: The command of the child process.
    """
    with tempfile.TemporaryDirectory(prefix="kerneltune-") as folder:
        paths = [_write_cubin(Path(folder), number, trial) for number, trial in enumerate(trials)]
        done = 0
        while done < len(trials):
            job = _job(trials[done:], paths[done:], kernels_root)
            with _Child(child, job, Path(folder, "stderr")) as running:
                for trial in trials[done:]:
                    answer = running.answer(timeout)
                    done += 1
                    yield _outcome(trial, answer)
                    if "died" in answer:
                        break


def _write_cubin(folder: Path, number: int, trial: Trial) -> Path:
    path = folder / f"{number}.cubin"
    path.write_bytes(trial.cubin)
    return path


def _job(trials: Sequence[Trial], paths: Sequence[Path], kernels_root: Path) -> bytes:
    described = [
        {
            "candidate": trial.candidate.to_json(),
            "cubin": str(path),
            "cooperative": trial.cooperative,
            "compute_capability": trial.compute_capability,
            "plan": asdict(trial.plan),
        }
        for trial, path in zip(trials, paths, strict=True)
    ]
    return json.dumps({"kernels_root": str(kernels_root), "trials": described}).encode()


def _outcome(trial: Trial, answer: dict[str, Any]) -> Outcome:
    if "measurement" in answer:
        return Outcome(trial.candidate, Measurement.from_json(answer["measurement"]))
    if "failure" in answer:
        return Outcome(trial.candidate, None, answer["failure"])
    return Outcome(trial.candidate, None, answer["died"], died=True)


class _Child:
    """A child process and a thread that reads its lines, so that waiting for one can end."""

    def __init__(self, command: Sequence[str], job: bytes, stderr: Path) -> None:
        self._stderr_path = stderr
        self._stderr = stderr.open("wb")
        self._process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        threading.Thread(target=_feed, args=(self._process.stdin, job), daemon=True).start()
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._stderr.close()

    def answer(self, timeout: float) -> dict[str, Any]:
        """The next answer; one with the key ``died`` if there will be no more."""
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            self._process.kill()
            return {"died": f"no answer within {timeout:g} s: the process was ended (a hang in the kernel?)"}
        if line is None:
            return {"died": self._last_words()}
        answer: dict[str, Any] = json.loads(line)
        if answer.get("context_lost"):
            return {"died": answer["failure"]}
        return answer

    def _last_words(self) -> str:
        code = self._process.wait()
        how = f"ended with exit code {code}"
        if code < 0:
            how = f"was ended by {signal.Signals(-code).name}"
        text = self._stderr_path.read_text(encoding="utf-8", errors="replace").strip()
        tail = "\n".join(text.splitlines()[-STDERR_LINES:])
        return f"the process that ran it {how}" + (f":\n{tail}" if tail else "")


def _feed(pipe: IO[bytes], job: bytes) -> None:
    try:
        with pipe:
            pipe.write(job)
    except OSError:
        return  # a child that is gone is reported by the silence on its other end


def _read(pipe: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    with pipe:
        for line in pipe:
            lines.put(line)
    lines.put(None)
