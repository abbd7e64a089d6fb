"""python-constraint's solver classes, accepted and ignored: constrint always solves."""

from __future__ import annotations

from typing import Any


class Solver:
    """Accepted wherever python-constraint takes a solver."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


class BacktrackingSolver(Solver):
    """See `Solver`."""


class OptimizedBacktrackingSolver(Solver):
    """See `Solver`."""


class RecursiveBacktrackingSolver(Solver):
    """See `Solver`."""


class MinConflictsSolver(Solver):
    """See `Solver`; unlike in python-constraint, every answer is exact."""


class ParallelSolver(Solver):
    """See `Solver`."""
