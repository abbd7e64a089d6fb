"""Terms that are neither sums nor comparisons: division, powers, extremes, divisors, tables; their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from constrint.diagrams.terms import (
    BOOL,
    FLOAT,
    MOST_POWER_BITS,
    Term,
    Terms,
    Unsupported,
    int_type,
    peak_of,
)

Bounds = tuple[int, int]


def floordiv(terms: Terms, left: Term, right: Term) -> Term:
    """``left // right``."""
    if right.op == "const" and right.data == 1 and left.dtype is not BOOL and left.is_int:
        return left
    return _binary(terms, "floordiv", left, right, _floordiv_bounds, not terms.contains_zero(right))


def mod(terms: Terms, left: Term, right: Term) -> Term:
    """``left % right``."""
    return _binary(terms, "mod", left, right, _mod_bounds, not terms.contains_zero(right))


def power(terms: Terms, left: Term, right: Term) -> Term:
    """``left ** right`` of integers; undefined for a negative exponent."""
    if not (left.is_int and right.is_int):
        raise Unsupported("powers of floats")
    if right.op == "const" and right.data == 1 and left.dtype is not BOOL:
        return left
    return _binary(terms, "pow", left, right, _power_bounds, right.lo >= 0)


def _binary(
    terms: Terms,
    op: str,
    left: Term,
    right: Term,
    bounds: Callable[[Term, Term], Bounds],
    safe: bool,
) -> Term:
    if not (left.is_int and right.is_int):
        return _float(terms, op, left, right)
    limits = bounds(left, right)  # first, as it refuses powers that are too large to be computed
    if left.op == "const" and right.op == "const" and safe:
        return terms.const(_FOLD[op](left.data, right.data))
    term = terms._int(op, (left, right), None, limits, 0)
    term.safe = safe and left.safe and right.safe
    return term


def arithmetic(terms: Terms, op: str, left: Term, right: Term) -> Term:
    """``+``, ``-``, ``*`` or ``/`` as Python has them; exact where both are integers (not for ``/``)."""
    if left.is_int and right.is_int and op != "/":
        if op == "*":
            return terms.mul((left, right))
        return terms.sum((1, -1 if op == "-" else 1), (left, right))
    return _float(terms, op, left, right)


def _float(terms: Terms, op: str, left: Term, right: Term) -> Term:
    """Python's float arithmetic: nothing is reordered, as that would round otherwise."""
    divides = op in ("/", "floordiv", "mod")
    safe = not divides or (right.op == "const" and right.data != 0)
    if divides and right.is_int:
        safe = not terms.contains_zero(right)
    if left.op == "const" and right.op == "const" and safe:
        with suppress(OverflowError):  # an integer that no float holds: refused below
            return terms.const(_FOLD[op](left.data, right.data))
    for arg in (left, right):
        if arg.is_int and peak_of(arg.lo, arg.hi) >= 1 << 53:
            raise Unsupported("integers beyond 2**53 in float arithmetic")
    args = (left, right)

    def finish() -> Term:
        term = Term(op if op in ("floordiv", "mod") else "float", args, op, (-math.inf, math.inf))
        term.dtype = FLOAT
        term.safe = safe and left.safe and right.safe
        return term

    return terms._make("float", args, op, finish)


_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def _floordiv_bounds(left: Term, right: Term) -> Bounds:
    divisors = [d for d in (right.lo, right.hi) if d != 0]
    if right.lo < 0 < right.hi or right.lo == 0 < right.hi:
        divisors.append(1)
    if right.lo < 0 < right.hi or right.lo < 0 == right.hi:
        divisors.append(-1)
    corners = [x // d for x in (left.lo, left.hi) for d in divisors] or [0]
    return min(corners), max(corners)


def _mod_bounds(left: Term, right: Term) -> Bounds:
    lo, hi = min(0, right.lo + 1), max(0, right.hi - 1)
    if left.lo >= 0 and right.lo >= 0:
        hi = min(hi, left.hi)
    return lo, hi


def _power_bounds(base: Term, exponent: Term) -> Bounds:
    most = peak_of(base.lo, base.hi)
    if exponent.hi < 0:
        return 0, 0
    if most > 1 and most.bit_length() * exponent.hi > MOST_POWER_BITS:
        raise Unsupported("a power of more than a thousand digits")
    greatest = max(1, most**exponent.hi)
    return (0 if base.lo >= 0 else -greatest), greatest


def absolute(terms: Terms, arg: Term) -> Term:
    """The absolute value."""
    if arg.op == "const":
        return terms.const(abs(arg.data))
    if not arg.is_int:
        raise Unsupported("abs of a float")
    if arg.lo >= 0 and arg.dtype is not BOOL:
        return arg
    lo = 0 if arg.lo <= 0 <= arg.hi else min(abs(arg.lo), abs(arg.hi))
    return terms._int("abs", (arg,), None, (lo, peak_of(arg.lo, arg.hi)), 0)


def many(terms: Terms, op: str, args: Sequence[Term]) -> Term:
    """``min``, ``max``, ``gcd`` or ``lcm`` of integer terms."""
    if not all(arg.is_int for arg in args):
        raise Unsupported(f"{op} of floats")
    if all(arg.op == "const" for arg in args):
        functions: dict[str, Callable[..., int]] = {"gcd": math.gcd, "lcm": math.lcm}
        values = [int(arg.data) for arg in args]
        return terms.const(functions[op](*values) if op in functions else _extreme(op)(values))
    if op == "min":
        bounds = min(arg.lo for arg in args), min(arg.hi for arg in args)
    elif op == "max":
        bounds = max(arg.lo for arg in args), max(arg.hi for arg in args)
    elif op == "gcd":
        bounds = 0, max(peak_of(arg.lo, arg.hi) for arg in args)
    else:
        bounds = 0, math.prod(max(1, peak_of(arg.lo, arg.hi)) for arg in args)
    return terms._int(op, tuple(args), None, (int(bounds[0]), int(bounds[1])), 0)


def _extreme(op: str) -> Callable[[list[int]], int]:
    return min if op == "min" else max


def element(terms: Terms, values: tuple[int, ...], index: Term) -> Term:
    """``values[index]``; undefined outside 0 … len - 1."""
    if index.op == "const" and 0 <= index.data < len(values):
        return terms.const(values[index.data])
    if not values:
        raise Unsupported("an empty table")
    term = terms._int("element", (index,), values, (min(values), max(values)), 0)
    term.safe = index.safe and index.lo >= 0 and index.hi < len(values)
    return term


__all__ = ["absolute", "arithmetic", "element", "floordiv", "int_type", "many", "mod", "power"]
