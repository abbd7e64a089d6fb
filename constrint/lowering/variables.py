"""Numbered variables with root domains, and narrowing them before search."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import gcd

from constrint.errors import ModelError
from constrint.expr.domain import Domain
from constrint.expr.sums import Linear as Linear
from constrint.propagators import Member, Propagator
from constrint.propagators.member import intervals_of

TRUE = 0  # the literal of variable 0, which is the constant 1
FALSE = 1

HUGE_BITS = 1024
# Most bits of the bound that means "no bound"; the model's own numbers get an eighth of them.
MOST_BITS = 1 << 20
WIDEST_SET = 4096  # explicit sets that span more steps become Member constraints


class Infeasible(Exception):  # noqa: N818 - an answer, not a fault
    """Lowering or presolve proved that there is no solution."""


class NeedsWiderBounds(Exception):  # noqa: N818 - a signal to start over
    """A number is too close to the bound that means "no bound"; start over with a greater one."""


def check_length(bits: int) -> None:
    """Raise `ModelError` for a number that is too long to compute with."""
    if bits >= MOST_BITS // 8:
        raise ModelError(f"the model has numbers of over {MOST_BITS // 8} bits: bound its powers")


class Variables:
    """Variables with root domains.

    Attributes:
        huge: The bound that means "no bound".
        finite: Finite bounds are smaller than this.
        lo: Least value by variable.
        hi: Greatest value by variable.
        step: Distance between values by variable.
        values: Explicit values by variable, or None for a plain range.
        propagators: The constraints.
    """

    def __init__(self, huge_bits: int = HUGE_BITS) -> None:
        self.huge = 1 << huge_bits
        self.finite = 1 << huge_bits // 2
        self.lo: list[int] = []
        self.hi: list[int] = []
        self.step: list[int] = []
        self.values: list[tuple[int, ...] | None] = []
        self.propagators: list[Propagator] = []
        self._shared: dict[Hashable, int] = {}

    def variable(self, lo: int, hi: int, step: int = 1, anchor: int | None = None) -> int:
        """A new variable; its values are congruent to the anchor (default: lo) modulo the step."""
        if lo < -self.huge or hi > self.huge or step != 1:
            if anchor is None:
                anchor = lo
            lo = max(lo, -self.huge)
            hi = min(hi, self.huge)
            lo += (anchor - lo) % step
            hi -= (hi - anchor) % step
            if lo == hi:
                step = 1
        if lo > hi:
            raise Infeasible
        self.lo.append(lo)
        self.hi.append(hi)
        self.step.append(step)
        self.values.append(None)
        return len(self.lo) - 1

    def declare(self, domain: Domain) -> int:
        """A new variable with a user's domain."""
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

    def sign(self, v: int) -> int:
        """1 if a variable is never negative, -1 if it is never positive, else 0."""
        return 1 if self.lo[v] >= 0 else (-1 if self.hi[v] <= 0 else 0)

    def is_fixed(self, v: int) -> bool:
        """Whether only one value is left."""
        return self.lo[v] == self.hi[v]

    def keep_between(self, v: int, lo: int, hi: int) -> None:
        """Keep the values from lo to hi."""
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

    def fix(self, v: int, value: int) -> None:
        """Keep only one value."""
        lo, own = self.lo[v], self.values[v]
        if not lo <= value <= self.hi[v] or (value - lo) % self.step[v]:
            raise Infeasible
        if own is not None and value not in own:
            raise Infeasible
        self.lo[v] = self.hi[v] = value
        self.step[v], self.values[v] = 1, None

    def keep_values(self, v: int, values: Sequence[int]) -> None:
        """Keep only these values."""
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
            self.propagators.append(Member(TRUE, v, intervals_of(left)))

    def keep_class(self, v: int, modulus: int, residue: int) -> None:
        """Keep the values congruent to the residue modulo the modulus."""
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
        """Remove one value at the root; False if only a constraint can express that."""
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
