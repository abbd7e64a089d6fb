"""Where a linear program begins: at the optimum of another one of the same constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from constrint.relaxation.lp_rows import LpRow

if TYPE_CHECKING:
    import highspy

    from constrint.presolve.basis import ColumnKey, KnownBasis, RowKey


class Start:
    """Where a program begins: at the optimum of another one of the same constraints.

    Args:
        basis: The basis that is known, and told to others.
        keys: What each column is; None for columns that others do not have.
        least: The least number of rows and columns for which it pays.
    """

    def __init__(self, basis: KnownBasis, keys: Sequence[ColumnKey | None], least: int) -> None:
        self._basis, self._keys, self._least = basis, keys, least

    def of(self, kept: Sequence[int]) -> Start:
        """That of a program which has only some of the columns."""
        return Start(self._basis, [self._keys[x] for x in kept], self._least)

    def _row_keys(self, rows: Sequence[LpRow]) -> Iterator[RowKey]:
        keys = self._keys
        for row in rows:
            yield frozenset([(key, a) for x, a in row.terms.items() if (key := keys[x]) is not None])

    def lead(self, highs: highspy.Highs, rows: Sequence[LpRow]) -> bool:
        """Begin a program at the known basis; False where there is none, or HiGHS refuses it."""
        import highspy

        known, size = self._basis, len(rows) + len(self._keys)
        if not known.rows or size < self._least:
            return False
        statuses = highspy.HighsBasisStatus
        basis = highspy.HighsBasis()
        basic, lower, upper = (int(each) for each in (statuses.kBasic, statuses.kLower, statuses.kUpper))
        columns = [lower if key is None else known.columns.get(key, lower) for key in self._keys]
        sides = []
        for row, key in zip(rows, self._row_keys(rows), strict=True):
            status = known.rows.get(key, basic)
            if status != basic and (row.low if status == lower else row.high) is None:
                status = upper if status == lower else lower  # the other side is left
            sides.append(status)
        basis.col_status = [statuses(status) for status in columns]
        basis.row_status = [statuses(status) for status in sides]
        basis.valid = basis.alien = True
        return bool(highs.setBasis(basis) != highspy.HighsStatus.kError)

    def tell(self, highs: highspy.Highs, rows: Sequence[LpRow]) -> None:
        """Keep the present basis for others."""
        if len(rows) + len(self._keys) < self._least:
            return
        basis = highs.getBasis()
        if not basis.valid:
            return
        columns = [
            (key, int(status))
            for key, status in zip(self._keys, basis.col_status, strict=True)
            if key is not None
        ]
        self._basis.note(columns, zip(self._row_keys(rows), map(int, basis.row_status), strict=True))
