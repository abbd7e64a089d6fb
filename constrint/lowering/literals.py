"""Conditions of the normal form: as literals, or posted, which narrows domains if possible.

A literal is 2 v for v == 1 and 2 v + 1 for v == 0, for a 0/1 variable v. Equal conditions share one literal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import gcd

from constrint.lowering.problem import FALSE, TRUE, Infeasible, Linear, Problem
from constrint.number_theory.factors import divisors_of
from constrint.propagators import (
    Clause,
    Divides,
    LinearEq,
    LinearEqIf,
    LinearLe,
    LinearLeIf,
    LinearNe,
)


class Conditions:
    """Literals and constraints of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._shared: dict[Hashable, int] = {}

    def current(self, literal: int) -> int:
        """TRUE or FALSE for a literal whose variable is fixed, else the literal."""
        v = literal >> 1
        if not self.problem.is_fixed(v):
            return literal
        return TRUE if self.problem.lo[v] == 1 - (literal & 1) else FALSE

    def _new(self, key: Hashable, target: int | None) -> tuple[int, bool]:
        """The literal of a condition, and whether it still has to be defined."""
        known = self._shared.get(key)
        if known is not None:
            return self.current(known), False
        literal = 2 * self.problem.variable(0, 1) if target is None else target
        self._shared[key] = literal
        return literal, True

    def defined(
        self, key: Hashable, target: int | None, inputs: Iterable[tuple[int, int]]
    ) -> tuple[int, bool]:
        """The literal shared by conditions with this key, and whether its constraint must still be posted."""
        literal, is_new = self._new(key, target)
        if is_new:
            self._note(literal, inputs)
        return literal, is_new

    def _note(self, literal: int, inputs: Iterable[tuple[int, int]]) -> None:
        """Record the inputs of a literal, and the direction in which it depends on each."""
        sign = -1 if literal & 1 else 1
        self.problem.inputs[literal >> 1] = tuple((v, sign * direction) for v, direction in inputs)

    def _simplified(self, linear: Linear) -> Linear:
        """The sum without fixed variables."""
        lo, hi = self.problem.lo, self.problem.hi
        for v in linear.terms:
            if lo[v] == hi[v]:
                break
        else:
            return linear
        fixed = [v for v in linear.terms if lo[v] == hi[v]]
        terms = dict(linear.terms)
        constant = linear.constant + sum([terms.pop(v) * lo[v] for v in fixed])
        return Linear(terms, constant)

    def _is_binary(self, v: int) -> bool:
        return self.problem.lo[v] == 0 and self.problem.hi[v] == 1

    # sum <= 0

    def _normal_le(self, linear: Linear) -> tuple[Linear, int] | bool:
        """Terms and bound of ``terms <= bound`` for ``linear <= 0``, in lowest terms; or its truth."""
        linear = self.problem.shortened(self._simplified(linear))
        terms = linear.terms
        bound = -linear.constant
        if terms:
            common = gcd(*terms.values())
            if common != 1:
                bound //= common
                terms = {v: a // common for v, a in terms.items()}
        linear = Linear(terms, 0)
        low, high = self.problem.bounds(linear)
        if high <= bound:
            return True
        if low > bound:
            return False
        return linear, bound

    def at_most(self, linear: Linear, target: int | None) -> int:
        """The literal of ``linear <= 0``."""
        normal = self._normal_le(linear)
        if isinstance(normal, bool):
            return TRUE if normal else FALSE
        terms, bound = normal
        flip = 0
        if next(iter(sorted(terms.terms.items())))[1] < 0:
            # s <= b is the negation of -s <= -b - 1.
            terms, bound, flip = terms.scaled(-1), -bound - 1, 1
        if len(terms.terms) == 1:
            ((v, a),) = terms.terms.items()
            if a == 1 and self._is_binary(v):
                return (2 * v + 1) ^ flip
        key = ("le", frozenset(terms.terms.items()), bound)
        literal, is_new = self._new(key, None if target is None else target ^ flip)
        if is_new:
            self._note(literal, [(v, -1 if a > 0 else 1) for v, a in terms.terms.items()])
            self.problem.propagators.append(LinearLeIf(literal, _pairs(terms), bound))
        return literal ^ flip

    def require_at_most(self, linear: Linear) -> None:
        """Post ``linear <= 0``."""
        normal = self._normal_le(linear)
        if normal is True:
            return
        if normal is False:
            raise Infeasible
        terms, bound = normal
        if len(terms.terms) == 1:
            ((v, a),) = terms.terms.items()
            huge = self.problem.huge
            if a > 0:
                self.problem.keep_between(v, -huge, bound // a)
            else:
                self.problem.keep_between(v, -(bound // -a), huge)
            return
        row = LinearLe(_pairs(terms), bound)
        self.problem.note_at_most(row)
        self.problem.propagators.append(row)

    # sum == 0

    def _normal_eq(self, linear: Linear) -> tuple[Linear, int] | bool:
        """Terms and bound of ``terms == bound`` for ``linear == 0``, in lowest terms; or its truth."""
        linear = self.problem.shortened(self._simplified(linear))
        if not linear.terms:
            return linear.constant == 0
        if len(linear.terms) == 1:
            return self._normal_single(linear)
        common = gcd(*linear.terms.values())
        if linear.constant % common:
            return False
        terms = sorted(linear.terms.items())
        if terms[0][1] < 0:
            common = -common
        bound = -linear.constant // common
        linear = Linear(dict(terms) if common == 1 else {v: a // common for v, a in terms}, 0)
        low, high = self.problem.bounds(linear)
        if not low <= bound <= high:
            return False
        # Congruence by strides: every value of the sum is congruent to its least one. If all steps are 1,
        # there is nothing to check in lowest terms.
        step = self.problem.step
        if max(map(step.__getitem__, linear.terms)) > 1:
            stride = gcd(*[a * step[v] for v, a in linear.terms.items()])
            if (bound - low) % stride:
                return False
        return linear, bound

    def _normal_single(self, linear: Linear) -> tuple[Linear, int] | bool:
        """``variable == value`` for ``linear == 0`` over one variable; or False."""
        problem = self.problem
        ((v, a),) = linear.terms.items()
        value, rest = divmod(-linear.constant, a)
        if rest or not problem.lo[v] <= value <= problem.hi[v]:
            return False
        if (value - problem.lo[v]) % problem.step[v]:
            return False
        return Linear({v: 1}, 0), value

    def equal(self, linear: Linear, target: int | None) -> int:
        """The literal of ``linear == 0``."""
        normal = self._normal_eq(linear)
        if isinstance(normal, bool):
            return TRUE if normal else FALSE
        terms, bound = normal
        if len(terms.terms) == 1:
            ((v, _),) = terms.terms.items()
            if self._is_binary(v):
                return 2 * v if bound == 1 else 2 * v + 1
            values = self.problem.values[v]
            if values is not None and bound not in values:
                return FALSE
        key = ("eq", frozenset(terms.terms.items()), bound)
        literal, is_new = self._new(key, target)
        if is_new:
            self._note(literal, [(v, 0) for v in terms.terms])
            self.problem.propagators.append(LinearEqIf(literal, _pairs(terms), bound))
        return literal

    def require_equal(self, linear: Linear) -> None:
        """Post ``linear == 0``."""
        normal = self._normal_eq(linear)
        if normal is True:
            return
        if normal is False:
            raise Infeasible
        terms, bound = normal
        if len(terms.terms) == 1:  # in lowest terms: the coefficient is 1
            self.problem.fix(next(iter(terms.terms)), bound)
            return
        self.problem.propagators.append(LinearEq(_pairs(terms), bound))

    def require_different(self, linear: Linear) -> None:
        """Post ``linear != 0``."""
        normal = self._normal_eq(linear)
        if normal is False:
            return
        if normal is True:
            raise Infeasible
        terms, bound = normal
        if len(terms.terms) == 1 and self.problem.remove_value(next(iter(terms.terms)), bound):
            return
        self.problem.propagators.append(LinearNe(_pairs(terms), bound))

    # Division and divisibility

    def quotient(self, dividend: Linear, divisor: int) -> int:
        """The variable that equals dividend // divisor, for a divisor of at least 2."""
        key = ("quotient", frozenset(dividend.terms.items()), dividend.constant, divisor)
        q = self._shared.get(key)
        if q is None:
            low, high = self.problem.bounds(dividend)
            q = self._shared[key] = self.problem.variable(low // divisor, high // divisor)
            self.problem.define(q, ((v, 1 if a > 0 else -1) for v, a in dividend.terms.items()))
            # divisor q <= dividend <= divisor q + divisor - 1
            terms = _pairs(dividend)
            negative = tuple((-a, v) for a, v in terms)
            self.problem.propagators.append(LinearLe((*negative, (divisor, q)), dividend.constant))
            self.problem.propagators.append(
                LinearLe((*terms, (-divisor, q)), divisor - 1 - dividend.constant)
            )
        return q

    def _reduced(self, dividend: Linear, modulus: int) -> Linear:
        """A sum congruent to the dividend, without terms whose residue is fixed by the root domains."""
        constant = dividend.constant
        terms: dict[int, int] = {}
        for v, a in dividend.terms.items():
            if self.problem.is_fixed(v) or a * self.problem.step[v] % modulus == 0:
                constant += a * self.problem.lo[v]
            else:
                terms[v] = a % modulus
        return Linear(terms, constant % modulus)

    def _normal_divides(self, divisor: Linear, dividend: Linear) -> tuple[Linear, Linear] | bool:
        divisor, dividend = self._simplified(divisor), self._simplified(dividend)
        if divisor.terms:
            return True if not dividend.terms and dividend.constant == 0 else (divisor, dividend)
        modulus = abs(divisor.constant)
        if modulus == 0:
            return (divisor, dividend) if dividend.terms else dividend.constant == 0
        dividend = self._reduced(dividend, modulus)
        common = gcd(modulus, *dividend.terms.values())
        if dividend.constant % common:
            return False
        if not dividend.terms:
            return dividend.constant == 0
        return Linear({}, modulus // common), dividend.divided(common)

    def divides(self, divisor: Linear, dividend: Linear, target: int | None) -> int:
        """The literal of "divisor divides dividend"."""
        normal = self._normal_divides(divisor, dividend)
        if isinstance(normal, bool):
            return TRUE if normal else FALSE
        divisor, dividend = normal
        if not divisor.terms and divisor.constant == 0:
            return self.equal(dividend, target)
        d, x = self.problem.of_linear(divisor), self.problem.of_linear(dividend)
        literal, is_new = self._new(("divides", d, x), target)
        if is_new:
            self._note(literal, [(d, 0), (x, 0)])
            self.problem.propagators.append(Divides(literal, d, x))
        return literal

    def require_divides(self, divisor: Linear, dividend: Linear) -> None:
        """Post "divisor divides dividend"."""
        normal = self._normal_divides(divisor, dividend)
        if normal is True:
            return
        if normal is False:
            raise Infeasible
        divisor, dividend = normal
        problem = self.problem
        if not divisor.terms:
            if divisor.constant == 0:
                self.require_equal(dividend)
                return
            if len(dividend.terms) == 1:
                ((v, a),) = dividend.terms.items()
                modulus = divisor.constant
                problem.keep_class(v, modulus, -dividend.constant * pow(a, -1, modulus))
                return
        elif not dividend.terms:
            listed = divisors_of(abs(dividend.constant))
            if listed is not None:
                d = problem.of_linear(divisor)
                problem.keep_values(d, [-n for n in reversed(listed)] + listed)
                return
        problem.propagators.append(Divides(TRUE, problem.of_linear(divisor), problem.of_linear(dividend)))

    # Clauses

    def any_of(self, literals: Iterable[int], target: int | None) -> int:
        """The literal of "at least one literal is true"."""
        left = self._clause(literals)
        if left is None:
            return TRUE
        if len(left) <= 1:
            return left[0] if left else FALSE
        literal, is_new = self._new(("or", frozenset(left)), target)
        if is_new:
            self._note(literal, [(one >> 1, -1 if one & 1 else 1) for one in left])
            self.problem.propagators.append(Clause((literal ^ 1, *left)))
            for one in left:
                self.problem.propagators.append(Clause((literal, one ^ 1)))
        return literal

    def _clause(self, literals: Iterable[int]) -> list[int] | None:
        """The open literals, each once; None if the clause holds."""
        lo, hi = self.problem.lo, self.problem.hi
        left: dict[int, None] = {}
        for literal in literals:
            v = literal >> 1
            low = lo[v]
            if low != hi[v]:
                if literal ^ 1 in left:
                    return None
                left[literal] = None
            elif low == 1 - (literal & 1):
                return None
        return list(left)

    def require_any(self, literals: Iterable[int]) -> None:
        """Post that at least one literal is true."""
        left = self._clause(literals)
        if left is None:
            return
        if len(left) == 1:
            self.require(left[0])
        elif left:
            self.problem.propagators.append(Clause(tuple(left)))
        else:
            raise Infeasible

    def require(self, literal: int) -> None:
        """Post a literal."""
        value = 1 - (literal & 1)
        self.problem.keep_between(literal >> 1, value, value)


def _pairs(linear: Linear) -> tuple[tuple[int, int], ...]:
    return tuple(zip(linear.terms.values(), linear.terms, strict=True))
