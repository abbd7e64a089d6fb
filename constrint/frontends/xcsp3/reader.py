"""What XCSP3 constraints are made of: lists of terms, conditions, matrices."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr
from constrint.expr.domain import Domain
from constrint.frontends.xcsp3.functions import expression
from constrint.frontends.xcsp3.variables import Variables, integers, text_of

OPERATORS: dict[str, Callable[[IntExpr, IntExpr], BoolExpr]] = {
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}


@dataclass
class Reader:
    """Reads the parts that constraints are made of.

    Attributes:
        variables: The variables of the instance.
    """

    variables: Variables

    def term(self, text: str) -> IntExpr:
        """A variable, an integer or an expression."""
        return expression(text, self.variables.variable)

    def terms(self, text: str) -> list[IntExpr]:
        """A list of variables, integers and expressions."""
        found: list[IntExpr] = []
        for word in re.findall(r"\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\S+", text):
            if "(" in word:
                found.append(self.term(word))
            elif self.variables.is_one(word):
                found.extend(self.variables.variable(name) for name in self.variables.named(word))
            else:
                found.extend(Const(value) for value in integers(word))
        return found

    def listed(self, node: Element, tag: str = "list") -> list[IntExpr]:
        """The list of an element: in a part of that name, or its own text."""
        part = node.find(tag)
        return self.terms(text_of(node if part is None else part))

    def compared(self, value: IntExpr, text: str) -> BoolExpr:
        """A value under a condition such as `(le,5)`, `(in,1..4)` or `(eq,x)`."""
        match = re.fullmatch(r"\s*\(\s*(\w+)\s*,(.*)\)\s*", text, re.DOTALL)
        if match is None:
            raise ModelError(f"'{text.strip()}' is no condition: (operator,operand)")
        operator, operand = match[1], match[2].strip()
        if operator in ("in", "notin"):
            members = value.is_in(Domain.of_values(integers(operand.strip("{}").replace(",", " "))))
            return members if operator == "in" else ~members
        if operator not in OPERATORS:
            raise ModelError(f"'{text.strip()}': the operator '{operator}' is not known")
        return OPERATORS[operator](value, self.term(operand))

    def rows(self, node: Element) -> list[list[IntExpr]]:
        """The rows of a matrix or the lists of an element."""
        matrix = node.find("matrix")
        if matrix is not None:
            return [
                [self.variables.variable(name) for name in row]
                for row in self.variables.rows(text_of(matrix))
            ]
        return [self.terms(text_of(part)) for part in node.findall("list")]


def values_of(expr: IntExpr) -> Domain:
    """The values of a variable."""
    domain = getattr(expr, "domain", None)
    if not isinstance(domain, Domain):
        raise ModelError("variables are needed here, not expressions")
    return domain
