"""Reads sympy relations as a model.

sympy computes while relations are built: ``Eq(x, x)`` is true at once, ``Mod(2*x, 2)`` is 0, ``x/x`` is 1.
The reader sees what sympy has left. A Python truth value is refused: ``x == y`` in Python only compares the
structure of two expressions in sympy. Every symbol stands for an integer or, if it is used as a condition,
for a truth value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import Boolean, BooleanFalse, BooleanFunction, BooleanTrue

from constrint.errors import ModelError, Position
from constrint.expr import (
    FUNCTIONS,
    And,
    BoolConst,
    BoolExpr,
    Comparison,
    Const,
    FloorDiv,
    Iff,
    IfThenElse,
    Implies,
    IntExpr,
    IntFunction,
    Member,
    Mod,
    Not,
    Or,
    Pow,
    linear,
)
from constrint.expr.conditions import Scale
from constrint.expr.domain import Domain
from constrint.modelling.declarations import Declarations

if TYPE_CHECKING:
    from sympy import Basic, Set, Symbol

_SYMBOLS = (sp.Symbol, sp.Indexed)
_REFUSED = ("irrational", "imaginary", "noninteger", "transcendental", "prime", "composite", "infinite")
_OPERATORS = {sp.Eq: "==", sp.Ne: "!=", sp.Lt: "<", sp.Le: "<=", sp.Gt: ">", sp.Ge: ">="}


class _NoIntegerError(Exception):
    """An expression has fractions; multiplied or rounded it may still be an integer expression."""


def read_relations(relations: Iterable[Basic] | Basic, name: str = "sympy") -> Declarations:
    """The model of relations; see `Model.from_sympy`."""
    listed = [relations] if isinstance(relations, sp.Basic | bool) else list(relations)
    for number, relation in enumerate(listed, 1):
        _check(relation, number)
    reader = _SympyReader(Declarations(name), listed)
    for number, relation in enumerate(listed, 1):
        condition = reader.condition(relation)
        condition.at(Position("<sympy>", number, 1, text=str(relation)))
        reader.model.add(condition)
    return reader.model


def _check(relation: object, number: int) -> None:
    if isinstance(relation, bool):
        raise ModelError(
            f"relation {number} is Python's {relation}: `==` and `!=` only compare how two sympy expressions "
            "look. Write Eq(a, b) or Ne(a, b)"
        )
    if not isinstance(relation, Boolean):
        kind = f"the expression {relation}" if isinstance(relation, sp.Basic) else type(relation).__name__
        raise ModelError(
            f"relation {number} is {kind}, not a relation: write Eq(…, 0), Le, And, Or, Contains …"
        )


class _SympyReader:
    def __init__(self, model: Declarations, relations: list[object]) -> None:
        self.model = model
        self.integers: dict[Basic, IntExpr] = {}
        self.conditions: dict[Basic, BoolExpr] = {}
        self._declare(relations)

    def _declare(self, relations: list[object]) -> None:
        """Declare the symbols, in order of appearance."""
        symbols: dict[Symbol, None] = {}
        truths: set[object] = set()
        for relation in relations:
            if isinstance(relation, _SYMBOLS):
                truths.add(relation)
            nodes = sp.preorder_traversal(relation)
            for node in nodes:
                if isinstance(node, sp.Indexed):
                    nodes.skip()  # the name of the array is not a variable
                    if node.free_symbols - {node, *node.base.free_symbols}:
                        raise ModelError(f"{node} has an index that is not a number")
                if isinstance(node, _SYMBOLS):
                    symbols[node] = None
                truths.update(part for part in _truths(node) if isinstance(part, _SYMBOLS))
        for symbol in symbols:
            if str(symbol) in self.model.variables:
                raise ModelError(f"there are two symbols '{symbol}', with different assumptions: use one")
            if symbol in truths:
                self.conditions[symbol] = self.integers[symbol] = self.model.bool_var(str(symbol))
            else:
                domain = _domain(symbol)
                variable = self.model.int_var(str(symbol), domain.lo, domain.hi)
                self.integers[symbol] = variable
                self.model.add(*_assumed(symbol, variable))

    # ------------------------------------------------------------ conditions

    def condition(self, node: Basic) -> BoolExpr:
        """A Boolean of sympy."""
        if node not in self.conditions:
            self.conditions[node] = self._condition(node)
        return self.conditions[node]

    def _condition(self, node: object) -> BoolExpr:
        if isinstance(node, BooleanTrue | BooleanFalse):
            return BoolConst(bool(node))
        if isinstance(node, Relational):
            return self._relation(node)
        if isinstance(node, sp.Contains):
            return self._contains(node.args[0], node.args[1])
        for kind, build in _JUNCTIONS.items():
            if isinstance(node, kind):
                return build([self.condition(part) for part in node.args])
        raise ModelError(f"{node} is not a condition that a model can have: {_KNOWN}")

    def _relation(self, node: Basic) -> BoolExpr:
        left, right = node.args
        operator = next((name for kind, name in _OPERATORS.items() if isinstance(node, kind)), None)
        if operator is None:
            raise ModelError(f"{node} is not a relation that a model can have")
        if operator in ("==", "!=") and self._is_truth(left) and self._is_truth(right):
            same = Iff(self.condition(left), self.condition(right))
            return same if operator == "==" else Not(same)
        (upper, lower), (other_upper, other_lower) = _fraction(left), _fraction(right)
        for denominator in (lower, other_lower):
            if not denominator.is_Integer:
                raise ModelError(
                    f"{node} divides by {denominator}: multiply both sides by it, or write floor(a/b)"
                )
        common = sp.ilcm(lower, other_lower)  # denominators of numbers are positive
        try:
            return Comparison(
                operator,
                self.integer(upper) * int(common / lower),
                self.integer(other_upper) * int(common / other_lower),
                None if common == 1 else Scale(int(common), False),
            )
        except _NoIntegerError as problem:
            raise ModelError(f"{node} is not a relation of integers: {problem}") from None

    def _is_truth(self, node: object) -> bool:
        if isinstance(node, _SYMBOLS):
            return False if node not in self.conditions else not isinstance(node, sp.Indexed)
        return isinstance(node, Boolean)

    def _contains(self, value: object, members: object) -> BoolExpr:
        if isinstance(members, sp.Union):
            return Or(tuple(self._contains(value, part) for part in members.args))
        if isinstance(members, sp.Intersection):
            return And(tuple(self._contains(value, part) for part in members.args))
        if isinstance(members, sp.Complement):
            inside, outside = (self._contains(value, part) for part in members.args)
            return And((inside, Not(outside)))
        expr = self.whole(value)
        if isinstance(members, sp.FiniteSet) and not all(part.is_Integer for part in members.args):
            return Or(tuple(Comparison("==", expr, self.whole(part)) for part in members.args))
        return Member(expr, _set(members))

    # ------------------------------------------------------------ integers

    def whole(self, node: Basic) -> IntExpr:
        """An integer expression; fractions are errors."""
        try:
            return self.integer(node)
        except _NoIntegerError as problem:
            raise ModelError(f"{node} is not an integer expression: {problem}") from None

    def integer(self, node: Basic) -> IntExpr:
        """An expression of sympy; raises `_NoIntegerError` if it has fractions."""
        if node not in self.integers:
            self.integers[node] = self._integer(node)
        return self.integers[node]

    def _integer(self, node: Basic) -> IntExpr:
        if node.is_Integer:
            return Const(int(node))
        if node.is_Add:
            return linear([(1, self.integer(part)) for part in node.args])
        if node.is_Mul:
            first, *rest = (self.integer(part) for part in node.args)
            for part in rest:
                first = first * part
            return first
        if node.is_Pow:
            return self._power(node)
        if node.is_Rational:
            raise _NoIntegerError(f"{node} is a fraction")
        for kind, read in _FUNCTIONS.items():
            if isinstance(node, kind):
                return read(self, node)
        if isinstance(node, AppliedUndef) and node.func.__name__ in _UNDEFINED:
            return self._function(node)
        if node.is_Float:
            raise ModelError(f"{node} is a floating-point number: write an integer, or Rational(1, 2)")
        raise ModelError(f"{node} ({type(node).__name__}) has no meaning in a model: {_KNOWN}")

    def _function(self, node: Basic) -> IntExpr:
        function = _UNDEFINED[node.func.__name__]
        if len(node.args) < function.fewest or len(node.args) > (function.most or len(node.args)):
            wanted = (
                f"{function.fewest}" if function.most == function.fewest else f"at least {function.fewest}"
            )
            raise ModelError(f"{node}: {function.name} takes {wanted} arguments, not {len(node.args)}")
        return function.of(tuple([self.whole(part) for part in node.args]))

    def _power(self, node: Basic) -> IntExpr:
        base, exponent = node.args
        if exponent.is_Rational and not (exponent.is_Integer and exponent >= 0):
            raise _NoIntegerError(f"{node} has a negative or fractional exponent")
        return Pow(self.integer(base), self.integer(exponent))

    def _floor(self, node: Basic) -> IntExpr:
        numerator, denominator = _fraction(node.args[0])
        if denominator == 1:
            return self.whole(numerator)
        rounded_up = isinstance(node, sp.ceiling)
        dividend = self.whole(-numerator if rounded_up else numerator)
        quotient = FloorDiv(dividend, self.whole(denominator))
        return -quotient if rounded_up else quotient

    def _piecewise(self, node: Basic) -> IntExpr:
        pieces = [(self.whole(value), self.condition(condition)) for value, condition in node.args]
        # It is undefined if no condition holds.
        is_total = isinstance(node.args[-1][1], BooleanTrue)
        chosen = pieces.pop()[0] if is_total else FloorDiv(Const(0), Const(0))
        for value, condition in reversed(pieces):
            chosen = IfThenElse(condition, value, chosen)
        return chosen

    def _sign(self, node: Basic) -> IntExpr:
        argument, zero = self.whole(node.args[0]), Const(0)
        return linear([(1, Comparison(">", argument, zero)), (-1, Comparison("<", argument, zero))])


def _fraction(node: Basic) -> tuple[Basic, Basic]:
    """Numerator and denominator: rational numbers and negative exponents make fractions."""
    if node.is_Rational:
        return sp.Integer(node.p), sp.Integer(node.q)
    if node.is_Mul:
        uppers, lowers = zip(*[_fraction(part) for part in node.args], strict=True)
        return sp.Mul(*uppers), sp.Mul(*lowers)
    if node.is_Pow and node.exp.is_Integer:
        upper, lower = _fraction(node.base)
        power = abs(node.exp)
        upper, lower = upper**power, lower**power
        if node.exp > 0:
            return upper, lower
        return (lower, upper) if upper.is_positive is not False else (-lower, -upper)
    if node.is_Add:
        return _sum_of_fractions([_fraction(part) for part in node.args])
    return node, sp.Integer(1)


def _sum_of_fractions(parts: list[tuple[Basic, Basic]]) -> tuple[Basic, Basic]:
    number = sp.ilcm(1, *[lower for _, lower in parts if lower.is_Integer])
    others = list(dict.fromkeys(lower for _, lower in parts if not lower.is_Integer))
    shares = []
    for upper, lower in parts:
        share = number / lower if lower.is_Integer else number
        shares.append(sp.Mul(upper, share, *[other for other in others if other != lower]))
    return sp.Add(*shares), sp.Mul(number, *others)


def _xor(parts: list[BoolExpr]) -> BoolExpr:
    first, *rest = parts
    for part in rest:
        first = Not(Iff(first, part))
    return first


def _equivalent(parts: list[BoolExpr]) -> BoolExpr:
    pairs = tuple(Iff(left, right) for left, right in pairwise(parts))
    return pairs[0] if len(pairs) == 1 else And(pairs)


_JUNCTIONS: dict[type[Basic], Callable[[list[BoolExpr]], BoolExpr]] = {
    sp.And: lambda parts: And(tuple(parts)),
    sp.Or: lambda parts: Or(tuple(parts)),
    sp.Not: lambda parts: Not(parts[0]),
    sp.Xor: _xor,
    sp.Implies: lambda parts: Implies(parts[0], parts[1]),
    sp.Equivalent: _equivalent,
    sp.ITE: lambda parts: And((Implies(parts[0], parts[1]), Or((parts[0], parts[2])))),
}

_UNDEFINED = {name: f for name, f in FUNCTIONS.items() if not (f.infix or f.sympy_name or f.conditions)}
"""Functions that sympy lacks; they are undefined functions of their names there."""


def _known(function: type[IntFunction]) -> Callable[[_SympyReader, Basic], IntExpr]:
    return lambda reader, node: function.of(tuple([reader.whole(part) for part in node.args]))


_FUNCTIONS: dict[type[Basic], Callable[[_SympyReader, Basic], IntExpr]] = {
    sp.floor: _SympyReader._floor,
    sp.ceiling: _SympyReader._floor,
    **{
        getattr(sp, function.sympy_name): _known(function)
        for function in FUNCTIONS.values()
        if function.sympy_name
    },
    sp.sign: _SympyReader._sign,
    sp.Piecewise: _SympyReader._piecewise,
}

_KNOWN = (
    "it has + - * **, floor, ceiling, Mod, Abs, Min, Max, sign, Piecewise as functions, and "
    f"{', '.join(_UNDEFINED)} as undefined ones; "
    "Eq, Ne, Lt, Le, Gt, Ge, Contains, And, Or, Not, Xor, Implies, Equivalent, ITE"
)


def _truths(node: object) -> tuple[object, ...]:
    """The parts of a node that must be conditions."""
    if isinstance(node, BooleanFunction):
        return tuple(node.args)
    if isinstance(node, ExprCondPair):
        return (node.cond,)
    if isinstance(node, sp.Eq | sp.Ne):
        left, right = node.args
        others = [part for part in (left, right) if not isinstance(part, _SYMBOLS)]
        if any(isinstance(part, Boolean) for part in others):
            return (left, right)
    return ()


def _domain(symbol: Symbol) -> Domain:
    """The integers that a symbol's assumptions allow."""
    known = symbol.assumptions0
    wrong = [name for name in _REFUSED if known.get(name)]
    wrong += [f"not {name}" for name in ("integer", "real", "finite") if known.get(name) is False]
    if wrong:
        raise ModelError(f"the symbol '{symbol}' is {wrong[0]}: a model has integers only")
    lo = 1 if known.get("positive") else 0 if known.get("nonnegative") else None
    hi = -1 if known.get("negative") else 0 if known.get("nonpositive") else None
    return Domain(lo, hi)


def _assumed(symbol: Symbol, variable: IntExpr) -> list[BoolExpr]:
    """Conditions that a symbol's assumptions imply in addition to bounds."""
    known = symbol.assumptions0
    conditions: list[BoolExpr] = []
    if known.get("even") or known.get("odd"):
        conditions.append(Comparison("==", Mod(variable, Const(2)), Const(int(bool(known.get("odd"))))))
    if known.get("nonzero") and not (known.get("positive") or known.get("negative")):
        conditions.append(Comparison("!=", variable, Const(0)))
    return conditions


def _set(members: Set) -> Domain:
    """A set of sympy as integers."""
    if isinstance(members, sp.FiniteSet):
        return Domain.of_values([int(part) for part in members.args])
    if members is sp.S.EmptySet or (isinstance(members, sp.Range) and members.size == 0):
        return Domain.of_values([])
    if members in (sp.S.Integers, sp.S.Rationals, sp.S.Reals, sp.S.Complexes):
        return Domain(None, None)
    if isinstance(members, sp.Interval):
        lo, hi = sp.ceiling(members.start), sp.floor(members.end)
        lo += 1 if members.left_open and lo == members.start and lo.is_finite else 0
        hi -= 1 if members.right_open and hi == members.end and hi.is_finite else 0
        return Domain.of_range(_bound(lo, members), _bound(hi, members))
    if isinstance(members, sp.Range) or members in (sp.S.Naturals, sp.S.Naturals0):
        step = abs(members.step) if isinstance(members, sp.Range) else 1
        if not (members.inf.is_infinite and members.sup.is_infinite and step != 1):
            return Domain.of_range(_bound(members.inf, members), _bound(members.sup, members), int(step))
    raise ModelError(
        f"{members} is not a set that a model can have: FiniteSet, Range, Interval, Naturals, Union …"
    )


def _bound(value: Basic, members: Set) -> int | None:
    if value.is_infinite:
        return None
    if not value.is_Integer:
        raise ModelError(f"{members} has the bound {value}: bounds are integers")
    return int(value)
