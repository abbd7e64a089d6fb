"""Meaning of random models' expression trees in plain Python arithmetic, without constrint's code.

Only arithmetic functions that the registry has and this file has not (`REGISTERED`) are what their
definitions say. The value of a number is an integer, or none, for which `NoValue` is raised. A condition on
numbers is false where one of them has none (`CONDITIONS`); every other operator passes it on.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from constrint import Undefined
from constrint.expr import FUNCTIONS, IntFunction

Tree = tuple[Any, ...]
"""An operator's name and its operands; ("const", 3), ("var", "x") and ("let", "t") are the leaves."""
Assignment = dict[str, int]
Evaluator = Callable[[Assignment], int]


class NoValue(Exception):
    """A number is undefined."""


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
CONDITIONS = frozenset([*COMPARISONS, "divides", "in", "within", "table", "all_different"])
"""What is false where a number in it is undefined; `not in` is the opposite of `in`, and true there."""
MANY: dict[str, Callable[..., int]] = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "gcd": math.gcd,
    "lcm": math.lcm,
    "sum": lambda *values: sum(values),
    "all_different": lambda *values: int(len(set(values)) == len(values)),
    "element": lambda *values: _index(values[:-1], values[-1]),
}


def _defined(function: type[IntFunction]) -> Callable[..., int]:
    def value(*operands: int) -> int:
        try:
            return function.value(*operands)
        except Undefined:
            raise NoValue from None

    return value


REGISTERED = {
    name: function
    for name, function in FUNCTIONS.items()
    if not (function.infix or function.conditions or name in {**UNARY, **BINARY, **MANY})
}
"""Arithmetic functions without a meaning of their own here."""
MANY |= {name: _defined(function) for name, function in REGISTERED.items()}


def evaluator(tree: Tree, lets: dict[str, Tree]) -> Evaluator:
    """The value of a tree as a function of the variables; raises `NoValue` where it has none."""
    if tree[0] == "not in":
        inside = evaluator(("in", *tree[1:]), lets)
        return lambda assignment: 1 - inside(assignment)
    return _held(_evaluator(tree, lets)) if tree[0] in CONDITIONS else _evaluator(tree, lets)


def _held(condition: Evaluator) -> Evaluator:
    def evaluate(assignment: Assignment) -> int:
        try:
            return condition(assignment)
        except NoValue:
            return 0

    return evaluate


def _evaluator(tree: Tree, lets: dict[str, Tree]) -> Evaluator:
    kind, *operands = tree
    if kind in ("const", "truth"):
        value = int(operands[0])
        return lambda assignment: value
    if kind == "var":
        name = operands[0]
        return lambda assignment: assignment[name]
    if kind == "let":
        return evaluator(lets[operands[0]], lets)
    if kind == "in":
        inner, members = evaluator(operands[0], lets), frozenset(operands[1])
        return lambda assignment: int(inner(assignment) in members)
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
    if kind == "if_then_else":
        condition, then, otherwise = parts
        return lambda assignment: then(assignment) if condition(assignment) else otherwise(assignment)
    if kind in UNARY:
        unary, only = UNARY[kind], parts[0]
        return lambda assignment: unary(only(assignment))
    if kind in MANY:
        many = MANY[kind]
        return lambda assignment: many(*[part(assignment) for part in parts])
    binary, (left, right) = BINARY[kind], parts
    return lambda assignment: binary(left(assignment), right(assignment))


def _chain_evaluator(operands: list[Any], lets: dict[str, Tree]) -> Evaluator:
    """Each link is a condition of its own."""
    parts = operands[::2]
    links = [
        evaluator((name, a, b), lets) for name, a, b in zip(operands[1::2], parts, parts[1:], strict=False)
    ]
    return lambda assignment: int(all(link(assignment) for link in links))
