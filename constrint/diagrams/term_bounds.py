"""Bounds on terms row by row while some of their variables are open.

They prune a row when no completion can satisfy a condition, and detect when all completions do.
"""

from __future__ import annotations

import math

import numpy as np

from constrint.diagrams.evaluate import Bounds, Frame
from constrint.diagrams.terms import OBJECT, Column, Term, Type, peak_of_sum
from constrint.expr import FUNCTIONS
from constrint.support.deadline import check_deadline


def bounds(frame: Frame, term: Term) -> Bounds:
    """Least and greatest value of a term in each row, over all values of the open variables."""
    if term.op == "const":
        return term.data, term.data
    if not term.mask & frame.bound:
        return term.lo, term.hi
    if not term.mask & ~frame.bound:
        if not term.safe:
            return term.lo, term.hi
        values = frame.value(term)
        return values, values
    if term.op == "held":
        return False, bounds(frame, term.args[0])[1]
    rule = _RULES.get(term.op)
    if rule is None or term.is_lazy:
        return term.lo, term.hi
    known = frame.limits.get(term)
    if known is None:
        check_deadline()
        known = rule(frame, term)
        if term.uses > 1:  # shared operands in chains would double the work at every link
            frame.limits[term] = known
    return known


def _scaled(low: Column, high: Column, a: int, dtype: Type) -> Bounds:
    low, high = _wide(low, dtype), _wide(high, dtype)
    return (low * a, high * a) if a >= 0 else (high * a, low * a)


def _wide(values: Column, dtype: Type) -> Column:
    """Values in a type; scalars as Python's integers, which are exact."""
    return values.astype(dtype) if isinstance(values, np.ndarray) else int(values)


def _stacked(values: list[Column]) -> Column:
    """All values along a new first axis, as Python integers where one does not fit 64 bits."""
    wide = any(
        value.dtype == OBJECT if isinstance(value, np.ndarray | np.generic) else abs(value) >= 1 << 62
        for value in values
    )
    dtype = OBJECT if wide else np.dtype(np.int64)
    return np.stack(np.broadcast_arrays(*(np.asarray(value, dtype=dtype) for value in values)))


def _part(frame: Frame, term: Term) -> tuple[Term | None, int, tuple[int, ...]]:
    """The kept part of a flat term, if the frame has it."""
    return frame.continued(term)


def _total(frame: Frame, term: Term) -> Bounds:
    coefficients = term.data[0]
    part, factor, rest = _part(frame, term)
    items = [] if part is None else [(factor, part)]
    items += [(coefficients[i], term.args[i]) for i in rest]
    peak = peak_of_sum([a for a, _ in items], [arg for _, arg in items], term.data[1])
    dtype = np.dtype(np.int64) if peak < 1 << 62 else OBJECT
    lo: Column = 0
    hi: Column = 0
    for a, arg in items:
        low, high = _scaled(*bounds(frame, arg), a, dtype)
        lo, hi = lo + low, hi + high
    return lo, hi


def _sum(frame: Frame, term: Term) -> Bounds:
    lo, hi = _total(frame, term)
    constant = term.data[1]
    return lo + constant, hi + constant


def _mul(frame: Frame, term: Term) -> Bounds:
    part, _, rest = _part(frame, term)
    items = [] if part is None else [part]
    items += [term.args[i] for i in rest]
    peak = math.prod(max(1, -int(arg.lo), int(arg.hi)) for arg in items)
    dtype = np.dtype(np.int64) if peak < 1 << 62 else OBJECT
    lo: Column = 1
    hi: Column = 1
    for arg in items:
        low, high = bounds(frame, arg)
        low, high = _wide(low, dtype), _wide(high, dtype)
        if arg.lo >= 0 and np.all(np.asarray(lo) >= 0):
            lo, hi = lo * low, hi * high
            continue
        corners = _stacked([lo * low, lo * high, hi * low, hi * high])
        # numpy's scalars would wrap around in the next product.
        lo, hi = _wide(corners.min(axis=0), dtype), _wide(corners.max(axis=0), dtype)
    return lo, hi


def _le(frame: Frame, term: Term) -> Bounds:
    lo, hi = _total(frame, term)
    return hi <= term.data[1], lo <= term.data[1]


def _eq(frame: Frame, term: Term) -> Bounds:
    bound = term.data[1]
    lo, hi = _total(frame, term)
    return (lo == bound) & (hi == bound), (lo <= bound) & (bound <= hi) & _congruent(frame, term)


def _congruent(frame: Frame, term: Term) -> Column:
    """The rows in which the residues of the open terms allow the sum to reach its value."""
    coefficients, bound = term.data
    part, factor, rest = _part(frame, term)
    opened = [i for i in rest if term.args[i].mask & ~frame.bound]
    modulus = math.gcd(*[coefficients[i] for i in opened])
    if modulus in (0, 1) or modulus >= 1 << 31:
        return np.True_
    total: Column = 0
    items = [] if part is None else [(factor, part)]
    items += [(coefficients[i], term.args[i]) for i in rest if i not in opened]
    for a, arg in items:
        if not arg.safe:
            return np.True_
        # The product of two residues needs 62 bits.
        residue = _wide(frame.value(arg) % modulus, np.dtype(np.int64))
        total = (total + residue * (a % modulus)) % modulus
    return (total - bound % modulus) % modulus == 0


def _ne(frame: Frame, term: Term) -> Bounds:
    always, possible = _eq(frame, term)
    return ~np.asarray(possible, dtype=bool), ~np.asarray(always, dtype=bool)


def _junction(frame: Frame, term: Term) -> Bounds:
    part, _, rest = _part(frame, term)
    items = [] if part is None else [part]
    items += [term.args[i] for i in rest]
    pairs = [bounds(frame, arg) for arg in items]
    lo, hi = (np.asarray(side, dtype=bool) for side in pairs[0])
    for low, high in pairs[1:]:
        low, high = np.asarray(low, dtype=bool), np.asarray(high, dtype=bool)
        lo, hi = (lo & low, hi & high) if term.op == "and" else (lo | low, hi | high)
    return lo, hi


def _not(frame: Frame, term: Term) -> Bounds:
    lo, hi = bounds(frame, term.args[0])
    return ~np.asarray(hi, dtype=bool), ~np.asarray(lo, dtype=bool)


def _iff(frame: Frame, term: Term) -> Bounds:
    (a_lo, a_hi), (b_lo, b_hi) = (
        tuple(np.asarray(side, dtype=bool) for side in bounds(frame, arg)) for arg in term.args
    )
    return (a_lo & b_lo) | ~(a_hi | b_hi), ~((a_lo & ~b_hi) | (b_lo & ~a_hi))


def _isotone(frame: Frame, term: Term) -> Bounds:
    """The bounds of a function that never falls as an operand rises."""
    function, within = FUNCTIONS[term.op], [(arg.lo, arg.hi) for arg in term.args]
    if function.requires and not term.safe:
        return term.lo, term.hi
    pairs = [bounds(frame, arg) for arg in term.args]
    lows, highs = (list(_stacked([pair[side] for pair in pairs])) for side in (0, 1))
    return function.column(lows, within), function.column(highs, within)


_RULES: dict[str, Column] = {
    "sum": _sum,
    "mul": _mul,
    "le": _le,
    "eq": _eq,
    "ne": _ne,
    "and": _junction,
    "or": _junction,
    "not": _not,
    "iff": _iff,
    **{name: _isotone for name, function in FUNCTIONS.items() if function.is_isotone},
}
