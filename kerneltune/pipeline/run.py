"""The pipeline: some candidates are compiled while others are measured, and the search is told of each."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Protocol

from kerneltune.errors import KernelTuneError, MissingExtraError
from kerneltune.inputs.rules import check, number, optional, whole
from kerneltune.messages import Answer, Built, Failed, Order
from kerneltune.pipeline.stages import Compiling, Measuring
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.searching.protocol import Configuration, Strategy, prediction


class Work(Protocol):
    """The subject of a run: it turns configurations into orders, and answers into trials."""

    @property
    def compiles(self) -> bool:
        """Whether a compiler runs before each candidate."""

    def order(self, configuration: Configuration) -> Order:
        """The order of a configuration; raises `KernelTuneError` for one that cannot run here."""

    def refused(self, order: Order, built: Built) -> str | None:
        """The reason why a compiled kernel is not run, such as broken promises; None: it is run."""

    def trial(self, order: Order, built: Built | None, answer: Answer | Failed) -> Trial:
        """The result of an answer."""


class Memory(Protocol):
    """Where trials are kept."""

    def find(self, configuration: Configuration) -> Trial | None:
        """The trial of a configuration that needs no other."""

    def add(self, trial: Trial) -> None:
        """Keep a trial."""


@dataclass
class Budget:
    """When a search ends, besides having tried all.

    Attributes:
        evaluations: Most configurations, those from the store included.
        seconds: Most seconds; running measurements are finished.
        no_gain: Most configurations in a row without a better one.
    """

    evaluations: int | None = None
    seconds: float | None = None
    no_gain: int | None = None

    def __post_init__(self) -> None:
        """Raise `InputError` for a value that breaks its rule."""
        rules = {"evaluations": whole(0), "seconds": number(0), "no_gain": whole(1)}
        check(self.__dict__, {name: optional(rule) for name, rule in rules.items()})


@dataclass
class Progress:
    """The state of a run.

    Attributes:
        trials: The trials so far, in the order of their ends; those that ended together as they began.
        best: The best of them.
        seconds: Since the start.
        first_result: Seconds until the first measurement.
        measuring: Seconds of the devices' work, summed.
    """

    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None
    seconds: float = 0.0
    first_result: float | None = None
    measuring: float = 0.0
    since_best: int = 0


Notice = Callable[[Trial, Progress], None]


class Pipeline:
    """Runs a search.

    Args:
        work: The subject of the run.
        strategy: Proposes configurations.
        memory: Keeps trials.
        compilers: The stage that compiles; None if nothing is.
        devices: The stage that measures.
        better: Whether a trial is better than another.
        gains: Whether a trial is a gain for the budget's `no_gain`; by default, whether it is the best.
        notice: Called with each trial.
        ahead: Configurations in work at a time; by default one for each process and one more for each device.
    """

    def __init__(
        self,
        work: Work,
        strategy: Strategy,
        memory: Memory,
        compilers: Compiling | None,
        devices: Measuring,
        *,
        better: Callable[[Trial, Trial], bool] | None = None,
        gains: Callable[[Trial], bool] | None = None,
        notice: Notice = lambda trial, progress: None,
        ahead: int | None = None,
    ) -> None:
        self._work, self._strategy, self._memory = work, strategy, memory
        self._compilers, self._devices = compilers, devices
        self._better, self._gains = better or _faster, gains
        self._notice = notice
        workers = 0 if compilers is None else compilers.workers
        self._ahead = ahead or workers + devices.depth
        self._building: dict[Future[Built | Failed], Order] = {}
        self._ready: deque[tuple[Order, Built | None]] = deque()
        self._running: dict[Future[Answer | Failed], tuple[Order, Built | None]] = {}
        self.progress = Progress()
        self._asked = 0

    def begin(self, budget: Budget) -> None:
        """Start to compile the first configurations, before the devices can measure."""
        self._fill(budget)

    def run(self, budget: Budget) -> Progress:
        """Run until the search has no more to ask or the budget is spent; the devices' last work is finished.

        Raises:
            KernelTuneError: Nothing can be measured here.
        """
        started = perf_counter()
        over = False
        while True:
            self.progress.seconds = perf_counter() - started
            over = over or self._is_over(budget)
            if over:
                self._drop()
            exhausted = over or not self._fill(budget)
            while self._ready and len(self._running) < self._devices.depth:
                self._measure(*self._ready.popleft())
            waiting: list[Future[Any]] = [*self._building, *self._running]
            if not waiting:
                if exhausted and not self._ready:
                    break
                continue
            left = (
                None if budget.seconds is None or over else max(0.0, budget.seconds - self.progress.seconds)
            )
            done, _ = wait(waiting, timeout=left, return_when=FIRST_COMPLETED)
            for future in waiting:  # in the order of their starts: `done` is a set
                if future in self._building and future in done:
                    self._after_building(future)
                elif future in done:
                    self._after_running(future, started)
        self.progress.seconds = perf_counter() - started
        return self.progress

    def _is_over(self, budget: Budget) -> bool:
        progress = self.progress
        if budget.seconds is not None and progress.seconds >= budget.seconds:
            return True
        return (
            budget.no_gain is not None and progress.best is not None and progress.since_best >= budget.no_gain
        )

    def _drop(self) -> None:
        """Drop all work that is not yet measured, without waiting for compilations."""
        self._ready.clear()
        for future in list(self._building):
            future.cancel()
            del self._building[future]

    def _fill(self, budget: Budget) -> bool:
        """Ask for configurations while there is room; returns whether the search may have more."""
        asked_any = False
        while (room := self._ahead - len(self._building) - len(self._ready) - len(self._running)) > 0:
            if budget.evaluations is not None:
                room = min(room, budget.evaluations - self._asked)
            proposed = self._strategy.ask(room) if room > 0 else []
            if not proposed:
                return asked_any or bool(self._building or self._ready or self._running)
            asked_any = True
            self._asked += len(proposed)
            for configuration in proposed:
                self._begin(configuration)
            if self._is_over(budget):
                break
        return True

    def _begin(self, configuration: Configuration) -> None:
        known = self._memory.find(configuration)
        if known is not None:
            self._end(known)
            return
        try:
            order = self._work.order(configuration)
        except MissingExtraError:
            raise
        except KernelTuneError as error:
            self._end(Trial(configuration, failure=f"not compiled: {error}"), keep=True)
            return
        if self._compilers is None or not self._work.compiles:
            self._ready.append((order, None))
        else:
            self._building[self._compilers.submit(order)] = order

    def _measure(self, order: Order, built: Built | None) -> None:
        best = self.progress.best
        number = len(self.progress.trials)
        future = self._devices.submit(number, order, built, None if best is None else best.time)
        self._running[future] = order, built

    def _after_building(self, future: Future[Built | Failed]) -> None:
        order, built = self._building.pop(future), future.result()
        if isinstance(built, Failed):
            if built.exit_code == MissingExtraError.exit_code:
                raise MissingExtraError.said(built.failure)
            self._end(self._work.trial(order, None, built), keep=True)
            return
        reason = self._work.refused(order, built)
        if reason is None:
            self._ready.append((order, built))
        else:
            self._end(self._work.trial(order, built, Failed(failure=reason)), keep=True)

    def _after_running(self, future: Future[Answer | Failed], started: float) -> None:
        order, built = self._running.pop(future)
        answer = future.result()  # a device that cannot work at all ends the run
        self.progress.measuring += answer.seconds
        if self.progress.first_result is None and not isinstance(answer, Failed):
            self.progress.first_result = perf_counter() - started
        self._end(self._work.trial(order, built, answer), keep=True)

    def _end(self, trial: Trial, keep: bool = False) -> None:
        progress = self.progress
        if keep:
            trial = self._with_prediction(trial)
            self._memory.add(trial)
        progress.trials.append(trial)
        progress.since_best += 1
        if trial.passed and (progress.best is None or self._better(trial, progress.best)):
            progress.best, progress.since_best = trial, 0
        if self._gains is not None and self._gains(trial):
            progress.since_best = 0
        self._strategy.tell(trial.outcome)
        self._notice(trial, progress)

    def _with_prediction(self, trial: Trial) -> Trial:
        value = prediction(self._strategy, trial.configuration)
        return trial if value is None or not math.isfinite(value) else replace(trial, predicted=float(value))


def _faster(one: Trial, other: Trial) -> bool:
    return one.objectives[TIME] < other.objectives[TIME]
