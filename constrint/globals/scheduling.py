"""Scheduling and placement: `no_overlap`, `cumulative`, `diffn`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, IntLike, Operands, Or, linear
from constrint.expr.global_arguments import relation
from constrint.expr.global_expr import Definition, Field
from constrint.globals.posting import variables_of
from constrint.propagators import Cumulative, NoOverlap, Rectangles
from constrint.propagators.cumulative import fits
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

# constrint.modelling.scheduling has the public `no_overlap` and `cumulative`, which also take intervals.
__all__ = ["diffn"]

Exprs = tuple[IntExpr, ...]
Values = tuple[int, ...]


def _not_negative(args: Exprs) -> list[BoolExpr]:
    return [Comparison(">=", arg, Const(0)) for arg in args]


def before(start: IntExpr, duration: IntExpr, other: IntExpr) -> BoolExpr:
    """A task ends before another starts."""
    return Comparison("<=", linear([(1, start), (1, duration)]), other)


def is_without_overlap(tasks: Sequence[tuple[int, int]]) -> bool:
    """Whether of any two tasks, each a start and a duration, one ends before the other starts."""
    return all(d >= 0 for _, d in tasks) and all(
        s + d <= t or t + e <= s for i, (s, d) in enumerate(tasks) for t, e in tasks[:i]
    )


def _no_overlap_decomposed(starts: Exprs, durations: Exprs) -> BoolExpr:
    tasks = list(zip(starts, durations, strict=True))
    parts = [
        Or((before(s, d, t), before(t, e, s)))
        for i, (s, d) in watched(enumerate(tasks))
        for t, e in tasks[:i]
    ]
    return And((*_not_negative(durations), *parts))


def _post_no_overlap(lowering: Lowering, starts: Exprs, durations: Exprs) -> None:
    propagators = lowering.problem.propagators
    propagators.append(NoOverlap(variables_of(lowering, starts), variables_of(lowering, durations)))


NO_OVERLAP = Definition(
    "no_overlap",
    (Field("starts", "exprs"), Field("durations", "exprs")),
    lambda starts, durations: is_without_overlap(list(zip(starts, durations, strict=True))),
    _no_overlap_decomposed,
    _post_no_overlap,
    equal="starts durations",
)


def _cumulative_decomposed(starts: Exprs, durations: Exprs, demands: Exprs, capacity: IntExpr) -> BoolExpr:
    """The running demands fit the capacity at the start of each task; no demand is negative."""
    tasks = list(zip(starts, durations, demands, strict=True))
    parts = [*_not_negative(durations), *_not_negative(demands), Comparison(">=", capacity, Const(0))]
    for i, start in watched(enumerate(starts)):
        used: list[tuple[int, IntExpr]] = []
        for j, (s, d, r) in enumerate(tasks):
            under_way: BoolExpr = Comparison(">", linear([(1, s), (1, d)]), start)
            if i != j:
                under_way = And((Comparison("<=", s, start), under_way))
            used.append((1, under_way * r))
        parts.append(Comparison("<=", linear(used), capacity))
    return And(tuple(parts))


def _post_cumulative(
    lowering: Lowering, starts: Exprs, durations: Exprs, demands: Exprs, capacity: IntExpr
) -> None:
    tasks = [variables_of(lowering, group) for group in (starts, durations, demands)]
    lowering.problem.propagators.append(
        Cumulative(tasks[0], tasks[1], tasks[2], lowering.variable_of(capacity))
    )


CUMULATIVE = Definition(
    "cumulative",
    (
        Field("starts", "exprs"),
        Field("durations", "exprs"),
        Field("demands", "exprs"),
        Field("capacity", "expr"),
    ),
    fits,
    _cumulative_decomposed,
    _post_cumulative,
    equal="starts durations demands",
)


def _diffn_meaning(xs: Values, ys: Values, widths: Values, heights: Values) -> bool:
    boxes = list(zip(xs, ys, widths, heights, strict=True))
    return all(size >= 0 for size in (*widths, *heights)) and all(
        x + w <= u or u + p <= x or y + h <= v or v + q <= y
        for i, (x, y, w, h) in enumerate(boxes)
        for u, v, p, q in boxes[:i]
    )


def _diffn_decomposed(xs: Exprs, ys: Exprs, widths: Exprs, heights: Exprs) -> BoolExpr:
    boxes = list(zip(xs, ys, widths, heights, strict=True))
    parts = [
        Or((before(x, w, u), before(u, p, x), before(y, h, v), before(v, q, y)))
        for i, (x, y, w, h) in watched(enumerate(boxes))
        for u, v, p, q in boxes[:i]
    ]
    return And((*_not_negative(widths), *_not_negative(heights), *parts))


def _post_diffn(lowering: Lowering, xs: Exprs, ys: Exprs, widths: Exprs, heights: Exprs) -> None:
    groups = [variables_of(lowering, group) for group in (xs, ys, widths, heights)]
    lowering.problem.propagators.append(Rectangles(*groups))


DIFFN = Definition(
    "diffn",
    (Field("xs", "exprs"), Field("ys", "exprs"), Field("widths", "exprs"), Field("heights", "exprs")),
    _diffn_meaning,
    _diffn_decomposed,
    _post_diffn,
    equal="xs ys widths heights",
)


def no_overlap(starts: Operands, durations: Operands) -> BoolExpr:
    """The condition that of any two tasks one ends before the other starts, and no duration is negative.

    A task with duration 0 may lie between others, not inside one. Edge finding and overload checks (Vilím
    2007), O(n^2); weaker than bounds consistency, which is NP-hard. Negated, or as a truth value, it is a
    disjunction for each pair.
    """
    return relation(NO_OVERLAP, starts, durations)


def cumulative(starts: Operands, durations: Operands, demands: Operands, capacity: IntLike) -> BoolExpr:
    """The condition that running tasks never exceed the capacity; durations and demands are non-negative.

    A task runs from its start until before start + duration. Time-table filtering (Le Pape 1994) and overload
    checks (Baptiste et al. 2001), O(n^2); weaker than bounds consistency, which is NP-hard. Negated, or as a
    truth value, it is the sum of the running demands at each start, n^2 conditions.
    """
    return relation(CUMULATIVE, starts, durations, demands, capacity)


def diffn(xs: Operands, ys: Operands, widths: Operands, heights: Operands) -> BoolExpr:
    """The condition that no two rectangles overlap: one lies left of, right of, above or below the other.

    A rectangle without area may not lie inside another; no side is negative. As strong as the disjunction for
    each pair (the base level of Beldiceanu and Carlsson, CP 2001), O(n^2). Negated, or as a truth value, it
    is those disjunctions.
    """
    return relation(DIFFN, xs, ys, widths, heights)
