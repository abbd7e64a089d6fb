"""Reports on a store: the fastest tiling of each request, and the cost model's ranking and predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from kerneltune.inputs.request import Request
from kerneltune.pipeline.tiling_trial import TilingTrial, ranked
from kerneltune.tuning.store import StoredTiling
from kerneltune.tuning.tuner import FirstChoice, first_choice


@dataclass(frozen=True)
class ProblemReport:
    """One request on one GPU.

    Attributes:
        gpu: The profile's name.
        problem: The request.
        tried: Candidates that were tried.
        failed: Candidates that did not run, were wrong, or differed from run to run.
        best: The fastest that passed; None if none did.
        choice: Quality of the model's first choice; None if nothing was timed.
    """

    gpu: str
    problem: Request
    tried: int
    failed: int
    best: TilingTrial | None
    choice: FirstChoice | None

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        return {
            "gpu": self.gpu,
            "problem": vars(self.problem),
            "tried": self.tried,
            "failed": self.failed,
            "best": None if self.best is None else self.best.reported(),
            "first_choice": None if self.choice is None else self.choice.to_json(),
        }


@dataclass(frozen=True)
class Report:
    """All requests, and the quality of the cost model over them.

    Attributes:
        problems: One entry for each request on each GPU.
        compared: Requests with two or more timed candidates, between which the model chooses.
        first_is_fastest: Requests whose predicted best tiling was the fastest of the judged ones.
        mean_loss: Mean relative loss of the predicted best against the fastest.
        worst_loss: Greatest relative loss.
        residual: Root mean square of log(measured / predicted) over all timed candidates.
    """

    problems: tuple[ProblemReport, ...]
    compared: int
    first_is_fastest: int
    mean_loss: float | None
    worst_loss: float | None
    residual: float | None

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        return {
            "problems": [problem.to_json() for problem in self.problems],
            "model": {
                "compared": self.compared,
                "first_is_fastest": self.first_is_fastest,
                "mean_loss": self.mean_loss,
                "worst_loss": self.worst_loss,
                "residual": self.residual,
            },
        }


def latest(stored: Iterable[StoredTiling]) -> dict[tuple[str, Request], list[TilingTrial]]:
    """Trials by profile and request; of several of one tiling, the last."""
    groups: dict[tuple[str, Request], dict[object, TilingTrial]] = {}
    for row in stored:
        candidate = row.trial.candidate
        tiling = candidate.strategy, tuple(sorted(candidate.parameters.items())), candidate.blocks_per_sm
        groups.setdefault((candidate.gpu, candidate.problem), {})[tiling] = row.trial
    return {request: list(found.values()) for request, found in groups.items()}


def make_report(stored: Iterable[StoredTiling], first: int = 20) -> Report:
    """Summarise trials. The model is judged on its ``first`` best tilings of each request."""
    groups = latest(stored)
    problems = [_of_problem(gpu, problem, found, first) for (gpu, problem), found in groups.items()]
    choices = [entry.choice for entry in problems if entry.choice is not None and entry.choice.of > 1]
    logs = [math.log(trial.ratio) for found in groups.values() for trial in ranked(found) if trial.ratio]
    return Report(
        problems=tuple(problems),
        compared=len(choices),
        first_is_fastest=sum(choice.rank == 1 for choice in choices),
        mean_loss=round(sum(choice.loss for choice in choices) / len(choices), 4) if choices else None,
        worst_loss=round(max(choice.loss for choice in choices), 4) if choices else None,
        residual=round(math.sqrt(sum(x * x for x in logs) / len(logs)), 4) if logs else None,
    )


def _of_problem(gpu: str, problem: Request, trials: list[TilingTrial], first: int) -> ProblemReport:
    order = ranked(trials)
    preferred = sorted(order, key=lambda trial: trial.candidate.cycles)[:first]
    return ProblemReport(
        gpu=gpu,
        problem=problem,
        tried=len(trials),
        failed=sum(not trial.passed for trial in trials),
        best=order[0] if order else None,
        choice=first_choice(preferred),
    )
