"""The call that declares an interval, for models."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from constrint.expr import BoolExpr
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.declaring_intervals import Periods, TimeLike
    from constrint.modelling.intervals import Interval


class WithIntervals:
    """The part of a model that declares intervals."""

    intervals: dict[str, Interval]

    def interval(
        self,
        name: str,
        start: TimeLike | None = None,
        size: TimeLike | None = None,
        end: TimeLike | None = None,
        *,
        optional: bool = False,
        presence: BoolExpr | None = None,
        breaks: Periods = (),
    ) -> Interval:
        """Declare an interval: a task with a start, a size and an end, which may be optional.

        Each of the three is a number, an expression, or the bounds of a new variable: a pair (least,
        greatest), where None is no bound, or a range. The variables are named "name.start", "name.size",
        "name.end" and "name.present". What is left out follows from the others; the start is then at least 0.

        Where an optional interval is absent, the variables that this call has declared have their least
        values, so that each solution is counted once. Expressions that were given are not restricted.

        Args:
            name: Name; it must be new among the intervals of this model.
            start: When it starts.
            size: How long it works; at least 0.
            end: When it ends.
            optional: Whether it may be absent: a new Boolean variable decides.
            presence: A condition under which it is present, instead of a new variable.
            breaks: Periods, as (begin, end) pairs, in which its work stops: the interval starts in none of
                them, and ends later by each that it meets. One of size 0 may be anywhere.

        Returns:
            The interval, for `no_overlap`, `cumulative` and the other constraints over intervals.

        Raises:
            ModelError: The name is taken, or the arguments contradict each other.
        """
        from constrint.modelling.declaring_intervals import declare_interval

        return declare_interval(
            cast("Declarations", self), name, start, size, end, optional, presence, breaks
        )
