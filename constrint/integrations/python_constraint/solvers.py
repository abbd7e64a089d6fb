"""python-constraint's solver classes: accepted, though the solver is always this one."""

from __future__ import annotations

from typing import Any


class Solver:
    """Accepted where python-constraint takes a solver."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


class BacktrackingSolver(Solver):
    """See `Solver`."""


class OptimizedBacktrackingSolver(Solver):
    """See `Solver`."""


class RecursiveBacktrackingSolver(Solver):
    """See `Solver`."""


class MinConflictsSolver(Solver):
    """See `Solver`; unlike python-constraint's, every answer is exact."""


class ParallelSolver(Solver):
    """See `Solver`."""
