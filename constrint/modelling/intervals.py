"""Intervals: tasks with a start, a size, an end, and a presence; each is variables plus constraints.

An interval adds nothing to a model but integer variables, at most one Boolean variable, and conditions over
them. So whatever reads a model (counting, diagrams, learning, JSON, other solvers, explanations) reads its
intervals. `constrint.modelling.scheduling` has the constraints over intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from constrint.errors import ModelError
from constrint.expr import (
    And,
    Assignment,
    BoolConst,
    BoolExpr,
    Comparison,
    Const,
    IfThenElse,
    Implies,
    IntExpr,
    IntLike,
    as_expr,
    linear,
    placed,
)


class Scheduled(NamedTuple):
    """When an interval takes place in a solution.

    Attributes:
        start: When it starts.
        size: Its size: the time that it works.
        end: When it ends; not before `start + size`, and later where breaks stretch it.
    """

    start: int
    size: int
    end: int


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Interval:
    """A task; made by `Model.interval`.

    Attributes:
        name: Its name.
        start: When it starts.
        size: Its size: the time that it works.
        end: When it ends. ``start + size`` unless breaks stretch it.
        presence: The condition that it takes place; true for one that is not optional.
        breaks: The periods that stretch it, as (begin, end) pairs in order.
    """

    name: str
    start: IntExpr
    size: IntExpr
    end: IntExpr
    presence: BoolExpr
    breaks: tuple[tuple[int, int], ...] = ()

    @property
    def is_optional(self) -> bool:
        """Whether it may be absent."""
        return not isinstance(self.presence, BoolConst)

    @property
    def length(self) -> IntExpr:
        """The time from its start to its end: its size, and the breaks inside it."""
        return linear([(1, self.end), (-1, self.start)]) if self.breaks else self.size

    def evaluate(self, assignment: Assignment) -> Scheduled | None:
        """When it takes place under an assignment of the variables; None where it is absent."""
        if not self.presence.evaluate(assignment):
            return None
        return Scheduled(*[part.evaluate(assignment) for part in (self.start, self.size, self.end)])

    def start_or(self, absent: int) -> IntExpr:
        """Its start; a given number where it is absent."""
        return self._or(self.start, absent)

    def size_or(self, absent: int) -> IntExpr:
        """Its size; a given number where it is absent."""
        return self._or(self.size, absent)

    def end_or(self, absent: int) -> IntExpr:
        """Its end; a given number where it is absent."""
        return self._or(self.end, absent)

    def _or(self, value: IntExpr, absent: int) -> IntExpr:
        return IfThenElse(self.presence, value, Const(absent)) if self.is_optional else value

    def end_before_start(self, other: Interval, delay: IntLike = 0) -> BoolExpr:
        """The condition that this ends, and a delay passes, before another starts, if both are present."""
        return _precedence("<=", self, self.end, other, other.start, delay)

    def start_before_start(self, other: Interval, delay: IntLike = 0) -> BoolExpr:
        """The condition that this starts, and a delay passes, before another starts, if both are present."""
        return _precedence("<=", self, self.start, other, other.start, delay)

    def end_before_end(self, other: Interval, delay: IntLike = 0) -> BoolExpr:
        """The condition that this ends, and a delay passes, before another ends, if both are present."""
        return _precedence("<=", self, self.end, other, other.end, delay)

    def start_before_end(self, other: Interval, delay: IntLike = 0) -> BoolExpr:
        """The condition that this starts, and a delay passes, before another ends, if both are present."""
        return _precedence("<=", self, self.start, other, other.end, delay)

    def end_at_start(self, other: Interval, delay: IntLike = 0) -> BoolExpr:
        """The condition that another starts exactly a delay after this ends, if both are present."""
        return _precedence("==", self, self.end, other, other.start, delay)

    def start_at_start(self, other: Interval, delay: IntLike = 0) -> BoolExpr:
        """The condition that another starts exactly a delay after this starts, if both are present."""
        return _precedence("==", self, self.start, other, other.start, delay)

    def end_at_end(self, other: Interval, delay: IntLike = 0) -> BoolExpr:
        """The condition that another ends exactly a delay after this ends, if both are present."""
        return _precedence("==", self, self.end, other, other.end, delay)

    def start_at_end(self, other: Interval, delay: IntLike = 0) -> BoolExpr:
        """The condition that another ends exactly a delay after this starts, if both are present."""
        return _precedence("==", self, self.start, other, other.end, delay)

    def __bool__(self) -> NoReturn:
        raise ModelError(
            f"interval '{self.name}' has no truth value: its presence is the condition `.presence`"
        )

    def __repr__(self) -> str:
        """The interval with its parts, as in ``Interval('a', start=`a.start`, size=2, end=…)``."""
        parts = [("start", self.start), ("size", self.size), ("end", self.end)]
        if self.is_optional:
            parts.append(("presence", self.presence))
        shown = [f"{name}={part}" for name, part in parts]
        shown += [f"breaks={list(self.breaks)}"] if self.breaks else []
        return f"Interval({', '.join([repr(self.name), *shown])})"

    def _repr_html_(self) -> str:
        from constrint.modelling.notebook import interval_html

        return interval_html(self)


def present(*intervals: Interval) -> list[BoolExpr]:
    """The presences of intervals that may be absent."""
    return [interval.presence for interval in intervals if interval.is_optional]


def if_present(condition: BoolExpr, *intervals: Interval) -> BoolExpr:
    """The condition that another holds if all of some intervals are present."""
    presences = present(*intervals)
    if not presences:
        return condition
    return Implies(presences[0] if len(presences) == 1 else And(tuple(presences)), condition)


def _precedence(
    operator: str, interval: Interval, time: IntExpr, other: Interval, later: IntExpr, delay: IntLike
) -> BoolExpr:
    """``time + delay operator later`` if both intervals are present."""
    comparison = Comparison(operator, linear([(1, time), (1, as_expr(delay))]), later)
    return placed(if_present(comparison, interval, other))
