"""What a store says: the fastest tiling of each request, and how well the cost model ranks and predicts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kerneltune.problem import Problem
from kerneltune.store import StoredTrial
from kerneltune.trial import Outcome
from kerneltune.tuner import FirstChoice, first_choice, milliseconds, ranked


@dataclass(frozen=True)
class ProblemReport:
    """One request on one GPU.

    Attributes:
        gpu: The profile's name.
        problem: The request.
        tried: Candidates that were tried.
        failed: How many of them did not run, were wrong, or differed from run to run.
        best: The fastest that passed; None where none did.
        choice: How good the model's first choice is; None where nothing was timed.
    """

    gpu: str
    problem: Problem
    tried: int
    failed: int
    best: Outcome | None
    choice: FirstChoice | None

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "gpu": self.gpu,
            "problem": vars(self.problem),
            "tried": self.tried,
            "failed": self.failed,
            "best": None if self.best is None else self.best.to_json(),
            "first_choice": None if self.choice is None else self.choice.to_json(),
        }


@dataclass(frozen=True)
class Report:
    """All requests, and the cost model over them.

    Attributes:
        problems: One entry for each request on each GPU.
        compared: Requests with two or more timed candidates: there the model had a choice.
        first_is_fastest: In how many of them its first choice was the fastest.
        mean_loss: By how much its first choice was slower than the fastest, on average over them.
        residual: Root mean square of log(measured / predicted) over all timed candidates.
    """

    problems: tuple[ProblemReport, ...]
    compared: int
    first_is_fastest: int
    mean_loss: float | None
    residual: float | None

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "problems": [problem.to_json() for problem in self.problems],
            "model": {
                "compared": self.compared,
                "first_is_fastest": self.first_is_fastest,
                "mean_loss": self.mean_loss,
                "residual": self.residual,
            },
        }


def make_report(trials: Iterable[StoredTrial]) -> Report:
    """Sum up trials; of several of one candidate the last counts."""
    groups: dict[tuple[str, Problem], dict[str, Outcome]] = {}
    for trial in trials:
        group = groups.setdefault((trial.candidate.gpu, trial.candidate.problem), {})
        group[trial.key] = trial.outcome
    problems = [_of_problem(gpu, problem, list(found.values())) for (gpu, problem), found in groups.items()]
    choices = [entry.choice for entry in problems if entry.choice is not None and entry.choice.of > 1]
    logs = [
        math.log(outcome.measurement.ratio)
        for found in groups.values()
        for outcome in found.values()
        if milliseconds(outcome) and outcome.measurement and outcome.measurement.ratio
    ]
    return Report(
        problems=tuple(problems),
        compared=len(choices),
        first_is_fastest=sum(choice.rank == 1 for choice in choices),
        mean_loss=round(sum(choice.loss for choice in choices) / len(choices), 4) if choices else None,
        residual=round(math.sqrt(sum(x * x for x in logs) / len(logs)), 4) if logs else None,
    )


def _of_problem(gpu: str, problem: Problem, outcomes: list[Outcome]) -> ProblemReport:
    order = ranked(outcomes)
    return ProblemReport(
        gpu=gpu,
        problem=problem,
        tried=len(outcomes),
        failed=sum(not outcome.passed for outcome in outcomes),
        best=order[0] if order else None,
        choice=first_choice(outcomes),
    )
