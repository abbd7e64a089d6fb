"""Evaluation of expressions with shared or deeply nested parts, in time linear in their size.

Each class of expressions has a method `evaluate` that evaluates its children recursively. That suffices for
light expressions: small ones of little depth. In other expressions, each part that is not light is evaluated
once, children first, so neither the number of paths to shared parts nor the recursion depth matters.

Products and what else may have as many digits as all operands together are bounded (`bounded`): sixty
definitions ``a := a * a`` have a value of 2**60 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import local
from typing import Any

from constrint.errors import ModelError, Undefined

DEEPEST = 60  # levels of a light expression
SHALLOW = 5  # levels that are weighed at once
LONGEST_SHOWN = 10_000  # parts of an expression that `repr` shows
LONGEST = 4_000_000  # bits of a value
WIDE = 1 << 60  # smaller values need no closer look
LIGHTEST = 128  # evaluations, one for each path to a part, of a light expression

_set = object.__setattr__
_WEIGHED: set[type] = set()  # the classes of expressions that have parts


def bounded(value: int) -> int:
    """A value that is not too long to go on with; raises `ModelError` for others."""
    if not -WIDE < value < WIDE and value.bit_length() > LONGEST:
        raise ModelError(f"a value of more than {LONGEST:,} bits is too large to compute")
    return value


class Values(dict[Any, Any]):
    """An assignment of the variables that also caches the values of evaluated expressions.

    Passed instead of the assignment to several evaluations, it lets them share work.

    Args:
        assignment: The values of the variables.
        is_copied: Whether to copy them, which pays for several expressions.
    """

    def __init__(self, assignment: Mapping[Any, int], is_copied: bool = True) -> None:
        super().__init__(assignment if is_copied else ())
        self._assignment = assignment

    def __missing__(self, variable: Any) -> int:
        return self._assignment[variable]


def share_work(*classes: type) -> None:
    """Make the method `evaluate` of expression classes linear in the size of an expression."""
    _WEIGHED.update(classes)
    for cls in classes:
        cls.__repr__ = _bounded(cls.__repr__)  # type: ignore[assignment, arg-type] # of every object
        cls.evaluate = _linear(cls.__dict__["evaluate"])  # type: ignore[attr-defined] # expressions have it


class _Showing(local):
    """Whether the thread is showing an expression."""

    inside = False
    is_cut = False


_showing = _Showing()


def _bounded(plain: Callable[[Any], str]) -> Callable[[Any], str]:
    """A `__repr__` that shows the parts of a very large expression as `…`, however they are shared."""

    def show(self: Any) -> str:
        if _showing.inside:
            return "…" if _showing.is_cut else plain(self)
        _showing.inside, _showing.is_cut = True, not _is_short(self)
        try:
            return plain(self)
        finally:
            _showing.inside = False

    return show


def _is_short(root: Any) -> bool:
    """Whether an expression has few parts, each counted once for each path to it, and is not deep."""
    parts, level, depth = 0, [root], 0
    while level:
        parts, depth = parts + len(level), depth + 1
        if parts > LONGEST_SHOWN or depth > DEEPEST:
            return False
        level = [child for node in level for child in node.children]
    return True


def _linear(plain: Callable[[Any, Any], int]) -> Callable[[Any, Any], int]:
    def evaluate(self: Any, assignment: Any) -> int:
        try:
            is_light = self._is_light
        except AttributeError:
            weigh(self)
            is_light = self._is_light
        if is_light:
            return plain(self, assignment)
        if type(assignment) is not Values:
            assignment = Values(assignment, is_copied=False)
        if self not in assignment:
            _evaluate_parts(self, assignment)
        return _value(assignment[self])

    evaluate.__doc__ = plain.__doc__
    evaluate.plain = plain  # type: ignore[attr-defined] # functions take attributes
    return evaluate


def _value(known: Any) -> int:
    if isinstance(known, Undefined):
        raise known
    return known  # type: ignore[no-any-return] # a number


def _evaluate_parts(root: Any, values: Values) -> None:
    """Evaluate an expression that is not light, after its parts that are not light."""
    stack = [root]
    while stack:
        node = stack[-1]
        before = len(stack)
        if node not in values:
            stack += [
                child
                for child in node.children
                if not getattr(child, "_is_light", True) and child not in values
            ]
        if len(stack) > before:
            continue
        stack.pop()
        if node not in values:
            try:
                values[node] = type(node).evaluate.plain(node, values)
            except Undefined as undefined:
                values[node] = undefined


def _weigh_small(node: Any, children: Any, levels: int) -> int:
    """Weigh a shallow and light expression; returns its evaluations, or 0 if it is neither."""
    steps = 1
    for child in children:
        if type(child) not in _WEIGHED:  # a variable or constant
            steps += 1
            continue
        own = _weigh_small(child, child.children, levels - 1) if levels else 0
        if not own:
            return 0
        steps += own
    if steps > LIGHTEST:
        return 0
    _set(node, "_weight", (steps, SHALLOW + 1))
    _set(node, "_is_light", True)
    return steps


def is_light(expr: Any) -> bool:
    """Whether evaluating an expression anew costs little."""
    if type(expr) not in _WEIGHED:
        return True
    if not hasattr(expr, "_is_light"):
        weigh(expr)
    return bool(expr._is_light)


def weigh(root: Any) -> None:
    """Set the weight of an expression and its parts: evaluations without a cache (capped), and depth.

    Variables and constants have no weight, and count as light.
    """
    if _weigh_small(root, root.children, SHALLOW):
        return
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
        _set(node, "_is_light", steps <= LIGHTEST and depth <= DEEPEST)
