"""What is known of an expression's values while one variable runs over evenly spaced values.

Of each expression three things are known: bounds, a congruence, and, where it is one, the affine function of
the place k that the variable has reached. They follow from those of the parts; none of them ever excludes a
value that is taken.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from constrint import expr as e
from constrint.diagrams.terms import Unsupported
from constrint.expr.domain import Domain
from constrint.globals import Function, Relation

MOST_BITS = 1 << 14  # longer powers are not computed


class Never(Exception):  # noqa: N818 - an outcome, not a fault
    """The expression has no value anywhere in the range."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of values: ``lo <= value <= hi`` and ``value % modulus == residue``.

    Attributes:
        lo: Lower bound.
        hi: Upper bound.
        modulus: Of the congruence; 0 for a value that is known.
        residue: Of the congruence.
        slope: The value is ``start + slope * k``, where this is given.
        start: See slope.
    """

    lo: int
    hi: int
    modulus: int = 1
    residue: int = 0
    slope: int | None = None
    start: int = 0

    @property
    def is_fixed(self) -> bool:
        """Whether the value is known."""
        return self.lo == self.hi


TRUE, FALSE, OPEN = Known(1, 1, 0, 1, 0, 1), Known(0, 0, 0, 0, 0, 0), Known(0, 1)


def fixed(value: int) -> Known:
    """A value."""
    return Known(value, value, 0, value, 0, value)


def between(lo: int, hi: int, modulus: int = 1, residue: int = 0) -> Known:
    """What is known of a value by its bounds and its congruence, where it is no affine function."""
    if modulus:
        lo += (residue - lo) % modulus
        hi -= (hi - residue) % modulus
    else:
        lo, hi = max(lo, residue), min(hi, residue)
    if lo > hi:
        raise Never
    return fixed(lo) if lo == hi else Known(lo, hi, modulus, residue % modulus if modulus else residue)


def joined(a: Known, b: Known) -> Known:
    """What is known of a value that is one of two."""
    if a == b:
        return a
    return between(
        min(a.lo, b.lo), max(a.hi, b.hi), math.gcd(a.modulus, b.modulus, a.residue - b.residue), a.residue
    )


def total(parts: Sequence[tuple[int, Known]], constant: int = 0) -> Known:
    """A sum of multiples."""
    lo = hi = residue = start = constant
    modulus, slope = 0, 0
    places: tuple[int, int] | None = None
    is_affine = True
    for a, part in parts:
        lo += a * (part.lo if a >= 0 else part.hi)
        hi += a * (part.hi if a >= 0 else part.lo)
        modulus = math.gcd(modulus, a * part.modulus)
        residue += a * part.residue
        if part.slope is None:
            is_affine = is_affine and a == 0
        elif part.slope:
            slope += a * part.slope
            start += a * part.start
            places = (part.lo - part.start) // part.slope, (part.hi - part.start) // part.slope
        else:
            start += a * part.start
    return affine(slope, start, places) if is_affine else between(lo, hi, modulus, residue)


def affine(slope: int, start: int, places: tuple[int, int] | None) -> Known:
    """``start + slope * k`` for k between two places."""
    if slope == 0 or places is None:
        return fixed(start)
    lo, hi = sorted((start + slope * places[0], start + slope * places[1]))
    return fixed(lo) if lo == hi else Known(lo, hi, abs(slope), lo % abs(slope), slope, start)


def product(a: Known, b: Known) -> Known:
    """A product."""
    if a.is_fixed:
        return total([(a.lo, b)])
    if b.is_fixed:
        return total([(b.lo, a)])
    corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    modulus = math.gcd(a.modulus * b.modulus, a.modulus * b.residue, b.modulus * a.residue)
    return between(min(corners), max(corners), modulus, a.residue * b.residue)


@dataclass
class Evaluation:
    """Evaluates expressions over a range of places.

    Attributes:
        values: What is known of the variables, by name.
        period: Every how many of its values the variable is looked at.
        wish: A multiple of the period with which more would be known.
        is_open: Whether a term of the condition at hand may have had no value.
        parts: What expressions consist of that are short for others; shared between evaluations.
        known: What is known of expressions so far, and whether they may have no value.
    """

    values: dict[str, Known]
    period: int = 1
    wish: int = 1
    is_open: bool = False
    parts: dict[int, e.IntExpr] = field(default_factory=dict)
    known: dict[int, tuple[Known, bool]] = field(default_factory=dict)

    def of(self, node: e.IntExpr) -> Known:
        """What is known of an expression; raises `Never` and `Unsupported`."""
        found = self.known.get(id(node))
        if found is None:
            rule = _RULES.get(type(node))
            if rule is None:
                raise Unsupported(f"expressions of type {type(node).__name__}")
            outside, self.is_open = self.is_open, False
            found = self.known[id(node)] = rule(self, node), self.is_open
            self.is_open = outside
        value, may_be_undefined = found
        self.is_open = self.is_open or may_be_undefined
        return value

    def all(self, nodes: Sequence[e.IntExpr]) -> list[Known]:
        """What is known of several."""
        return [self.of(node) for node in nodes]

    def wanted(self, value: Known, modulus: int) -> None:
        """Say that the residue of a value would be worth knowing."""
        more = self.period * abs(modulus) // math.gcd(value.modulus, modulus)
        self.wish = math.lcm(self.wish, more)

    def divisor(self, value: Known) -> list[int]:
        """The outermost divisors that have a quotient."""
        if value.lo == value.hi == 0:
            raise Never
        if value.lo <= 0 <= value.hi:
            self.is_open = True
        ends = {value.lo, value.hi, *((-1,) if value.lo < 0 < value.hi or value.hi == 0 else ())}
        ends |= {1} if value.lo < 0 < value.hi or value.lo == 0 else set()
        return sorted(ends - {0})

    def quotient(self, a: Known, b: Known) -> Known:
        """``a // b``."""
        ends = self.divisor(b)
        if b.is_fixed and a.slope is not None and not a.is_fixed:
            if a.slope % b.lo == 0:
                places = (a.lo - a.start) // a.slope, (a.hi - a.start) // a.slope
                return affine(a.slope // b.lo, a.start // b.lo, places)
            self.wanted(a, b.lo)
        corners = [x // y for x in (a.lo, a.hi) for y in ends]
        return between(min(corners), max(corners))

    def remainder(self, a: Known, b: Known) -> Known:
        """``a % b``."""
        ends = self.divisor(b)
        if b.is_fixed:
            m = b.lo
            if a.modulus % m == 0:
                return fixed(a.residue % m)
            if a.lo // m == a.hi // m:
                return total([(1, a)], -m * (a.lo // m))
            self.wanted(a, m)
            return between(min(0, m + 1), max(0, m - 1), math.gcd(a.modulus, m), a.residue)
        if (a.lo >= 0 and a.hi < b.lo) or (b.hi < a.lo and a.hi <= 0):
            return a
        return between(min(0, ends[0] + 1), max(0, ends[-1] - 1))

    def is_multiple(self, divisor: Known, value: Known) -> Known:
        """Whether the divisor divides the value."""
        if divisor.lo == divisor.hi == 0:
            return _zero(value)
        if divisor.is_fixed:
            return _zero(self.remainder(value, divisor))
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


def _power(evaluation: Evaluation, node: e.Pow) -> Known:
    base, exponent = evaluation.of(node.left), evaluation.of(node.right)
    if exponent.hi < 0:
        raise Never
    if exponent.lo < 0:
        evaluation.is_open = True
    if max(abs(base.lo), abs(base.hi)).bit_length() * exponent.hi > MOST_BITS:
        raise Unsupported("a power that is too long")
    if not exponent.is_fixed:
        if base.lo < 1:
            raise Unsupported("a power with an open exponent")
        return between(base.lo ** max(0, exponent.lo), base.hi**exponent.hi)
    n = exponent.lo
    ends = [base.lo**n, base.hi**n, *([0] if base.lo < 0 < base.hi and n else [])]
    modulus = 0 if n == 0 or base.is_fixed else base.modulus
    if n == 1:
        return base
    return between(min(ends), max(ends), modulus, base.residue**n)


def _absolute(evaluation: Evaluation, node: e.Abs) -> Known:
    value = evaluation.of(node.arg)
    if value.lo >= 0:
        return value
    opposite = total([(-1, value)])
    if value.hi <= 0:
        return opposite
    known = joined(value, opposite)
    return between(0, max(-value.lo, value.hi), known.modulus, known.residue)


def _least(values: Sequence[Known]) -> Known:
    found = values[0]
    for value in values[1:]:
        if value.hi <= found.lo:
            found = value
        elif value.lo < found.hi:
            both = joined(found, value)
            found = between(both.lo, min(found.hi, value.hi), both.modulus, both.residue)
    return found


def _greatest(values: Sequence[Known]) -> Known:
    return total([(-1, _least([total([(-1, value)]) for value in values]))])


def _gcd(evaluation: Evaluation, node: e.Gcd) -> Known:
    values = evaluation.all(node.args)
    common = math.gcd(*(value.lo for value in values if value.is_fixed))
    if all(value.is_fixed or (common and value.modulus % common == 0) for value in values):
        return fixed(math.gcd(common, *(value.residue for value in values if not value.is_fixed)))
    if common:
        for value in values:
            evaluation.wanted(value, common)
    most = [max(abs(value.lo), abs(value.hi)) for value in values if value.lo > 0 or value.hi < 0]
    return between(0, min(most) if most else sum(max(abs(v.lo), abs(v.hi)) for v in values))


def _lcm(evaluation: Evaluation, node: e.Lcm) -> Known:
    values = evaluation.all(node.args)
    if all(value.is_fixed for value in values):
        return fixed(math.lcm(*(value.lo for value in values)))
    return between(0, math.prod(max(abs(value.lo), abs(value.hi)) for value in values))


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
    """The rule of a condition on integers, which is false where one of them is undefined."""

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


def _decomposed(evaluation: Evaluation, node: Relation | Function) -> Known:
    parts = evaluation.parts.get(id(node))
    if parts is None:
        parts = evaluation.parts[id(node)] = node.decomposed()
    return evaluation.of(parts)


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


def _variable(evaluation: Evaluation, node: Any) -> Known:
    return evaluation.values[node.name]


def _two(operation: Callable[[Evaluation, Known, Known], Known]) -> Callable[[Evaluation, Any], Known]:
    return lambda evaluation, node: operation(evaluation, evaluation.of(node.left), evaluation.of(node.right))


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
    e.FloorDiv: _two(Evaluation.quotient),
    e.Mod: _two(Evaluation.remainder),
    e.Pow: _power,
    e.Abs: _absolute,
    e.Min: lambda evaluation, node: _least(evaluation.all(node.args)),
    e.Max: lambda evaluation, node: _greatest(evaluation.all(node.args)),
    e.Gcd: _gcd,
    e.Lcm: _lcm,
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
    Relation: _decomposed,
    Function: _decomposed,
    e.And: _and,
    e.Or: _or,
    e.Not: lambda evaluation, node: _not(evaluation.of(node.arg)),
    e.Implies: _implies,
    e.Iff: _iff,
}
