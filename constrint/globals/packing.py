"""Packing: `bin_packing`, `knapsack`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, IntLike, Member, as_expr, linear, placed
from constrint.expr.domain import Domain
from constrint.expr.global_arguments import expressions, integers
from constrint.expr.global_expr import Definition, Field, Relation, same_lengths
from constrint.globals.posting import require_all
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering


def _packing_meaning(bins: tuple[int, ...], sizes: tuple[int, ...], loads: tuple[int, ...]) -> bool:
    if not all(0 <= b < len(loads) for b in bins):
        return False
    found = [0] * len(loads)
    for b, size in zip(bins, sizes, strict=True):
        found[b] += size
    return found == list(loads)


def _packing_parts(
    bins: tuple[IntExpr, ...], sizes: tuple[int, ...], loads: tuple[IntExpr, ...]
) -> list[BoolExpr]:
    parts: list[BoolExpr] = [Member(b, Domain.of_range(0, len(loads) - 1)) for b in bins]
    for k, load in watched(enumerate(loads)):
        put = [(size, Comparison("==", b, Const(k))) for b, size in zip(bins, sizes, strict=True)]
        parts.append(Comparison("==", linear(put), load))
    return parts


def _packing_decomposed(
    bins: tuple[IntExpr, ...], sizes: tuple[int, ...], loads: tuple[IntExpr, ...]
) -> BoolExpr:
    return And(tuple(_packing_parts(bins, sizes, loads)))


def _post_packing(
    lowering: Lowering, bins: tuple[IntExpr, ...], sizes: tuple[int, ...], loads: tuple[IntExpr, ...]
) -> None:
    """Post each load as a sum of truth values, and the sum of all loads, which links the bins."""
    total = Comparison("==", linear([(1, load) for load in loads]), Const(sum(sizes)))
    require_all(lowering, [*_packing_parts(bins, sizes, loads), total])


def _check_packing(bins: tuple[IntExpr, ...], sizes: tuple[int, ...], loads: tuple[IntExpr, ...]) -> None:
    same_lengths("bin_packing", bins=bins, sizes=sizes)
    if any(size < 0 for size in sizes):
        raise ModelError("bin_packing: a size is negative")


BIN_PACKING = Definition(
    "bin_packing",
    (
        Field("bins", "exprs", may_be_empty=True),
        Field("sizes", "ints", may_be_empty=True),
        Field("loads", "exprs"),
    ),
    _packing_meaning,
    _packing_decomposed,
    _post_packing,
    _check_packing,
)


def _knapsack_meaning(
    counts: tuple[int, ...], weights: tuple[int, ...], profits: tuple[int, ...], weight: int, profit: int
) -> bool:
    return (
        all(count >= 0 for count in counts)
        and sum(c * w for c, w in zip(counts, weights, strict=True)) == weight
        and sum(c * p for c, p in zip(counts, profits, strict=True)) == profit
    )


def _knapsack_decomposed(
    counts: tuple[IntExpr, ...],
    weights: tuple[int, ...],
    profits: tuple[int, ...],
    weight: IntExpr,
    profit: IntExpr,
) -> BoolExpr:
    def total(factors: tuple[int, ...]) -> IntExpr:
        return linear(list(zip(factors, counts, strict=True)))

    return And(
        (
            *(Comparison(">=", count, Const(0)) for count in counts),
            Comparison("==", total(weights), weight),
            Comparison("==", total(profits), profit),
        )
    )


def _check_knapsack(
    counts: tuple[IntExpr, ...],
    weights: tuple[int, ...],
    profits: tuple[int, ...],
    weight: IntExpr,
    profit: IntExpr,
) -> None:
    same_lengths("knapsack", counts=counts, weights=weights, profits=profits)
    if min([0, *weights, *profits]) < 0:
        raise ModelError("knapsack: a weight or profit is negative")


KNAPSACK = Definition(
    "knapsack",
    (
        Field("counts", "exprs"),
        Field("weights", "ints"),
        Field("profits", "ints"),
        Field("weight", "expr"),
        Field("profit", "expr"),
    ),
    _knapsack_meaning,
    _knapsack_decomposed,
    None,
    _check_knapsack,
)


def bin_packing(bins: Iterable[IntLike], sizes: Iterable[int], loads: Iterable[IntLike]) -> BoolExpr:
    """The condition that each load is the sum of the sizes of the items in its bin.

    A sum of truth values for each bin, and the sum of all loads: the propagation of Shaw, "A constraint for
    bin packing", CP 2004, without its reasoning on subset sums. O(n m) for n items and m bins.

    Args:
        bins: The bin of each item, from 0 to the number of loads - 1.
        sizes: The size of each item; not negative.
        loads: The load of each bin: bound them to limit the bins.
    """
    parts = (expressions(bins, "bins"), integers(sizes, "sizes"), expressions(loads, "loads"))
    return placed(Relation(BIN_PACKING, BIN_PACKING.checked(parts)))


def knapsack(
    counts: Iterable[IntLike],
    weights: Iterable[int],
    profits: Iterable[int],
    weight: IntLike,
    profit: IntLike,
) -> BoolExpr:
    """The condition that non-negative counts of items have this total weight and this total profit.

    Two sums, each bounds consistent, O(n): bound the weight, and maximise the profit.

    Args:
        counts: How many there are of each item.
        weights: The weight of each; not negative.
        profits: The profit of each; not negative.
        weight: The total weight.
        profit: The total profit.
    """
    parts = (
        expressions(counts, "counts"),
        integers(weights, "weights"),
        integers(profits, "profits"),
        as_expr(weight),
        as_expr(profit),
    )
    return placed(Relation(KNAPSACK, KNAPSACK.checked(parts)))
