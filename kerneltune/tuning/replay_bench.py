"""Several searches on one recording, each with several seeds, and how soon they reach its best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, mean, stdev

from kerneltune.searching.base import SearchBudget
from kerneltune.searching.protocol import Outcome
from kerneltune.tuning.recorded import Recording, replay

CONFIDENCE = 0.95
NEAR_BEST = 1.05  # times the best recorded objective


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
        ratio: The best that a run found, divided by the best recorded, over the runs that passed.
        near: The number of runs that came within 5 % of the best recorded.
        evaluations: The configurations until then, over those runs.
        seconds: The recorded seconds of compiling and running of a whole run.
    """

    strategy: str
    seeds: int
    passed: int
    ratio: Estimate | None
    near: int
    evaluations: Estimate | None
    seconds: Estimate | None

    def to_json(self) -> dict[str, object]:
        """The row as data for JSON."""
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
) -> list[StrategyRuns]:
    """Run each strategy with each seed on a recording.

    Args:
        recording: The measurements.
        strategies: Names of strategies.
        seeds: The seeds, the same for all.
        objective: What is minimised.
        budget: When a run ends.
        prior: Outcomes of another recording.
    """
    known = recording.best(objective).objectives[objective]
    rows = []
    for name in strategies:
        ratios, until, seconds = [], [], []
        for seed in seeds:
            found = replay(recording, name, objective=objective, seed=seed, budget=budget, prior=prior)
            seconds.append(sum(one.compile_seconds + one.run_seconds for one in found.outcomes))
            if found.best is not None:
                ratios.append(found.best.objectives[objective] / known)
            if (evaluations := found.until(NEAR_BEST * known)) is not None:
                until.append(evaluations)
        rows.append(
            StrategyRuns(
                name,
                len(seeds),
                len(ratios),
                Estimate.of(ratios),
                len(until),
                Estimate.of(until),
                Estimate.of(seconds),
            )
        )
    return rows
