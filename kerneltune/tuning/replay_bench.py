"""Several searches on one recording, each with several seeds, and how soon they reach its best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, mean, stdev

from kerneltune.searching.base import SearchBudget
from kerneltune.searching.protocol import Outcome
from kerneltune.tuning.goals import Goals
from kerneltune.tuning.recorded import Recording
from kerneltune.tuning.replaying import Attainment, Replayed, replay

CONFIDENCE = 0.95
MOST_POINTS = 200  # of a curve


@dataclass(frozen=True)
class Estimate:
    """A mean of several runs, with its interval of 95 % confidence (of a normal distribution of the mean).

    Attributes:
        mean: The mean.
        low: The interval's lower end.
        high: Its upper end; both are the mean where there is one run.
    """

    mean: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Estimate | None:
        """The estimate from some values; None without any."""
        if not values:
            return None
        middle = mean(values)
        if len(values) == 1:
            return Estimate(middle, middle, middle)
        width = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2) * stdev(values) / len(values) ** 0.5
        return Estimate(middle, middle - width, middle + width)

    def to_json(self) -> dict[str, float]:
        """The estimate as data for JSON."""
        return {"mean": self.mean, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {self.high - self.mean:.2g}"


@dataclass(frozen=True)
class StrategyRuns:
    """The runs of a strategy with several seeds.

    Attributes:
        strategy: Its name.
        seeds: The number of runs.
        passed: The number of runs that found a configuration that works.
        ratio: The attainment of the whole run (see `Attainment`), over the runs that passed.
        near: The number of runs that came within 5 % of the best recorded, or of the front's hypervolume.
        evaluations: The configurations until then, over those runs.
        seconds: The recorded seconds of compiling and running of a whole run.
        curve: The attainment after so many configurations, over the runs in which one has passed.
    """

    strategy: str
    seeds: int
    passed: int
    ratio: Estimate | None
    near: int
    evaluations: Estimate | None
    seconds: Estimate | None
    curve: tuple[tuple[int, Estimate], ...] = ()

    def to_json(self) -> dict[str, object]:
        """The row as data for JSON, without the curve."""
        return {
            "strategy": self.strategy,
            "seeds": self.seeds,
            "passed": self.passed,
            "ratio": None if self.ratio is None else self.ratio.to_json(),
            "near": self.near,
            "evaluations": None if self.evaluations is None else self.evaluations.to_json(),
            "seconds": None if self.seconds is None else self.seconds.to_json(),
        }


def replay_each(
    recording: Recording,
    strategies: Sequence[str],
    seeds: Sequence[int],
    *,
    objective: str = "time",
    budget: SearchBudget | None = None,
    prior: Sequence[Outcome] = (),
    keep: Callable[[str, int, Replayed], None] = lambda strategy, seed, found: None,
) -> list[StrategyRuns]:
    """Run each strategy with each seed on a recording.

    Args:
        recording: The measurements.
        strategies: Names of strategies.
        seeds: The seeds, the same for all.
        objective: What is searched for; several with commas between.
        budget: When a run ends.
        prior: Outcomes of another recording.
        keep: Called with each run.
    """
    attainment = Attainment(recording, Goals.of(objective))
    rows = []
    for name in strategies:
        curves: list[list[float | None]] = []
        seconds = []
        for seed in seeds:
            found = replay(recording, name, objective=objective, seed=seed, budget=budget, prior=prior)
            keep(name, seed, found)
            seconds.append(sum(one.compile_seconds + one.run_seconds for one in found.trials))
            curves.append(attainment.after_each(found.trials))
        rows.append(_row(name, attainment, curves, seconds))
    return rows


def _row(
    name: str, attainment: Attainment, curves: Sequence[list[float | None]], seconds: Sequence[float]
) -> StrategyRuns:
    ends = [curve[-1] for curve in curves if curve and curve[-1] is not None]
    reached = (
        next((n for n, value in enumerate(curve, 1) if value is not None and attainment.is_near(value)), None)
        for curve in curves
    )
    until = [one for one in reached if one is not None]
    return StrategyRuns(
        name,
        len(curves),
        len(ends),
        Estimate.of(ends),
        len(until),
        Estimate.of(until),
        Estimate.of(seconds),
        tuple(_curve(curves)),
    )


def _curve(curves: Sequence[list[float | None]]) -> list[tuple[int, Estimate]]:
    """The mean after so many configurations; a run that has ended stays where it was."""
    longest = max(map(len, curves), default=0)
    step = max(1, longest // MOST_POINTS)
    found = []
    for count in sorted({*range(1, longest + 1, step), *([longest] if longest else [])}):
        values = [curve[min(count, len(curve)) - 1] for curve in curves if curve]
        estimate = Estimate.of([one for one in values if one is not None])
        if estimate is not None:
            found.append((count, estimate))
    return found
