"""The arguments of `Model.solve` but its objectives, for type checkers: the objectives decide its result."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from constrint.expr import BoolExpr
from constrint.modelling.hints import Hint
from constrint.modelling.objectives import Direction, Target
from constrint.preparing.branching import Branching
from constrint.preparing.options import Engine, Learning, OnSolution
from constrint.preparing.restart_rules import RestartRule, Restarts
from constrint.support.log_target import Log

Several: TypeAlias = "Sequence[Target | tuple[Target, Direction]]"
"""Several objectives, the most important first."""
Numbers: TypeAlias = tuple[Any, ...]
"""The values of several objectives: integers, and floats or `Fraction` of fractional ones."""
Backend: TypeAlias = Literal["constrint", "cp-sat"]


class SolveArguments(TypedDict, total=False):
    """The arguments of `Model.solve` that leave the type of its result alone."""

    prefer: Sequence[tuple[Target, Direction]] | None
    assumptions: Sequence[BoolExpr]
    time_limit: float | None
    seed: int
    branching: Branching | None
    restarts: RestartRule | Restarts | None
    lns: bool
    learn: Learning
    hint: Hint | None
    proof: str | Path | None
    on_solution: OnSolution | None
    progress: bool
    log: Log
    engine: Engine
    backend: Backend
    workers: int | None
    executor: Executor | None
