"""Packing: `bin_packing`, `vector_bin_packing`, `knapsack`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError
from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, IntLike, Member, as_expr, linear
from constrint.expr.domain import Domain
from constrint.expr.enumerated import Valued, positions
from constrint.expr.global_arguments import relation
from constrint.expr.global_expr import Definition, Field
from constrint.globals.posting import require_all
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["bin_packing", "knapsack", "vector_bin_packing"]


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
    equal="bins sizes",
)


Matrix = tuple[tuple[IntExpr, ...], ...]


def _vector_meaning(
    bins: tuple[int, ...], sizes: tuple[tuple[int, ...], ...], capacities: tuple[tuple[int, ...], ...]
) -> bool:
    if not all(0 <= b < len(capacities) for b in bins):
        return False
    return all(
        sum(size[k] for b, size in zip(bins, sizes, strict=True) if b == j) <= most
        for j, row in enumerate(capacities)
        for k, most in enumerate(row)
    )


def _vector_parts(
    bins: tuple[IntExpr, ...], sizes: tuple[tuple[int, ...], ...], capacities: Matrix
) -> list[BoolExpr]:
    parts: list[BoolExpr] = [Member(b, Domain.of_range(0, len(capacities) - 1)) for b in bins]
    for j, row in watched(enumerate(capacities)):
        inside = [Comparison("==", b, Const(j)) for b in bins]
        for k, most in enumerate(row):
            put = [(size[k], condition) for size, condition in zip(sizes, inside, strict=True) if size[k]]
            parts.append(Comparison("<=", linear(put), as_expr(most)))
    return parts


def _vector_decomposed(
    bins: tuple[IntExpr, ...], sizes: tuple[tuple[int, ...], ...], capacities: Matrix
) -> BoolExpr:
    return And(tuple(_vector_parts(bins, sizes, capacities)))


def _post_vector(
    lowering: Lowering, bins: tuple[IntExpr, ...], sizes: tuple[tuple[int, ...], ...], capacities: Matrix
) -> None:
    """Post a sum of truth values for each bin and dimension, and the total of each dimension."""
    totals: list[BoolExpr] = [
        Comparison(">=", linear([(1, as_expr(row[k])) for row in capacities]), Const(sum(column)))
        for k, column in enumerate(zip(*sizes, strict=True))
    ]
    require_all(lowering, [*_vector_parts(bins, sizes, capacities), *totals])


def _check_vector(bins: tuple[IntExpr, ...], sizes: tuple[tuple[int, ...], ...], capacities: Matrix) -> None:
    lengths = {len(row) for row in (*sizes, *capacities)}
    if len(lengths) > 1:
        raise ModelError(
            "vector_bin_packing: every row of sizes and of capacities has one number for each dimension; "
            f"the rows have {', '.join(map(str, sorted(lengths)))} numbers"
        )
    if any(size < 0 for row in sizes for size in row):
        raise ModelError("vector_bin_packing: a size is negative")


VECTOR_BIN_PACKING = Definition(
    "vector_bin_packing",
    (
        Field("bins", "exprs", may_be_empty=True),
        Field("sizes", "rows", may_be_empty=True),
        Field("capacities", "matrix"),
    ),
    _vector_meaning,
    _vector_decomposed,
    _post_vector,
    _check_vector,
    equal="bins sizes",
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
    equal="counts weights profits",
)


def bin_packing(bins: Iterable[Valued], sizes: Iterable[int], loads: Iterable[IntLike]) -> BoolExpr:
    """The condition that each load is the sum of the sizes of the items in its bin.

    A sum of truth values for each bin, and the sum of all loads: the propagation of Shaw, "A constraint for
    bin packing", CP 2004, without its reasoning on subset sums. O(n m) for n items and m bins.

    Args:
        bins: The bin of each item, from 0 to the number of loads - 1, or an enumeration of the bins.
        sizes: The size of each item; not negative.
        loads: The load of each bin: bound them to limit the bins.
    """
    loads = loads if hasattr(loads, "__len__") else list(loads)
    bins, sizes = _alike(bins, sizes, (-1, -1))
    return relation(BIN_PACKING, positions(bins, loads), sizes, loads)


def vector_bin_packing(
    bins: Iterable[Valued], sizes: Iterable[Iterable[int]], capacities: Iterable[Iterable[IntLike]]
) -> BoolExpr:
    """The condition that in no bin and no dimension the items exceed the capacity.

    A sum of truth values for each bin and dimension, and the total of each dimension: weaker than domain
    consistency, which is NP-hard. O(n m d) for n items, m bins and d dimensions.

    Args:
        bins: The bin of each item, from 0 to the number of rows of capacities - 1, or an enumeration.
        sizes: A row for each item: its size in each dimension; not negative.
        capacities: A row for each bin: its capacity in each dimension, numbers or expressions.
    """
    capacities = capacities if hasattr(capacities, "__len__") else list(capacities)
    bins, sizes = _alike(bins, sizes, (-1, -2))
    return relation(VECTOR_BIN_PACKING, positions(bins, capacities), sizes, capacities)


def _alike(bins: Any, sizes: Any, axes: tuple[int, int]) -> tuple[Any, Any]:
    """The bins of items and their sizes in the order of the same labels, where both have labels."""
    if not hasattr(sizes, "to_numpy"):
        return bins, sizes
    from constrint.expr.alignment import paired

    bins, sizes = paired(bins, sizes, [axes])
    return bins, sizes


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
    return relation(KNAPSACK, counts, weights, profits, weight, profit)
