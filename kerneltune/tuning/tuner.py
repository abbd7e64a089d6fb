"""Tuning: profile -> space -> compile -> verify -> measure -> rank. Read this first.

Candidates are compiled in the solver's order while others are tried; those in the store are not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import Tightening, settle
from kerneltune.errors import InfeasibleError
from kerneltune.inputs import rules
from kerneltune.measuring.measure import MeasuringPlan, tiling_plan
from kerneltune.pipeline.run import Budget, Pipeline, Progress
from kerneltune.pipeline.stages import MEASURING_CHILD
from kerneltune.pipeline.tiling_trial import TilingTrial, ranked
from kerneltune.pipeline.tilings import InOrder, TilingCompilers, TilingDevices, TilingWork
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.running.cases import Cases
from kerneltune.running.scratch import scratch_folder
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace
from kerneltune.tuning.memory import TilingMemory
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
        seed: The seed of their input.
    """

    top: int = 20
    each: int = 1
    again: bool = False
    timeout: float = 120.0
    plan: MeasuringPlan = field(default_factory=tiling_plan)
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise `InputError` for a plan without times."""
        rules.check({"timed": self.plan.timed}, {"timed": rules.whole(1)})


@dataclass(frozen=True)
class Tuned:
    """The result of tuning.

    Attributes:
        trials: The trial of each candidate that was run or stored, in the model's order.
        left_out: Reasons why candidates were not tried.
        tightenings: The rounds of the register loop.
    """

    trials: tuple[TilingTrial, ...]
    left_out: tuple[str, ...]
    tightenings: tuple[Tightening, ...]

    @property
    def from_store(self) -> int:
        """Number of trials from the store."""
        return sum(trial.stored for trial in self.trials)

    @property
    def ranked(self) -> list[TilingTrial]:
        """The candidates that passed and were timed, the fastest first."""
        return ranked(self.trials)

    @property
    def first_choice(self) -> FirstChoice | None:
        """Quality of the model's first choice; None if it was not timed."""
        return first_choice(self.trials)

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        choice = self.first_choice
        return {
            "outcomes": [trial.reported() for trial in self.ranked],
            "failed": [trial.reported() for trial in self.trials if not trial.passed],
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

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        return {"rank": self.rank, "of": self.of, "loss": round(self.loss, 4)}


def first_choice(trials: Sequence[TilingTrial]) -> FirstChoice | None:
    """The measured rank of the tiling that the model expects to be fastest."""
    order = ranked(trials)
    if not order:
        return None
    chosen = min(order, key=lambda trial: trial.candidate.cycles)
    loss = chosen.objectives[TIME] / order[0].objectives[TIME] - 1
    return FirstChoice(order.index(chosen) + 1, len(order), loss)


def tune(
    space: TilingSpace,
    compiler: Compiler,
    store: Store,
    options: TuneOptions | None = None,
    *,
    notice: Callable[[TilingTrial], None] = lambda trial: None,
    child: Sequence[str] = MEASURING_CHILD,
) -> Tuned:
    """Try the best tilings of a request on this machine's GPU.

    Args:
        space: The request on a profile.
        compiler: Makes cubins for the profile.
        store: The store of trials.
        options: The extent of the run.
        notice: Called with each trial when it is known.
        child: The command of the process that runs kernels.

    Returns:
        The trials.

    Raises:
        InfeasibleError: Nothing fits the GPU.
        KernelTuneError: There is something to try and no GPU for it.
    """
    options = options or TuneOptions()
    with scratch_folder() as folder:
        cases = Cases(space.kernels, folder)
        seed, timeout = options.seed, options.timeout
        devices = TilingDevices(cases, options.plan, lambda request: seed, timeout, child, space.profile)
        compilers = TilingCompilers(compiler)
        try:
            if options.again or not store.tilings(space.profile.name, space.problem):
                space.best()  # compiling takes a while: first check that there is a GPU
                devices.require()
            settled = settle(space, compiler)
            candidates = wanted(settled.space, options)
            kernels = settled.space.kernels
            work = TilingWork(candidates, kernels, options.plan, seed, lambda: devices.device)
            memory = TilingMemory(store, compiler, work, again=options.again, timeout=timeout)

            def told(trial: Trial, progress: Progress) -> None:
                if isinstance(trial, TilingTrial) and work.place(trial.configuration) not in work.left_out:
                    notice(trial)

            pipeline = Pipeline(work, InOrder(candidates), memory, compilers, devices, notice=told)
            progress = pipeline.run(Budget())
        finally:
            devices.close()
            compilers.close()
    store.flush()
    by_place = {work.place(t.configuration): t for t in progress.trials if isinstance(t, TilingTrial)}
    trials = tuple(by_place[place] for place in sorted(by_place) if place not in work.left_out)
    left_out = tuple(work.left_out[place] for place in sorted(work.left_out))
    return Tuned(trials, left_out, settled.tightenings)


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
