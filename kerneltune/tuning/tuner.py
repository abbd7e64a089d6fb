"""Tuning: profile -> space -> compile -> verify -> measure -> rank. Read this first.

Candidates are compiled in the solver's order while others are tried; those in the store are not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import Tightening, settle
from kerneltune.errors import InfeasibleError
from kerneltune.pipeline.run import Budget, Pipeline
from kerneltune.running.measure import TrialPlan
from kerneltune.running.scratch import scratch_folder
from kerneltune.running.trial import CHILD, Outcome, TrialStream, require_gpu
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace
from kerneltune.tuning.recurrent import (
    NUMBER,
    InOrder,
    NoMemory,
    RecurrentDevice,
    RecurrentWork,
    ThreadCompilers,
)
from kerneltune.tuning.store import Store


@dataclass(frozen=True)
class TuneOptions:
    """The extent of a tuning run.

    Attributes:
        top: Number of tilings, the fastest by the model first.
        each: Number of further tilings of every strategy.
        again: Whether to try candidates that are in the store.
        timeout: Seconds for one trial.
        plan: The work on each candidate.
    """

    top: int = 20
    each: int = 1
    again: bool = False
    timeout: float = 120.0
    plan: TrialPlan = field(default_factory=TrialPlan)


@dataclass(frozen=True)
class Tuned:
    """The result of tuning.

    Attributes:
        outcomes: The outcome of each candidate, in the model's order.
        from_store: Number of outcomes from the store.
        left_out: Reasons why candidates were not tried.
        tightenings: The rounds of the register loop.
    """

    outcomes: tuple[Outcome, ...]
    from_store: int
    left_out: tuple[str, ...]
    tightenings: tuple[Tightening, ...]

    @property
    def ranked(self) -> list[Outcome]:
        """The candidates that passed and were timed, the fastest first."""
        return ranked(self.outcomes)

    @property
    def first_choice(self) -> FirstChoice | None:
        """Quality of the model's first choice; None if it was not timed."""
        return first_choice(self.outcomes)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        choice = self.first_choice
        return {
            "outcomes": [outcome.to_json() for outcome in self.ranked],
            "failed": [outcome.to_json() for outcome in self.outcomes if not outcome.passed],
            "from_store": self.from_store,
            "left_out": list(self.left_out),
            "tightenings": [turn.sentence for turn in self.tightenings],
            "first_choice": None if choice is None else choice.to_json(),
        }


@dataclass(frozen=True)
class FirstChoice:
    """The model's first choice among the timed candidates.

    Attributes:
        rank: Its place by measured time, from 1.
        of: Number of timed candidates.
        loss: Its time over the fastest, less 1.
    """

    rank: int
    of: int
    loss: float

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"rank": self.rank, "of": self.of, "loss": round(self.loss, 4)}


def milliseconds(outcome: Outcome) -> float | None:
    """The measured time of a candidate that passed."""
    return outcome.measurement.milliseconds if outcome.passed and outcome.measurement else None


def ranked(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The candidates that passed and were timed, the fastest first."""
    timed = [(time, i) for i, outcome in enumerate(outcomes) if (time := milliseconds(outcome)) is not None]
    return [outcomes[i] for _, i in sorted(timed)]


def first_choice(outcomes: Sequence[Outcome]) -> FirstChoice | None:
    """The measured rank of the tiling that the model expects to be fastest."""
    order = ranked(outcomes)
    if not order:
        return None
    chosen = min(order, key=lambda outcome: outcome.candidate.cycles)
    time, best = milliseconds(chosen), milliseconds(order[0])
    assert time is not None
    assert best is not None
    return FirstChoice(order.index(chosen) + 1, len(order), time / best - 1)


def tune(
    space: TilingSpace,
    compiler: Compiler,
    store: Store,
    options: TuneOptions | None = None,
    *,
    notice: Callable[[Outcome, bool], None] = lambda outcome, known: None,
    child: Sequence[str] = CHILD,
) -> Tuned:
    """Try the best tilings of a request on this machine's GPU.

    Args:
        space: The request on a profile.
        compiler: Makes cubins for the profile.
        store: The store of trials.
        options: The extent of the run.
        notice: Called with each outcome when it is known, and whether it came from the store.
        child: The command of the process that runs kernels.

    Returns:
        The outcomes.

    Raises:
        InfeasibleError: Nothing fits the GPU.
        KernelTuneError: As from `require_gpu`, if there is something to try and no GPU for it.
    """
    options = options or TuneOptions()
    asked = False

    def ask_for_gpu() -> None:
        nonlocal asked
        if not asked:
            require_gpu(space.profile, child=child)
        asked = True

    if options.again or not store.trials(space.profile.name, space.problem):
        space.best()  # compiling takes a while: first check that there is a GPU
        ask_for_gpu()
    settled = settle(space, compiler)
    work = RecurrentWork(wanted(settled.space, options))
    told = _telling(work, notice)
    with scratch_folder() as folder:
        stream = TrialStream(space.kernels.root, folder, options.timeout, child)
        compilers = ThreadCompilers(compiler)
        device = RecurrentDevice(
            *(settled.space, store, stream, options.plan),
            again=options.again,
            timeout=options.timeout,
            first=ask_for_gpu,
        )
        try:
            search = InOrder(len(work.candidates))
            Pipeline(work, search, NoMemory(), compilers, device, notice=told).run(Budget())
        finally:
            device.close()
            compilers.close()
    store.flush()
    outcomes = tuple(work.outcomes[i] for i in sorted(work.outcomes))
    left_out = tuple(work.left_out[i] for i in sorted(work.left_out))
    return Tuned(outcomes, len(work.stored), left_out, settled.tightenings)


def _telling(work: RecurrentWork, notice: Callable[[Outcome, bool], None]) -> Callable[[Any, Any], None]:
    """A notice of the pipeline that reports outcomes."""

    def told(trial: Any, progress: Any) -> None:
        number = int(trial.configuration[NUMBER])
        if number in work.outcomes:
            notice(work.outcomes[number], number in work.stored)

    return told


def wanted(space: TilingSpace, options: TuneOptions) -> list[Candidate]:
    """The best tilings over all strategies, and the best of each strategy, without repetition."""
    found = space.candidates(options.top)
    if not found:
        raise InfeasibleError(space.why_empty())
    if options.each and space.strategy is None:
        for strategy in space.applicable():
            present = sum(candidate.strategy == strategy.name for candidate in found)
            if present < options.each:
                found += space.of_strategy(strategy.name).candidates(options.each)[present:]
    return sorted(found, key=lambda candidate: candidate.cycles)
