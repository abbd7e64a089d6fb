"""Cuts by mixed-integer rounding of sums of rows.

A row is summed with others so that columns away from their bounds vanish. Each column of the sum is replaced
by its distance from a bound, or from a multiple of a 0/1 column that bounds it; the sum is then divided and
rounded: Marchand and Wolsey, "Aggregation and mixed integer rounding to solve MIPs", Operations Research 49,
2001. All columns are integers, so the rounding of integers serves for all of them. Arithmetic is exact, and
only the bounds of the root are used: a cut holds in every solution.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import gcd, isqrt
from typing import TYPE_CHECKING

from constrint.relaxation.lp_rows import LpRow, Relaxation, Terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR_INTEGER = 1e-6


@dataclass(frozen=True, slots=True)
class _Distance:
    """A column as ``offset + sign * distance + switch * its 0/1 column``, with a distance of at least 0."""

    sign: int
    offset: int
    switch: int = 0
    column: int = -1


class Rounding:
    """Finds cuts of one relaxation.

    Rows with the goal's column are left out: rounding them gives the goal's bound at best.

    Attributes:
        work: Terms processed so far.
    """

    def __init__(self, relaxation: Relaxation, goal: int) -> None:
        columns = relaxation.columns
        self._rules = relaxation.rules
        box = columns.box
        plain = [value is None for value in columns.value]
        self._lo = [box.lo[v] if p else 0 for v, p in zip(columns.variable, plain, strict=True)]
        self._hi = [box.hi[v] if p else 1 for v, p in zip(columns.variable, plain, strict=True)]
        self._rows: list[tuple[Terms, int, bool]] = []  # sum <= limit; whether it is an equality
        self._of: dict[int, list[int]] = defaultdict(list)  # rows of a wide column
        self._switch: dict[int, tuple[int, int]] = {}  # x <= u * y: u and y of x
        self._next = 0  # the row at which the next round begins
        self.work = 0
        for row in relaxation.rows:
            if goal in row.terms:
                continue
            if row.high is not None:
                self._note(row.terms, row.high, row.low == row.high)
            if row.low is not None and row.low != row.high:
                self._note({x: -a for x, a in row.terms.items()}, -row.low, False)

    def _note(self, terms: Terms, limit: int, is_equality: bool) -> None:
        if len(terms) == 2 and limit == 0 and not is_equality:
            (x, a), (y, b) = sorted(terms.items(), key=lambda term: -term[1])
            if a > 0 > b and b % a == 0 and self._is_binary(y) and not self._is_binary(x):
                self._switch[x] = -b // a, y
        for x in terms:
            if not self._is_binary(x):
                self._of[x].append(len(self._rows))
        self._rows.append((terms, limit, is_equality))

    def _is_binary(self, column: int) -> bool:
        return self._lo[column] == 0 and self._hi[column] == 1

    def _may_round(self, terms: Terms) -> bool:
        """Whether a row has a wide column or a factor to divide by."""
        return any(abs(a) > 1 or not self._is_binary(x) for x, a in terms.items())

    def cuts(self, point: NDArray[np.float64]) -> list[LpRow]:
        """Rows that the point violates, the deepest first."""
        found: dict[tuple[object, ...], tuple[float, LpRow]] = {}
        values = point.tolist()
        rules, count = self._rules, len(self._rows)
        most = self.work + rules.work_of_rounding + rules.work_of_row * count
        for start in (*range(self._next, count), *range(self._next)):
            if self.work > most:
                self._next = start  # the next round begins with the rows that this one has not reached
                break
            terms, limit, is_equality = self._rows[start]
            if not self._may_round(terms):
                continue
            for sign in (1, -1) if is_equality else (1,):
                self._from_row(start, {x: sign * a for x, a in terms.items()}, sign * limit, values, found)
        best = sorted(found.values(), key=lambda each: -each[0])
        return [row for _, row in best[: rules.most_roundings]]

    def _from_row(
        self,
        start: int,
        terms: Terms,
        limit: int,
        values: list[float],
        found: dict[tuple[object, ...], tuple[float, LpRow]],
    ) -> None:
        used, rules = {start}, self._rules
        while len(terms) <= rules.most_terms_of_sum:
            cut = self._rounded(terms, limit, values)
            if cut is not None:
                depth, row = cut
                found[tuple(sorted(row.terms.items())), row.high] = depth, row
                return
            if len(used) >= rules.most_summed:
                return
            following = self._summed(terms, limit, values, used)
            if following is None:
                return
            terms, limit = following

    def _summed(
        self, terms: Terms, limit: int, values: list[float], used: set[int]
    ) -> tuple[Terms, int] | None:
        """The sum with another row, without the wide column that is farthest from its bounds."""
        most, largest = self._rules.most_terms_of_sum, self._rules.largest_factor
        wide = [(self._room(x, values), x) for x in terms if not self._is_binary(x)]
        for room, x in sorted(wide, key=lambda each: (-each[0], each[1])):
            if room < NEAR_INTEGER:
                return None
            a = terms[x]
            for place in self._of[x]:
                other, other_limit, is_equality = self._rows[place]
                self.work += 1
                if place in used or len(other) > most or not (is_equality or a * other[x] < 0):
                    continue
                if len(other) == 2 and x in self._switch and not is_equality:
                    continue  # it is used in place of a bound
                mine, theirs = abs(other[x]), -a * (1 if other[x] > 0 else -1)
                whole = {y: mine * b for y, b in terms.items()}
                for y, b in other.items():
                    whole[y] = whole.get(y, 0) + theirs * b
                total = mine * limit + theirs * other_limit
                whole = {y: b for y, b in whole.items() if b}
                if not whole or max(map(abs, whole.values())) > largest:
                    continue
                used.add(place)
                return whole, total
        return None

    def _room(self, x: int, values: list[float]) -> float:
        """How far a column is from its bounds."""
        high: float = self._hi[x]
        if x in self._switch:
            u, y = self._switch[x]
            high = min(high, u * values[y])
        return min(values[x] - self._lo[x], high - values[x])

    def _distances(self, terms: Terms, values: list[float]) -> dict[int, _Distance]:
        """How each column of a sum is replaced."""
        made: dict[int, _Distance] = {}
        for x in terms:
            low, high, at = self._lo[x], self._hi[x], values[x]
            if x in self._switch:
                u, y = self._switch[x]
                if u * values[y] - at <= min(at - low, high - at) + NEAR_INTEGER:
                    made[x] = _Distance(-1, 0, u, y)
                    continue
            made[x] = _Distance(1, low) if at - low <= high - at else _Distance(-1, high)
        for x in [each.column for each in made.values() if each.column >= 0]:
            at = values[x]
            made.setdefault(x, _Distance(1, 0) if at <= 0.5 else _Distance(-1, 1))
        return made

    def _rounded(self, terms: Terms, limit: int, values: list[float]) -> tuple[float, LpRow] | None:
        """The deepest cut by rounding a sum, and its depth."""
        made = self._distances(terms, values)
        self.work += 4 * len(made)
        merged = dict(terms)
        for x, a in terms.items():
            each = made[x]
            if each.column >= 0:
                merged[each.column] = merged.get(each.column, 0) + a * each.switch
        factors = {x: a * made[x].sign for x, a in merged.items() if a}
        rest = limit - sum(a * made[x].offset for x, a in merged.items())
        divisors = {
            abs(a)
            for x, a in factors.items()
            if self._lo[x] + NEAR_INTEGER < values[x] < self._hi[x] - NEAR_INTEGER
        }
        best: tuple[float, LpRow] | None = None
        for divisor in sorted(divisors, reverse=True)[: self._rules.most_divisors]:
            self.work += 2 * len(factors)
            quotient, r = divmod(rest, divisor)
            if r == 0:
                continue
            scale = divisor - r
            rounded = {
                x: p * scale + max(0, t - r) for x, a in factors.items() for p, t in [divmod(a, divisor)]
            }
            row = _in_columns(rounded, quotient * scale, made)
            depth = _depth(row, values, self._rules.largest_factor)
            if depth > self._rules.least_depth and (best is None or depth > best[0]):
                best = depth, row
        return best


def _in_columns(rounded: Terms, limit: int, made: dict[int, _Distance]) -> LpRow:
    """A row over distances as one over columns."""
    terms: Terms = {}
    for x, a in rounded.items():
        each = made[x]
        # distance = sign * (column - offset - switch * its column)
        terms[x] = terms.get(x, 0) + a * each.sign
        limit += a * each.sign * each.offset
        if each.column >= 0:
            terms[each.column] = terms.get(each.column, 0) - a * each.sign * each.switch
    terms = {x: a for x, a in terms.items() if a}
    common = gcd(*terms.values()) if terms else 1
    return LpRow({x: a // common for x, a in terms.items()}, None, limit // common)


def _depth(row: LpRow, values: list[float], largest: int) -> float:
    """How far a point lies beyond a row; 0 where the numbers are too large for the program."""
    if not row.terms or max(map(abs, row.terms.values())) > largest:
        return 0.0
    assert row.high is not None
    excess = sum(a * values[x] for x, a in row.terms.items()) - row.high
    return float(excess / max(1, isqrt(sum(a * a for a in row.terms.values()))))
