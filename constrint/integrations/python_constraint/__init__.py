"""The API of python-constraint (and python-constraint2) on constrint: change the import, keep the program.

    from constrint.integrations.python_constraint import AllDifferentConstraint, Problem

    problem = Problem()
    problem.addVariables(["a", "b"], range(10))
    problem.addConstraint(lambda a, b: a * 2 == b, ["a", "b"])
    problem.addConstraint("a + b >= 6")
    problem.getSolutions()

Names and meanings are those of python-constraint2 2.9. Solver classes are accepted and ignored.
"""

from constrint.integrations.python_constraint.constraint_base import Constraint
from constrint.integrations.python_constraint.constraints import (
    AllDifferentConstraint,
    AllEqualConstraint,
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
from constrint.integrations.python_constraint.domains import Domain, Unassigned, Variable
from constrint.integrations.python_constraint.problem import Problem
from constrint.integrations.python_constraint.solvers import (
    BacktrackingSolver,
    MinConflictsSolver,
    OptimizedBacktrackingSolver,
    ParallelSolver,
    RecursiveBacktrackingSolver,
    Solver,
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
    "Unassigned",
    "Variable",
    "VariableExactProdConstraint",
    "VariableExactSumConstraint",
    "VariableMaxProdConstraint",
    "VariableMaxSumConstraint",
    "VariableMinProdConstraint",
    "VariableMinSumConstraint",
]
