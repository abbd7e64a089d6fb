"""The constraints of the normal form that CP-SAT has, for the writer of its models and for the backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ortools.sat.python import cp_model

from constrint import propagators as c
from constrint.propagators.handlers import Kind

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, LinearExpr
    from ortools.sat.python.cp_model_helper import Literal

LARGEST_NUMBER = 1 << 60
"""The greatest absolute value of variables and sums in CP-SAT."""


class CpSatModel(Protocol):
    """A CP-SAT model in the making.

    Attributes:
        model: The model.
    """

    model: CpModel

    def of(self, v: int) -> LinearExpr:
        """A variable, or its only value."""

    def all(self, variables: Sequence[int]) -> list[LinearExpr]:
        """Variables, or their only values."""

    def literal(self, literal: int) -> Literal:
        """A literal; its variable is 0 or 1."""

    def sum(self, terms: Sequence[tuple[int, int]]) -> LinearExpr | int:
        """A sum; raises `ModelError` where it may leave CP-SAT's numbers."""


def limit(number: int) -> int:
    """A number as CP-SAT holds it; one that is greater than every value and sum remains greater."""
    return min(max(number, -LARGEST_NUMBER), LARGEST_NUMBER)


def _differ(m: CpSatModel, node: c.LinearNe | c.LinearEqIf, *literals: Literal) -> None:
    """``sum != bound``, where some literals hold."""
    below, total, bound = m.model.new_bool_var(""), m.sum(node.terms), limit(node.bound)
    m.model.add(total <= bound - 1).only_enforce_if([*literals, below])
    m.model.add(total >= bound + 1).only_enforce_if([*literals, below.negated()])


def _at_most_if(m: CpSatModel, node: c.LinearLeIf) -> None:
    literal, total, bound = m.literal(node.literal), m.sum(node.terms), limit(node.bound)
    m.model.add(total <= bound).only_enforce_if(literal)
    m.model.add(total >= bound + 1).only_enforce_if(literal.negated())


def _equal_if(m: CpSatModel, node: c.LinearEqIf) -> None:
    literal = m.literal(node.literal)
    m.model.add(m.sum(node.terms) == limit(node.bound)).only_enforce_if(literal)
    _differ(m, node, literal.negated())


def _member(m: CpSatModel, node: c.Member) -> None:
    literal, x = m.literal(node.literal), m.sum(((1, node.x),))
    domain = cp_model.Domain.from_flat_intervals(list(map(limit, node.intervals)))
    m.model.add_linear_expression_in_domain(x, domain).only_enforce_if(literal)
    m.model.add_linear_expression_in_domain(x, domain.complement()).only_enforce_if(literal.negated())


def _table(m: CpSatModel, node: c.Table) -> None:
    literal, variables = m.literal(node.literal), m.all(node.variables)
    rows = [list(map(limit, row)) for row in node.rows]
    m.model.add_allowed_assignments(variables, rows).only_enforce_if(literal)
    m.model.add_forbidden_assignments(variables, rows).only_enforce_if(literal.negated())


RULES: dict[Kind | tuple[Kind, ...], Callable[[Any, Any], object]] = {
    c.LinearLe: lambda m, node: m.model.add(m.sum(node.terms) <= limit(node.bound)),
    c.LinearEq: lambda m, node: m.model.add(m.sum(node.terms) == limit(node.bound)),
    c.LinearNe: _differ,
    c.LinearLeIf: _at_most_if,
    c.LinearEqIf: _equal_if,
    c.Maximum: lambda m, node: m.model.add_max_equality(m.of(node.z), m.all(node.xs)),
    c.Minimum: lambda m, node: m.model.add_min_equality(m.of(node.z), m.all(node.xs)),
    c.Absolute: lambda m, node: m.model.add_abs_equality(m.of(node.z), m.of(node.x)),
    c.Member: _member,
    c.Clause: lambda m, node: m.model.add_bool_or([m.literal(one) for one in node.literals]),
    c.Element: lambda m, node: m.model.add_element(
        m.of(node.index), list(map(limit, node.table)), m.of(node.z)
    ),
    c.Selection: lambda m, node: m.model.add_element(m.of(node.index), m.all(node.xs), m.of(node.z)),
    c.Table: _table,
}
