"""Terms that are neither sums nor comparisons: arithmetic functions, tables, arithmetic of floats."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from constrint.diagrams.terms import BOOL, FLOAT, Term, Terms, Unsupported, peak_of
from constrint.expr import FloorDiv, IntFunction, Mod


def apply(terms: Terms, function: type[IntFunction], args: Sequence[Term]) -> Term:
    """An arithmetic function of terms; quotients and remainders of floats are Python's."""
    if not all(arg.is_int for arg in args):
        if function in (FloorDiv, Mod):
            return _float(terms, function.name, *args)
        raise Unsupported(f"{function.name} of floats")
    within = [(int(arg.lo), int(arg.hi)) for arg in args]
    limits = function.bounds(*within)  # first, as it refuses numbers that are too large to be computed
    is_met = all(_is_met(terms, args[i], way) for i, way in function.requires.items())
    safe = is_met and all(arg.safe for arg in args)
    if safe and all(arg.op == "const" for arg in args):
        return terms.const(function.value(*[int(arg.data) for arg in args]))
    same = function.same_as(*within)
    if same is not None and is_met and args[same].dtype is not BOOL and _are_safe(args, same):
        return args[same]
    term = terms._int(function.name, tuple(args), None, limits, 0)
    term.safe = safe
    return term


def _are_safe(args: Sequence[Term], but: int) -> bool:
    return all(arg.safe for i, arg in enumerate(args) if i != but)


def _is_met(terms: Terms, arg: Term, way: str) -> bool:
    """Whether a term always compares with 0 as a function requires."""
    return not terms.contains_zero(arg) if way == "!=" else bool(arg.lo >= 0)


def arithmetic(terms: Terms, op: str, left: Term, right: Term) -> Term:
    """Python's ``+``, ``-``, ``*`` or ``/``; exact if both operands are integers (except ``/``)."""
    if left.is_int and right.is_int and op != "/":
        if op == "*":
            return terms.mul((left, right))
        return terms.sum((1, -1 if op == "-" else 1), (left, right))
    return _float(terms, op, left, right)


def _float(terms: Terms, op: str, left: Term, right: Term) -> Term:
    """Python's float arithmetic, never reordered, because that would change rounding."""
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
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def element(terms: Terms, values: tuple[int, ...], index: Term) -> Term:
    """``values[index]``; undefined outside 0 … len - 1."""
    if index.op == "const" and 0 <= index.data < len(values):
        return terms.const(values[index.data])
    if not values:
        raise Unsupported("an empty table")
    term = terms._int("element", (index,), values, (min(values), max(values)), 0)
    term.safe = index.safe and index.lo >= 0 and index.hi < len(values)
    return term
