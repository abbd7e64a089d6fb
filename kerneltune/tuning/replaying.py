"""A search on recorded measurements, and how near it comes to the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kerneltune.errors import InputError
from kerneltune.pipeline.trial import Trial
from kerneltune.searching.base import Search, SearchBudget
from kerneltune.searching.protocol import Configuration, Outcome, prediction
from kerneltune.searching.strategies import strategy
from kerneltune.tuning.goals import Goals, Minimising
from kerneltune.tuning.recorded import Recording

NEAR_BEST = 1.05  # times the best recorded objective
NEAR_FRONT = 0.95  # of the recorded front's hypervolume
BEYOND = 1.1  # the reference point of hypervolumes: the front's range from its best to here
Costs = tuple[float, ...]


@dataclass(frozen=True)
class Replayed:
    """A search that ran on recorded measurements.

    Attributes:
        trials: What it asked for, in order, with what it predicted.
        search: The search, with what it learned.
        goals: What was searched for.
    """

    trials: tuple[Trial, ...]
    search: Search
    goals: Goals

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of the trials."""
        return tuple(trial.outcome for trial in self.trials)

    @property
    def best(self) -> Outcome | None:
        """The best in the first objective."""
        known = [(costs[0], trial) for trial in self.trials if (costs := self.goals.costs(trial))]
        return min(known, key=lambda pair: pair[0])[1].outcome if known else None

    def until(self, value: float) -> int | None:
        """The number of configurations until one's first objective was as good as this; None if none was."""
        sign = -1 if self.goals.names[0] in self.goals.maximised else 1
        reached = (
            place + 1
            for place, trial in enumerate(self.trials)
            if (costs := self.goals.costs(trial)) and costs[0] <= sign * value
        )
        return next(reached, None)


def replay(
    recording: Recording,
    name: str = "auto",
    *,
    objective: str = "time",
    seed: int = 0,
    budget: SearchBudget | None = None,
    prior: Sequence[Outcome] = (),
) -> Replayed:
    """Run a search on recorded measurements: no GPU, the same each time.

    Args:
        recording: The measurements.
        name: The strategy.
        objective: What is searched for; several with commas between.
        seed: The search's seed.
        budget: When it ends; its seconds are those that were recorded.
        prior: Outcomes of another recording.
    """
    goals, spent = Goals.of(objective), [0.0]
    given = {"objective": goals.names, "seed": seed, "budget": budget, "clock": lambda: spent[0]}
    prior = [replace(goals.turned(one), configuration=recording.told(one.configuration)) for one in prior]
    search = strategy(name, recording.space(), prior=prior, **given)  # type: ignore[arg-type]
    told = Minimising(search, goals)
    known = {_key(recording.told(one.configuration)): one for one in recording.outcomes}
    trials: list[Trial] = []
    while asked := told.ask(1):
        expected = prediction(told, asked[0])
        trials.append(trial_of(known[_key(asked[0])], expected))
        spent[0] += trials[-1].compile_seconds + trials[-1].run_seconds
        told.tell(replace(trials[-1].outcome, configuration=asked[0]))
    return Replayed(tuple(trials), search, goals)


def trial_of(outcome: Outcome, predicted: float | None = None) -> Trial:
    """A recorded outcome as a trial."""
    return Trial(
        outcome.configuration,
        dict(outcome.objectives),
        outcome.failure,
        outcome.compile_seconds,
        outcome.run_seconds,
        resources=dict(outcome.resources),
        predicted=predicted,
    )


def _key(configuration: Configuration) -> tuple[object, ...]:
    return tuple(sorted(configuration.items()))


class Attainment:
    """How near runs come to the best of a recording.

    Of one objective, this is the best found relative to the best recorded, 1 or more. Of several, it is the
    share of the recorded front's hypervolume that what was found dominates, 1 or less.

    Args:
        recording: The measurements.
        goals: What is searched for.
    """

    def __init__(self, recording: Recording, goals: Goals) -> None:
        self.goals = goals
        trials = [trial_of(outcome) for outcome in recording.outcomes]
        front = [costs for one in goals.front(trials) if (costs := goals.costs(one)) is not None]
        if not front:
            what = "objective" if len(goals.names) == 1 else "objectives"
            names = "' and '".join(goals.names)
            raise InputError(f"no recorded result of {recording.kernel} has the {what} '{names}'")
        self.is_single = len(goals.names) == 1
        self.known = front[0]
        self._least = tuple(map(min, zip(*front, strict=True)))
        widths = [max(column) - min(column) for column in zip(*front, strict=True)]
        self._widths = tuple(width or abs(low) or 1.0 for width, low in zip(widths, self._least, strict=True))
        self._whole = hypervolume([self._scaled(costs) for costs in front])

    def after_each(self, trials: Sequence[Trial]) -> list[float | None]:
        """The attainment after each trial; None before the first that passed."""
        return list(self._single(trials) if self.is_single else self._several(trials))

    def is_near(self, value: float) -> bool:
        """Whether an attainment counts as found."""
        return value <= NEAR_BEST if self.is_single else value >= NEAR_FRONT

    def _single(self, trials: Sequence[Trial]) -> Iterator[float | None]:
        best, (known,) = None, self.known
        for trial in trials:
            costs = self.goals.costs(trial)
            if costs is not None and (best is None or costs[0] < best):
                best = costs[0]
            if best is None or not best or not known:
                yield None if best is None else 1.0
            else:
                yield best / known if known > 0 else known / best

    def _several(self, trials: Sequence[Trial]) -> Iterator[float | None]:
        front: list[Costs] = []
        value = None
        for trial in trials:
            costs = self.goals.costs(trial)
            point = None if costs is None else self._scaled(costs)
            if point is not None and not any(_dominates(other, point) for other in front):
                front = [point, *(other for other in front if not _dominates(point, other))]
                value = hypervolume(front) / self._whole
            yield value

    def _scaled(self, costs: Costs) -> Costs:
        """Costs where 0 is the front's best and 1 its worst."""
        parts = zip(costs, self._least, self._widths, strict=True)
        return tuple((cost - low) / width for cost, low, width in parts)


def _dominates(one: Costs, other: Costs) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def hypervolume(points: Sequence[Costs]) -> float:
    """The volume between points and the reference point, whose coordinates are `BEYOND`."""
    inside = sorted({point for point in points if all(value < BEYOND for value in point)})
    if not inside:
        return 0.0
    if len(inside[0]) == 1:
        return BEYOND - inside[0][0]
    total = 0.0
    for place, point in enumerate(inside):
        end = inside[place + 1][0] if place + 1 < len(inside) else BEYOND
        if end > point[0]:
            total += (end - point[0]) * hypervolume([one[1:] for one in inside[: place + 1]])
    return total
