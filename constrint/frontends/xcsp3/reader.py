"""The parts of XCSP3 constraints: lists of terms, conditions, matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr
from constrint.expr.domain import Domain
from constrint.frontends.xcsp3.intension import expression
from constrint.frontends.xcsp3.numbers import count_of, domain_of, groups, integer, integers, shown, words_of
from constrint.frontends.xcsp3.variables import XcspVariables, text_of
from constrint.support.limits import Budget

_USES = 6  # operators and operands for an integer in a list of terms, which is compared or added
OPERATORS: dict[str, Callable[[IntExpr, IntExpr], BoolExpr]] = {
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}


@dataclass
class PartReader:
    """Reads the parts of constraints.

    Attributes:
        variables: The variables of the instance.
    """

    variables: XcspVariables

    @property
    def budget(self) -> Budget:
        """The limits of reading."""
        return self.variables.budget

    def term(self, text: str) -> IntExpr:
        """A variable, an integer or an expression."""
        return expression(text, self.variables.variable, self.budget)

    def terms(self, text: str) -> list[IntExpr]:
        """A list of variables, integers and expressions."""
        found: list[IntExpr] = []
        for word in words_of(text):
            if "(" in word:
                found.append(self.term(word))
            elif self.variables.is_one(word):
                found.extend([self.variables.variable(name) for name in self.variables.named(word)])
            else:
                values = self.integers(word)
                self.budget.node(_USES * len(values))
                found.extend([Const(value) for value in values])
        return found

    def integers(self, text: str) -> list[int]:
        """A list of integers, with its short forms."""
        return integers(text, self.budget)

    def tuples(self, element: Element | None, what: str) -> list[list[str]]:
        """The words of groups such as `(a,0,b)(b,1,c)`."""
        return list(groups(text_of(element), what, self.budget))

    def term_rows(self, text: str, what: str) -> list[list[IntExpr]]:
        """The terms of groups such as `(x,1)(y,2)`."""
        return [self.terms(" ".join(row)) for row in groups(text, what, self.budget)]

    def integer(self, word: str) -> int:
        """One integer."""
        return integer(word, self.budget)

    def attribute(self, node: Element | None, name: str, default: int = 0) -> int:
        """The integer of an attribute."""
        text = None if node is None else node.get(name)
        return count_of(text, default, name, self.budget)

    def all_values(self, variables: Sequence[IntExpr]) -> list[int]:
        """The values that some variables can have, ascending."""
        domains = {id(domain): domain for domain in map(_domain_of_variable, variables)}
        self.budget.values(sum([domain.size or 0 for domain in domains.values()]))
        return sorted({value for domain in domains.values() for value in domain})

    def combine(self, pairs: int, nodes: int) -> None:
        """Count the translation of a constraint without a counterpart.

        `pairs` parts of `nodes` nodes each.
        """
        self.budget.node(pairs * nodes)

    def listed(self, node: Element, tag: str = "list") -> list[IntExpr]:
        """The list of an element: in a part with that tag, or its own text."""
        part = node.find(tag)
        return self.terms(text_of(node if part is None else part))

    def compared(self, value: IntExpr, text: str) -> BoolExpr:
        """A value compared by a condition such as `(le,5)`, `(in,1..4)` or `(eq,x)`."""
        operator, operand = self.condition_parts(text)
        if operator in ("in", "notin"):
            members = value.is_in(domain_of(operand.strip("{}").replace(",", " "), self.budget))
            return members if operator == "in" else ~members
        if operator not in OPERATORS:
            raise ModelError(f"'{shown(text)}': the operator '{shown(operator)}' is not known")
        return OPERATORS[operator](value, self.term(operand))

    def condition_parts(self, text: str) -> tuple[str, str]:
        """The operator and the operand of a condition."""
        match = re.fullmatch(r"\(\s*(\w+)\s*,(.*)\)", text.strip(), re.DOTALL)
        if match is None:
            raise ModelError(f"'{shown(text)}' is not a condition: (operator,operand)")
        return match[1], match[2].strip()

    def rows(self, node: Element) -> list[list[IntExpr]]:
        """The rows of a matrix or the lists of an element."""
        matrix = node.find("matrix")
        if matrix is not None:
            return [
                [self.variables.variable(name) for name in row]
                for row in self.variables.rows(text_of(matrix))
            ]
        return [self.terms(text_of(part)) for part in node.findall("list")]


def _domain_of_variable(expr: IntExpr) -> Domain:
    """The values of a variable."""
    domain = getattr(expr, "domain", None)
    if not isinstance(domain, Domain):
        raise ModelError("variables are needed here, not expressions")
    return domain
