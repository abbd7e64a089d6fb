"""Rounds of rounding cuts at the root, while they raise the bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from constrint.relaxation.lp_rows import LpRow, Relaxation
from constrint.relaxation.rounding import Rounding
from constrint.relaxation.sums.sum_state import PART

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from constrint.support.deadline import Deadline

NEAR_INTEGER = 1e-6  # of an integer


class RootCuts:
    """The cuts of one relaxation.

    Args:
        relaxation: The relaxation.
        cost: The column that is optimised.
        sign: 1 where its least value is wanted, -1 where its greatest is.
        deadline: Until when machine code may be waited for; None for a search without it.
    """

    def __init__(self, relaxation: Relaxation, cost: int, sign: int, deadline: Deadline | None) -> None:
        self._relaxation, self._cost, self._sign = relaxation, cost, sign
        self._deadline = deadline
        self._free = np.array([v < 0 for v in relaxation.columns.variable], bool)
        self._left = relaxation.rules.rounding_rounds
        self._before = -math.inf
        self._rounding: Rounding | None = None

    @property
    def work(self) -> int:
        """The work so far, in units as those of the relaxation's programs."""
        return 0 if self._rounding is None else self._rounding.work // self._relaxation.rules.terms_of_unit

    def next_round(self, point: NDArray[np.float64]) -> list[LpRow]:
        """Cuts at the optimum of a program; none once they raise its value too little."""
        if self._left == 0:
            return []
        self._left -= 1
        if not (np.abs(point - np.rint(point)) > NEAR_INTEGER)[~self._free].any():
            return []
        value = self._sign * float(point[self._cost])
        if value - self._before < self._relaxation.rules.worth_a_round * max(1.0, abs(value)):
            self._left = 0
            return []
        self._before = value
        if self._rounding is None:
            self._rounding = self._made()
        return self._rounding.cuts(point)

    def _made(self) -> Rounding:
        """The search for cuts, with machine code if it has something to do."""
        rounding = Rounding(self._relaxation, self._cost)
        if self._deadline is None or not rounding.has_rows:
            return rounding
        from constrint.engine import background_compile as compiling
        from constrint.engine import cache
        from constrint.relaxation.sums.compiled import load

        is_there = cache.is_loaded(PART) or cache.is_filled(PART)
        has_time = self._deadline.left > 2 * compiling.LOADING
        if is_there or (has_time and (not self._deadline.is_set or compiling.begin(PART))):
            compiling.obtain(PART, load, self._deadline)
            with compiling.loading(self._deadline):
                rounding.compile()
        return rounding
