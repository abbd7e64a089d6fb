"""Counts: `count`, `among`, `nvalue`, `global_cardinality`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast, overload

from constrint.errors import ModelError
from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, IntLike, Member, linear, placed
from constrint.expr.arithmetic.arguments import flat
from constrint.expr.base import Operands
from constrint.expr.build import is_array
from constrint.expr.domain import Domain
from constrint.expr.enumerated import Valued, coded
from constrint.expr.global_arguments import expressions, function, integers, is_list
from constrint.expr.global_expr import Definition, Field, Relation
from constrint.globals.posting import hull_of, variables_of, view_of
from constrint.lowering.problem import Linear
from constrint.propagators import Cardinality
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["among", "count", "global_cardinality", "nvalue"]

Label = TypeVar("Label", bound=Hashable)

WIDEST_COUNTED = 100_000  # greatest span of listed values for which the propagator is used
MOST_VALUES = 4096  # greatest number of values for which nvalue has one truth value each


def _counted(conditions: Iterable[BoolExpr]) -> IntExpr:
    return linear([(1, condition) for condition in conditions])


COUNT = Definition(
    "count",
    (Field("values", "exprs", may_be_empty=True), Field("value", "expr")),
    lambda values, value: values.count(value),
    lambda args, value: _counted(Comparison("==", arg, value) for arg in args),
    is_number=True,
    labels="values value",
)

AMONG = Definition(
    "among",
    (Field("values", "exprs", may_be_empty=True), Field("members", "ints", may_be_empty=True)),
    lambda values, members: sum(value in members for value in values),
    lambda args, members: _counted(Member(arg, Domain.of_values(members)) for arg in args),
    is_number=True,
    labels="values members",
)


def _first_of_its_value(args: tuple[IntExpr, ...]) -> IntExpr:
    """How many arguments differ from all before them."""
    numbered = watched(enumerate(args))
    return linear([(1, And(tuple(Comparison("!=", a, b) for b in args[:i]))) for i, a in numbered if i], 1)


def _number_of_values(lowering: Lowering, args: tuple[IntExpr, ...]) -> Linear:
    """The sum over all values of whether one of the arguments has it."""
    views = [view_of(lowering, arg) for arg in args]
    least, most = hull_of(lowering, views)
    if most - least >= min(MOST_VALUES, 2 * len(args) ** 2):
        return lowering.sum_of(lowering.kept(_first_of_its_value(args)))
    conditions = lowering.conditions
    total = Linear({}, 0)
    for value in watched(range(least, most + 1)):
        found = [conditions.equal(Linear({v: a}, b - value), None) for a, v, b in views]
        total = total.plus(lowering.of_literal(conditions.any_of(found, None)))
    return total


NVALUE = Definition(
    "nvalue",
    (Field("values", "exprs"),),
    lambda values: len(set(values)),
    _first_of_its_value,
    _number_of_values,
    is_number=True,
    labels="values",
)


def _cardinality_meaning(
    found: tuple[int, ...], values: tuple[int, ...], counts: tuple[int, ...], others: str
) -> bool:
    if others == "closed" and not set(found) <= set(values):
        return False
    return all(found.count(value) == count for value, count in zip(values, counts, strict=True))


def _cardinality_decomposed(
    args: tuple[IntExpr, ...], values: tuple[int, ...], counts: tuple[IntExpr, ...], others: str
) -> BoolExpr:
    parts: list[BoolExpr] = []
    for value, count in watched(zip(values, counts, strict=True)):
        found = [(1, Comparison("==", arg, Const(value))) for arg in args]
        parts.append(Comparison("==", linear(found), count))
    if others == "closed":
        parts += [Member(arg, Domain.of_values(values)) for arg in args]
    return And(tuple(parts))


def _post_cardinality(
    lowering: Lowering,
    args: tuple[IntExpr, ...],
    values: tuple[int, ...],
    counts: tuple[IntExpr, ...],
    others: str,
) -> None:
    if not args or not values or max(values) - min(values) >= WIDEST_COUNTED:
        for arg in args:
            lowering.sum_of(arg)  # must be defined even if it is not counted
        lowering.require(lowering.kept(_cardinality_decomposed(args, values, counts, others)))
        return
    variables, numbers = variables_of(lowering, args), variables_of(lowering, counts)
    problem = lowering.problem
    if others == "closed":
        for v in variables:
            problem.keep_values(v, sorted(values))
    for z in numbers:
        problem.keep_between(z, 0, len(args))
    in_order = sorted(zip(values, numbers, strict=True))
    problem.propagators.append(
        Cardinality(
            variables, tuple(v for v, _ in in_order), tuple(z for _, z in in_order), others == "closed"
        )
    )


def _check_cardinality(
    args: tuple[IntExpr, ...], values: tuple[int, ...], counts: tuple[IntExpr, ...], others: str
) -> None:
    if len(set(values)) < len(values):
        raise ModelError("global_cardinality counts each value once: a value is listed twice")


GLOBAL_CARDINALITY = Definition(
    "global_cardinality",
    (
        Field("expressions", "exprs", may_be_empty=True),
        Field("values", "ints", may_be_empty=True),
        Field("counts", "exprs", may_be_empty=True),
        Field("others", "word", ("open", "closed")),
    ),
    _cardinality_meaning,
    _cardinality_decomposed,
    _post_cardinality,
    _check_cardinality,
    equal="values counts",
    labels="expressions values",
)


def count(values: Iterable[Valued], value: Hashable) -> IntExpr:
    """How many of the expressions equal a value; the value may be an expression.

    A sum of truth values. Domain consistent for a constant value if no variable occurs twice; otherwise
    bounds consistent. O(n).
    """
    if not is_list(values) and isinstance(value, Iterable) and is_list(value):
        raise ModelError(f"count takes the list first: write count([…], {values})")
    if is_array(value) or isinstance(value, list | set | range):
        raise ModelError("count takes one value: for several of them write among(values, [1, 2])")
    return function(COUNT, values, value)


def among(values: Iterable[Valued], members: Iterable[Hashable]) -> IntExpr:
    """How many of the expressions equal one of some constants.

    A sum of truth values; domain consistent if no variable occurs twice. O(n).
    """
    return function(AMONG, values, members)


def nvalue(values: Iterable[Valued]) -> IntExpr:
    """How many different values the expressions have.

    The sum over all values of whether an expression has it (decomposition of Bessiere, Hebrard, Hnich,
    Kiziltan and Walsh, CP 2005): each truth value is domain consistent, the sum bounds consistent. O(n d).
    For more than 2 n^2 values, the number of expressions that differ from all before them, O(n^2).
    """
    return function(NVALUE, values)


@overload
def global_cardinality(
    values: Iterable[Valued], counts: Mapping[Label, IntLike], *, closed: bool = False
) -> BoolExpr: ...
@overload
def global_cardinality(
    values: Iterable[Valued], counts: Iterable[Label], occurrences: Operands, *, closed: bool = False
) -> BoolExpr: ...
def global_cardinality(
    values: Iterable[Valued],
    counts: object,
    occurrences: Operands | None = None,
    *,
    closed: bool = False,
) -> BoolExpr:
    """The condition that each listed value occurs as often as its count.

    Each count alone is domain consistent, their sum bounds consistent: O(sum of domain sizes).

    Args:
        values: The expressions that are counted.
        counts: For each value, how often it occurs: a number or an expression. Or the values alone.
        occurrences: How often the values in `counts` occur, if that is a list.
        closed: If true, values that are not listed must not occur.

    Returns:
        The condition. Negated, or as a truth value, it is the conjunction of the counts.
    """
    if not isinstance(counts, Mapping):
        counts = _paired(counts, occurrences)
    elif occurrences is not None:
        raise ModelError("global_cardinality takes a mapping of values to counts, or two lists, not both")
    counted, keys = coded(values, list(counts))
    parts = (
        expressions(counted, "values"),
        integers(keys, "the values"),
        expressions(counts.values(), "the counts"),
        "closed" if closed else "open",
    )
    return placed(Relation(GLOBAL_CARDINALITY, GLOBAL_CARDINALITY.checked(parts)))


def _paired(values: object, counts: Operands | None) -> Mapping[Hashable, IntLike]:
    """The counts by value, of two lists."""
    if counts is None or not (is_list(values) and is_list(counts)):
        raise ModelError("global_cardinality needs a count for each value: write {1: 2, 5: x}")
    keys, listed = list(cast("Iterable[Hashable]", values)), list(flat(counts))
    if len(keys) != len(listed):
        raise ModelError(f"global_cardinality has {len(keys)} values, but {len(listed)} counts")
    found = dict(zip(keys, listed, strict=True))
    if len(found) < len(keys):
        raise ModelError("global_cardinality has a value twice: give each value one count")
    return found
