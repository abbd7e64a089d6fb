"""`KnownBasis`: the basis of a linear program's optimum, for other programs of the same constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

ColumnKey: TypeAlias = "tuple[int, int | None]"
"""A variable, and its member or None for the variable itself."""

RowKey: TypeAlias = "frozenset[tuple[ColumnKey, int]]"


class KnownBasis:
    """Which columns and rows are basic at the optimum for the objective, or at which end they are.

    The programs of a root differ in rows and columns: what one does not have is ignored, and what another one
    adds begins as HiGHS likes. A basis only says where pivots begin, so a wrong one costs time, no more.

    Attributes:
        columns: The status of each column by its key, in HiGHS's numbers.
        rows: That of each row by its columns and factors.
    """

    def __init__(self) -> None:
        self.columns: Mapping[ColumnKey, int] = {}
        self.rows: Mapping[RowKey, int] = {}

    def note(self, columns: Iterable[tuple[ColumnKey, int]], rows: Iterable[tuple[RowKey, int]]) -> None:
        """Keep the basis of an optimum, in place of an earlier one."""
        self.columns, self.rows = dict(columns), dict(rows)
