"""The goals of a run: one objective, or several, each minimised or maximised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kerneltune.errors import InputError
from kerneltune.pipeline.trial import Trial
from kerneltune.searching.protocol import Configuration, Outcome, Strategy, prediction

MAXIMISED = ("gflops", "gbs")


@dataclass(frozen=True)
class Goals:
    """Objectives by name.

    Attributes:
        names: The objectives, the most important first.
        maximised: Those that are to be large.
    """

    names: tuple[str, ...]
    maximised: frozenset[str]

    @staticmethod
    def of(objective: str | Sequence[str], maximise: bool | None = None) -> Goals:
        """The goals of an objective, of several, or of several as a text with commas.

        Args:
            objective: The objectives.
            maximise: Whether all are to be large; by default `gflops` and `gbs` are.

        Raises:
            InputError: There is none, or one is named twice.
        """
        listed = objective.split(",") if isinstance(objective, str) else [str(one) for one in objective]
        names = tuple(one.strip() for one in listed)
        if not all(names) or not names:
            raise InputError(f"objective: {objective!r} names none: write time, or time,energy")
        if len(set(names)) < len(names):
            raise InputError(f"objective: {objective!r} names one twice")
        large = [one for one in names if (one in MAXIMISED if maximise is None else maximise)]
        return Goals(names, frozenset(large))

    def costs(self, trial: Trial) -> tuple[float, ...] | None:
        """The objectives as costs, of which less is better; None if the trial lacks one."""
        if not trial.passed or any(name not in trial.objectives for name in self.names):
            return None
        return tuple(self._sign(name) * trial.objectives[name] for name in self.names)

    def better(self, one: Trial, other: Trial) -> bool:
        """Whether a trial is better than another in the first objective."""
        mine, theirs = self.costs(one), self.costs(other)
        return mine is not None and (theirs is None or mine[0] < theirs[0])

    def turned(self, outcome: Outcome) -> Outcome:
        """An outcome for a search that minimises."""
        if not self.maximised & set(outcome.objectives):
            return outcome
        found = outcome.objectives
        return replace(outcome, objectives={k: self._sign(k) * v for k, v in found.items()})

    def front(self, trials: Sequence[Trial]) -> list[Trial]:
        """The trials that no other beats in all objectives, the best in the first one first."""
        found: list[Trial] = []
        costs: list[tuple[float, ...]] = []
        known = [(mine, place) for place, trial in enumerate(trials) if (mine := self.costs(trial))]
        for mine, place in sorted(known):
            if not any(all(a <= b for a, b in zip(other, mine, strict=True)) for other in costs):
                found.append(trials[place])
                costs.append(mine)
        return found

    def _sign(self, name: str) -> int:
        return -1 if name in self.maximised else 1


@dataclass
class Gains:
    """Whether each trial is a gain: of one objective a better one, of several one that none so far beats."""

    goals: Goals
    _front: list[Trial] = field(default_factory=list)

    def __call__(self, trial: Trial) -> bool:
        """Whether this trial is a gain over those before it."""
        front = self.goals.front([*self._front, trial])
        self._front = front
        return any(trial is one for one in front)


class Minimising:
    """A strategy that minimises, for objectives that may be maximised."""

    def __init__(self, strategy: Strategy, goals: Goals) -> None:
        self._strategy, self._goals = strategy, goals

    def ask(self, count: int) -> list[Configuration]:
        """The strategy's next configurations."""
        return self._strategy.ask(count)

    def tell(self, outcome: Outcome) -> None:
        """Tell the strategy, in its sense."""
        self._strategy.tell(self._goals.turned(outcome))

    def predicted(self, configuration: Configuration) -> float | None:
        """The strategy's prediction for a configuration, in the objective's own sense."""
        value = prediction(self._strategy, configuration)
        return -value if value is not None and self._goals.names[0] in self._goals.maximised else value
