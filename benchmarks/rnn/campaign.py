"""A verification campaign: processes compile cases ahead, threads run them in child processes."""

from __future__ import annotations

import queue
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import sanitizer
from drawing import Drawing, Prepared, prepare

from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.stages import MEASURING_CHILD
from kerneltune.pipeline.tiling_trial import TilingTrial
from kerneltune.pipeline.tilings import CompiledTiling, run_tilings

BATCH = 16  # cases for one child process
WAITING = 256  # compiled cases that may wait for a child process
TRIAL_SECONDS = 30.0  # time limit of a case
ENDING_SECONDS = 12.0  # time for a child process to exit
SANITIZED_SECONDS = 60.0  # time limit of a case under a tool
SANITIZERS = 2  # threads
SAMPLE = 1_000_000  # cases from this number on are small ones for the sanitizer


@dataclass
class Budget:
    """A time budget, from now on."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def spent(self) -> float:
        return self.clock() - self.started

    def allows(self, seconds: float) -> bool:
        """Whether work of at most this duration may still begin."""
        return self.seconds - self.spent >= seconds


@dataclass
class Campaign:
    """The plan of a verification, and its results.

    Attributes:
        drawing: The cases; the sample has the same seed and smaller limits.
        budget: The time budget.
        runs: Number of runs whose results must be bitwise equal.
        backend: The compiler.
        child: The command of the process that runs kernels.
        preparation: Draws and compiles a case; a module-level function, since other processes call it.
        trial_seconds: Time limit of a case.
        sanitized_seconds: Time limit of a case under a tool.
        rows: The results: a row for each case, and for each tool under which a case ran.
        unfinished: Cases that were compiled, but not run in time.
        errors: Errors of this script itself; there must be none.
    """

    drawing: Drawing
    budget: Budget
    runs: int = 3
    backend: str = "nvrtc"
    child: Sequence[str] = MEASURING_CHILD
    preparation: Callable[[Drawing, int, str], Prepared] = prepare
    trial_seconds: float = TRIAL_SECONDS
    sanitized_seconds: float = SANITIZED_SECONDS
    rows: list[dict[str, Any]] = field(default_factory=list)
    unfinished: int = 0
    errors: list[str] = field(default_factory=list)
    _ready: queue.Queue[Prepared | None] = field(default_factory=queue.Queue)
    _sampled: queue.Queue[tuple[str, Prepared] | None] = field(default_factory=queue.Queue)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def verify(
        self, cases: int | None, *, workers: int, lanes: int, tools: Sequence[str] = (), sample: int = 0
    ) -> None:
        """Run the cases from number 0 on.

        Args:
            cases: Number of cases; None for as many as time allows.
            workers: Processes that compile.
            lanes: Child processes that run kernels at the same time.
            tools: Tools of compute-sanitizer.
            sample: Number of additional cases that run under each tool.
        """
        numbers = [SAMPLE + i for i in range(sample)] if tools else []
        threads = [threading.Thread(target=self._guarded, args=(self._lane,)) for _ in range(lanes)]
        if numbers:
            threads += [
                threading.Thread(target=self._guarded, args=(self._sanitize,)) for _ in range(SANITIZERS)
            ]
        for thread in threads:
            thread.start()
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        try:
            self._feed(pool, numbers, cases, 3 * workers, tools)
        except BrokenExecutor as error:
            self._failed(error)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in active_children():
                process.kill()
            for _ in threads:
                self._ready.put(None)
                self._sampled.put(None)
            for thread in threads:
                thread.join()

    def again(self, number: int, tools: Sequence[str] = ()) -> None:
        """Run one case, plainly or under tools."""
        drawing = self._drawing_of(number)
        if tools:
            drawing = replace(drawing, for_tools=True)
        prepared = self.preparation(drawing, number, self.backend)
        if not self._is_ready(prepared):
            return
        if not tools:
            self._run([prepared])
        for tool in tools:
            self._run_under(tool, prepared)

    def noted(self) -> list[dict[str, Any]]:
        """The rows so far, by number."""
        with self._lock:
            return sorted(self.rows, key=lambda row: (row["case"], row.get("tool", "")))

    def _feed(
        self,
        pool: ProcessPoolExecutor,
        sample: list[int],
        cases: int | None,
        ahead: int,
        tools: Sequence[str],
    ) -> None:
        """Keep the compiling processes busy and the threads fed, until the cases or the time end."""
        running: set[Future[Prepared]] = set()
        number = 0
        while self._time_for_a_case():
            while len(running) < ahead and self._ready.qsize() < WAITING:
                if not sample and cases is not None and number >= cases:
                    break
                chosen = sample.pop(0) if sample else number
                number += chosen == number
                running.add(pool.submit(self.preparation, self._drawing_of(chosen), chosen, self.backend))
            if not running and self._ready.qsize() < WAITING:
                return
            done, running = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
            broken = [future for future in done if isinstance(future.exception(), BrokenExecutor)]
            for future in done.difference(broken):
                self._sort(future, tools)
            if broken:
                broken[0].result()  # raises: the other submitted cases are lost as well

    def _sort(self, future: Future[Prepared], tools: Sequence[str]) -> None:
        try:
            prepared = future.result()
        except Exception as error:  # a case that cannot be drawn is this script's fault: report it
            self._failed(error)
            return
        if not self._is_ready(prepared):
            return
        if prepared.drawn.number < SAMPLE:
            self._ready.put(prepared)
        else:
            for tool in tools:
                self._sampled.put((tool, prepared))

    def _drawing_of(self, number: int) -> Drawing:
        return self.drawing if number < SAMPLE else self.drawing.small()

    def _is_ready(self, prepared: Prepared) -> bool:
        if prepared.failure is None:
            return True
        # It is no failure if no shape has a tiling; it is one if a tiling does not compile.
        self._note(self._row(prepared, failure=prepared.failure, passed=prepared.drawn.candidate is None))
        return False

    def _time_for_a_case(self) -> bool:
        return self.budget.allows(self.trial_seconds + ENDING_SECONDS)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # an exception in a thread would go unseen
            self._failed(error)

    def _lane(self) -> None:
        while batch := self._batch():
            if self._time_for_a_case():
                self._run(batch)
            else:
                self._lost(len(batch))

    def _batch(self) -> list[Prepared]:
        """The waiting cases, at most a batch and at least one; none at the end."""
        first = self._ready.get()
        batch = [] if first is None else [first]
        while batch and len(batch) < BATCH:
            try:
                more = self._ready.get_nowait()
            except queue.Empty:
                break
            if more is None:
                self._ready.put(None)  # the next call finds it again
                break
            batch.append(more)
        return batch

    def _run(self, batch: Sequence[Prepared]) -> None:
        tilings = [self._tiling(prepared) for prepared in batch]
        done = 0
        root, plan = self.drawing.kernels.root, tiling_plan(self.runs, 0)
        for trial in run_tilings(tilings, root, plan, timeout=self.trial_seconds, child=self.child):
            self._note(self._row(batch[done], trial))
            done += 1
            if not self._time_for_a_case():
                break
        self._lost(len(batch) - done)

    def _sanitize(self) -> None:
        while (job := self._sampled.get()) is not None:
            if self.budget.allows(self.sanitized_seconds + ENDING_SECONDS):
                self._run_under(*job)
            else:
                self._lost(1)

    def _run_under(self, tool: str, prepared: Prepared) -> None:
        """Run one case once under a tool: it must be clean, and its result correct."""
        with tempfile.TemporaryDirectory(prefix="sanitizer-") as folder:
            log = Path(folder, "log")
            command = sanitizer.command(tool, self.child, log, self.sanitized_seconds - 5)
            own = replace(prepared, cubin=prepared.cubins.get(tool, prepared.cubin))
            root, plan = self.drawing.kernels.root, tiling_plan(1, 0)
            tilings = [self._tiling(own)]
            (trial,) = run_tilings(tilings, root, plan, timeout=self.sanitized_seconds, child=command)
            found = sanitizer.read(tool, log)
        row = self._row(prepared, trial, passed=trial.passed and found.clean)
        self._note(row | {"tool": tool, "tool_errors": found.errors, "tool_text": found.text})

    def _tiling(self, prepared: Prepared) -> CompiledTiling:
        candidate, number = prepared.drawn.candidate, prepared.drawn.number
        assert candidate is not None
        kernels = self.drawing.kernels.for_pass(candidate.problem.direction)
        cooperative = kernels.strategy(candidate.strategy).spec.cooperative
        return CompiledTiling(candidate, prepared.cubin, cooperative, self.drawing.input_seed(number))

    def _row(
        self,
        prepared: Prepared,
        trial: TilingTrial | None = None,
        *,
        failure: str | None = None,
        passed: bool | None = None,
    ) -> dict[str, Any]:
        """A row of the results; it has the whole candidate only if the case did not pass."""
        drawn = prepared.drawn
        ok = trial is not None and trial.passed if passed is None else passed
        row: dict[str, Any] = {"case": drawn.number, **asdict(drawn.kind), "passed": ok}
        if drawn.candidate is not None:
            row["problem"] = asdict(drawn.candidate.problem)
            row["parameters"] = dict(drawn.candidate.parameters)
        if trial is not None and trial.passed:
            found = trial.reported()["measurement"]
            row |= {
                name: found[name] for name in ("relative_error", "runs", "runs_with_same_bits", "verdict")
            }
        said = failure or (trial.failure if trial else None)
        if said:
            row["failure"] = said
        if prepared.broken:
            row["broken_promises"] = list(prepared.broken)
        if not ok and drawn.candidate is not None:
            row["candidate"] = drawn.candidate.to_json()
        return row

    def _note(self, row: dict[str, Any]) -> None:
        with self._lock:
            self.rows.append(row)

    def _lost(self, count: int) -> None:
        with self._lock:
            self.unfinished += count

    def _failed(self, error: Exception) -> None:
        with self._lock:
            self.errors.append(f"{type(error).__name__}: {error}")
