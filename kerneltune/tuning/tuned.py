"""The result of tuning a user's kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kerneltune.errors import RunError
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.tuning.finals import Final
from kerneltune.tuning.goals import MAXIMISED, Goals


@dataclass(frozen=True)
class TunedKernel:
    """The trials of a kernel.

    Attributes:
        kernel: The kernel's name.
        device: The device's name.
        trials: All trials, in the order of their ends.
        goals: The objectives that were searched for.
        finals: The finalists, the fastest first; empty if they were not measured again.
        seconds: The duration of the run.
        first_result: Seconds until the first measurement; None if there was none.
        measuring: Seconds of work of the devices.
        space_size: Number of valid configurations.
        notes: What the user should know.
    """

    kernel: str
    device: str
    trials: tuple[Trial, ...]
    goals: Goals = field(default_factory=lambda: Goals.of(TIME))
    finals: tuple[Final, ...] = ()
    seconds: float = 0.0
    first_result: float | None = None
    measuring: float = 0.0
    space_size: int = 0
    notes: tuple[str, ...] = ()

    @property
    def objective(self) -> str:
        """The objective that was searched for; the first of several."""
        return self.goals.names[0]

    @property
    def front(self) -> list[Trial]:
        """The trials that no other beats in all objectives."""
        return self.goals.front(self.trials)

    @property
    def ranked(self) -> list[Trial]:
        """The trials that passed, the best first: the finalists in their order, then the others."""
        sign = -1 if self.objective in self.goals.maximised else 1
        passed = [t for t in self.trials if t.passed and self.objective in t.objectives]
        rest = sorted(passed, key=lambda trial: sign * trial.objectives[self.objective])
        first = [final.trial for final in self.finals]
        return [*first, *[trial for trial in rest if all(trial is not one for one in first)]]

    @property
    def best(self) -> Trial:
        """The best trial.

        Raises:
            RunError: None passed; the message has the most frequent reason.
        """
        order = self.ranked
        if order:
            return order[0]
        reasons = [str(trial.failure) for trial in self.trials]
        if not reasons:
            raise RunError("nothing was tried: the budget is spent before the first candidate")
        common = max(set(reasons), key=reasons.count)
        raise RunError(f"none of {len(reasons)} candidates passed; {reasons.count(common)} of them: {common}")

    @property
    def best_configuration(self) -> dict[str, Any]:
        """The values of the best trial's parameters."""
        return dict(self.best.configuration)

    @property
    def failed(self) -> list[Trial]:
        """The trials that did not pass."""
        return [trial for trial in self.trials if not trial.passed]

    def pareto(self, objectives: Sequence[str], maximised: Sequence[str] = MAXIMISED) -> list[Trial]:
        """The trials that no other beats in all of some objectives."""
        return Goals(tuple(objectives), frozenset(maximised)).front(self.trials)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "kernel": self.kernel,
            "device": self.device,
            "objective": self.objective,
            "objectives": list(self.goals.names),
            "front": [trial.configuration for trial in self.front],
            "space": self.space_size,
            "seconds": round(self.seconds, 4),
            "first_result": self.first_result,
            "measuring": round(self.measuring, 4),
            "trials": [trial.to_json() for trial in self.ranked],
            "failed": [trial.to_json() for trial in self.failed],
            "finals": [
                {"configuration": final.trial.configuration, "time": final.median, "equal": final.equal}
                for final in self.finals
            ],
            "notes": list(self.notes),
        }
