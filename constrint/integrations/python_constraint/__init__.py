"""The API of python-constraint (and python-constraint2) on this solver: change the import, keep the program.

    from constrint.integrations.python_constraint import AllDifferentConstraint, Problem

    problem = Problem()
    problem.addVariables(["a", "b"], range(10))
    problem.addConstraint(lambda a, b: a * 2 == b, ["a", "b"])
    problem.addConstraint("a + b >= 6")
    problem.getSolutions()

Names and meanings are those of python-constraint2 2.9. Solver classes are accepted and change nothing.
"""

from constrint.integrations.python_constraint.constraints import (
    AllDifferentConstraint,
    AllEqualConstraint,
    Constraint,
    ExactProdConstraint,
    ExactSumConstraint,
    FunctionConstraint,
    InSetConstraint,
    MaxProdConstraint,
    MaxSumConstraint,
    MinProdConstraint,
    MinSumConstraint,
    NotInSetConstraint,
    SomeInSetConstraint,
    SomeNotInSetConstraint,
    VariableExactProdConstraint,
    VariableExactSumConstraint,
    VariableMaxProdConstraint,
    VariableMaxSumConstraint,
    VariableMinProdConstraint,
    VariableMinSumConstraint,
)
from constrint.integrations.python_constraint.problem import (
    BacktrackingSolver,
    Domain,
    MinConflictsSolver,
    OptimizedBacktrackingSolver,
    ParallelSolver,
    Problem,
    RecursiveBacktrackingSolver,
    Solver,
    Variable,
)

__all__ = [
    "AllDifferentConstraint",
    "AllEqualConstraint",
    "BacktrackingSolver",
    "Constraint",
    "Domain",
    "ExactProdConstraint",
    "ExactSumConstraint",
    "FunctionConstraint",
    "InSetConstraint",
    "MaxProdConstraint",
    "MaxSumConstraint",
    "MinConflictsSolver",
    "MinProdConstraint",
    "MinSumConstraint",
    "NotInSetConstraint",
    "OptimizedBacktrackingSolver",
    "ParallelSolver",
    "Problem",
    "RecursiveBacktrackingSolver",
    "Solver",
    "SomeInSetConstraint",
    "SomeNotInSetConstraint",
    "Variable",
    "VariableExactProdConstraint",
    "VariableExactSumConstraint",
    "VariableMaxProdConstraint",
    "VariableMaxSumConstraint",
    "VariableMinProdConstraint",
    "VariableMinSumConstraint",
]
