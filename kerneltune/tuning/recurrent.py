"""Recurrent networks as work for the pipeline: their compiler, their trials, their store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from kerneltune.compiling.compile import Compiled, Compiler
from kerneltune.errors import CompilationError
from kerneltune.messages import Failed
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.running import trial as trials
from kerneltune.running.measure import TrialPlan, predicted_anew
from kerneltune.running.trial import Outcome, TrialStream
from kerneltune.searching.protocol import Configuration
from kerneltune.searching.protocol import Outcome as Told
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace
from kerneltune.tuning.store import Store, trial_key

NUMBER = "candidate"  # the only entry of a configuration: its place in the model's order


class InOrder:
    """The search of recurrent networks: the candidates in the model's order."""

    def __init__(self, count: int) -> None:
        self._left = list(range(count))

    def ask(self, count: int) -> list[Configuration]:
        """The next candidates."""
        taken, self._left = self._left[:count], self._left[count:]
        return [{NUMBER: number} for number in taken]

    def tell(self, outcome: Told) -> None:
        """The order stays."""


@dataclass(frozen=True)
class Chosen:
    """A candidate and its place."""

    number: int
    candidate: Candidate


@dataclass(frozen=True)
class Tried:
    """The outcome of a candidate, and whether the store had it."""

    outcome: Outcome
    stored: bool
    seconds: float = 0.0


@dataclass
class RecurrentWork:
    """Candidates as orders, and what became of each.

    Attributes:
        candidates: In the model's order.
        outcomes: By place; those that were left out are missing.
        left_out: Reasons by place.
        stored: Places whose outcome came from the store.
    """

    candidates: Sequence[Candidate]
    compiles: bool = True
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)

    def order(self, configuration: Configuration) -> Chosen:
        """The candidate of a place."""
        number = int(configuration[NUMBER])
        return Chosen(number, self.candidates[number])

    def refused(self, order: Chosen, built: Compiled) -> str | None:
        """The predictions that the compiled kernel exceeds."""
        return "; ".join(built.report.broken_promises()) or None

    def trial(self, order: Chosen, built: Compiled | None, answer: Tried | Failed) -> Trial:
        """The result of an answer; the outcome itself is kept."""
        number, configuration = order.number, dict[str, int | float | str | bool]({NUMBER: order.number})
        if isinstance(answer, Failed):
            self.left_out[number] = f"{order.candidate.strategy}: {answer.failure}"
            return Trial(configuration, failure=answer.failure)
        outcome = self.outcomes[number] = answer.outcome
        if answer.stored:
            self.stored.add(number)
        found = outcome.measurement
        if not outcome.passed or found is None or found.milliseconds is None:
            failure = outcome.failure or "the result is wrong, or differs between runs"
            return Trial(configuration, failure=failure)
        return Trial(configuration, {TIME: found.milliseconds})


class ThreadCompilers:
    """The compile stage: NVRTC and nvcc run outside Python's lock, so threads do.

    Args:
        compiler: Makes cubins for the profile.
        workers: Number of threads; by default one for each processor.
    """

    def __init__(self, compiler: Compiler, workers: int | None = None) -> None:
        self.workers = workers or min(16, os.cpu_count() or 1)
        self._compiler = compiler
        self._pool = ThreadPoolExecutor(self.workers, "kerneltune-compile")

    def submit(self, order: Chosen) -> Future[Compiled | Failed]:
        """Start a compilation."""
        return self._pool.submit(self._compiled, order.candidate)

    def _compiled(self, candidate: Candidate) -> Compiled | Failed:
        try:
            return self._compiler.compile(candidate)
        except CompilationError as error:
            return Failed(failure=str(error))

    def close(self) -> None:
        """Wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)


class RecurrentDevice:
    """The measuring stage: one child process; what the store has is not run again.

    Args:
        space: The request on a profile.
        store: The store of trials.
        stream: Runs trials.
        plan: The work of a trial.
        again: Whether to run what is in the store.
        timeout: Seconds for one trial.
        first: Called before the first trial that is run.
    """

    slots = depth = 1

    def __init__(
        self,
        space: TilingSpace,
        store: Store,
        stream: TrialStream,
        plan: TrialPlan,
        *,
        again: bool,
        timeout: float,
        first: Callable[[], None],
    ) -> None:
        self._space, self._store, self._stream, self._plan = space, store, stream, plan
        self._again, self._timeout = again, timeout
        self._first: Callable[[], None] | None = first

    def submit(
        self, number: int, order: Chosen, built: Compiled | None, best: float | None
    ) -> Future[Tried | Failed]:
        """Run one trial; sqlite's connection stays in its thread, so this waits."""
        assert built is not None
        done: Future[Tried | Failed] = Future()
        done.set_result(self._answered(built))
        return done

    def _answered(self, compiled: Compiled) -> Tried:
        key = trial_key(compiled.key, compiled.candidate)
        stored = None if self._again else self._store.find(key)
        if stored is not None and stored.outcome.is_final(self._timeout):
            return Tried(as_of_now(stored.outcome, compiled.candidate), stored=True)
        if self._first is not None:
            self._first()
            self._first = None
        spec = self._space.kernels.strategy(compiled.candidate.strategy).spec
        capability = self._space.profile.compute_capability
        trial = trials.Trial(compiled.candidate, compiled.cubin, spec.cooperative, capability, self._plan)
        outcome = self._stream.run(trial)
        self._store.add(key, outcome)
        return Tried(outcome, stored=False)

    def close(self) -> None:
        """End the child."""
        self._stream.end()


def as_of_now(outcome: Outcome, candidate: Candidate) -> Outcome:
    """A stored outcome of the same kernel, with the present cost model's prediction."""
    found = outcome.measurement
    return replace(
        outcome, candidate=candidate, measurement=None if found is None else predicted_anew(found, candidate)
    )


class NoMemory:
    """No memory here: the store is queried where kernels are compiled, since its keys depend on the code."""

    def find(self, configuration: Configuration) -> Trial | None:
        """Nothing is known before the compilation."""
        return None

    def add(self, trial: Trial) -> None:
        """Outcomes are stored where they are made."""
