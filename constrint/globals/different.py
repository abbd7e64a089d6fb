"""`all_different`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from constrint.errors import ModelError
from constrint.expr import And, BoolExpr, Comparison, IntExpr, IntLike, placed
from constrint.expr.global_arguments import listed
from constrint.expr.global_expr import Definition, Field, Relation
from constrint.globals.posting import hull_of, need, view_of
from constrint.propagators import AllDifferent, AllDifferentBounds, AllDifferentDomain
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

Consistency = Literal["auto", "value", "bounds", "domain"]

WIDEST_MATCHED = 100_000  # greatest span of values for which domain consistency keeps a matching
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
    nodes = lowering.problem.nodes
    nodes.append(AllDifferent(views))
    if consistency == "value":
        return
    least, most = hull_of(lowering, views)
    if consistency == "domain":
        if most - least >= WIDEST_MATCHED:
            raise ModelError(
                f"all_different: the values span {most - least + 1} numbers, too many for "
                'consistency="domain": bound the expressions, or take "bounds"'
            )
        nodes.append(AllDifferentDomain(views, least, most - least + 1))
    elif consistency == "bounds" or (consistency == "auto" and most - least + 1 < TIGHT * len(views)):
        nodes.append(AllDifferentBounds(views))


ALL_DIFFERENT = Definition(
    "all_different",
    (Field("values", "exprs"), Field("consistency", "word", ("auto", "value", "bounds", "domain"))),
    _meaning,
    pairwise,
    post_all_different,
)


def all_different(*values: IntLike | Iterable[IntLike], consistency: Consistency = "auto") -> BoolExpr:
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
    args = listed(values, "all_different")
    return placed(Relation(ALL_DIFFERENT, ALL_DIFFERENT.checked((args, consistency))))
