"""Values of expressions with shared or deep parts: each part is evaluated once, without recursion.

`IntExpr.evaluate` follows every path to a part, which is fastest if there are few; sixty definitions `a := a
* a` have 2**60 paths. Here a part is evaluated by its own `evaluate`, with the values of its operands in
their places, so the meaning of an operator is defined once.
"""

from __future__ import annotations

from typing import Any

from constrint.errors import Undefined
from constrint.expr.arithmetic.divisors import Lcm
from constrint.expr.arithmetic.power import Pow
from constrint.expr.base import Assignment, IntExpr
from constrint.expr.conditions import BoolConst, BoolVar
from constrint.expr.integers import Const, IntVar, Mul
from constrint.expr.walk import inner_first
from constrint.support.limits import exceeded

MOST_PATHS = 20
"""The most paths per part, on average, for which expressions are evaluated along all of them."""
DEEPEST = 100
"""The deepest nesting for which `evaluate` may recurse."""
LONGEST_VALUE = 1_000_000
_LEAVES = (Const, IntVar, BoolVar, BoolConst)
_ENOUGH = 10**12


class _Known(IntExpr):
    """An operand with a known value; None, with a reason, if it is undefined."""

    __slots__ = ("reason", "value")

    def __init__(self, value: int | None, reason: str = "") -> None:
        self.value = value
        self.reason = reason

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def evaluate(self, assignment: Assignment) -> int:
        if self.value is None:
            raise Undefined(self.reason)
        return self.value


class Values:
    """Values under one assignment; a part shared by several expressions is evaluated once.

    Args:
        assignment: Values of the variables.
        digits: Maximum number of decimal digits of a value; `LimitExceeded` is raised for a longer one. None
            for no limit.
    """

    def __init__(self, assignment: Assignment, digits: int | None = None) -> None:
        self._assignment = assignment
        self._digits = digits
        self._bits = None if digits is None else int(digits * 3.33) + 4
        self._known: dict[int, _Known] = {}
        self._kept: list[IntExpr] = []  # expressions are kept alive, since they are keyed by identity

    def of(self, expr: IntExpr) -> int:
        """The value of an expression; raises `Undefined` if there is none."""
        known = self._known
        if id(expr) not in known:
            self._kept.append(expr)
        for node in inner_first([expr], known):
            known[id(node)] = self._value(node)
        return known[id(expr)].evaluate({})

    def _value(self, node: IntExpr) -> _Known:
        if not isinstance(node, _LEAVES):
            self._check_operands(node)
            node = _with(node, self._known)
        try:
            value = node.evaluate(self._assignment)
        except Undefined as problem:
            return _Known(None, str(problem))
        self._check(value.bit_length())
        return _Known(value)

    def _check_operands(self, node: IntExpr) -> None:
        """Refuse a value that would be too long, before it is computed."""
        if self._bits is None or not isinstance(node, Mul | Pow | Lcm):
            return
        values = [self._known[id(child)].value for child in node.children]
        if any(value is None for value in values):
            return
        bits = [max(0, abs(value).bit_length() - 1) for value in values if value is not None]
        if isinstance(node, Pow):
            self._check(bits[0] * max(0, values[1] or 0))
        elif 0 not in values:
            self._check(sum(bits))

    def _check(self, bits: int) -> None:
        if self._bits is not None and self._digits is not None and bits > self._bits:
            raise exceeded("digits", self._digits)


def _with(node: IntExpr, known: dict[int, _Known]) -> IntExpr:
    """The same operator over known operands."""
    return type(node)(*[_replaced(getattr(node, name), known) for name in type(node).__match_args__])  # type: ignore[attr-defined]  # nodes are records


def _replaced(part: Any, known: dict[int, _Known]) -> Any:
    if isinstance(part, IntExpr):
        return known[id(part)]
    if type(part) is not tuple or (part and type(part[0]) is int and not isinstance(part[-1], IntExpr)):
        return part  # a number, a word, or a list of numbers
    return tuple([_replaced(inner, known) for inner in part])


class Depths:
    """Depths of expressions with shared parts, each part visited once.

    Args:
        limit: The greatest depth; None for no limit.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._depth: dict[int, int] = {}
        self._kept: list[IntExpr] = []

    def note(self, expr: IntExpr) -> int:
        """The depth of an expression; raises `LimitExceeded` beyond the limit."""
        depth = self._depth
        if id(expr) not in depth:
            own: dict[int, int] = {}  # inner parts are not kept: they may be garbage-collected later
            for node in inner_first([expr], depth):
                below = [own.get(id(child)) or depth.get(id(child), 0) for child in node.children]
                own[id(node)] = 1 + max(below, default=0)
            self._kept.append(expr)
            depth[id(expr)] = own[id(expr)]
        if self._limit is not None and depth[id(expr)] > self._limit:
            raise exceeded("depth", self._limit)
        return depth[id(expr)]


def value_in(model: object, expr: IntExpr, assignment: Assignment) -> int:
    """The value of an expression of a model, for any shape; raises `Undefined` if there is none.

    The model caches which expressions are plain. `LimitExceeded` is raised for a value of more than
    `LONGEST_VALUE` digits.
    """
    noted: dict[int, tuple[IntExpr, bool]] = model.__dict__.setdefault("_plain", {})
    entry = noted.get(id(expr))
    if entry is None:
        entry = noted[id(expr)] = (expr, is_plain(expr))
    return expr.evaluate(assignment) if entry[1] else Values(assignment, LONGEST_VALUE).of(expr)


def is_plain(expr: IntExpr) -> bool:
    """Whether an expression has few paths to its parts, and is not deep."""
    if all(isinstance(child, _LEAVES) for child in expr.children):
        return True
    paths: dict[int, int] = {}
    depth: dict[int, int] = {}
    for node in inner_first([expr]):
        children = node.children
        paths[id(node)] = min(_ENOUGH, 1 + sum([paths[id(child)] for child in children]))
        depth[id(node)] = 1 + max([depth[id(child)] for child in children], default=0)
    return depth[id(expr)] <= DEEPEST and paths[id(expr)] <= MOST_PATHS * len(paths) + 1000
