"""Constraints over intervals: resources, alternatives, spans, forbidden periods.

Each is a condition over the intervals' variables: a global constraint, or a conjunction of comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeGuard, cast, overload

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolExpr,
    Comparison,
    Const,
    Iff,
    IntExpr,
    IntLike,
    Max,
    Min,
    Not,
    Operands,
    Or,
    linear,
)
from constrint.expr.arithmetic.arguments import flat
from constrint.expr.build import placed, product
from constrint.expr.global_arguments import expressions, rows_of
from constrint.globals import optional_tasks, scheduling
from constrint.modelling.declaring_intervals import Periods, merged, unless_empty
from constrint.modelling.intervals import Interval, if_present, present
from constrint.support.arguments import integer_list

if TYPE_CHECKING:
    Rows = Iterable[Iterable[int]]


def _are_intervals(tasks: object) -> TypeGuard[list[Interval]]:
    return isinstance(tasks, list) and bool(tasks) and all(isinstance(task, Interval) for task in tasks)


def _listed(tasks: object, what: str) -> list[object]:
    """A list of intervals, or of what is not one; raises `ModelError` for a mixture."""
    if isinstance(tasks, Interval | IntExpr | str) or not isinstance(tasks, Iterable):
        raise ModelError(f"{what} must be a list, not {tasks!r}: write such as [a, b]")
    listed = list(flat(tasks))
    if any(isinstance(task, Interval) for task in listed) and not _are_intervals(listed):
        raise ModelError(f"{what} are either all intervals or all numbers and expressions")
    return listed


@overload
def no_overlap(
    starts: Iterable[Interval], *, transition: Rows | None = None, kinds: Iterable[int] | None = None
) -> BoolExpr: ...
@overload
def no_overlap(starts: Operands, durations: Operands) -> BoolExpr: ...
def no_overlap(
    starts: Iterable[Interval] | Operands,
    durations: Operands | None = None,
    *,
    transition: Rows | None = None,
    kinds: Iterable[int] | None = None,
) -> BoolExpr:
    """The condition that of any two tasks one ends before the other starts.

    A task with duration 0 may lie between others, not inside one, as in CP-SAT. Edge finding, detectable
    precedences and overload checks (Vilím 2007), O(n^2); weaker than bounds consistency, which is NP-hard.
    Negated, or as a truth value, it is a disjunction for each pair.

    Args:
        starts: Intervals; or the start of each task, which the durations go with.
        durations: The duration of each task, which is not negative.
        transition: Of intervals: the set-up time between a task of one kind and any later one of another:
            rows of numbers that are not negative, by kind before and kind after. It is a condition for each
            pair of tasks; between neighbours only, it is the same where no detour is shorter (the triangle
            inequality).
        kinds: The kind of each interval, from 0: a row and column of `transition`. By default each is of its
            own kind.
    """
    tasks = _listed(starts, "tasks")
    given: Any = starts if hasattr(starts, "shape") else tasks  # an array may have labels
    if not _are_intervals(tasks):
        if transition is not None or kinds is not None or durations is None:
            raise ModelError(
                "no_overlap needs intervals, or starts with their durations; transition times need intervals"
            )
        return scheduling.no_overlap(given, durations)
    if durations is not None:
        raise ModelError("no_overlap: intervals have sizes of their own; leave out the durations")
    if transition is None:
        return placed(_sequence(tasks, [task.length for task in tasks]))
    times = _times(tasks, transition, kinds)
    with_set_up = [  # implied by the pairs, but propagated by all tasks together
        linear([(1, task.length)], min([t for j, t in enumerate(row) if j != i], default=0))
        for i, (task, row) in enumerate(zip(tasks, times, strict=True))
    ]
    pairs = [
        _apart(a, b, times[i][j], times[j][i])
        for (i, a), (j, b) in combinations(enumerate(tasks), 2)
        if times[i][j] or times[j][i]
    ]
    return placed(And((_sequence(tasks, with_set_up), *pairs)))


def _sequence(tasks: list[Interval], durations: list[IntExpr]) -> BoolExpr:
    """The condition that the tasks that are present, with these durations, do not overlap."""
    starts = [task.start for task in tasks]
    if not present(*tasks):
        return scheduling.no_overlap(starts, durations)
    return optional_tasks.no_overlap_optional(starts, durations, [task.presence for task in tasks])


def _times(tasks: list[Interval], transition: Rows, kinds: Iterable[int] | None) -> list[list[int]]:
    """The set-up time between each pair of tasks."""
    rows = rows_of(transition, "transition")
    chosen = list(range(len(tasks))) if kinds is None else integer_list(kinds, "kinds")
    if len(chosen) != len(tasks):
        from constrint.support.long_numbers import counted

        raise ModelError(f"no_overlap: {counted(len(chosen), 'kind')} for {counted(len(tasks), 'interval')}")
    if any(len(row) != len(rows) for row in rows) or not all(0 <= kind < len(rows) for kind in chosen):
        said = f"{len(rows)} rows of {sorted({len(row) for row in rows})} for kinds {sorted(set(chosen))}"
        raise ModelError(f"no_overlap: transition has a row and a column for each kind, from 0; not {said}")
    if min((time for row in rows for time in row), default=0) < 0:
        raise ModelError("no_overlap: a transition time is negative")
    return [[rows[a][b] for b in chosen] for a in chosen]


def _apart(a: Interval, b: Interval, after_a: int, after_b: int) -> BoolExpr:
    """One of two intervals is absent, or ends a set-up time before the other starts."""
    orders = (
        Comparison("<=", linear([(1, a.end)], after_a), b.start),
        Comparison("<=", linear([(1, b.end)], after_b), a.start),
    )
    return Or((*[Not(presence) for presence in present(a, b)], *orders))


@overload
def cumulative(starts: Iterable[Interval], durations: Operands, demands: IntLike) -> BoolExpr: ...
@overload
def cumulative(starts: Iterable[Interval], *, demands: Operands, capacity: IntLike) -> BoolExpr: ...
@overload
def cumulative(starts: Operands, durations: Operands, demands: Operands, capacity: IntLike) -> BoolExpr: ...
def cumulative(
    starts: Iterable[Interval] | Operands,
    durations: Operands | None = None,
    demands: Operands | IntLike | None = None,
    capacity: IntLike | None = None,
) -> BoolExpr:
    """The condition that running tasks never exceed the capacity: ``cumulative(tasks, demands, capacity)``.

    Or ``cumulative(starts, durations, demands, capacity)``. A task runs from its start until before its end;
    durations and demands are not negative. Time-table filtering (Le Pape 1994) and overload checks (Baptiste
    et al. 2001), O(n^2); weaker than bounds consistency, which is NP-hard. Negated, or as a truth value, it
    is the sum of the running demands at each start, n^2 conditions.

    Args:
        starts: Intervals; or the start of each task, which the durations go with.
        durations: The duration of each task; left out for intervals.
        demands: What each task demands while it runs: numbers or expressions.
        capacity: The capacity: a number or an expression.
    """
    tasks = _listed(starts, "tasks")
    if _are_intervals(tasks):
        if durations is not None and capacity is None:
            durations, demands, capacity = None, durations, cast("IntLike", demands)
        if durations is not None or demands is None or capacity is None:
            raise ModelError("cumulative of intervals takes their demands and the capacity, nothing else")
        parts = [task.start for task in tasks], [task.length for task in tasks]
        if hasattr(demands, "to_numpy"):  # a series, which may have the names of the tasks
            from constrint.expr.alignment import parallel

            demands = parallel([tasks, demands])[1]
        needs = expressions(cast("Operands", demands), "demands")
        if not present(*tasks):
            return scheduling.cumulative(*parts, needs, capacity)
        presences = [task.presence for task in tasks]
        return optional_tasks.cumulative_optional(*parts, needs, capacity, presences)
    if durations is None or demands is None or capacity is None:
        raise ModelError(
            "cumulative takes intervals, demands, capacity; or starts, durations, demands, capacity"
        )
    given: Any = starts if hasattr(starts, "shape") else tasks  # as in `no_overlap`
    return scheduling.cumulative(given, durations, cast("Operands", demands), capacity)


def alternative(interval: Interval, options: Iterable[Interval], count: int = 1) -> BoolExpr:
    """The condition that an interval is done by one of several optional ones, or by `count` of them.

    Where the interval is present, so many options are, and each of these starts and ends with it. Where it is
    absent, so are all options.
    """
    listed = _intervals(options, "alternative")
    chosen = linear([(1, option.presence) for option in listed])
    parts: list[BoolExpr] = [Comparison("==", chosen, product(Const(count), interval.presence))]
    for option in listed:
        same = [Comparison("==", option.start, interval.start), Comparison("==", option.end, interval.end)]
        parts.append(if_present(And(tuple(same)), option))
    return placed(And(tuple(parts)))


def span(interval: Interval, parts: Iterable[Interval]) -> BoolExpr:
    """The condition that an interval reaches from the first start to the last end of those that are present.

    It is present exactly where one of them is.
    """
    listed = _intervals(parts, "span")
    if len(present(interval, *listed)) == 0:
        first, last = Min(tuple(p.start for p in listed)), Max(tuple(p.end for p in listed))
        ends = Comparison("==", interval.start, first), Comparison("==", interval.end, last)
        return placed(And(ends))
    some = Or(tuple([part.presence for part in listed]))
    inside = [
        if_present(
            And((Comparison("<=", interval.start, part.start), Comparison(">=", interval.end, part.end))),
            part,
        )
        for part in listed
    ]
    begins = [And((part.presence, Comparison("==", interval.start, part.start))) for part in listed]
    stops = [And((part.presence, Comparison("==", interval.end, part.end))) for part in listed]
    tight = [if_present(Or(tuple(touching)), interval) for touching in (begins, stops)]
    return placed(And((Iff(interval.presence, some), *inside, *tight)))


def synchronize(interval: Interval, others: Iterable[Interval]) -> BoolExpr:
    """The condition that intervals start and end with one, each if both are present."""
    same = [
        if_present(
            And((Comparison("==", other.start, interval.start), Comparison("==", other.end, interval.end))),
            interval,
            other,
        )
        for other in _intervals(others, "synchronize")
    ]
    return placed(And(tuple(same)))


def _intervals(intervals: Iterable[Interval], function: str) -> Sequence[Interval]:
    listed = _listed(intervals, "intervals")
    if not _are_intervals(listed):
        raise ModelError(f"{function} needs at least one interval, and nothing but intervals")
    return listed


def forbid_start(interval: Interval, periods: Periods) -> BoolExpr:
    """The condition that an interval, if present, does not start in any of some periods."""
    return _forbidden(interval, interval.start, periods, "forbid_start", 0)


def forbid_end(interval: Interval, periods: Periods) -> BoolExpr:
    """The condition that an interval, if present, does not end in any of some periods.

    It ends in a period where its last unit of time lies there: the end is after the period's begin, and not
    after its end.
    """
    return _forbidden(interval, interval.end, periods, "forbid_end", 1)


def _forbidden(interval: Interval, time: IntExpr, periods: Periods, function: str, late: int) -> BoolExpr:
    parts = [
        Or((Comparison("<", time, Const(begin + late)), Comparison(">=", time, Const(end + late))))
        for begin, end in merged(periods, f"{function}: a period")
    ]
    return placed(if_present(And(tuple(parts)), interval))


def forbid_extent(interval: Interval, periods: Periods) -> BoolExpr:
    """The condition that an interval, if present, does not overlap any of some periods.

    One of size 0 overlaps nothing.
    """
    parts = [
        Or((Comparison("<=", interval.end, Const(begin)), Comparison(">=", interval.start, Const(end))))
        for begin, end in merged(periods, "forbid_extent: a period")
    ]
    return placed(if_present(unless_empty(interval, And(tuple(parts))), interval))
