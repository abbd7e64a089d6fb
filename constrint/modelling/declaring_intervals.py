"""Declaring an interval: which variables it needs, and the conditions that link them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias, Union

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolConst,
    BoolExpr,
    Comparison,
    Const,
    IntExpr,
    IntVar,
    Member,
    Or,
    as_expr,
    linear,
    placed,
)
from constrint.expr.domain import Domain
from constrint.modelling.intervals import Interval, if_present
from constrint.support.arguments import integer, integer_list

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

TimeLike: TypeAlias = Union[IntExpr, SupportsIndex, "tuple[int | None, int | None]", range, Domain]
"""A time or a duration: an expression or a number; or the least and greatest value of a new variable."""
Periods: TypeAlias = Iterable[tuple[int, int]]
"""Periods of time: (begin, end) pairs; the end does not belong to the period."""
Merged: TypeAlias = tuple[tuple[int, int], ...]

_TIME = Domain.of_range(0, None)


def declare_interval(
    model: Declarations,
    name: str,
    start: TimeLike | None,
    size: TimeLike | None,
    end: TimeLike | None,
    optional: bool,
    presence: BoolExpr | None,
    breaks: Periods,
) -> Interval:
    """Declare an interval; see `Declarations.interval`."""
    if name in model.intervals:
        raise ModelError(f"interval '{name}' is declared twice: give each interval its own name")
    if presence is not None and (optional or not isinstance(presence, BoolExpr)):
        said = "give either optional=True or a presence" if optional else "presence must be a condition"
        raise ModelError(f"interval '{name}': {said}")
    begun, lasting, ended = (
        _part(name, what, part) for what, part in (("start", start), ("size", size), ("end", end))
    )
    parts = (begun, lasting, ended, presence)
    model.owned.check(model.variables, [part for part in parts if isinstance(part, IntExpr)])
    periods = merged(breaks, f"interval '{name}': a break")
    _check(name, begun, lasting, ended, periods)
    known = _Declaring(model, name, presence if presence is not None else BoolConst(True))
    try:
        if optional:
            known.may_be_absent()
        interval = known.interval(begun, lasting, ended, periods)
    except ModelError:
        known.undo()
        raise
    model.intervals[name] = interval
    for condition in known.conditions:
        model.add(placed(condition), name=f"interval {name}")
    return interval


def _part(name: str, what: str, part: TimeLike | None) -> IntExpr | Domain | None:
    """A part of an interval: an expression, or the domain of a new variable."""
    where = f"interval '{name}': {what}"
    if part is None or isinstance(part, IntExpr | Domain):
        return part
    if isinstance(part, range):
        return Domain.of_values(part)
    if isinstance(part, tuple):
        if len(part) != 2:
            raise ModelError(f"{where} is a number, an expression, or the pair of its bounds, not {part!r}")
        lo, hi = (None if bound is None else integer(bound, where) for bound in part)
        return Domain.of_range(lo, hi)
    return as_expr(integer(part, where))


def _check(
    name: str,
    start: IntExpr | Domain | None,
    size: IntExpr | Domain | None,
    end: IntExpr | Domain | None,
    breaks: Merged,
) -> None:
    """Raise `ModelError` unless the parts make an interval."""
    for what, part in (("start", start), ("size", size), ("end", end)):
        if isinstance(part, Domain) and part.is_empty:
            raise ModelError(f"interval '{name}': there is no value for its {what}: the bounds are empty")
    if size is None and (start is None or end is None or breaks):
        raise ModelError(
            f"interval '{name}' needs a size"
            + (" where breaks stretch it" if breaks else ", or both start and end")
        )
    least = size.lo if isinstance(size, Domain) else size.value if isinstance(size, Const) else 0
    if least is None or least < 0:
        raise ModelError(f"interval '{name}': a size is at least 0, so give 0 or more as its least value")


class _Declaring:
    """The variables and conditions of one interval.

    Attributes:
        conditions: What links its variables.
    """

    def __init__(self, model: Declarations, name: str, presence: BoolExpr) -> None:
        self.conditions: list[BoolExpr] = []
        self._model = model
        self._name = name
        self._declared: list[IntVar] = []
        self._presence = presence
        self._before = len(model.variables)

    def may_be_absent(self) -> None:
        """Let a new Boolean variable decide whether the interval is present."""
        self._presence = self._model.bool_var(f"{self._name}.present")

    def undo(self) -> None:
        """Remove the new variables."""
        for name in list(self._model.variables)[self._before :]:
            del self._model.variables[name]

    def interval(
        self,
        start: IntExpr | Domain | None,
        size: IntExpr | Domain | None,
        end: IntExpr | Domain | None,
        breaks: Merged,
    ) -> Interval:
        """The interval of these parts."""
        lasting = None if size is None else self._expression("size", size)
        follows = False  # whether the start is counted back from the end
        if start is None and lasting is not None:
            if isinstance(end, IntExpr) and not breaks:
                follows, start = True, linear([(1, end), (-1, lasting)])
            else:
                start = _latest(self._name, end, size) if isinstance(end, Domain) and not breaks else _TIME
        assert start is not None
        begun = self._expression("start", start)
        if lasting is None:
            assert end is not None
            ended = self._expression("end", end)
            lasting = linear([(1, ended), (-1, begun)])
        else:
            ended = stretched_end(begun, lasting, breaks)
        made = Interval(self._name, begun, lasting, ended, self._presence, breaks)
        self._link(made, size, None if follows else end)
        return made if size is None or not isinstance(end, IntExpr) else _ending(made, end)

    def _expression(self, what: str, part: IntExpr | Domain) -> IntExpr:
        if isinstance(part, IntExpr):
            return part
        variable = self._model.variable(f"{self._name}.{what}", part)
        self._declared.append(variable)
        return variable

    def _link(self, made: Interval, size: IntExpr | Domain | None, end: IntExpr | Domain | None) -> None:
        if not (isinstance(size, Domain | Const) or _is_not_negative(made.size)):
            self.conditions.append(if_present(Comparison(">=", made.size, Const(0)), made))
        if size is not None and end is not None:
            ends = Member(made.end, end) if isinstance(end, Domain) else Comparison("==", made.end, end)
            self.conditions.append(if_present(ends, made))
        if made.breaks:
            working = [_outside(made.start, begin, stop) for begin, stop in made.breaks]
            self.conditions.append(if_present(unless_empty(made, And(tuple(working))), made))
        if made.is_optional and self._declared:
            idle = [Comparison("==", v, Const(_least(v.domain))) for v in self._declared]
            self.conditions.append(Or((made.presence, And(tuple(idle)))))


def _ending(interval: Interval, end: IntExpr) -> Interval:
    """The interval with an expression of the user's as its end."""
    return Interval(interval.name, interval.start, interval.size, end, interval.presence, interval.breaks)


def _latest(name: str, end: Domain, size: IntExpr | Domain | None) -> Domain:
    """The starts of at least 0 that an end within bounds allows."""
    least = most = size.value if isinstance(size, Const) else None
    if isinstance(size, Domain):
        least, most = size.lo, size.hi
    lo = 0 if end.lo is None or most is None else max(0, end.lo - most)
    hi = None if end.hi is None else end.hi - (least or 0)
    if hi is not None and hi < lo:
        raise ModelError(f"interval '{name}': no start of at least 0 ends in {end}: give the start as well")
    return Domain.of_range(lo, hi)


def _is_not_negative(size: IntExpr) -> bool:
    return isinstance(size, IntVar) and size.domain.lo is not None and size.domain.lo >= 0


def _least(domain: Domain) -> int:
    """The value that a variable has while its interval is absent."""
    return domain.lo if domain.lo is not None else domain.hi if domain.hi is not None else 0


# Periods


def merged(periods: Periods, what: str) -> Merged:
    """Periods in order, those that overlap or touch made one; raises `ModelError` for an empty one."""
    found: list[tuple[int, int]] = []
    listed = [tuple(integer_list(period, what)) for period in periods]
    for period in sorted(listed):
        if len(period) != 2 or period[0] >= period[1]:
            raise ModelError(f"{what} is a pair (begin, end) with begin < end, not {period}")
        begin, end = period
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return tuple(found)


def unless_empty(interval: Interval, condition: BoolExpr) -> BoolExpr:
    """The condition that an interval has size 0, or another condition holds."""
    if isinstance(interval.size, Const):
        return condition if interval.size.value else BoolConst(True)
    return Or((Comparison("==", interval.size, Const(0)), condition))


def _outside(time: IntExpr, begin: int, end: int) -> BoolExpr:
    return Or((Comparison("<", time, Const(begin)), Comparison(">=", time, Const(end))))


def stretched_end(start: IntExpr, size: IntExpr, breaks: Merged) -> IntExpr:
    """The time at which the work is done, if nothing is done in breaks.

    The work goes on after a break where the breaks before it, from the start on, leave some of it undone.
    """
    later = [Comparison("<", start, Const(begin)) for begin, _ in breaks]
    terms: list[tuple[int, IntExpr]] = [(1, start), (1, size)]
    for k, (begin, end) in enumerate(breaks):
        passed = [(stop - start_, later[j]) for j, (start_, stop) in enumerate(breaks[:k])]
        undone = Comparison(">", linear([(1, start), (1, size), *passed]), Const(begin))
        terms.append((end - begin, And((later[k], undone))))
    return linear(terms)
