"""Writes a model as sympy relations, which `sympy_bridge` reads back as the same model.

Relations, floor, Mod and Piecewise are left unevaluated, so that they look like the model. Where an
expression of the model is undefined for some values, a relation excludes them: sympy may simplify the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import sympy as sp

from constrint.errors import ModelError
from constrint.expr import (
    Abs,
    And,
    BoolConst,
    BoolExpr,
    BoolVar,
    Comparison,
    Const,
    Divides,
    Element,
    FloorDiv,
    Gcd,
    Iff,
    IfThenElse,
    Implies,
    IntExpr,
    IntVar,
    Lcm,
    Max,
    Member,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Pow,
    Sum,
    Table,
)
from constrint.expr.domain import Domain
from constrint.globals import Function, Relation
from constrint.model import Model

Writers: TypeAlias = dict[type[Any], Callable[["_Writer", Any], Any]]

_RELATIONS = {"==": sp.Eq, "!=": sp.Ne, "<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge}


def write_relations(model: Model) -> list[Any]:
    """The relations of a model; see `Model.to_sympy`."""
    writer = _Writer()
    relations = [
        sp.Contains(writer.symbol(variable), _set(variable.domain), evaluate=False)
        for variable in model.variables.values()
    ]
    for expr in model.lets.values():
        writer.number(expr)
    conditions = [writer.condition(constraint.expr) for constraint in model.constraints]
    return relations + list(dict.fromkeys(writer.defined)) + conditions


def _set(domain: Domain) -> Any:
    if domain.is_empty:
        return sp.S.EmptySet
    if domain.values is not None:
        return sp.FiniteSet(*domain.values)
    if domain.lo is not None:
        return sp.Range(domain.lo, sp.oo if domain.hi is None else domain.hi + 1, domain.step)
    return sp.S.Integers if domain.hi is None else sp.Range(domain.hi, -sp.oo, -domain.step)


class _Writer:
    def __init__(self) -> None:
        self.defined: list[Any] = []  # where every part has a value
        self.written: dict[int, Any] = {}
        self.conditions: dict[int, Any] = {}
        self.made: list[IntExpr] = []  # kept alive: the dictionaries know expressions by id

    def symbol(self, variable: IntVar | BoolVar) -> Any:
        """The symbol of a variable."""
        return sp.Symbol(variable.name, integer=True)

    def number(self, expr: IntExpr) -> Any:
        """An integer expression; a condition counts 0 or 1."""
        return self._once(expr, _INDICATORS if isinstance(expr, BoolExpr) else _NUMBERS, self.written)

    def condition(self, expr: IntExpr) -> Any:
        """A condition."""
        return self._once(expr, _CONDITIONS, self.conditions)

    def _once(self, expr: IntExpr, writers: Writers, written: dict[int, Any]) -> Any:
        if id(expr) not in written:
            if type(expr) not in writers:
                raise ModelError(f"{type(expr).__name__} has no form in sympy")
            written[id(expr)] = writers[type(expr)](self, expr)
        return written[id(expr)]

    def choice(self, pieces: list[tuple[Any, IntExpr]], otherwise: Any) -> Any:
        """The value of the first piece whose condition holds; at most one does."""
        conditions = [self.condition(condition) for _, condition in pieces]
        if any(condition.has(sp.Piecewise) for condition in conditions):
            # sympy misreads a Piecewise within the condition of another.
            shares = [self.number(condition) * (value - otherwise) for value, condition in pieces]
            return sp.Add(otherwise, *shares)
        chosen = zip([value for value, _ in pieces], conditions, strict=True)
        return sp.Piecewise(*chosen, (otherwise, True), evaluate=False)

    def numbers(self, exprs: tuple[IntExpr, ...]) -> list[Any]:
        """Integer expressions in order."""
        return [self.number(expr) for expr in exprs]

    def divisor(self, expr: IntExpr) -> Any:
        """A divisor, which is not 0."""
        divisor = self.number(expr)
        if divisor == 0:
            self.defined.append(sp.false)
            return sp.Integer(1)
        if not divisor.is_Integer:
            self.defined.append(sp.Ne(divisor, 0, evaluate=False))
        return divisor

    def quotient(self, expr: FloorDiv) -> Any:
        """A quotient that is rounded down."""
        dividend, divisor = self.number(expr.left), self.divisor(expr.right)
        ratio = dividend / divisor
        if divisor.has(sp.Piecewise):
            # sympy would divide by each piece, even where one is 0.
            ratio = sp.Mul(dividend, sp.Pow(divisor, -1, evaluate=False), evaluate=False)
        return sp.floor(ratio, evaluate=bool(ratio.is_Rational))

    def power(self, expr: Pow) -> Any:
        base, exponent = self.number(expr.left), self.number(expr.right)
        if not exponent.is_Integer:
            self.defined.append(sp.Ge(exponent, 0, evaluate=False))
        elif exponent < 0:
            self.defined.append(sp.false)
            return sp.Integer(0)
        # sympy turns 0**(-x) into infinities at once.
        return base ** (exponent if base != 0 else sp.Max(exponent, 0))

    def element(self, expr: Element) -> Any:
        index, values = self.number(expr.index), [sp.Integer(value) for value in expr.values]
        self.defined.append(
            sp.And(sp.Ge(index, 0, evaluate=False), sp.Lt(index, len(values), evaluate=False))
        )
        if not values:
            return sp.Integer(0)
        equal: list[IntExpr] = [Comparison("==", expr.index, Const(k)) for k in range(len(values) - 1)]
        self.made += equal
        return self.choice(list(zip(values, equal, strict=False)), values[-1])

    def divides(self, expr: Divides) -> Any:
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

    def comparison(self, expr: Comparison) -> Any:
        left, right = self.numbers(expr.children)
        # sympy stumbles over relations of two numbers within the conditions of a Piecewise.
        is_known = bool(left.is_Integer and right.is_Integer)
        return _RELATIONS[expr.operator](left, right, evaluate=is_known)

    def global_condition(self, expr: Relation) -> Any:
        """What a global constraint decomposes into."""
        self.made.append(expr.decomposed())
        return self.condition(self.made[-1])

    def global_number(self, expr: Relation | Function) -> Any:
        """What a global constraint decomposes into, as a number."""
        self.made.append(expr.decomposed())
        return self.number(self.made[-1])

    def table(self, expr: Table) -> Any:
        args = self.numbers(expr.args)
        rows = [
            sp.And(*[sp.Eq(arg, value, evaluate=False) for arg, value in zip(args, row, strict=True)])
            for row in sorted(expr.rows)
        ]
        return sp.Or(*rows)


def _undefined(name: str) -> Callable[[_Writer, Any], Any]:
    # sympy's own gcd and lcm are those of polynomials: gcd(x, y) would be 1 at once.
    return lambda writer, expr: sp.Function(name)(*writer.numbers(expr.args))


_NUMBERS: Writers = {
    Function: _Writer.global_number,
    Const: lambda writer, expr: sp.Integer(expr.value),
    IntVar: _Writer.symbol,
    Sum: lambda writer, expr: sp.Add(
        expr.constant, *[coefficient * writer.number(term) for coefficient, term in expr.terms]
    ),
    Mul: lambda writer, expr: sp.Mul(*writer.numbers(expr.args)),
    FloorDiv: _Writer.quotient,
    Mod: lambda writer, expr: _mod(writer.number(expr.left), writer.divisor(expr.right)),
    Pow: _Writer.power,
    Abs: lambda writer, expr: sp.Abs(writer.number(expr.arg)),
    Min: lambda writer, expr: sp.Min(*writer.numbers(expr.args)),
    Max: lambda writer, expr: sp.Max(*writer.numbers(expr.args)),
    Gcd: _undefined("gcd"),
    Lcm: _undefined("lcm"),
    Element: _Writer.element,
    IfThenElse: lambda writer, expr: writer.choice(
        [(writer.number(expr.then), expr.condition)], writer.number(expr.otherwise)
    ),
}
"""How each integer node is written."""

_CONDITIONS: Writers = {
    Relation: _Writer.global_condition,
    BoolConst: lambda writer, expr: sp.true if expr.value else sp.false,
    BoolVar: _Writer.symbol,
    Comparison: _Writer.comparison,
    Divides: _Writer.divides,
    Member: lambda writer, expr: sp.Contains(writer.number(expr.arg), _set(expr.domain), evaluate=False),
    Table: _Writer.table,
    And: lambda writer, expr: sp.And(*[writer.condition(part) for part in expr.args]),
    Or: lambda writer, expr: sp.Or(*[writer.condition(part) for part in expr.args]),
    Not: lambda writer, expr: sp.Not(writer.condition(expr.arg)),
    Implies: lambda writer, expr: sp.Implies(writer.condition(expr.left), writer.condition(expr.right)),
    Iff: lambda writer, expr: sp.Equivalent(writer.condition(expr.left), writer.condition(expr.right)),
}
"""How each condition is written."""


def _mod(dividend: Any, divisor: Any) -> Any:
    """A remainder; one of numbers is worked out, as sympy cannot compare it otherwise."""
    return sp.Mod(dividend, divisor, evaluate=bool(dividend.is_Integer and divisor.is_Integer))


def _least(value: Any) -> Any:
    """1 for what is at least 1, else 0."""
    return sp.Max(0, sp.Min(1, value))


def _compared(writer: _Writer, expr: Comparison) -> Any:
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


def _member(writer: _Writer, expr: Member) -> Any:
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


def _divided(writer: _Writer, expr: Divides) -> Any:
    divisor, dividend = writer.number(expr.divisor), writer.number(expr.dividend)
    remainder = _mod(dividend, sp.Max(1, sp.Abs(divisor)))
    # A divisor of 0 adds the dividend itself: only 0 is left over by nothing.
    return 1 - sp.Min(1, remainder + sp.Max(0, 1 - sp.Abs(divisor)) * sp.Abs(dividend))


def _listed(writer: _Writer, expr: Table) -> Any:
    args = writer.numbers(expr.args)
    rows = [sp.Add(*[sp.Abs(arg - value) for arg, value in zip(args, row, strict=True)]) for row in expr.rows]
    return sp.Max(0, *[1 - sp.Min(1, row) for row in rows])


_INDICATORS: Writers = {
    Relation: _Writer.global_number,
    BoolConst: lambda writer, expr: sp.Integer(int(expr.value)),
    BoolVar: _Writer.symbol,
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
"""How each condition is written where it counts 0 or 1: sympy has no better way that can stand anywhere."""
