"""Abstract values of expressions while one variable runs over evenly spaced values.

Of each expression three things are known: bounds, a congruence, and, if it is one, the affine function of the
place k that the variable has reached. They follow from those of the parts, and never exclude a value that
occurs.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from constrint import expr as e
from constrint.expr.domain import Domain
from constrint.expr.ranges import (
    FALSE,
    OPEN,
    TRUE,
    Known,
    Never,
    Unsupported,
    between,
    fixed,
    joined,
    product,
    total,
)
from constrint.globals import Function, Relation


@dataclass
class Evaluation:
    """Evaluates expressions over a range of places.

    Attributes:
        values: Abstract values of the variables, by name.
        period: The variable's values are visited at this distance.
        wish: A multiple of the period with which more would be known.
        is_open: Whether a term of the present condition may be undefined.
        parts: Expansions of expressions that abbreviate others; shared between evaluations.
        known: Abstract values found so far, and whether the expressions may be undefined.
    """

    values: dict[str, Known]
    period: int = 1
    wish: int = 1
    is_open: bool = False
    parts: dict[int, e.IntExpr] = field(default_factory=dict)
    known: dict[int, tuple[Known, bool]] = field(default_factory=dict)

    def of(self, node: e.IntExpr) -> Known:
        """The abstract value of an expression; raises `Never` and `Unsupported`."""
        found = self.known.get(id(node))
        if found is None:
            rule = _RULES.get(type(node)) or _function
            outside, self.is_open = self.is_open, False
            found = self.known[id(node)] = rule(self, node), self.is_open
            self.is_open = outside
        value, may_be_undefined = found
        self.is_open = self.is_open or may_be_undefined
        return value

    def all(self, nodes: Sequence[e.IntExpr]) -> list[Known]:
        """The abstract values of several expressions."""
        return [self.of(node) for node in nodes]

    def wanted(self, value: Known, modulus: int) -> None:
        """Record that knowing the residue of a value would help."""
        more = self.period * abs(modulus) // math.gcd(value.modulus, modulus)
        self.wish = math.lcm(self.wish, more)

    def required(self, value: Known, way: str) -> Known:
        """The range of an operand that must compare with 0 in a given way, where it does."""
        if way == "!=":
            if value.lo == value.hi == 0:
                raise Never
            self.is_open = self.is_open or value.lo <= 0 <= value.hi
            return value
        if value.hi < 0:
            raise Never
        if value.lo >= 0:
            return value
        self.is_open = True
        return between(0, value.hi, value.modulus, value.residue)

    def function(self, node: e.IntFunction) -> Known:
        """The range of an arithmetic function."""
        operands = self.all(node.children)
        for i, way in node.requires.items():
            operands[i] = self.required(operands[i], way)
        return node.known(self, *operands)

    def is_multiple(self, divisor: Known, value: Known) -> Known:
        """Whether the divisor divides the value."""
        if divisor.lo == divisor.hi == 0:
            return _zero(value)
        if divisor.is_fixed:
            return _zero(e.Mod.known(self, value, divisor))
        if value.lo == value.hi == 0:
            return TRUE
        if value.lo > 0 or value.hi < 0:
            least = min(abs(divisor.lo), abs(divisor.hi)) if divisor.lo > 0 or divisor.hi < 0 else 0
            if least > max(abs(value.lo), abs(value.hi)):
                return FALSE
        return OPEN

    def member(self, value: Known, domain: Domain) -> Known:
        """Whether a value lies in a set."""
        if value.is_fixed:
            return TRUE if value.lo in domain else FALSE
        if domain.values is not None:
            first = bisect.bisect_left(domain.values, value.lo)
            there = first < len(domain.values) and domain.values[first] <= value.hi
            return OPEN if there else FALSE
        lo, hi = domain.lo, domain.hi
        if (lo is not None and value.hi < lo) or (hi is not None and value.lo > hi):
            return FALSE
        anchor = lo if lo is not None else hi if hi is not None else 0
        if (value.residue - anchor) % math.gcd(value.modulus, domain.step):
            return FALSE
        if value.modulus % domain.step:
            self.wanted(value, domain.step)
            return OPEN
        inside = (lo is None or lo <= value.lo) and (hi is None or value.hi <= hi)
        return TRUE if inside else OPEN


def _zero(value: Known) -> Known:
    """Whether a value is 0."""
    if value.is_fixed:
        return FALSE if value.lo else TRUE
    if value.lo > 0 or value.hi < 0 or value.residue % value.modulus:
        return FALSE
    return OPEN


def _not(value: Known) -> Known:
    return total([(-1, value)], 1)


def _compare(evaluation: Evaluation, node: e.Comparison) -> Known:
    gap = total([(1, evaluation.of(node.left)), (-1, evaluation.of(node.right))])
    operator = node.operator
    if operator in ("==", "!="):
        return _zero(gap) if operator == "==" else _not(_zero(gap))
    if operator in ("<", "<="):
        gap = total([(-1, gap)])
    least = 1 if operator in ("<", ">") else 0
    return TRUE if gap.lo >= least else FALSE if gap.hi < least else OPEN


def _element(evaluation: Evaluation, node: e.Element) -> Known:
    index = evaluation.of(node.index)
    if index.hi < 0 or index.lo >= len(node.values):
        raise Never
    if index.lo < 0 or index.hi >= len(node.values):
        evaluation.is_open = True
    chosen = node.values[max(0, index.lo) : index.hi + 1]
    return between(min(chosen), max(chosen))


def _choice(evaluation: Evaluation, node: e.IfThenElse) -> Known:
    condition = evaluation.of(node.condition)
    if condition.is_fixed:
        return evaluation.of(node.then if condition.lo else node.otherwise)
    found: list[Known] = []
    for side in (node.then, node.otherwise):
        try:
            found.append(evaluation.of(side))
        except Never:
            evaluation.is_open = True
    if not found:
        raise Never
    return joined(found[0], found[-1])


def _held(rule: Callable[[Evaluation, Any], Known]) -> Callable[[Evaluation, Any], Known]:
    """The rule of a condition on integers, which is false if one of them is undefined."""

    def of(evaluation: Evaluation, node: Any) -> Known:
        outside, evaluation.is_open = evaluation.is_open, False
        try:
            value = rule(evaluation, node)
        except Never:
            value = FALSE
        if evaluation.is_open and value.hi:
            value = OPEN
        evaluation.is_open = outside
        return value

    return of


def _table(evaluation: Evaluation, node: e.Table) -> Known:
    args = evaluation.all(node.args)
    possible = FALSE
    for row in node.rows:
        fits = [_zero(total([(1, arg)], -value)) for arg, value in zip(args, row, strict=True)]
        if all(fit is TRUE for fit in fits):
            return TRUE
        if FALSE not in fits:
            possible = OPEN
    return possible


def _decomposed(evaluation: Evaluation, node: Relation | Function | e.IntFunction) -> Known | None:
    """The range of the expression that this one abbreviates; None if it abbreviates none."""
    parts = evaluation.parts.get(id(node))
    if parts is None:
        parts = node.decomposed()
        if parts is None:
            return None
        evaluation.parts[id(node)] = parts
    return evaluation.of(parts)


def _function(evaluation: Evaluation, node: e.IntExpr) -> Known:
    if not isinstance(node, e.IntFunction):
        raise Unsupported(f"expressions of type {type(node).__name__}")
    return _decomposed(evaluation, node) or evaluation.function(node)


def _short(evaluation: Evaluation, node: Relation | Function) -> Known:
    known = _decomposed(evaluation, node)
    assert known is not None
    return known


def _and(evaluation: Evaluation, node: e.And) -> Known:
    values = evaluation.all(node.args)
    if not all(value.hi for value in values):
        return FALSE
    return TRUE if all(value.lo for value in values) else OPEN


def _or(evaluation: Evaluation, node: e.Or) -> Known:
    values = evaluation.all(node.args)
    if any(value.lo for value in values):
        return TRUE
    return OPEN if any(value.hi for value in values) else FALSE


def _implies(evaluation: Evaluation, node: e.Implies) -> Known:
    left, right = evaluation.of(node.left), evaluation.of(node.right)
    return TRUE if right.lo or not left.hi else FALSE if left.lo and not right.hi else OPEN


def _iff(evaluation: Evaluation, node: e.Iff) -> Known:
    left, right = evaluation.of(node.left), evaluation.of(node.right)
    return (TRUE if left.lo == right.lo else FALSE) if left.is_fixed and right.is_fixed else OPEN


def _variable(evaluation: Evaluation, node: e.IntVar | e.BoolVar) -> Known:
    return evaluation.values[node.name]


def _product(evaluation: Evaluation, node: e.Mul) -> Known:
    found = fixed(1)
    for value in evaluation.all(node.args):
        found = product(found, value)
    return found


_RULES: dict[type, Callable[[Evaluation, Any], Known]] = {
    e.Const: lambda evaluation, node: fixed(int(node.value)),
    e.BoolConst: lambda evaluation, node: TRUE if node.value else FALSE,
    e.IntVar: _variable,
    e.BoolVar: _variable,
    e.Sum: lambda evaluation, node: total(
        [(a, evaluation.of(term)) for a, term in node.terms], node.constant
    ),
    e.Mul: _product,
    e.Element: _element,
    e.IfThenElse: _choice,
    e.Comparison: _held(_compare),
    e.Divides: _held(
        lambda evaluation, node: evaluation.is_multiple(
            evaluation.of(node.divisor), evaluation.of(node.dividend)
        )
    ),
    e.Member: _held(lambda evaluation, node: evaluation.member(evaluation.of(node.arg), node.domain)),
    e.Table: _held(_table),
    Relation: _short,
    Function: _short,
    e.And: _and,
    e.Or: _or,
    e.Not: lambda evaluation, node: _not(evaluation.of(node.arg)),
    e.Implies: _implies,
    e.Iff: _iff,
}
