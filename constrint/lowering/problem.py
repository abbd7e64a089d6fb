"""The normal form: numbered variables with root domains, and constraints of the registry over them.

Lowering fills a `Problem`. Each function of variables becomes one auxiliary variable, shared by all its uses,
with the bounds and the stride that follow from its arguments; constants become fixed variables. A missing
bound is stored as an integer of absolute value `huge`, so large that reasoning within it is exact for all
numbers that can occur.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import gcd

from constrint.expr.domain import Domain
from constrint.lowering.variables import (
    FALSE,
    HUGE_BITS,
    TRUE,
    Infeasible,
    Linear,
    NeedsWiderBounds,
    Variables,
    check_length,
)
from constrint.propagators import LinearEq, LinearLe, Pairs, Power, Product, Selection
from constrint.propagators.power import capped_power
from constrint.store.propagator import Propagator

__all__ = ["FALSE", "HUGE_BITS", "TRUE", "Infeasible", "Linear", "NeedsWiderBounds", "Problem"]


class Problem(Variables):
    """Variables with root domains, functions of them, and constraints.

    Attributes:
        inputs: For each auxiliary variable its arguments, as (variable, direction): 1 if it is non-decreasing
            in that variable, -1 if non-increasing, 0 otherwise.
    """

    def __init__(self, huge_bits: int = HUGE_BITS) -> None:
        super().__init__(huge_bits)
        self.inputs: dict[int, tuple[tuple[int, int], ...]] = {}
        self._sums: dict[frozenset[tuple[int, int]], tuple[int, int]] = {}
        self._sum_sizes: set[int] = set()  # the numbers of terms of these sums
        self._noted: defaultdict[int, list[LinearLe]] = defaultdict(list)  # by the number of terms
        self._most: dict[int, dict[frozenset[tuple[int, int]], int]] = {}
        self._paired: dict[tuple[int, int], int] = {}
        self._has_products = False
        self.constant(1)

    def define(self, z: int, inputs: Iterable[tuple[int, int]]) -> None:
        """Record the arguments of a new variable; raises if its finite bounds are close to `huge`."""
        self.inputs[z] = of = tuple(inputs)
        lo, hi, limit = self.lo, self.hi, self.finite
        if lo[z] <= -limit or hi[z] >= limit:
            for v, _ in of:
                if lo[v] <= -limit or hi[v] >= limit:
                    return
            raise NeedsWiderBounds

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
        parts = frozenset(terms.items())
        key = ("sum", parts, linear.constant)
        z = self._shared.get(key)
        if z is None:
            low, high = self.required_bounds(linear)
            step = 0
            for v, a in terms.items():
                step = gcd(step, a * self.step[v] if self.lo[v] < self.hi[v] else 0)
            z = self._shared[key] = self.variable(low, high, step or 1, self.bounds(linear)[0])
            self.define(z, ((v, 1 if a > 0 else -1) for v, a in terms.items()))
            self._sums[parts] = z, linear.constant
            self._sum_sizes.add(len(parts))
            self.propagators.append(
                LinearEq((*((a, v) for v, a in terms.items()), (-1, z)), -linear.constant)
            )
        return z

    def forget(self) -> None:
        """Forget which variables stand for which functions: nothing is lowered any more."""
        self._sum_sizes.clear()
        for known in (self._shared, self._sums, self._noted, self._most, self._paired):
            known.clear()

    def note_at_most(self, row: LinearLe) -> None:
        """Record that a sum, in lowest terms, must be at most a bound."""
        self._noted[len(row.terms)].append(row)

    def _most_of(self, count: int) -> dict[frozenset[tuple[int, int]], int]:
        """The recorded bounds of sums of so many terms, by their terms: most models ask for none of them."""
        most = self._most.setdefault(count, {})
        for row in self._noted.pop(count, ()):
            key = frozenset([(v, a) for a, v in row.terms])
            most[key] = min(row.bound, most.get(key, row.bound))
        return most

    def required_bounds(self, linear: Linear) -> tuple[int, int]:
        """Least and greatest value of a sum, by its variables and by recorded requirements."""
        low, high = self.bounds(linear)
        known = self._most_of(len(linear.terms)) if self._noted or self._most else None
        if known:
            common = gcd(*linear.terms.values())
            most = known.get(frozenset([(v, a // common) for v, a in linear.terms.items()]))
            least = known.get(frozenset([(v, -a // common) for v, a in linear.terms.items()]))
            if most is not None:
                high = min(high, most * common + linear.constant)
            if least is not None:
                low = max(low, linear.constant - least * common)
        return low, high

    def shortened(self, linear: Linear) -> Linear:
        """The sum expressed by a variable that equals it up to a constant, if there is one."""
        if len(linear.terms) in self._sum_sizes and len(linear.terms) > 1:
            for sign in (1, -1):
                known = self._sums.get(frozenset([(v, sign * a) for v, a in linear.terms.items()]))
                if known is not None:
                    return Linear({known[0]: sign}, linear.constant - sign * known[1])
        return linear

    def stride(self, v: int) -> int:
        """The distance between a variable's values; 0 for a fixed one."""
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
            xl, xh, yl, yh = self.lo[x], self.hi[x], self.lo[y], self.hi[y]
            low, high, step = xl * yl, xh * yh, 1
            if xl < 0 or yl < 0:
                corners = (low, high, xl * yh, xh * yl)
                low, high = min(corners), max(corners)
            s, t = self.step[x] if xl < xh else 0, self.step[y] if yl < yh else 0
            if s != 1 or t != 1:
                # (a + s i) (b + t j) is congruent to a b modulo each of a t, b s, s t.
                step = gcd(xl * t, yl * s, s * t) or 1
            z = self._shared[key] = self.variable(low, high, step, xl * yl)
            self.define(z, ((x, self.sign(y)), (y, self.sign(x))))
            self.propagators.append(Product(x, y, z))
            self._has_products = True
            if (x, y) in self._paired:
                self._take_apart(self._paired[x, y])
        return z

    def next_pair(self, factors: Sequence[int]) -> tuple[int, int]:
        """Two factors whose product has a variable already, or the first two."""
        shared = self._shared
        for i, x in enumerate(factors):
            for y in factors[:i]:
                if (x < y and ("product", x, y) in shared) or (y < x and ("product", y, x) in shared):
                    return y, x
        return factors[0], factors[1]

    def require_pairs(self, pairs: Mapping[tuple[int, int], int], low: int, high: int) -> bool:
        """Post ``low <= sum(coefficient * x * y) <= high`` without variables for the products.

        Returns whether that was possible. It is not if another constraint has one of these products: the
        product's variable then carries information between the two.

        Args:
            pairs: The coefficients by x < y, which are 0/1 variables.
            low: Least value of the sum.
            high: Greatest value.
        """
        for pair in pairs:
            if pair in self._paired or (self._has_products and ("product", *pair) in self._shared):
                return False
        self._paired.update(dict.fromkeys([pair for pair in pairs if pair[0]], len(self.propagators)))
        self.propagators.append(Pairs(tuple([(a, x, y) for (x, y), a in pairs.items()]), low, high))
        return True

    def _take_apart(self, number: int) -> None:
        """Give the products of a sum variables after all, because one of them occurs elsewhere."""
        node = self.propagators[number]
        if not isinstance(node, Pairs):
            return
        known = {(x, y): number for _, x, y in node.terms}
        for pair in known:
            self._paired.pop(pair, None)
        terms = tuple([(a, self.product(x, y) if x else y) for a, x, y in node.terms])
        if node.low == node.high:
            self.propagators[number] = LinearEq(terms, node.high)
        else:
            self.propagators[number] = LinearLe(terms, node.high)
            self.propagators.append(LinearLe(tuple([(-a, v) for a, v in terms]), -node.low))

    def power(self, x: int, y: int) -> int:
        """The variable that equals x ** y; y is restricted to non-negative values."""
        key = ("power", x, y)
        z = self._shared.get(key)
        if z is None:
            self.keep_between(y, 0, self.huge)
            base = max(abs(self.lo[x]), abs(self.hi[x]))
            if base < self.finite and self.hi[y] < self.finite:
                check_length((base.bit_length() - 1) * self.hi[y])
            most = capped_power(base, self.hi[y], self.huge)
            low = -max(1, most)
            if self.lo[x] >= 0:
                low = capped_power(self.lo[x], self.lo[y] if self.lo[x] else self.hi[y], self.huge)
            elif self.is_fixed(y) and self.lo[y] % 2 == 0:
                low = 0
            z = self._shared[key] = self.variable(low, max(1, most))
            self.define(z, ((x, max(0, self.sign(x))), (y, int(self.lo[x] >= 1))))
            self.propagators.append(Power(x, y, z))
        return z

    def choice(self, literal: int, x: int, y: int) -> int:
        """The variable that equals x where the literal is true, else y."""
        return self.selection((x, y) if literal & 1 else (y, x), literal >> 1)

    def selection(self, xs: tuple[int, ...], index: int) -> int:
        """The variable that equals xs[index]; the index is restricted to the list."""
        key = ("selection", xs, index)
        known = self._shared.get(key)
        if known is not None:
            return known
        self.keep_between(index, 0, len(xs) - 1)
        lo, hi = self.lo, self.hi
        left = sorted(set(xs[lo[index] : hi[index] + 1]))
        bounds = min([lo[x] for x in left]), max([hi[x] for x in left])
        step = gcd(*[gcd(self.stride(x), lo[x] - lo[left[0]]) for x in left])
        inputs = (index, 0), *[(x, 1) for x in left]
        return self.function(key, bounds, inputs, lambda z: Selection(xs, index, z), step or 1, lo[left[0]])

    def shared(self, key: Hashable) -> int | None:
        """The variable of a function that is there already."""
        return self._shared.get(key)

    def function(
        self,
        key: Hashable,
        values: tuple[int, int] | Domain,
        inputs: Iterable[tuple[int, int]],
        post: Callable[[int], Propagator] | None,
        step: int = 1,
        anchor: int | None = None,
    ) -> int:
        """The variable of a function of others, shared by its key: see `arithmetic.protocols.Problem`."""
        z = self._shared.get(key)
        if z is None:
            new = self.declare(values) if isinstance(values, Domain) else self.variable(*values, step, anchor)
            z = self._shared[key] = new
            self.define(z, inputs)
            if post is not None:
                self.propagators.append(post(z))
        return z
