"""Columns that rows make equal to others, which a linear program then need not have.

The members of a circuit's successors are those of its predecessors, an element's value has the members of its
index, and a literal is 1 minus its opposite. A row of two columns with factors 1 or -1 and one value on its
right side states each of them as the other, perhaps with the opposite sign and a constant. Substituting it
leaves the solutions as they are, so rows over the columns that are left hold in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from constrint.relaxation.lp_rows import LpRow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FARTHEST_CONSTANT = 1 << 40  # the most that a constant between two columns may be
_Link = tuple[int, int, int]  # a column as another one times a sign, plus a constant: number, sign, constant


class Merging:
    """How the columns of a program are stated by those that it keeps.

    Args:
        rows: The rows.
        columns: The number of columns.
        cost: The column of the objective, which stays as it is.
        favoured: Columns in which proofs are stated rather than in others that are equal to them.

    Attributes:
        count: The number of columns that are kept.
        place: The place of each column's representative among them.
        kept: The column of each place.
    """

    def __init__(
        self, rows: Sequence[LpRow], columns: int, cost: int | None, favoured: Sequence[bool] | None = None
    ) -> None:
        self._links: dict[int, _Link] = {}
        for row in rows:
            if len(row.terms) == 2 and row.low is not None and row.low == row.high:
                self._join(row, cost)
        links = [self._of(x) for x in range(columns)]
        kept = [x for x, (to, _, _) in enumerate(links) if to == x]
        places = {x: i for i, x in enumerate(kept)}
        self.count = len(kept)
        self.kept = kept
        self.place: Ints = np.array([places[to] for to, _, _ in links], np.int64)
        self._sign: Ints = np.array([sign for _, sign, _ in links], np.int64)
        self._constant: Ints = np.array([constant for _, _, constant in links], np.int64)
        stated = list(kept)
        for x in range(columns):
            i = self.place[x]
            if favoured is not None and favoured[x] and not favoured[stated[i]]:
                stated[i] = x
        self._stated: Ints = np.array(stated, np.int64)
        self._merged = np.flatnonzero(np.array([to != x for x, (to, _, _) in enumerate(links)], bool))

    @property
    def is_trivial(self) -> bool:
        """Whether all columns are kept."""
        return not self._links

    def _of(self, x: int) -> _Link:
        """A column by its representative."""
        link = self._links.get(x)
        if link is None:
            return x, 1, 0
        to, sign, constant = link
        last, its_sign, its_constant = self._of_shallow(to)
        found = last, sign * its_sign, constant + sign * its_constant
        self._links[x] = found
        return found

    def _of_shallow(self, x: int) -> _Link:
        """As `_of`, by a loop: chains may be long."""
        sign, constant = 1, 0
        while (link := self._links.get(x)) is not None:
            x, its_sign, its_constant = link
            constant += sign * its_constant
            sign *= its_sign
        return x, sign, constant

    def _join(self, row: LpRow, cost: int | None) -> None:
        """State one column of an equation by the other."""
        (x, a), (y, b) = row.terms.items()
        if abs(a) != 1 or abs(b) != 1 or row.high is None:
            return
        (first, p, c), (second, q, d) = self._of(x), self._of(y)
        if first == second or cost in (first, second):
            return
        rest = row.high - a * c - b * d  # a * p * first + b * q * second == rest
        if abs(rest) > FARTHEST_CONSTANT:
            return
        if first < second:
            first, second, a, p, b, q = second, first, b, q, a, p
        self._links[first] = second, -a * p * b * q, a * p * rest

    def rows(self, rows: Sequence[LpRow], numbers: Iterable[int]) -> tuple[list[int], list[LpRow]]:
        """Rows over the columns that are kept, with their numbers; those that say nothing are left out."""
        place, sign, constant = self.place.tolist(), self._sign.tolist(), self._constant.tolist()
        left, found = list[int](), list[LpRow]()
        for number, row in zip(numbers, rows, strict=True):
            terms: dict[int, int] = {}
            known = 0
            for x, a in row.terms.items():
                terms[place[x]] = terms.get(place[x], 0) + a * sign[x]
                known += a * constant[x]
            terms = {x: a for x, a in terms.items() if a}
            low = None if row.low is None else row.low - known
            high = None if row.high is None else row.high - known
            if terms or (low or 0) > 0 or (high or 0) < 0:
                left.append(number)
                found.append(LpRow(terms, low, high))
        return left, found

    def bounds(self, lower: Ints, upper: Ints) -> tuple[Ints, Ints]:
        """The bounds of the columns that are kept; if they cross, those of each kept column alone."""
        low, high = lower[self.kept], upper[self.kept]
        x = self._merged
        to, constant = self.place[x], self._constant[x]
        same = self._sign[x] > 0
        least = np.where(same, lower[x] - constant, constant - upper[x])
        most = np.where(same, upper[x] - constant, constant - lower[x])
        narrow_low, narrow_high = low.copy(), high.copy()
        np.maximum.at(narrow_low, to, least)
        np.minimum.at(narrow_high, to, most)
        crossed = narrow_low > narrow_high
        return np.where(crossed, low, narrow_low), np.where(crossed, high, narrow_high)

    def point(self, inner: Floats) -> Floats:
        """All columns of a point of the kept ones."""
        found: Floats = self._sign * inner[self.place] + self._constant
        return found

    def outer(self, factors: Ints, sides: int) -> tuple[Ints, int] | None:
        """``factors * kept <= -sides`` in all columns; None where a number might overflow."""
        x = self._stated
        signed = factors * self._sign[x]
        known = float(np.abs(signed.astype(np.float64) * self._constant[x]).sum())
        if known > float(1 << 60):
            return None
        whole = np.zeros(len(self.place), np.int64)
        whole[x] = signed
        return whole, sides - int((signed * self._constant[x]).sum())

    def reduced(self, inner: Ints, ends: tuple[Ints, Ints], bounds: tuple[Ints, Ints]) -> Ints:
        """Reduced costs in all columns.

        They are left out where a column's own bounds are not those from which its distance counts.

        Args:
            inner: Those of the kept columns.
            ends: The bounds of the kept columns.
            bounds: The bounds of all columns.
        """
        x = self._stated
        sign, constant = self._sign[x], self._constant[x]
        (low, high), (lower, upper) = ends, bounds
        own_low = np.where(sign > 0, lower[x] - constant, constant - upper[x])
        own_high = np.where(sign > 0, upper[x] - constant, constant - lower[x])
        whole = np.zeros(len(self.place), np.int64)
        whole[x] = np.where((own_low == low) & (own_high == high), inner * sign, 0)
        return whole
