"""Evaluation of expressions with shared or deeply nested parts, in time linear in their size.

Each class of expressions has a method `meaning` that takes the meaning of its children, recursively. That
suffices for light expressions: small ones of little depth. In other expressions, each part that is not light
is evaluated once, children first: by its own `meaning`, over operands whose values are known. So neither the
number of paths to shared parts nor the recursion depth matters.

Products and what else may have as many digits as all operands together are bounded (`bounded`): sixty
definitions ``a := a * a`` have a value of 2**60 digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError, Undefined

if TYPE_CHECKING:
    from constrint.expr.base import Assignment, IntExpr

LIGHT_LEVELS = 60  # levels of a light expression
SHALLOW = 5  # levels that are weighed at once
MOST_VALUE_BITS = 4_000_000  # bits of a value
WIDE_VALUE = 1 << 60  # smaller values need no closer look
LIGHTEST = 128  # evaluations, one for each path to a part, of a light expression

_set = object.__setattr__
_WEIGHED: set[type] = set()  # the classes of expressions that have parts


def bounded(value: int) -> int:
    """A value that is not too long to go on with; raises `ModelError` for others."""
    if not -WIDE_VALUE < value < WIDE_VALUE and value.bit_length() > MOST_VALUE_BITS:
        raise ModelError(f"a value of more than {MOST_VALUE_BITS:,} bits is too large to compute")
    return value


class SharedValues:
    """An assignment of the variables that also keeps the values of expressions that are not light.

    Passed instead of the assignment to several evaluations, it lets them share work.

    Args:
        assignment: The values of the variables.
    """

    __slots__ = ("given", "known")

    def __init__(self, assignment: Assignment) -> None:
        self.given = assignment
        self.known: dict[int, _Known] = {}  # by the expressions' identities

    def __getitem__(self, variable: Any) -> int:
        return self.given[variable]


class _Known:
    """An expression with its value, or with the error that there is none."""

    __slots__ = ("expr", "value")

    def __init__(self, expr: object, value: object) -> None:
        self.expr = expr  # is kept alive, since its identity is a key
        self.value = value

    def meaning(self, assignment: object = None) -> Any:
        """The value."""
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


def with_parts(*classes: type) -> None:
    """Register classes of expressions that have parts: these are weighed."""
    _WEIGHED.update(classes)


def shared_value(root: Any, assignment: Assignment | SharedValues) -> Any:
    """The value of an expression that is not light; raises `Undefined` if there is none."""
    values = assignment if isinstance(assignment, SharedValues) else SharedValues(assignment)
    known, given = values.known, values.given
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node) in known:
            stack.pop()
            continue
        heavy = [child for child in node.children if not is_light(child)]
        waiting = [child for child in heavy if id(child) not in known]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        try:
            value: Any = (_over(node, known) if heavy else node).meaning(given)
        except (Undefined, ModelError) as problem:
            value = problem
        known[id(node)] = _Known(node, value)
    return known[id(root)].meaning()


def _over(node: Any, known: Mapping[int, _Known]) -> Any:
    """The same operator with known values in the places of operands."""
    return type(node)(*[_replaced(getattr(node, name), known) for name in type(node).__match_args__])


def _replaced(part: object, known: Mapping[int, _Known]) -> object:
    if hasattr(part, "meaning"):
        return known.get(id(part), part)
    if type(part) is not tuple or (part and type(part[0]) is int and not hasattr(part[-1], "meaning")):
        return part  # a number, a word, or a list of numbers
    return tuple([_replaced(inner, known) for inner in part])


def are_small(roots: Sequence[IntExpr]) -> bool:
    """Whether expressions are shallow and have few parts on average, each counted once for each path to it.

    Evaluating each of them anew then takes time linear in their number.
    """
    parts, level = len(roots), roots
    for _ in range(SHALLOW):
        below = list(chain.from_iterable([node.children for node in level]))
        parts += len(below)
        if parts > LIGHTEST * len(roots):
            return False
        if _WEIGHED.isdisjoint(map(type, below)):
            return True
        level = [child for child in below if type(child) in _WEIGHED]
    return False


def is_light(expr: IntExpr) -> bool:
    """Whether evaluating an expression anew costs little."""
    if type(expr) not in _WEIGHED:
        return True  # a variable or constant
    try:
        return expr._is_light
    except AttributeError:
        return weigh(expr)


def is_weighed(expr: object) -> bool:
    """Whether it is known already if an expression is light."""
    return type(expr) not in _WEIGHED or getattr(expr, "_is_light", None) is not None


def weigh(root: IntExpr) -> bool:
    """Whether an expression is light; sets the weight of its parts: evaluations without a cache, and depth.

    Variables and constants have no weight, and count as light.
    """
    if are_small([root]):
        _set(root, "_is_light", True)
        return True
    stack = [root]
    while stack:
        node = stack[-1]
        if hasattr(node, "_weight"):
            stack.pop()
            continue
        children = node.children
        before = len(stack)
        stack += [child for child in children if type(child) in _WEIGHED and not hasattr(child, "_weight")]
        if len(stack) > before:
            continue
        stack.pop()
        steps, depth = 1, 1
        for child in children:
            own, below = getattr(child, "_weight", (1, 1))
            steps += own
            depth = max(depth, below + 1)
        _set(node, "_weight", (min(steps, LIGHTEST + 1), depth))
        _set(node, "_is_light", steps <= LIGHTEST and depth <= LIGHT_LEVELS)
    return root._is_light
