"""Linear constraints: sum(coefficient * variable) <=, == or != a bound; <= and == also reified."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeGuard

from constrint.store.domains import (
    contains,
    literal_value,
    remove,
    set_hi,
    set_literal,
    set_lo,
)
from constrint.store.propagator import Propagator, Watch, literal_holds
from constrint.store.state import ANY, BOUNDS, FIXED, HOLES, LOWER, SETTLED, UPPER, State, compilable
from constrint.support.record import record

LINEAR_LE = 0
LINEAR_EQ = 1
LINEAR_NE = 2
LINEAR_LE_IF = 3
LINEAR_EQ_IF = 4

# Results of `prune_eq`.
FAILED = 0
UNCHANGED = 1
ONE = 2
SEVERAL = 3

Terms = tuple[tuple[int, int], ...]


MOST_SHORT_TERMS = 4  # longer sums run after all cheaper propagators


class _Sum(Propagator):
    """Base class of all linear propagators, plain and reified."""

    __slots__ = ()
    terms: Terms
    bound: int

    @property
    def priority(self) -> int:  # type: ignore[override] # long sums wait for the short
        return 0 if len(self.terms) < MOST_SHORT_TERMS else 2

    def total(self, values: Sequence[int]) -> int:
        """The value of the sum."""
        return sum(a * values[v] for a, v in self.terms)

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return (
            2
            * (abs(self.bound) + sum([abs(a) * (hi[v] if hi[v] > -lo[v] else -lo[v]) for a, v in self.terms]))
            + 2
        )


@record()
class _Linear(_Sum):
    """A plain linear constraint. Terms are (coefficient, variable); no coefficient is 0."""

    terms: Terms
    bound: int

    def scope(self) -> tuple[int, ...]:
        return tuple([v for _, v in self.terms])

    def encode(self) -> list[int]:
        distinct = len({v for _, v in self.terms}) == len(self.terms)
        return [self.bound, int(distinct), *chain.from_iterable(self.terms)]


class LinearLe(_Linear):
    """``sum <= bound``."""

    __slots__ = ()
    kind = LINEAR_LE

    def holds(self, values: Sequence[int]) -> bool:
        return self.total(values) <= self.bound

    def watches(self) -> list[Watch]:
        return [(v, LOWER if a > 0 else UPPER) for a, v in self.terms]


class LinearEq(_Linear):
    """``sum == bound``."""

    __slots__ = ()
    kind = LINEAR_EQ

    def holds(self, values: Sequence[int]) -> bool:
        return self.total(values) == self.bound

    def watches(self) -> list[Watch]:
        return [(v, BOUNDS) for _, v in self.terms]


def is_long(node: Propagator, most: int) -> TypeGuard[LinearEq | LinearLe]:
    """Whether a constraint is a sum of more terms than the most."""
    return isinstance(node, LinearEq | LinearLe) and len(node.terms) > most


class LinearNe(_Linear):
    """``sum != bound``."""

    __slots__ = ()
    kind = LINEAR_NE

    def holds(self, values: Sequence[int]) -> bool:
        return self.total(values) != self.bound

    def watches(self) -> list[Watch]:
        return [(v, BOUNDS | FIXED) for _, v in self.terms]


@record()
class _LinearIf(_Sum):
    literal: int
    terms: Terms
    bound: int

    def scope(self) -> tuple[int, ...]:
        return (self.literal >> 1, *(v for _, v in self.terms))

    def encode(self) -> list[int]:
        return [self.bound, self.literal, *chain.from_iterable(self.terms)]


class LinearLeIf(_LinearIf):
    """``literal <-> sum <= bound``."""

    __slots__ = ()
    kind = LINEAR_LE_IF

    def holds(self, values: Sequence[int]) -> bool:
        return literal_holds(self.literal, values) == (self.total(values) <= self.bound)

    def watches(self) -> list[Watch]:
        return [(self.literal >> 1, FIXED)] + [(v, BOUNDS) for _, v in self.terms]


class LinearEqIf(_LinearIf):
    """``literal <-> sum == bound``."""

    __slots__ = ()
    kind = LINEAR_EQ_IF

    def holds(self, values: Sequence[int]) -> bool:
        return literal_holds(self.literal, values) == (self.total(values) == self.bound)

    def watches(self) -> list[Watch]:
        inner = ANY if len(self.terms) == 1 else ANY & ~HOLES
        return [(self.literal >> 1, FIXED)] + [(v, inner) for _, v in self.terms]


@compilable
def prune_le(st: State, first: int, last: int, sign: int, bound: int) -> bool:
    """Propagate sign * sum <= bound for the terms in args[first:last]."""
    args = st.args
    lo = st.lo
    hi = st.hi
    slack = bound
    for i in range(first, last, 2):
        a = args[i] * sign
        if a > 0:
            slack -= a * lo[args[i + 1]]
        else:
            slack -= a * hi[args[i + 1]]
    if slack < 0:
        return False
    for i in range(first, last, 2):
        a = args[i] * sign
        v = args[i + 1]
        low = lo[v]
        high = hi[v]
        if a > 0:
            if a * (high - low) > slack and not set_hi(st, v, low + slack // a):
                return False
        elif a * (low - high) > slack and not set_lo(st, v, high - slack // -a):
            return False
    return True


@compilable
def prune_eq(st: State, first: int, last: int, bound: int) -> int:
    """Propagate sum == bound for the terms in args[first:last].

    Returns FAILED, UNCHANGED, ONE if one variable was fitted to the others without rounding, or SEVERAL.
    """
    args = st.args
    lo = st.lo
    hi = st.hi
    above = bound  # slack above the least sum
    below = -bound  # slack below the greatest sum
    for i in range(first, last, 2):
        a = args[i]
        v = args[i + 1]
        if a > 0:
            above -= a * lo[v]
            below += a * hi[v]
        else:
            above -= a * hi[v]
            below += a * lo[v]
    if above < 0 or below < 0:
        return FAILED
    changed = UNCHANGED
    for i in range(first, last, 2):
        a = args[i]
        v = args[i + 1]
        low = lo[v]
        high = hi[v]
        if low == high:
            continue
        if a > 0:
            width = a * (high - low)
            if width > above and not set_hi(st, v, low + above // a):
                return FAILED
            if width > below and not set_lo(st, v, high - below // a):
                return FAILED
        else:
            width = a * (low - high)
            if width > above and not set_lo(st, v, high - above // -a):
                return FAILED
            if width > below and not set_hi(st, v, low + below // -a):
                return FAILED
        if lo[v] != low or hi[v] != high:
            # Without rounding, the new bounds are exactly what the other terms leave.
            if a > 0:
                exact = (hi[v] == high or (hi[v] - low) * a == above) and (
                    lo[v] == low or (high - lo[v]) * a == below
                )
            else:
                exact = (hi[v] == high or (low - hi[v]) * a == below) and (
                    lo[v] == low or (lo[v] - high) * a == above
                )
            changed = ONE if changed == UNCHANGED and exact else SEVERAL
    return changed


@compilable
def prune_ne(st: State, first: int, last: int, bound: int) -> bool:
    """Propagate sum != bound for the terms in args[first:last]; acts when at most one variable is open."""
    args = st.args
    lo = st.lo
    hi = st.hi
    rest = bound
    open_term = -1
    for i in range(first, last, 2):
        v = args[i + 1]
        if lo[v] == hi[v]:
            rest -= args[i] * lo[v]
        elif open_term < 0:
            open_term = i
        else:
            return True
    if open_term < 0:
        return rest != 0
    if rest % args[open_term] != 0:
        return True
    return remove(st, args[open_term + 1], rest // args[open_term])


@compilable
def linear_le(st: State, c: int) -> bool:
    """``sum <= bound``."""
    first = st.start[c]
    return prune_le(st, first + 2, st.start[c + 1], 1, st.args[first])


@compilable
def linear_eq(st: State, c: int) -> bool:
    """``sum == bound``."""
    first = st.start[c]
    changed = prune_eq(st, first + 2, st.start[c + 1], st.args[first])
    # If one variable was fitted to the others without rounding, the others fit it too: a fixpoint.
    if changed == UNCHANGED or (changed == ONE and st.args[first + 1] == 1):
        st.scalar[SETTLED] = 1
    return changed != FAILED


@compilable
def linear_ne(st: State, c: int) -> bool:
    """``sum != bound``."""
    first = st.start[c]
    return prune_ne(st, first + 2, st.start[c + 1], st.args[first])


@compilable
def linear_le_if(st: State, c: int) -> bool:
    """``literal <-> sum <= bound``."""
    first = st.start[c]
    last = st.start[c + 1]
    args = st.args
    bound = args[first]
    literal = args[first + 1]
    value = literal_value(st, literal)
    if value == 1:
        return prune_le(st, first + 2, last, 1, bound)
    if value == 0:
        return prune_le(st, first + 2, last, -1, -bound - 1)
    least = 0
    greatest = 0
    for i in range(first + 2, last, 2):
        a = args[i]
        v = args[i + 1]
        if a > 0:
            least += a * st.lo[v]
            greatest += a * st.hi[v]
        else:
            least += a * st.hi[v]
            greatest += a * st.lo[v]
    if greatest <= bound:
        return set_literal(st, literal)
    if least > bound:
        return set_literal(st, literal ^ 1)
    return True


@compilable
def linear_eq_if(st: State, c: int) -> bool:
    """``literal <-> sum == bound``."""
    first = st.start[c]
    last = st.start[c + 1]
    args = st.args
    bound = args[first]
    literal = args[first + 1]
    value = literal_value(st, literal)
    if value == 1:
        return prune_eq(st, first + 2, last, bound) != FAILED
    if value == 0:
        return prune_ne(st, first + 2, last, bound)
    least = 0
    greatest = 0
    for i in range(first + 2, last, 2):
        a = args[i]
        v = args[i + 1]
        if a > 0:
            least += a * st.lo[v]
            greatest += a * st.hi[v]
        else:
            least += a * st.hi[v]
            greatest += a * st.lo[v]
    if least > bound or greatest < bound:
        return set_literal(st, literal ^ 1)
    if least == greatest:
        return set_literal(st, literal)
    if last - first == 4:
        a = args[first + 2]
        if bound % a != 0 or not contains(st, args[first + 3], bound // a):
            return set_literal(st, literal ^ 1)
    return True
