"""How many conditions hold: `exactly_one`, `at_most_one`, `at_least_one`."""

from __future__ import annotations

from collections.abc import Iterable

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Comparison, Const, IntExpr, Or, linear, placed
from constrint.expr.arithmetic.arguments import flat
from constrint.expr.build import as_bool
from constrint.expr.global_expr import Definition, Field, Relation

__all__ = ["at_least_one", "at_most_one", "exactly_one"]

Exprs = tuple[IntExpr, ...]


def conditions_of(args: Exprs) -> tuple[BoolExpr, ...]:
    """The arguments as conditions; raises `ModelError` for a number other than 0 and 1."""
    return tuple([as_bool(arg.value if isinstance(arg, Const) else arg) for arg in args])


def _held(args: Exprs) -> IntExpr:
    return linear([(1, condition) for condition in conditions_of(args)])


def _checked(name: str) -> Definition:
    def check(args: Exprs) -> None:
        try:
            conditions_of(args)
        except ModelError as error:
            raise ModelError(f"{name}: {error}") from None

    meaning, decomposed = _RULES[name]
    field = Field("conditions", "exprs", may_be_empty=True)
    return Definition(name, (field,), meaning, decomposed, None, check)


_RULES = {
    "exactly_one": (
        lambda values: sum(map(bool, values)) == 1,
        lambda args: Comparison("==", _held(args), Const(1)),
    ),
    "at_most_one": (
        lambda values: sum(map(bool, values)) <= 1,
        lambda args: Comparison("<=", _held(args), Const(1)),
    ),
    "at_least_one": (any, lambda args: Or(conditions_of(args))),
}

EXACTLY_ONE, AT_MOST_ONE, AT_LEAST_ONE = map(_checked, _RULES)


def _relation(definition: Definition, conditions: tuple[object, ...]) -> BoolExpr:
    listed: Iterable[object] = conditions
    if (
        len(conditions) == 1
        and isinstance(conditions[0], Iterable)
        and not isinstance(conditions[0], IntExpr)
    ):
        listed = flat(conditions[0])
    try:
        parts = (tuple([as_bool(condition) for condition in listed]),)
    except ModelError as error:
        raise ModelError(f"{definition.name}: {error}") from None
    return placed(Relation(definition, definition.checked(parts)))


def exactly_one(*conditions: object) -> BoolExpr:
    """The condition that exactly one of the conditions (or of one iterable) holds.

    A sum of truth values, which is domain consistent. O(n).
    """
    return _relation(EXACTLY_ONE, conditions)


def at_most_one(*conditions: object) -> BoolExpr:
    """The condition that no two of the conditions (or of one iterable) hold; true for none.

    A sum of truth values, which is domain consistent. O(n).
    """
    return _relation(AT_MOST_ONE, conditions)


def at_least_one(*conditions: object) -> BoolExpr:
    """The condition that one or more of the conditions (or of one iterable) hold; false for none.

    A clause, which is domain consistent. O(n).
    """
    return _relation(AT_LEAST_ONE, conditions)
