"""Writes a model as sympy relations, which the reader reads back as the same model.

Relations, floor, Mod and Piecewise are left unevaluated, so that they look like the model. A relation with
terms that may be undefined is written together with the conditions under which they are defined; sympy may
then simplify and negate it. If it is used as a number, its terms are written *total*: with 1 instead of a
divisor that is 0, and 0 instead of a negative exponent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolConst,
    BoolExpr,
    BoolVar,
    Comparison,
    Const,
    Divides,
    Element,
    FloorDiv,
    Iff,
    IfThenElse,
    Implies,
    IntExpr,
    IntFunction,
    IntVar,
    Member,
    Mod,
    Mul,
    Not,
    Or,
    Pow,
    Sum,
    Table,
    definedness,
)
from constrint.expr.domain import Domain
from constrint.globals import Function, Relation
from constrint.modelling.conflict import describe
from constrint.modelling.declarations import Declarations
from constrint.support.limits import recursion_room

if TYPE_CHECKING:
    from sympy import Basic

Writers: TypeAlias = dict[type[Any], Callable[["_SympyWriter", Any], "Basic"]]

MOST_FRAMES = 20_000
"""How deep writing may call itself: sympy looks through expressions level by level, several times each."""
MOST_REPEATED = 5_000
"""Operators and operands that may be repeated where expressions share parts: sympy takes seconds for more."""
_RELATIONS = {"==": sp.Eq, "!=": sp.Ne, "<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge}


def write_relations(model: Declarations) -> list[Basic]:
    """The relations of a model; see `Model.to_sympy`."""
    _check_repeated(model)
    writer = _SympyWriter()
    relations = [
        sp.Contains(writer.symbol(variable), _set(variable.domain), evaluate=False)
        for variable in model.variables.values()
    ]
    try:
        with recursion_room(MOST_FRAMES):
            return relations + [writer.condition(constraint.expr) for constraint in model.constraints]
    except RecursionError:
        raise ModelError("an expression is nested too deeply to be written for sympy") from None


def _check_repeated(model: Declarations) -> None:
    """Raise `ModelError` where shared parts, which sympy goes through each time, are repeated too often."""
    children: dict[int, tuple[IntExpr, ...]] = {}  # keeps the expressions whose ids are keys
    sizes: dict[int, int] = {}  # with all repetitions
    for constraint in model.constraints:
        root = constraint.expr
        stack: list[IntExpr] = [root]
        while stack:
            expr = stack[-1]
            parts = children.setdefault(id(expr), tuple(expr.children))
            unknown = [part for part in parts if id(part) not in sizes]
            if unknown:
                stack += unknown
            else:
                sizes[id(stack.pop())] = 1 + sum(sizes[id(part)] for part in parts)
        if sizes[id(root)] > MOST_REPEATED and sizes[id(root)] - _distinct(root, children) > MOST_REPEATED:
            raise ModelError(
                f"{describe(constraint)}: written for sympy, its shared parts would be repeated as more than "
                f"{MOST_REPEATED:,} operators; name inner parts: y = m.int_var(…), m.add(y == …)"
            )


def _distinct(root: IntExpr, children: dict[int, tuple[IntExpr, ...]]) -> int:
    """How many parts an expression has, shared ones counted once; a leaf counts as often as it stands."""
    seen: set[int] = set()
    number, stack = 1, [root]
    while stack:
        parts = children[id(stack.pop())]
        for part in parts:
            is_leaf = not children[id(part)]
            number += is_leaf or id(part) not in seen
            if not is_leaf and id(part) not in seen:
                stack.append(part)
            seen.add(id(part))
    return number


def _set(domain: Domain) -> Basic:
    if domain.is_empty:
        return sp.S.EmptySet
    if domain.values is not None:
        return sp.FiniteSet(*domain.values)
    if domain.lo is not None:
        return sp.Range(domain.lo, sp.oo if domain.hi is None else domain.hi + 1, domain.step)
    return sp.S.Integers if domain.hi is None else sp.Range(domain.hi, -sp.oo, -domain.step)


class _SympyWriter:
    def __init__(self) -> None:
        self.total = False  # whether terms are written so that they are always defined
        self.written: dict[tuple[int, bool], Basic] = {}
        self.conditions: dict[tuple[int, bool], Basic] = {}
        self.known: dict[int, tuple[BoolExpr, ...]] = {}
        self.made: list[IntExpr] = []  # kept alive: the dictionaries are keyed by id

    def symbol(self, variable: IntVar | BoolVar) -> Basic:
        """The symbol of a variable."""
        return sp.Symbol(variable.name, integer=True)

    def number(self, expr: IntExpr) -> Basic:
        """An integer expression; a condition counts as 0 or 1."""
        if not isinstance(expr, BoolExpr):
            return self._once(expr, _NUMBERS, self.written)
        needs = self._needs(expr)
        if not needs:
            return self._once(expr, _INDICATORS, self.written)
        total, self.total = self.total, True
        indicators = [self._once(expr, _INDICATORS, self.written), *map(self.number, needs)]
        self.total = total
        return sp.Min(*indicators)

    def condition(self, expr: IntExpr) -> Basic:
        """A condition."""
        total, self.total = self.total, False
        condition = self._once(expr, _CONDITIONS, self.conditions)
        needs = self._needs(expr)
        if needs:
            condition = sp.And(*map(self.condition, needs), condition)
        self.total = total
        return condition

    def total_number(self, expr: IntExpr) -> Basic:
        """An integer expression, with some value even if the expression is undefined."""
        total, self.total = self.total, True
        number = self.number(expr)
        self.total = total
        return number

    def _needs(self, expr: IntExpr) -> list[BoolExpr]:
        """The conditions under which the terms of a relation are defined."""
        if not isinstance(expr, Comparison | Divides | Member | Table):
            return []
        needs = [need for term in expr.children for need in definedness(term, self.known)]
        self.made += needs
        return needs

    def _once(self, expr: IntExpr, writers: Writers, written: dict[tuple[int, bool], Basic]) -> Basic:
        key = id(expr), self.total
        if key not in written:
            if type(expr) in writers:
                written[key] = writers[type(expr)](self, expr)
            elif isinstance(expr, IntFunction):
                written[key] = self.function(expr)
            else:
                raise ModelError(f"{type(expr).__name__} has no form in sympy")
        return written[key]

    def choice(self, pieces: list[tuple[Basic, IntExpr]], otherwise: Basic) -> Basic:
        """The value of the first piece whose condition holds; at most one does."""
        conditions = [self.condition(condition) for _, condition in pieces]
        if any(condition.has(sp.Piecewise) for condition in conditions):
            # sympy misreads a Piecewise within the condition of another.
            shares = [self.number(condition) * (value - otherwise) for value, condition in pieces]
            return sp.Add(otherwise, *shares)
        chosen = zip([value for value, _ in pieces], conditions, strict=True)
        return sp.Piecewise(*chosen, (otherwise, True), evaluate=False)

    def numbers(self, exprs: tuple[IntExpr, ...]) -> list[Basic]:
        """Integer expressions in order."""
        return [self.number(expr) for expr in exprs]

    def function(self, expr: IntFunction) -> Basic:
        """An arithmetic function: sympy's own, what it is short for, or an undefined one of its name."""
        other = expr.decomposed()
        if other is not None:
            self.made.append(other)
            return self.number(other)
        operands = self.numbers(expr.children)
        if self.total and expr.needs():
            for i, way in expr.requires.items():
                operand = operands[i]
                operands[i] = sp.Max(operand, 0) if way == ">=" else operand + 1 - sp.Min(1, sp.Abs(operand))
        written = getattr(sp, expr.sympy_name) if expr.sympy_name else sp.Function(expr.name)
        return written(*operands)

    def divisor(self, expr: FloorDiv | Mod) -> Basic:
        """A divisor; 1 if it is always 0."""
        divisor = self.number(expr.right)
        if self.total and not divisor.is_Integer and expr.needs():
            return divisor + 1 - sp.Min(1, sp.Abs(divisor))
        return sp.Integer(1) if divisor == 0 else divisor

    def quotient(self, expr: FloorDiv) -> Basic:
        """A quotient that is rounded down."""
        dividend, divisor = self.number(expr.left), self.divisor(expr)
        ratio = dividend / divisor
        if divisor.has(sp.Piecewise) or not all(power.exp.is_Integer for power in divisor.atoms(sp.Pow)):
            # sympy would divide by each piece, even by one that is 0, and negate an exponent.
            ratio = sp.Mul(dividend, sp.Pow(divisor, -1, evaluate=False), evaluate=False)
        return sp.floor(ratio, evaluate=bool(ratio.is_Rational))

    def power(self, expr: Pow) -> Basic:
        base, exponent = self.number(expr.left), self.number(expr.right)
        if exponent.is_Integer and exponent < 0:
            return sp.Integer(0)
        # sympy turns 0**(-x) into infinities at once.
        is_plain = base != 0 and not (self.total and expr.needs())
        return base ** (exponent if is_plain else sp.Max(exponent, 0))

    def element(self, expr: Element) -> Basic:
        values = [sp.Integer(value) for value in expr.values]
        if not values:
            return sp.Integer(0)
        equal: list[IntExpr] = [Comparison("==", expr.index, Const(k)) for k in range(len(values) - 1)]
        self.made += equal
        return self.choice(list(zip(values, equal, strict=False)), values[-1])

    def divides(self, expr: Divides) -> Basic:
        divisor, dividend = self.number(expr.divisor), self.number(expr.dividend)
        if divisor.is_Integer:
            left = _mod(dividend, divisor) if divisor else dividend
            return sp.Eq(left, 0, evaluate=False)
        size = sp.Max(1, sp.Abs(divisor))  # 0 divides only 0, and nothing is undefined
        multiple = sp.Eq(_mod(dividend, size), 0, evaluate=False)
        return sp.Or(
            sp.And(sp.Eq(divisor, 0, evaluate=False), sp.Eq(dividend, 0, evaluate=False)),
            sp.And(sp.Ne(divisor, 0, evaluate=False), multiple),
        )

    def comparison(self, expr: Comparison) -> Basic:
        left, right = self.numbers(expr.children)
        if expr.scale is not None:
            left, right = left / expr.scale.denominator, right / expr.scale.denominator
        # sympy fails on relations of two numbers within the conditions of a Piecewise.
        is_known = bool(left.is_Rational and right.is_Rational)
        return _RELATIONS[expr.operator](left, right, evaluate=is_known)

    def global_condition(self, expr: Relation) -> Basic:
        """The decomposition of a global constraint."""
        self.made.append(expr.decomposed())
        return self.condition(self.made[-1])

    def global_number(self, expr: Relation | Function) -> Basic:
        """The decomposition of a global constraint, as a number."""
        self.made.append(expr.decomposed())
        return self.number(self.made[-1])

    def table(self, expr: Table) -> Basic:
        args = self.numbers(expr.args)
        rows = [
            sp.And(*[sp.Eq(arg, value, evaluate=False) for arg, value in zip(args, row, strict=True)])
            for row in sorted(expr.rows)
        ]
        return sp.Or(*rows)


_NUMBERS: Writers = {
    Function: _SympyWriter.global_number,
    Const: lambda writer, expr: sp.Integer(expr.value),
    IntVar: _SympyWriter.symbol,
    Sum: lambda writer, expr: sp.Add(
        expr.constant, *[coefficient * writer.number(term) for coefficient, term in expr.terms]
    ),
    Mul: lambda writer, expr: sp.Mul(*writer.numbers(expr.args)),
    FloorDiv: _SympyWriter.quotient,
    Mod: lambda writer, expr: _mod(writer.number(expr.left), writer.divisor(expr)),
    Pow: _SympyWriter.power,
    Element: _SympyWriter.element,
    IfThenElse: lambda writer, expr: writer.choice(
        [(writer.total_number(expr.then), expr.condition)], writer.total_number(expr.otherwise)
    ),
}
"""How each integer node is written."""

_CONDITIONS: Writers = {
    Relation: _SympyWriter.global_condition,
    BoolConst: lambda writer, expr: sp.true if expr.value else sp.false,
    BoolVar: _SympyWriter.symbol,
    Comparison: _SympyWriter.comparison,
    Divides: _SympyWriter.divides,
    Member: lambda writer, expr: sp.Contains(writer.number(expr.arg), _set(expr.domain), evaluate=False),
    Table: _SympyWriter.table,
    And: lambda writer, expr: sp.And(*[writer.condition(part) for part in expr.args]),
    Or: lambda writer, expr: sp.Or(*[writer.condition(part) for part in expr.args]),
    Not: lambda writer, expr: sp.Not(writer.condition(expr.arg)),
    Implies: lambda writer, expr: sp.Implies(writer.condition(expr.left), writer.condition(expr.right)),
    Iff: lambda writer, expr: sp.Equivalent(writer.condition(expr.left), writer.condition(expr.right)),
}
"""How each condition is written."""


def _mod(dividend: Basic, divisor: Basic) -> Basic:
    """A remainder; one of numbers is computed, because sympy cannot compare it otherwise."""
    return sp.Mod(dividend, divisor, evaluate=bool(dividend.is_Integer and divisor.is_Integer))


def _least(value: Basic) -> Basic:
    """1 if the value is at least 1, else 0."""
    return sp.Max(0, sp.Min(1, value))


def _compared(writer: _SympyWriter, expr: Comparison) -> Basic:
    left, right = writer.numbers(expr.children)
    differs = sp.Min(1, sp.Abs(left - right))
    return {
        "==": 1 - differs,
        "!=": differs,
        "<": _least(right - left),
        "<=": _least(right - left + 1),
        ">": _least(left - right),
        ">=": _least(left - right + 1),
    }[expr.operator]


def _member(writer: _SympyWriter, expr: Member) -> Basic:
    value, domain = writer.number(expr.arg), expr.domain
    if domain.values is not None:
        return 1 - sp.Min(1, sp.Mul(*[sp.Abs(value - member) for member in domain.values]))
    parts = [sp.Integer(0)] if domain.is_empty else [sp.Integer(1)]
    parts += [] if domain.lo is None else [_least(value - domain.lo + 1)]
    parts += [] if domain.hi is None else [_least(domain.hi - value + 1)]
    anchor = domain.lo if domain.lo is not None else domain.hi
    if anchor is not None and domain.step > 1:
        parts.append(1 - sp.Min(1, _mod(value - anchor, domain.step)))
    return sp.Min(*parts)


def _divided(writer: _SympyWriter, expr: Divides) -> Basic:
    divisor, dividend = writer.number(expr.divisor), writer.number(expr.dividend)
    remainder = _mod(dividend, sp.Max(1, sp.Abs(divisor)))
    # A divisor of 0 adds the dividend itself: the remainder is then 0 for 0 only.
    return 1 - sp.Min(1, remainder + sp.Max(0, 1 - sp.Abs(divisor)) * sp.Abs(dividend))


def _listed(writer: _SympyWriter, expr: Table) -> Basic:
    args = writer.numbers(expr.args)
    rows = [sp.Add(*[sp.Abs(arg - value) for arg, value in zip(args, row, strict=True)]) for row in expr.rows]
    return sp.Max(0, *[1 - sp.Min(1, row) for row in rows])


_INDICATORS: Writers = {
    Relation: _SympyWriter.global_number,
    BoolConst: lambda writer, expr: sp.Integer(int(expr.value)),
    BoolVar: _SympyWriter.symbol,
    Comparison: _compared,
    Divides: _divided,
    Member: _member,
    Table: _listed,
    And: lambda writer, expr: sp.Min(1, *writer.numbers(expr.args)),
    Or: lambda writer, expr: sp.Max(0, *writer.numbers(expr.args)),
    Not: lambda writer, expr: 1 - writer.number(expr.arg),
    Implies: lambda writer, expr: sp.Max(1 - writer.number(expr.left), writer.number(expr.right)),
    Iff: lambda writer, expr: 1 - sp.Abs(writer.number(expr.left) - writer.number(expr.right)),
}
"""How each condition is written as 0 or 1: sympy has no better form that is allowed everywhere."""
