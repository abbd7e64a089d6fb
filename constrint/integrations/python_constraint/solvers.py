"""python-constraint's solver classes with its arguments, accepted without effect: constrint always solves."""

from __future__ import annotations


class Solver:
    """Accepted wherever python-constraint takes a solver."""


class BacktrackingSolver(Solver):
    """See `Solver`."""

    def __init__(self, forwardcheck: bool = True) -> None:
        pass


class OptimizedBacktrackingSolver(Solver):
    """See `Solver`."""

    def __init__(self, forwardcheck: bool = True) -> None:
        pass


class RecursiveBacktrackingSolver(Solver):
    """See `Solver`."""

    def __init__(self, forwardcheck: bool = True) -> None:
        pass


class MinConflictsSolver(Solver):
    """See `Solver`; unlike in python-constraint, every answer is exact."""

    def __init__(self, steps: int = 1000, rand: object = None) -> None:
        pass


class ParallelSolver(Solver):
    """See `Solver`."""

    def __init__(self, process_mode: bool = False) -> None:
        pass
