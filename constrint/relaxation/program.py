"""Linear programs by HiGHS, with bounds that are proven in integers independently of floating point.

For any multipliers y of the rows, c x is at least the sum of y times the sides of the rows (the side that the
sign of y selects) and of (c - A' y) x, whose least value in the box is known: Neumaier and Shcherbina, "Safe
bounds in linear and mixed-integer linear programming", Mathematical Programming 99, 2004. The multipliers of
HiGHS are rounded to integers over a common denominator; the rest is int64 arithmetic that cannot overflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constrint.relaxation.lp_rows import LpRow
from constrint.relaxation.merging import Merging
from constrint.relaxation.start import Start
from constrint.settings import DEFAULT, RelaxationSettings
from constrint.support.deadline import present

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SCALES = (1 << 22, 1 << 16, 1 << 10)
SAFE = float(1 << 61)
UNBOUNDED_FROM = float(1 << 31)  # columns with greater bounds are unbounded in the program
OPTIMAL, INFEASIBLE, UNKNOWN, INTERRUPTED = 0, 1, 2, 3
EVER = (1 << 31) - 1  # pivots


@dataclass(frozen=True, slots=True)
class DualProof:
    """Multipliers made integers: ``scale * cost >= least + sum of reduced * (column - its better end)``.

    Attributes:
        scale: What the cost is multiplied with; 0 for a proof that there is no point.
        least: The least value of the right side in the box.
        reduced: The reduced costs.
        whole: The factors of the multiplied rows, added up and negated: ``whole * columns <= -sides`` holds
            everywhere.
        sides: The multiplied sides, added up.
    """

    scale: int
    least: int
    reduced: Ints
    whole: Ints
    sides: int


class RelaxationProgram:
    """Minimises one column, or its negative, over rows and bounds that change.

    Without a cost, any point is an optimum, and only a refutation says something. With a merging, HiGHS
    solves the program of the columns that are kept; bounds, points and proofs are in all columns.

    Attributes:
        point: The last optimum.
        dual: Its multipliers by row, positive where the least value binds; or a ray of them. With a merging,
            by the rows over the columns that are kept.
        rows: All its rows.
        used: The rows that have a multiplier in the last bound or refutation.
        iterations: Pivots of the last call; an iteration of interior points counts as many.
    """

    def __init__(
        self,
        rows: Sequence[LpRow],
        columns: int,
        cost: int | None,
        sign: int,
        rules: RelaxationSettings = DEFAULT.relaxation,
        start: Start | None = None,
        merging: Merging | None = None,
    ) -> None:
        import highspy

        self._rules = rules
        self._merging = None if merging is None or merging.is_trivial else merging
        self._start = start if start is None or self._merging is None else start.of(self._merging.kept)
        self.point: Floats = np.zeros(columns)
        if self._merging is not None:
            columns = self._merging.count
            cost = None if cost is None else int(self._merging.place[cost])
        self._is_begun = False  # whether simplex pivots have a basis to go on from
        self._highs = highspy.Highs()
        self._status = highspy.HighsModelStatus
        for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            self._highs.setOptionValue(option, value)
        self._infinite = float(highspy.kHighsInf)
        self._cost, self._sign = cost, sign
        self._costs: Ints = np.zeros(columns, np.int64)
        if cost is not None:
            self._costs[cost] = sign
        self.rows: list[LpRow] = []
        self._rows: list[LpRow] = []  # as HiGHS has them
        self._number: list[int] = []  # of each of these among all
        self._all: NDArray[np.int32] = np.arange(columns, dtype=np.int32)
        self.dual: Floats = np.zeros(0)
        self.iterations = 0
        self.used: Ints = np.zeros(0, np.int64)
        self._is_indexed = False
        self._has_low = self._has_high = np.zeros(0, bool)
        for _ in range(columns):
            self._highs.addVar(-self._infinite, self._infinite)
        if cost is not None:
            self._highs.changeColCost(cost, float(sign))
        self.add(rows)

    def add(self, rows: Sequence[LpRow]) -> None:
        """Add rows."""
        numbers: Sequence[int] = range(len(self.rows), len(self.rows) + len(rows))
        self.rows += rows
        if self._merging is not None:
            numbers, rows = self._merging.rows(rows, numbers)
        if not rows:
            return
        starts, indices, values = [0], list[int](), list[int]()
        lows, highs = list[float](), list[float]()
        for row in rows:
            indices += row.terms.keys()
            values += row.terms.values()
            starts.append(len(indices))
            lows.append(-self._infinite if row.low is None else float(row.low))
            highs.append(self._infinite if row.high is None else float(row.high))
        self._highs.addRows(
            len(rows),
            np.array(lows),
            np.array(highs),
            len(indices),
            np.array(starts[:-1], np.int32),
            np.array(indices, np.int32),
            np.array(values, np.float64),
        )
        self._rows += rows
        self._number += numbers
        self._is_indexed = False

    def drop_slack(self, first: int) -> None:
        """Remove the rows from a number on on which the last optimum does not lie."""
        import highspy

        basis = self._highs.getBasis()
        if not basis.valid:
            return
        basic = highspy.HighsBasisStatus.kBasic
        leaves = [
            number >= first and s == basic for number, s in zip(self._number, basis.row_status, strict=True)
        ]
        places = np.flatnonzero(leaves)
        if not len(places):
            return
        self._highs.deleteRows(len(places), places.astype(np.int32))
        basis.row_status = [s for s, each in zip(basis.row_status, leaves, strict=True) if not each]
        self._highs.setBasis(basis)
        gone = {self._number[i] for i in places.tolist()}
        kept = [i for i in range(len(self.rows)) if i not in gone]
        place = {number: i for i, number in enumerate(kept)}
        self.rows = [self.rows[i] for i in kept]
        self._rows = [row for row, each in zip(self._rows, leaves, strict=True) if not each]
        self._number = [place[i] for i, each in zip(self._number, leaves, strict=True) if not each]
        self._is_indexed = False

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Let only the chosen rows hold from now on."""
        self._index()
        infinite = self._infinite
        has_low = chosen & np.array([row.low is not None for row in self._rows], bool)
        has_high = chosen & np.array([row.high is not None for row in self._rows], bool)
        for i in np.flatnonzero((has_low != self._has_low) | (has_high != self._has_high)).tolist():
            low = float(self._low[i]) if has_low[i] else -infinite
            high = float(self._high[i]) if has_high[i] else infinite
            self._highs.changeRowBounds(i, low, high)
        self._has_low, self._has_high = has_low, has_high

    def _index(self) -> None:
        """State the rows as entries in the order of their columns, as proofs need them."""
        if self._is_indexed:
            return
        self._is_indexed = True
        rows = self._rows
        counts = [len(row.terms) for row in rows]
        row_of = np.repeat(np.arange(len(rows)), counts)
        column_of = np.fromiter((x for row in rows for x in row.terms), np.int64, sum(counts))
        factors = np.fromiter((a for row in rows for a in row.terms.values()), np.int64, sum(counts))
        order = np.argsort(column_of, kind="stable")
        self._entry_row, self._entry_factor = row_of[order], factors[order]
        entry_column = column_of[order]
        self._used, self._first = np.unique(entry_column, return_index=True)
        self._has_low = np.array([row.low is not None for row in rows], bool)
        self._has_high = np.array([row.high is not None for row in rows], bool)
        self._low: Ints = np.array([row.low or 0 for row in rows], np.int64)
        self._high: Ints = np.array([row.high or 0 for row in rows], np.int64)

    @property
    def cost_of_pivot(self) -> int:
        """About how many microseconds a pivot takes.

        Measured: 10 to 50 with 1,000 rows and columns each, 16 to 160 with 3,000, 15 to 750 with 10,000; the
        most where points are dense, as in covers, and little at first.
        """
        size = len(self._all) + len(self._rows)
        return 8 + size // 200 + (size // 2000) ** 2

    @property
    def cost_of_program(self) -> int:
        """About how many microseconds a program takes beside its pivots; most are the caller's.

        Measured: 120 with 11 rows and 51 columns, 400 with 152 and 401, 450 with 280 and 141.
        """
        rules = self._rules
        size = len(self._all) + len(self._rows)
        return min(rules.cost_of_program, rules.cost_of_small_program + size * rules.cost_of_ten // 10)

    def solve(self, lower: Ints, upper: Ints, enough: int | None = None, most: int = EVER) -> int:
        """Find the optimum within bounds.

        Returns OPTIMAL, INFEASIBLE (by HiGHS, unproven), INTERRUPTED or UNKNOWN; after INTERRUPTED the next
        call goes on.

        Args:
            lower: The least value of each column.
            upper: The greatest.
            enough: A cost from which on the multipliers need not be better: `point` is then as before.
            most: The most pivots.
        """
        if self._merging is not None:
            lower, upper = self._merging.bounds(lower, upper)
        low, high = lower.astype(np.float64), upper.astype(np.float64)
        low[low <= -UNBOUNDED_FROM] = -self._infinite
        high[high >= UNBOUNDED_FROM] = self._infinite
        if self._cost is not None:  # an own bound of the objective would end the program for no reason
            low[self._cost], high[self._cost] = -self._infinite, self._infinite
        highs = self._highs
        highs.changeColsBounds(len(low), self._all, low, high)
        self.iterations = 0
        if not self._is_begun and self._start is not None:
            self._is_begun = self._start.lead(highs, self._rows)
        if self._is_begun or not self._by_interior_points():
            self._limit_time(1.0)
            highs.setOptionValue("objective_bound", self._infinite if enough is None else enough + 1e-4)
            highs.setOptionValue("simplex_iteration_limit", most)
            highs.run()
            self.iterations += max(0, int(highs.getInfoValue("simplex_iteration_count")[1]))
        status = highs.getModelStatus()
        if status == self._status.kObjectiveBound:
            self.dual = np.array(highs.getSolution().row_dual)
            return OPTIMAL
        if status == self._status.kOptimal:
            solution = highs.getSolution()
            point = np.array(solution.col_value)
            self.point = point if self._merging is None else self._merging.point(point)
            self.dual = np.array(solution.row_dual)
            return OPTIMAL
        if status == self._status.kIterationLimit:
            return INTERRUPTED
        if status == self._status.kInfeasible:
            _, exists, ray = highs.getDualRay()
            if exists and len(ray) == len(self._rows):
                self.dual = np.array(ray)
                return INFEASIBLE
        return UNKNOWN

    def tell_basis(self) -> None:
        """Let programs of the same constraints begin at the present basis."""
        if self._start is not None:
            self._start.tell(self._highs, self._rows)

    def _limit_time(self, share: float) -> None:
        """Give the next run a share of the time that is left."""
        left = max(0.01, min(share * present().left, 1e6))
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)

    def _by_interior_points(self) -> bool:
        """Solve a large program from its beginning, and find a basis of the optimum; False if that fails."""
        highs, rules = self._highs, self._rules
        self._is_begun = True
        if len(self._all) + len(self._rows) < rules.least_of_interior_points:
            return False
        highs.setOptionValue("solver", "ipm")
        self._limit_time(rules.time_of_interior_points)
        highs.run()
        highs.setOptionValue("solver", "simplex")
        steps, pivots = (
            max(0, int(highs.getInfoValue(name)[1]))
            for name in ("ipm_iteration_count", "crossover_iteration_count")
        )
        self.iterations = rules.pivots_of_interior_point * steps + pivots
        if highs.getModelStatus() == self._status.kOptimal:
            return True
        highs.clearSolver()
        return False

    def bound(self, lower: Ints, upper: Ints) -> DualProof | None:
        """A proven bound of the cost within bounds, from the last multipliers; None if that fails."""
        for scale in SCALES:
            proof = self._proof(np.rint(self.dual * scale), self._costs * scale, scale, lower, upper)
            if proof is not None:
                return proof
        return None

    def refutation(self, lower: Ints, upper: Ints) -> DualProof | None:
        """A proof that there is no point within bounds, from the last ray; None if that fails."""
        most = float(np.abs(self.dual).max(initial=0.0))
        if not 0 < most < 1e30:
            return None
        for sign in (1, -1):  # of the ray; it is the outcome that proves it right
            for scale in SCALES:
                ray = np.rint(self.dual * (sign * scale / most))
                proof = self._proof(ray, np.zeros_like(self._costs), 0, lower, upper)
                if proof is not None and proof.least > 0:
                    return proof
        return None

    def _proof(
        self, multipliers: Floats, costs: Ints, scale: int, lower: Ints, upper: Ints
    ) -> DualProof | None:
        """The right side that multipliers give, in int64; None where that might overflow."""
        self._index()
        multipliers = np.where((multipliers > 0) & ~self._has_low, 0.0, multipliers)
        multipliers = np.where((multipliers < 0) & ~self._has_high, 0.0, multipliers)
        if not np.isfinite(multipliers).all() or np.abs(multipliers).max(initial=0.0) > SAFE:
            return None
        y = multipliers.astype(np.int64)
        self.used = np.flatnonzero(y)
        sides = np.where(y > 0, self._low, self._high)
        sizes = np.abs(costs).astype(np.float64)
        products = np.abs(multipliers[self._entry_row] * self._entry_factor)
        if len(self._used):
            sizes[self._used] += np.add.reduceat(products, self._first)
        if float(np.max(sizes, initial=0.0)) > SAFE:
            return None
        reduced = costs.copy()
        if len(self._used):
            reduced[self._used] -= np.add.reduceat(y[self._entry_row] * self._entry_factor, self._first)
        bounds = lower, upper
        if self._merging is not None:
            lower, upper = self._merging.bounds(lower, upper)
        ends = np.where(reduced > 0, lower, upper)
        # In floating point first: far enough from the limit that its own errors do not matter.
        total = float(np.abs(multipliers * sides).sum() + np.abs(reduced.astype(np.float64) * ends).sum())
        if not total < SAFE:
            return None
        side = int((y * sides).sum())
        least, whole = side + int((reduced * ends).sum()), reduced - costs
        if self._merging is not None:
            stated = self._merging.outer(whole, side)
            if stated is None:
                return None
            whole, side = stated
            reduced = self._merging.reduced(reduced, (lower, upper), bounds)
        return DualProof(scale, least, reduced, whole, side)
