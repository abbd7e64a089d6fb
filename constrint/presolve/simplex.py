"""Linear programs in exact rational arithmetic: feasibility, and the extremes of a variable.

A general simplex method with bounds on all variables and Bland's rule, on sparse rows. Exact numbers make its
answers proofs. Integers are kept as plain integers, which cost a fraction of fractions. It is meant for some
dozens of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constrint.support.deadline import check_deadline

Bound = int | None
Number = int | Fraction


class InfeasibleProgram(Exception):  # noqa: N818 - an answer, not a fault
    """The constraints have no rational point."""


class TooManyPivots(Exception):  # noqa: N818 - an answer, not a fault
    """The limit of pivots was reached."""


def plain(number: Number) -> Number:
    """The same number, as an integer if it is integral."""
    return number.numerator if number.denominator == 1 else number


def ratio(a: Number, b: Number) -> Number:
    """The quotient of two numbers, as an integer if it is integral."""
    if b in (1, -1):
        return a * b
    return plain(Fraction(a) / b)


def size(number: Number) -> Number:
    """The absolute value."""
    return -number if number < 0 else number


class Simplex:
    """Bounded variables, and rows (basic variables) that are sums of others.

    Attributes:
        rows: For each basic variable, its sum over the others.
        value: The present point.
    """

    def __init__(self, pivots: int) -> None:
        self.lo: dict[int, Bound] = {}
        self.hi: dict[int, Bound] = {}
        self.rows: dict[int, dict[int, Number]] = {}
        self.value: dict[int, Number] = {}
        self._pivots = pivots

    def variable(self, v: int, lo: Bound, hi: Bound) -> None:
        """Add a variable with a new number."""
        self.lo[v], self.hi[v] = lo, hi
        at = lo if lo is not None else (hi if hi is not None else 0)
        self.value[v] = at

    def row(self, v: int, terms: Mapping[int, int], lo: Bound, hi: Bound) -> None:
        """Add a variable that is a sum of others, all added before any pivot."""
        self.lo[v], self.hi[v] = lo, hi
        self.rows[v] = dict(terms)
        self.value[v] = sum(a * self.value[x] for x, a in terms.items())

    def find_point(self) -> None:
        """Move to a point within all bounds; raises `InfeasibleProgram` if there is none."""
        while True:
            broken = min((v for v in self.rows if self._miss(v)), default=None)
            if broken is None:
                return
            up = self._miss(broken) > 0
            target = self.lo[broken] if up else self.hi[broken]
            for x in sorted(self.rows[broken]):
                if self._can_move(x, (self.rows[broken][x] > 0) == up):
                    break
            else:
                raise InfeasibleProgram
            assert target is not None  # a variable violates its bounds
            self._move(x, ratio(target - self.value[broken], self.rows[broken][x]))
            self._pivot(broken, x)

    def extreme(self, v: int, up: bool) -> Number | None:
        """The greatest (or least) value of a variable, starting from a feasible point; None if unbounded."""
        while True:
            objective = self.rows.get(v, {v: 1})
            for x in sorted(objective):
                rises = (objective[x] > 0) == up
                if self._can_move(x, rises):
                    break
            else:
                return self.value[v]
            step, leaving = self._longest_step(x, rises)
            if step is None:
                return None
            self._move(x, step if rises else -step)
            if leaving is not None:
                self._pivot(leaving, x)

    def _longest_step(self, x: int, rises: bool) -> tuple[Number | None, int | None]:
        """How far x can move, and the row that limits it (None: its own bound)."""
        own = self.hi[x] if rises else self.lo[x]
        longest = None if own is None else size(own - self.value[x])
        leaving = None
        for z in sorted(self.rows):
            a = self.rows[z].get(x)
            if not a:
                continue
            bound = self.hi[z] if (a > 0) == rises else self.lo[z]
            if bound is not None:
                step = size(ratio(bound - self.value[z], a))
                if longest is None or step < longest:
                    longest, leaving = step, z
        return longest, leaving

    def _miss(self, v: int) -> int:
        value, lo, hi = self.value[v], self.lo[v], self.hi[v]
        if lo is not None and value < lo:
            return 1
        return -1 if hi is not None and value > hi else 0

    def _can_move(self, x: int, rises: bool) -> bool:
        bound = self.hi[x] if rises else self.lo[x]
        return bound is None or (self.value[x] < bound if rises else self.value[x] > bound)

    def _move(self, x: int, step: Number) -> None:
        self.value[x] = plain(self.value[x] + step)
        for z, row in self.rows.items():
            a = row.get(x)
            if a:
                self.value[z] = plain(self.value[z] + a * step)

    def _pivot(self, leaving: int, entering: int) -> None:
        """Exchange a basic and a non-basic variable."""
        check_deadline()
        self._pivots -= 1
        if self._pivots < 0:
            raise TooManyPivots
        row = self.rows.pop(leaving)
        factor = row.pop(entering)
        solved = {x: ratio(-a, factor) for x, a in row.items()}
        solved[leaving] = ratio(1, factor)
        for other in self.rows.values():
            a = other.pop(entering, None)
            if a:
                for x, b in solved.items():
                    total = other.get(x, 0) + a * b
                    if total:
                        other[x] = plain(total)
                    else:
                        other.pop(x, None)
        self.rows[entering] = solved
