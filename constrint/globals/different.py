"""`all_different`, `all_different_except`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Literal

from constrint.errors import ModelError
from constrint.expr import And, BoolExpr, Comparison, IntExpr, Member, Or, placed
from constrint.expr.domain import Domain
from constrint.expr.enumerated import Valued, coded
from constrint.expr.global_arguments import listed, relation
from constrint.expr.global_expr import Definition, Field, Relation
from constrint.globals.posting import hull_of, need, variables_of, view_of
from constrint.propagators import AllDifferent, AllDifferentBounds, AllDifferentDomain, Cardinality
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["all_different", "all_different_except"]

Consistency = Literal["auto", "value", "bounds", "domain"]

WIDEST_MATCHED = 100_000  # greatest span of values for which domain consistency keeps a matching
MOST_COUNTED = 2000  # most values of an expression for which all_different_except counts values
TIGHT = 1.5  # bounds consistency pays with fewer values than TIGHT times the expressions


def _meaning(values: tuple[int, ...], consistency: str) -> bool:
    return len(set(values)) == len(values)


def pairwise(args: tuple[IntExpr, ...], consistency: str = "auto") -> BoolExpr:
    """The disequality of all pairs."""
    return And(tuple(Comparison("!=", a, b) for i, a in watched(enumerate(args)) for b in args[:i]))


def post_all_different(lowering: Lowering, args: tuple[IntExpr, ...], consistency: str) -> None:
    """Post that expressions are pairwise different."""
    views = tuple([view_of(lowering, arg) for arg in args])
    if len(args) == 1:
        return
    need(len(set(views)) == len(views))
    if len(args) == 2:
        lowering.conditions.require_different(lowering.sum_of(args[0]).plus(lowering.sum_of(args[1]), -1))
        return
    propagators = lowering.problem.propagators
    propagators.append(AllDifferent(views))
    if consistency == "value":
        return
    least, most = hull_of(lowering, views)
    if consistency == "domain":
        if most - least >= WIDEST_MATCHED:
            raise ModelError(
                f"all_different: the values span {most - least + 1} numbers, too many for "
                'consistency="domain": bound the expressions, or take "bounds"'
            )
        propagators.append(AllDifferentDomain(views, least, most - least + 1))
    elif consistency == "bounds" or (consistency == "auto" and most - least + 1 < TIGHT * len(views)):
        propagators.append(AllDifferentBounds(views))


ALL_DIFFERENT = Definition(
    "all_different",
    (Field("values", "exprs"), Field("consistency", "word", ("auto", "value", "bounds", "domain"))),
    _meaning,
    pairwise,
    post_all_different,
    labels="values",
)


def _except_meaning(values: tuple[int, ...], exceptions: tuple[int, ...]) -> bool:
    counted = [value for value in values if value not in exceptions]
    return len(set(counted)) == len(counted)


def _except_decomposed(args: tuple[IntExpr, ...], exceptions: tuple[int, ...]) -> BoolExpr:
    """Of any two arguments one is an exception, or they differ."""
    free = [Member(arg, Domain.of_values(exceptions)) for arg in args]
    return And(
        tuple(
            [
                Or((free[i], Comparison("!=", a, args[j])))
                for i, a in watched(enumerate(args))
                for j in range(i)
            ]
        )
    )


def _post_except(lowering: Lowering, args: tuple[IntExpr, ...], exceptions: tuple[int, ...]) -> None:
    """Each value that is no exception occurs at most once: a count of 0 or 1 for each."""
    if not exceptions:
        post_all_different(lowering, args, "auto")
        return
    problem = lowering.problem
    variables = variables_of(lowering, args)
    found: dict[int, int] = {}
    for v in variables:
        if (problem.hi[v] - problem.lo[v]) // problem.step[v] >= MOST_COUNTED:
            lowering.require(lowering.kept(_except_decomposed(args, exceptions)))
            return
        for value in problem.values[v] or range(problem.lo[v], problem.hi[v] + 1, problem.step[v]):
            found[value] = found.get(value, 0) + 1
    # A value that only one argument can have needs no count.
    values = sorted(value for value, number in found.items() if number > 1 and value not in exceptions)
    if values and max(values) - min(values) >= WIDEST_MATCHED:
        lowering.require(lowering.kept(_except_decomposed(args, exceptions)))
    elif values:
        counts = []
        for _ in watched(values):
            counts.append(problem.declare(Domain.of_range(0, 1)))
            problem.define(counts[-1], [(v, 0) for v in variables])
        problem.propagators.append(Cardinality(variables, tuple(values), tuple(counts), False))


ALL_DIFFERENT_EXCEPT = Definition(
    "all_different_except",
    (Field("values", "exprs"), Field("exceptions", "ints", may_be_empty=True)),
    _except_meaning,
    _except_decomposed,
    _post_except,
    labels="values exceptions",
)


def all_different_except(values: Iterable[Valued], exceptions: Hashable | Iterable[Hashable] = 0) -> BoolExpr:
    """The condition that no two of the expressions are equal, unless their value is an exception.

    Each other value has a count of 0 or 1, as in `global_cardinality`: a value that one expression must have
    is removed from the others. O(sum of domain sizes). Where an expression has very many values, and negated
    or as a truth value, it is a disjunction for each pair, O(n^2).

    Args:
        values: The expressions.
        exceptions: The value, or the values, that may occur any number of times.
    """
    is_one = isinstance(exceptions, str) or not isinstance(exceptions, Iterable)
    listed_ = [exceptions] if is_one else exceptions
    return relation(ALL_DIFFERENT_EXCEPT, values, listed_)


def all_different(*values: Valued | Iterable[Valued], consistency: Consistency = "auto") -> BoolExpr:
    """The condition that no two of the arguments (or of one iterable) are equal.

    Args:
        values: The expressions.
        consistency: The strength of propagation. "value" removes the value of a fixed expression from the
            others: O(n) for each that becomes fixed. "bounds" is bounds consistency (López-Ortiz et al. 2003,
            O(n log n)). "domain" is domain consistency (Régin 1994, O(n d) and more). "auto" is "bounds" if
            there are fewer than 1.5 values for each expression, else "value".

    Returns:
        The condition. Negated, or as a truth value, it is the disjunction of equalities.
    """
    args = listed(coded(values[0] if len(values) == 1 else values), "all_different")
    return placed(Relation(ALL_DIFFERENT, ALL_DIFFERENT.checked((args, consistency))))
