"""The model as written: read from its text, compared with a file, evaluated by what its expressions mean."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from constrint.errors import Undefined
from constrint.expr import BoolExpr, BoolVar, IntExpr, IntVar
from constrint.frontends.formats import written
from constrint.frontends.text.text import read_model
from constrint.modelling.declarations import Declarations
from constrint.verification.bounds import Domain

Assignment = Mapping[IntExpr, int]


@dataclass(frozen=True, slots=True)
class Written:
    """A model as written.

    Attributes:
        text: Its canonical text, without its goals.
        variables: Its variables by name.
        constraints: Its conditions in order.
        goals: What is optimised, then what is preferred, in order: expression and direction.
        goal_texts: The goals as written.
    """

    text: str
    variables: dict[str, IntVar | BoolVar]
    constraints: list[BoolExpr]
    goals: list[tuple[IntExpr, str]]
    goal_texts: list[str]

    @classmethod
    def of(cls, model: Declarations) -> Written:
        """A model that was read."""
        model = read_model(written(model, "constrint"))
        goals = [*model.goals, *model.preferences]
        full = written(model, "constrint")
        bare = Declarations()
        model.copy_to(bare)
        bare.goals, bare.preferences = [], []
        text = written(bare, "constrint")
        known = set(text.splitlines())
        lines = [line for line in full.splitlines() if line and line not in known]
        return cls(
            text,
            dict(model.variables),
            [constraint.expr for constraint in model.constraints],
            [(expr, str(direction)) for expr, direction in goals],
            lines,
        )

    def assignment(self, values: Mapping[str, int]) -> dict[IntExpr, int]:
        """The assignment of values by name."""
        return {variable: values[name] for name, variable in self.variables.items()}

    def violated(self, values: Mapping[str, int]) -> str | None:
        """The first variable or constraint that an assignment violates; None if it is a solution."""
        for name, variable in self.variables.items():
            if name not in values or not allows(variable, values[name]):
                return f"variable {name}"
        assignment = self.assignment(values)
        for number, expr in enumerate(self.constraints):
            if not holds(expr, assignment):
                return f"constraint {number} of the model"
        for number, (goal, _) in enumerate(self.goals):
            if value_of(goal, assignment) is None:
                return f"goal {number} of the model, which has no value"
        return None

    def goal_value(self, number: int, values: Mapping[str, int]) -> int | None:
        """The value of a goal; None where it has none."""
        return value_of(self.goals[number][0], self.assignment(values))

    def assignments(self, names: list[str], domains: list[Domain]) -> Iterator[dict[str, int]]:
        """All assignments of some variables, from these domains."""
        for row in itertools.product(*domains):
            yield dict(zip(names, row, strict=True))


def domain_of(variable: IntVar | BoolVar) -> Domain | None:
    """The values of a declared variable; None where there is no end of them."""
    if isinstance(variable, BoolVar):
        return range(2)
    domain = variable.domain
    if domain.values is not None:
        return tuple(domain.values)
    if domain.lo is None or domain.hi is None:
        return None
    return range(domain.lo, domain.hi + 1, domain.step)


def allows(variable: IntVar | BoolVar, value: int) -> bool:
    """Whether a declared variable may have a value."""
    return value in (0, 1) if isinstance(variable, BoolVar) else value in variable.domain


def holds(expr: IntExpr, assignment: Assignment) -> bool:
    """Whether a condition holds; one without a value does not."""
    return bool(value_of(expr, assignment))


def value_of(expr: IntExpr, assignment: Assignment) -> int | None:
    """The value of an expression; None where it has none."""
    try:
        return expr.evaluate(assignment)
    except Undefined:
        return None
