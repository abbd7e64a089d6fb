"""The normal form: numbered variables with root domains, and constraints of the registry over them.

`Problem` is filled by `lower`. Each function of variables becomes one auxiliary variable, shared by all
its uses, with the bounds and the stride that its arguments give it; constants become fixed variables.
A bound that does not exist is stored as an integer of absolute value `huge`, so large that reasoning
within it is exact for every number that can occur.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import gcd

from constrint.constraints import (
    Absolute,
    CeilDiv,
    Choice,
    DivMod,
    Element,
    Gcd,
    Lcm,
    LinearEq,
    Maximum,
    Member,
    Minimum,
    Node,
    Power,
    Product,
)
from constrint.constraints.member import intervals_of
from constrint.constraints.power import capped_power
from constrint.domain import Domain

TRUE = 0  # the literal of variable 0, which is the constant 1
FALSE = 1

HUGE_BITS = 1024
WIDEST_SET = 4096  # explicit sets that span more steps than this become Member constraints


class Infeasible(Exception):  # noqa: N818 - an answer, not a fault
    """Lowering or presolve proved that there is no solution."""


class NeedsWiderBounds(Exception):  # noqa: N818 - a signal to start over
    """A number is too close to what stands for a missing bound; start over with a greater one."""


class Linear:
    """``constant + sum(coefficient * variable)``; coefficients are never 0."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[int, int], constant: int) -> None:
        self.terms = terms
        self.constant = constant

    def scaled(self, factor: int) -> Linear:
        """This times a factor."""
        if factor == 0:
            return Linear({}, 0)
        return Linear({v: a * factor for v, a in self.terms.items()}, self.constant * factor)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """This plus factor times another."""
        terms = dict(self.terms)
        for v, a in other.terms.items():
            total = terms.get(v, 0) + factor * a
            if total:
                terms[v] = total
            else:
                terms.pop(v, None)
        return Linear(terms, self.constant + factor * other.constant)

    def content(self) -> int:
        """The greatest common divisor of coefficients and constant, with the sign of the first term."""
        common = gcd(self.constant, *self.terms.values())
        first = next(iter(self.terms.values()), 1)
        return common if first > 0 else -common

    def divided(self, factor: int) -> Linear:
        """This divided by a divisor of its content."""
        return Linear({v: a // factor for v, a in self.terms.items()}, self.constant // factor)


class Problem:
    """Variables with root domains, and constraints.

    Attributes:
        huge: What stands for a bound that does not exist.
        finite: Bounds that exist are smaller.
        lo: Least value by variable.
        hi: Greatest value by variable.
        step: Distance between values by variable.
        values: Explicit values by variable, or None for a plain range.
        nodes: The constraints.
        inputs: For each auxiliary variable what it is a function of, as (variable, direction): 1 where it
            never falls as that variable rises, -1 where it never rises, 0 where it may do both.
    """

    def __init__(self, huge_bits: int = HUGE_BITS) -> None:
        self.huge = 1 << huge_bits
        self.finite = 1 << huge_bits // 2
        self.lo: list[int] = []
        self.hi: list[int] = []
        self.step: list[int] = []
        self.values: list[tuple[int, ...] | None] = []
        self.nodes: list[Node] = []
        self.inputs: dict[int, tuple[tuple[int, int], ...]] = {}
        self._shared: dict[Hashable, int] = {}
        self._sums: dict[frozenset[tuple[int, int]], tuple[int, int]] = {}
        self._most: dict[frozenset[tuple[int, int]], int] = {}
        self.constant(1)

    def variable(self, lo: int, hi: int, step: int = 1, anchor: int | None = None) -> int:
        """A new variable; members are congruent to the anchor (default: lo) modulo the step."""
        if anchor is None:
            anchor = lo
        lo = max(lo, -self.huge)
        hi = min(hi, self.huge)
        lo += (anchor - lo) % step
        hi -= (hi - anchor) % step
        if lo > hi:
            raise Infeasible
        self.lo.append(lo)
        self.hi.append(hi)
        self.step.append(step if lo < hi else 1)
        self.values.append(None)
        return len(self.lo) - 1

    def declare(self, domain: Domain) -> int:
        """A new variable with a domain of the user's."""
        if domain.is_empty:
            raise Infeasible
        lo = -self.huge if domain.lo is None else domain.lo
        hi = self.huge if domain.hi is None else domain.hi
        v = self.variable(lo, hi, domain.step, domain.lo if domain.lo is not None else domain.hi)
        if domain.values is not None:
            self.keep_values(v, domain.values)
        return v

    def constant(self, value: int) -> int:
        """The variable that is fixed to a value."""
        key = ("constant", value)
        v = self._shared.get(key)
        if v is None:
            v = self._shared[key] = self.variable(value, value)
        return v

    def define(self, z: int, inputs: Iterable[tuple[int, int]]) -> None:
        """Note what a new variable is a function of; its known bounds must not look like none."""
        self.inputs[z] = tuple(inputs)
        limit = self.finite
        if (self.lo[z] <= -limit or self.hi[z] >= limit) and not any(
            self.lo[v] <= -limit or self.hi[v] >= limit for v, _ in self.inputs[z]
        ):
            raise NeedsWiderBounds

    def sign(self, v: int) -> int:
        """1 for a variable that is never negative, -1 for one that is never positive, else 0."""
        return 1 if self.lo[v] >= 0 else (-1 if self.hi[v] <= 0 else 0)

    def is_fixed(self, v: int) -> bool:
        """Whether one value is left."""
        return self.lo[v] == self.hi[v]

    def keep_between(self, v: int, lo: int, hi: int) -> None:
        """Leave the values from lo to hi."""
        values = self.values[v]
        if values is not None:
            if lo > self.lo[v] or hi < self.hi[v]:
                self.keep_values(v, [value for value in values if lo <= value <= hi])
            return
        step = self.step[v]
        if lo > self.lo[v]:
            self.lo[v] = lo + (self.lo[v] - lo) % step
        if hi < self.hi[v]:
            self.hi[v] = hi - (hi - self.lo[v]) % step
        if self.lo[v] > self.hi[v]:
            raise Infeasible
        if self.lo[v] == self.hi[v]:
            self.step[v] = 1

    def keep_values(self, v: int, values: Sequence[int]) -> None:
        """Leave these values only."""
        own = self.values[v]
        lo, hi, step = self.lo[v], self.hi[v], self.step[v]
        known = None if own is None else set(own)
        left = [
            value
            for value in values
            if lo <= value <= hi and (value - lo) % step == 0 and (known is None or value in known)
        ]
        domain = Domain.of_values(left)
        if domain.lo is None or domain.hi is None or domain.is_empty:
            raise Infeasible
        self.lo[v], self.hi[v], self.step[v] = domain.lo, domain.hi, domain.step
        self.values[v] = domain.values
        if domain.values is not None and (domain.hi - domain.lo) // domain.step >= WIDEST_SET:
            self.values[v] = None
            self.nodes.append(Member(TRUE, v, intervals_of(left)))

    def keep_class(self, v: int, modulus: int, residue: int) -> None:
        """Leave the values congruent to the residue modulo the modulus."""
        values = self.values[v]
        if values is not None:
            self.keep_values(v, [value for value in values if (value - residue) % modulus == 0])
            return
        step = self.step[v] if self.lo[v] < self.hi[v] else 1
        common = gcd(step, modulus)
        if (residue - self.lo[v]) % common:
            raise Infeasible
        factor = modulus // common
        shift = (residue - self.lo[v]) // common * pow(step // common, -1, factor) % factor
        self.lo[v] += step * shift
        self.step[v] = step * factor
        self.hi[v] -= (self.hi[v] - self.lo[v]) % self.step[v]
        if self.lo[v] > self.hi[v]:
            raise Infeasible
        if self.lo[v] == self.hi[v]:
            self.step[v] = 1

    def remove_value(self, v: int, value: int) -> bool:
        """Take out one value at the root; False where only a constraint can."""
        lo, hi, step = self.lo[v], self.hi[v], self.step[v]
        if not lo <= value <= hi or (value - lo) % step:
            return True
        if value in (lo, hi):
            self.keep_between(v, lo + (value == lo), hi - (value == hi))
            return True
        own = self.values[v]
        if own is None and (hi - lo) // step >= WIDEST_SET:
            return False
        self.keep_values(v, [x for x in (own or range(lo, hi + 1, step)) if x != value])
        return True

    def bounds(self, linear: Linear) -> tuple[int, int]:
        """Least and greatest value of a sum."""
        low = high = linear.constant
        lo, hi = self.lo, self.hi
        for v, a in linear.terms.items():
            if a > 0:
                low += a * lo[v]
                high += a * hi[v]
            else:
                low += a * hi[v]
                high += a * lo[v]
        return low, high

    def of_linear(self, linear: Linear) -> int:
        """The variable that equals a sum."""
        terms = linear.terms
        if not terms:
            return self.constant(linear.constant)
        if len(terms) == 1 and linear.constant == 0:
            ((v, a),) = terms.items()
            if a == 1:
                return v
        key = ("sum", frozenset(terms.items()), linear.constant)
        z = self._shared.get(key)
        if z is None:
            low, high = self.required_bounds(linear)
            step = 0
            for v, a in terms.items():
                step = gcd(step, a * self.step[v] if self.lo[v] < self.hi[v] else 0)
            z = self._shared[key] = self.variable(low, high, step or 1, self.bounds(linear)[0])
            self.define(z, ((v, 1 if a > 0 else -1) for v, a in terms.items()))
            self._sums[frozenset(terms.items())] = z, linear.constant
            self.nodes.append(LinearEq((*((a, v) for v, a in terms.items()), (-1, z)), -linear.constant))
        return z

    def note_at_most(self, linear: Linear, bound: int) -> None:
        """Note that a sum, in lowest terms and without constant, is required to be at most a bound."""
        key = frozenset(linear.terms.items())
        self._most[key] = min(bound, self._most.get(key, bound))

    def required_bounds(self, linear: Linear) -> tuple[int, int]:
        """Least and greatest value of a sum, by its variables and by what is required of it."""
        low, high = self.bounds(linear)
        if self._most:
            common = gcd(*linear.terms.values())
            most = self._most.get(frozenset([(v, a // common) for v, a in linear.terms.items()]))
            least = self._most.get(frozenset([(v, -a // common) for v, a in linear.terms.items()]))
            if most is not None:
                high = min(high, most * common + linear.constant)
            if least is not None:
                low = max(low, linear.constant - least * common)
        return low, high

    def shortened(self, linear: Linear) -> Linear:
        """The sum through the variable that equals it up to a constant, where there is one."""
        if len(linear.terms) > 1:
            for sign in (1, -1):
                known = self._sums.get(frozenset([(v, sign * a) for v, a in linear.terms.items()]))
                if known is not None:
                    return Linear({known[0]: sign}, linear.constant - sign * known[1])
        return linear

    def _stride(self, v: int) -> int:
        return self.step[v] if self.lo[v] < self.hi[v] else 0

    def product(self, x: int, y: int) -> int:
        """The variable that equals x * y."""
        if x == y:
            return self.power(x, self.constant(2))
        if x > y:
            x, y = y, x
        key = ("product", x, y)
        z = self._shared.get(key)
        if z is None:
            corners = [a * b for a in (self.lo[x], self.hi[x]) for b in (self.lo[y], self.hi[y])]
            # (a + s i) (b + t j) is congruent to a b modulo each of a t, b s, s t.
            s, t = self._stride(x), self._stride(y)
            step = gcd(self.lo[x] * t, self.lo[y] * s, s * t)
            z = self._shared[key] = self.variable(min(corners), max(corners), step or 1, corners[0])
            self.define(z, ((x, self.sign(y)), (y, self.sign(x))))
            self.nodes.append(Product(x, y, z))
        return z

    def has_product(self, x: int, y: int) -> bool:
        """Whether x * y has a variable already."""
        return ("product", min(x, y), max(x, y)) in self._shared

    def power(self, x: int, y: int) -> int:
        """The variable that equals x ** y; y becomes non-negative."""
        key = ("power", x, y)
        z = self._shared.get(key)
        if z is None:
            self.keep_between(y, 0, self.huge)
            most = capped_power(max(abs(self.lo[x]), abs(self.hi[x])), self.hi[y], self.huge)
            low = -max(1, most)
            if self.lo[x] >= 0:
                low = capped_power(self.lo[x], self.lo[y] if self.lo[x] else self.hi[y], self.huge)
            elif self.is_fixed(y) and self.lo[y] % 2 == 0:
                low = 0
            z = self._shared[key] = self.variable(low, max(1, most))
            self.define(z, ((x, max(0, self.sign(x))), (y, int(self.lo[x] >= 1))))
            self.nodes.append(Power(x, y, z))
        return z

    def division(self, x: int, y: int) -> tuple[int, int]:
        """The variables that equal x // y and x % y; y becomes different from 0."""
        key = ("division", x, y)
        q = self._shared.get(key)
        if q is None:
            self.remove_value(y, 0)
            lo, hi = self.lo[y], self.hi[y]
            if lo == 0 == hi:
                raise Infeasible
            most = max(abs(self.lo[x]), abs(self.hi[x]))
            quotients = [-most, most]
            if lo > 0 or hi < 0:
                quotients = [a // b for a in (self.lo[x], self.hi[x]) for b in (lo, hi)]
            q = self._shared[key] = self.variable(min(quotients), max(quotients))
            r = self.variable(min(lo + 1, 0), max(hi - 1, 0))
            self._shared["remainder", x, y] = r
            self.define(q, ((x, self.sign(y)), (y, -self.sign(x) if lo > 0 else 0)))
            self.define(r, ((x, 0), (y, 0)))
            self.nodes.append(DivMod(x, y, q, r))
        return q, self._shared["remainder", x, y]

    def rounded_up(self, x: int, y: int) -> int:
        """The variable that equals ceil(x / y), for x >= 0 and y >= 1."""
        key = ("ceildiv", x, y)
        q = self._shared.get(key)
        if q is None:
            q = self._shared[key] = self.variable(-(-self.lo[x] // self.hi[y]), -(-self.hi[x] // self.lo[y]))
            self.define(q, ((x, 1), (y, -1)))
            self.nodes.append(CeilDiv(x, y, q))
        return q

    def absolute(self, x: int) -> int:
        """The variable that equals abs(x)."""
        key = ("absolute", x)
        z = self._shared.get(key)
        if z is None:
            lo, hi = self.lo[x], self.hi[x]
            z = self._shared[key] = self.variable(max(lo, -hi, 0), max(-lo, hi))
            self.define(z, (((x, self.sign(x)),)))
            self.nodes.append(Absolute(x, z))
        return z

    def extreme(self, xs: Sequence[int], greatest: bool) -> int:
        """The variable that equals max(xs), or min(xs)."""
        choose = max if greatest else min
        low = choose(self.lo[x] for x in xs)
        high = choose(self.hi[x] for x in xs)
        if greatest:
            left = sorted({x for x in xs if self.hi[x] > low or self.lo[x] == low})
        else:
            left = sorted({x for x in xs if self.lo[x] < high or self.hi[x] == high})
        if len(left) == 1:
            return left[0]
        key = ("extreme", greatest, tuple(left))
        z = self._shared.get(key)
        if z is None:
            z = self._shared[key] = self.variable(low, high)
            self.define(z, ((x, 1) for x in left))
            self.nodes.append(Maximum(z, tuple(left)) if greatest else Minimum(z, tuple(left)))
        return z

    def element(self, table: tuple[int, ...], index: int) -> int:
        """The variable that equals table[index]; the index comes to lie inside the table."""
        key = ("element", table, index)
        z = self._shared.get(key)
        if z is None:
            self.keep_between(index, 0, len(table) - 1)
            entries = Domain.of_values(table[self.lo[index] : self.hi[index] + 1])
            z = self._shared[key] = self.declare(entries)
            self.define(z, (((index, 0),)))
            self.nodes.append(Element(table, index, z))
        return z

    def choice(self, literal: int, x: int, y: int) -> int:
        """The variable that equals x where the literal is true, else y."""
        if literal & 1:
            literal, x, y = literal ^ 1, y, x
        key = ("choice", literal, x, y)
        z = self._shared.get(key)
        if z is None:
            lo, hi = min(self.lo[x], self.lo[y]), max(self.hi[x], self.hi[y])
            step = gcd(self._stride(x), self._stride(y), self.lo[x] - self.lo[y])
            z = self._shared[key] = self.variable(lo, hi, step or 1, self.lo[x])
            self.define(z, ((literal >> 1, 0), (x, 1), (y, 1)))
            self.nodes.append(Choice(literal, x, y, z))
        return z

    def common_divisor(self, x: int, y: int) -> int:
        """The variable that equals gcd(x, y)."""
        key = ("gcd", min(x, y), max(x, y))
        z = self._shared.get(key)
        if z is None:
            most = max(abs(bound) for v in (x, y) for bound in (self.lo[v], self.hi[v]))
            z = self._shared[key] = self.variable(0, most)
            self.define(z, ((x, 0), (y, 0)))
            self.nodes.append(Gcd(x, y, z))
        return z

    def common_multiple(self, x: int, y: int) -> int:
        """The variable that equals lcm(x, y)."""
        key = ("lcm", min(x, y), max(x, y))
        z = self._shared.get(key)
        if z is None:
            most = max(abs(self.lo[x]), abs(self.hi[x])) * max(abs(self.lo[y]), abs(self.hi[y]))
            z = self._shared[key] = self.variable(0, most)
            self.define(z, ((x, 0), (y, 0)))
            self.nodes.append(Lcm(x, y, z))
        return z
