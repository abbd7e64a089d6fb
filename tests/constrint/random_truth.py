"""What the trees of random models mean: plain Python arithmetic, which shares no code with constrint."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

Tree = tuple[Any, ...]
"""An operator's name and its operands; ("const", 3), ("var", "x") and ("let", "t") are the leaves."""
Assignment = dict[str, int]
Evaluator = Callable[[Assignment], int]


class NoValue(Exception):
    """A subexpression is undefined: the assignment is no solution, wherever the subexpression stands."""


COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _floordiv(a: int, b: int) -> int:
    if b == 0:
        raise NoValue
    return a // b


def _mod(a: int, b: int) -> int:
    if b == 0:
        raise NoValue
    return a % b


def _power(a: int, b: int) -> int:
    if b < 0:
        raise NoValue
    return int(a**b)


def _index(values: tuple[int, ...], k: int) -> int:
    if not 0 <= k < len(values):
        raise NoValue
    return values[k]


def _within(value: int, lo: int | None, hi: int | None, step: int) -> int:
    """Steps are counted from the lower bound, or down from the upper one."""
    anchor = lo if lo is not None else hi if hi is not None else 0
    inside = (lo is None or lo <= value) and (hi is None or value <= hi)
    return int(inside and (value - anchor) % step == 0)


def _divides(d: int, x: int) -> int:
    return int(x == 0 if d == 0 else x % d == 0)


BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": _floordiv,
    "%": _mod,
    "**": _power,
    "ceildiv": lambda a, b: -_floordiv(-a, b),
    "divides": _divides,
    "and": operator.and_,
    "or": operator.or_,
    "->": lambda a, b: int(not a or b),
    "<->": lambda a, b: int(a == b),
    **{name: (lambda compare: lambda a, b: int(compare(a, b)))(f) for name, f in COMPARISONS.items()},
}
UNARY: dict[str, Callable[[int], int]] = {"neg": operator.neg, "abs": abs, "not": lambda a: 1 - a}
MANY: dict[str, Callable[..., int]] = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "gcd": math.gcd,
    "lcm": math.lcm,
    "sum": lambda *values: sum(values),
    "all_different": lambda *values: int(len(set(values)) == len(values)),
    "if_then_else": lambda condition, then, otherwise: then if condition else otherwise,
    "element": lambda *values: _index(values[:-1], values[-1]),
}


def evaluator(tree: Tree, lets: dict[str, Tree]) -> Evaluator:
    """The value of a tree as a function of the variables; raises `NoValue` where it has none."""
    kind, *operands = tree
    if kind in ("const", "truth"):
        value = int(operands[0])
        return lambda assignment: value
    if kind == "var":
        name = operands[0]
        return lambda assignment: assignment[name]
    if kind == "let":
        return evaluator(lets[operands[0]], lets)
    if kind in ("in", "not in"):
        inner, members = evaluator(operands[0], lets), frozenset(operands[1])
        return lambda assignment: int((inner(assignment) in members) == (kind == "in"))
    if kind == "within":
        inner, (lo, hi, step) = evaluator(operands[0], lets), operands[1:]
        return lambda assignment: _within(inner(assignment), lo, hi, step)
    if kind == "table":
        columns, rows = [evaluator(operand, lets) for operand in operands[:-1]], frozenset(operands[-1])
        return lambda assignment: int(tuple([column(assignment) for column in columns]) in rows)
    if kind == "index":
        entries, inner = operands[0], evaluator(operands[1], lets)
        return lambda assignment: _index(entries, inner(assignment))
    if kind == "chain":
        return _chain_evaluator(operands, lets)
    parts = [evaluator(operand, lets) for operand in operands]
    if kind in UNARY:
        unary, only = UNARY[kind], parts[0]
        return lambda assignment: unary(only(assignment))
    if kind in MANY:
        many = MANY[kind]
        return lambda assignment: many(*[part(assignment) for part in parts])
    binary, (left, right) = BINARY[kind], parts
    return lambda assignment: binary(left(assignment), right(assignment))


def _chain_evaluator(operands: list[Any], lets: dict[str, Tree]) -> Evaluator:
    comparisons = [BINARY[name] for name in operands[1::2]]
    parts = [evaluator(operand, lets) for operand in operands[::2]]

    def evaluate(assignment: Assignment) -> int:
        values = [part(assignment) for part in parts]
        return int(all(f(a, b) for f, a, b in zip(comparisons, values, values[1:], strict=False)))

    return evaluate
