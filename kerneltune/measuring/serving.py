"""Requests to a measuring process: one candidate, or finalists in turns."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kerneltune.errors import KernelTuneError, RunError
from kerneltune.measuring.case import keep_outputs
from kerneltune.measuring.loaded import Backend, Loaded, Readable
from kerneltune.measuring.measure import MeasuringPlan, summary, timed, verified
from kerneltune.measuring.nvml import Gauge
from kerneltune.messages import Answer, Failed, Finals, Request, Timing, Turns

WORDS = 2000  # most characters of a failure


class Server:
    """Answers requests on one backend; used by the child, and by calls in this process.

    Args:
        backend: Runs candidates.
        plan: The work on each.
        observers: Objects with any of `before_start()`, `after_finish()` and `get_results()`, called around
            each timed run.
        gauge: NVML's view of the GPU.
        outputs: The folder where the outputs of each candidate are kept, for the process that judges them.
    """

    def __init__(
        self,
        backend: Backend,
        plan: MeasuringPlan,
        observers: Sequence[object] = (),
        gauge: Gauge | None = None,
        outputs: Path | None = None,
    ) -> None:
        self._backend, self._plan, self._outputs = backend, plan, outputs
        self._observers = list(observers)
        self._gauge = gauge

    def answer(self, request: Request | Finals) -> Answer | Turns | Failed:
        """The answer to a request; failures are answers too."""
        number = request.trial
        try:
            return self._finals(request) if isinstance(request, Finals) else self._one(request)
        except KernelTuneError as error:
            # The driver's errors are sticky, and a kernel with a wrong result may have spoilt other memory.
            return Failed(trial=number, failure=str(error)[:WORDS], lost=isinstance(error, RunError))
        except Exception as error:  # numpy's, pycuda's, torch's own: this candidate fails with the message
            return Failed(trial=number, failure=f"{type(error).__name__}: {error}"[:WORDS], lost=True)

    def _one(self, request: Request) -> Answer:
        started = time.perf_counter()
        with _closing([self._backend.load(request.order, request.built)]) as (loaded,):
            verdict = verified(loaded, self._plan)
            if self._outputs is not None:
                keep_outputs(self._outputs, request.trial or 0, read_outputs(loaded))
            found, told = self._timed(loaded, request.best) if self._plan.timed else (None, {})
            notes = {} if self._gauge is None else self._gauge.state()
            if self._plan.energy_seconds and found is not None and not found.stopped:
                told = {**told, "energy": self._energy(loaded, found)}
        return Answer(
            trial=request.trial,
            timing=found,
            seconds=round(time.perf_counter() - started, 6),
            relative_error=verdict.relative_error if verdict.relative_error < math.inf else None,
            tolerance=verdict.tolerance,
            objectives=told,
            notes=notes,
        )

    def _timed(self, loaded: Loaded, best: float | None) -> tuple[Timing, dict[str, float]]:
        if not self._observers:
            return timed(loaded, self._plan, best), {}
        times: list[float] = []
        for number in range(self._plan.timed):
            _tell(self._observers, "before_start")
            times += loaded.time(1, flush=self._plan.flush, warm_up=self._plan.warm_up if number == 0 else 0)
            _tell(self._observers, "after_finish")
        told: dict[str, float] = {}
        for observer in self._observers:
            told |= _results(observer)
        return summary(times), told

    def _energy(self, loaded: Loaded, found: Timing) -> float:
        """Joules of one run: the board's counter over many runs, since it counts slowly."""
        before = None if self._gauge is None else self._gauge.joules()
        if before is None:
            raise RunError(
                "this machine does not tell its energy: NVML (nvidia-ml-py) and a GPU that counts it"
            )
        assert self._gauge is not None
        count = max(1, round(self._plan.energy_seconds * 1e3 / found.median))
        loaded.time(count, flush=self._plan.flush, warm_up=0)
        after = self._gauge.joules()
        return ((after or before) - before) / count

    def _finals(self, request: Finals) -> Turns:
        """Times of several candidates that are run in turns, so that a drift of clocks meets all alike."""
        started = time.perf_counter()
        with _closing([]) as loaded:
            for order, built in zip(request.orders, request.builts, strict=True):
                loaded.append(self._backend.load(order, built))
            times: list[list[float]] = [[] for _ in loaded]
            for turn in range(request.rounds):
                places = range(len(loaded))
                for i in places if turn % 2 == 0 else reversed(places):
                    times[i] += loaded[i].time(
                        request.samples, flush=self._plan.flush, warm_up=self._plan.warm_up
                    )
        taken = round(time.perf_counter() - started, 6)
        return Turns(trial=request.trial, times=tuple(map(tuple, times)), seconds=taken)


@contextmanager
def _closing(loaded: list[Loaded]) -> Iterator[list[Loaded]]:
    """Close candidates at the end; after an error, without further ones that would hide it."""
    try:
        yield loaded
    except BaseException:
        for one in loaded:
            with suppress(Exception):
                one.close()
        raise
    for one in loaded:
        one.close()


def _tell(observers: Sequence[object], event: str) -> None:
    for observer in observers:
        method = getattr(observer, event, None)
        if method is not None:
            method()


def read_outputs(loaded: Loaded) -> Mapping[str, NDArray[Any]]:
    """The outputs of the last run by name; raises `RunError` for a kind of kernels that gives none."""
    if not isinstance(loaded, Readable):
        raise RunError("the outputs of this kind of kernels cannot be read")
    return loaded.read()


def _results(observer: object) -> dict[str, float]:
    method = getattr(observer, "get_results", None)
    found = {} if method is None else method()
    try:
        return {str(name): float(value) for name, value in dict(found).items()}
    except (TypeError, ValueError) as error:
        raise RunError(f"the observer {type(observer).__name__} gives no numbers: {error}") from None
