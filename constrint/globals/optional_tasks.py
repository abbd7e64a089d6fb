"""Scheduling of tasks that may be absent: `no_overlap_optional`, `cumulative_optional`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrint.expr import (
    And,
    BoolConst,
    BoolExpr,
    Comparison,
    Const,
    IfThenElse,
    IntExpr,
    IntLike,
    Not,
    Operands,
    Or,
)
from constrint.expr.build import product
from constrint.expr.global_arguments import relation
from constrint.expr.global_expr import Definition, Field, Relation
from constrint.globals.posting import variables_of
from constrint.globals.scheduling import CUMULATIVE, NO_OVERLAP, before, is_without_overlap
from constrint.lowering.problem import TRUE
from constrint.propagators import NoOverlap, NoOverlapOptional
from constrint.propagators.cumulative import fits
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["cumulative_optional", "no_overlap_optional"]

Exprs = tuple[IntExpr, ...]
Values = tuple[int, ...]


def is_present(presence: IntExpr) -> BoolExpr:
    """The condition that a task is present: its presence is not 0."""
    if isinstance(presence, BoolExpr):
        return presence
    return (
        BoolConst(presence.value != 0)
        if isinstance(presence, Const)
        else Comparison("!=", presence, Const(0))
    )


def _no_overlap_meaning(starts: Values, durations: Values, presences: Values) -> bool:
    tasks = [(s, d) for s, d, p in zip(starts, durations, presences, strict=True) if p]
    return is_without_overlap(tasks)


def _no_overlap_decomposed(starts: Exprs, durations: Exprs, presences: Exprs) -> BoolExpr:
    absent = [Not(is_present(p)) for p in presences]
    tasks = list(zip(starts, durations, absent, strict=True))
    parts: list[BoolExpr] = [Or((a, Comparison(">=", d, Const(0)))) for _, d, a in tasks]
    parts += [
        Or((a, b, before(s, d, t), before(t, e, s)))
        for i, (s, d, a) in watched(enumerate(tasks))
        for t, e, b in tasks[:i]
    ]
    return And(tuple(parts))


def _post_no_overlap(lowering: Lowering, starts: Exprs, durations: Exprs, presences: Exprs) -> None:
    tasks = variables_of(lowering, starts), variables_of(lowering, durations)
    for p in presences:
        lowering.sum_of(p)  # a number must be defined
    literals = tuple([lowering.literal(lowering.kept(is_present(p))) for p in presences])
    node = NoOverlap(*tasks) if set(literals) <= {TRUE} else NoOverlapOptional(*tasks, literals)
    lowering.problem.propagators.append(node)


NO_OVERLAP_OPTIONAL = Definition(
    "no_overlap_optional",
    (*NO_OVERLAP.fields, Field("presences", "exprs")),
    _no_overlap_meaning,
    _no_overlap_decomposed,
    _post_no_overlap,
    equal="starts durations presences",
)


def _cumulative_meaning(
    starts: Values, durations: Values, demands: Values, capacity: int, presences: Values
) -> bool:
    tasks = [task for *task, p in zip(starts, durations, demands, presences, strict=True) if p]
    columns = list(zip(*tasks, strict=True)) if tasks else [(), (), ()]
    return fits(columns[0], columns[1], columns[2], capacity)


def _if_present(present: BoolExpr, value: IntExpr) -> IntExpr:
    """The value where a task is present, else 0."""
    if isinstance(present, BoolConst):
        return value if present.value else Const(0)
    return product(value, present) if isinstance(value, Const) else IfThenElse(present, value, Const(0))


def _as_cumulative(
    starts: Exprs, durations: Exprs, demands: Exprs, capacity: IntExpr, presences: Exprs
) -> BoolExpr:
    """A cumulative in which absent tasks have no demand, and no duration unless it is a constant."""
    present = [is_present(p) for p in presences]
    rows = zip(durations, present, strict=True)
    lasting = [d if isinstance(d, Const) and d.value >= 0 else _if_present(p, d) for d, p in rows]
    needed = [_if_present(p, r) for r, p in zip(demands, present, strict=True)]
    return Relation(CUMULATIVE, (starts, tuple(lasting), tuple(needed), capacity))


CUMULATIVE_OPTIONAL = Definition(
    "cumulative_optional",
    (*CUMULATIVE.fields, Field("presences", "exprs")),
    _cumulative_meaning,
    _as_cumulative,
    None,
    equal="starts durations demands presences",
)


def no_overlap_optional(starts: Operands, durations: Operands, presences: Operands) -> BoolExpr:
    """The condition that of any two present tasks one ends before the other starts.

    A task with duration 0 may lie between others, not inside one. Present tasks are propagated as by
    `no_overlap`; one that may be absent becomes absent where the present ones leave it no place. O(n^2).
    Negated, or as a truth value, it is a disjunction for each pair.

    Args:
        starts: When each task starts.
        durations: How long it takes: not negative where it is present.
        presences: Conditions, or numbers: a task whose presence is 0 is absent.
    """
    return relation(NO_OVERLAP_OPTIONAL, starts, durations, presences)


def cumulative_optional(
    starts: Operands,
    durations: Operands,
    demands: Operands,
    capacity: IntLike,
    presences: Operands,
) -> BoolExpr:
    """The condition that present tasks under way never exceed the capacity.

    It is a `cumulative` in which absent tasks demand nothing: a task that may be absent becomes absent where
    those that are certain leave too little capacity, and it restricts others once it is present.

    Args:
        starts: When each task starts.
        durations: How long it takes: not negative where it is present.
        demands: What it demands while it is under way: not negative where it is present.
        capacity: The capacity: not negative, even where all tasks are absent.
        presences: Conditions, or numbers: a task whose presence is 0 is absent.
    """
    return relation(CUMULATIVE_OPTIONAL, starts, durations, demands, capacity, presences)
