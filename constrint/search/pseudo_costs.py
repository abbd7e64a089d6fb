"""Pseudo-costs: the gains of decisions on fractional columns of a relaxation, made reliable by trials.

The gain of a column is that of the bound for each unit by which it is moved, down and up. Until a column has
been decided some times, both sides of its decision are solved before it is chosen: Achterberg, Koch and
Martin, "Branching rules revisited", Operations Research Letters 33, 2005. A side that is refuted in integers
narrows the node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from constrint.relaxation.program import INFEASIBLE, OPTIMAL, RelaxationProgram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from constrint.settings import RelaxationSettings

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DOWN, UP = 0, 1
Pay: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Refuted:
    """A side of a decision without a better solution.

    Attributes:
        column: The column.
        way: DOWN where it cannot be at most `below`, UP where it cannot be more.
        below: The integer below its value at the optimum.
    """

    column: int
    way: int
    below: int


class PseudoCosts:
    """The gains of decisions so far.

    Args:
        program: The program whose optima are fractional.
        columns: The number of columns.
        rules: The settings.

    Attributes:
        trials: Programs solved to try decisions.
    """

    def __init__(self, program: RelaxationProgram, columns: int, rules: RelaxationSettings) -> None:
        self._program, self._rules = program, rules
        self._gain = np.zeros((2, columns))
        self._tries = np.zeros((2, columns))
        self._pending: tuple[int, int, float, float] | None = None  # column, way, its distance, bound before
        self.trials = 0

    def decided(self, column: int, way: int, distance: float, bound: float) -> None:
        """A column is decided: the next bound shows what that gains."""
        self._pending = column, way, distance, bound

    def note(self, bound: float) -> None:
        """Record the bound after the last decision."""
        if self._pending is not None:
            column, way, distance, before = self._pending
            self._add(column, way, (bound - before) / max(distance, 0.01))
            self._pending = None

    def _add(self, column: int, way: int, gain: float) -> None:
        self._gain[way, column] += max(0.0, gain)
        self._tries[way, column] += 1

    def scores(self, columns: Ints, point: Floats) -> Floats:
        """The likely gain of deciding each column: the product of both sides."""
        below = point[columns] - np.floor(point[columns])
        gain, tries = self._gain[:, columns], self._tries[:, columns]
        known = self._tries.sum(axis=1)
        mean = np.where(known > 0, self._gain.sum(axis=1) / np.maximum(known, 1), 1.0)
        rate = np.where(tries > 0, gain / np.maximum(tries, 1), mean[:, None])
        down, up = rate[DOWN] * below, rate[UP] * (1 - below)
        least = self._rules.least_gain
        product: Floats = np.maximum(down, least) * np.maximum(up, least)
        return product

    def choose(
        self, columns: Ints, cost: float, most: int, bounds: tuple[Ints, Ints], solved: int, pay: Pay
    ) -> int | Refuted:
        """The column to decide; or a side of one that is refuted.

        Args:
            columns: The fractional columns.
            cost: The cost of the optimum.
            most: The most that a better solution costs.
            bounds: The bounds of the columns.
            solved: The programs of nodes so far.
            pay: Called after each program.
        """
        program, rules = self._program, self._rules
        point = program.point
        scores = self.scores(columns, point)
        order = np.argsort(-scores, kind="stable")
        most_trials = rules.free_trials + solved // rules.programs_of_trial
        best, best_score, vain = -1, -1.0, 0
        for i in order.tolist():
            column, score = int(columns[i]), float(scores[i])
            if best >= 0 and (vain >= rules.vain_trials or self.trials > most_trials):
                break
            if self._tries[:, column].min() < rules.reliable and self.trials <= most_trials:
                tried = self._tried(column, point, cost, most, bounds, pay)
                if isinstance(tried, Refuted):
                    program.point = point
                    return tried
                score = tried
            if score > best_score:
                best, best_score, vain = column, score, 0
            else:
                vain += 1
        program.point = point
        return best

    def _tried(
        self, column: int, point: Floats, cost: float, most: int, bounds: tuple[Ints, Ints], pay: Pay
    ) -> float | Refuted:
        """The gain of deciding a column by trial; or a side that is refuted."""
        at = float(point[column])
        below = int(np.floor(at))
        sides = [0.0, 0.0]
        for way in (DOWN, UP):
            lower, upper = bounds
            if way == DOWN:
                upper = upper.copy()
                upper[column] = below
            else:
                lower = lower.copy()
                lower[column] = below + 1
            program = self._program
            program.point = point
            outcome = program.solve(lower, upper, most + 1, self._rules.pivots_of_trial)
            self.trials += 1
            pay()
            if outcome == INFEASIBLE and program.refutation(lower, upper) is not None:
                return Refuted(column, way, below)
            if outcome != OPTIMAL:
                sides[way] = self._rules.least_gain
                continue
            proof = program.bound(lower, upper)
            if proof is not None and proof.least > proof.scale * most:
                return Refuted(column, way, below)
            after = cost if proof is None else proof.least / proof.scale
            distance = at - below if way == DOWN else below + 1 - at
            sides[way] = max(after - cost, self._rules.least_gain)
            self._add(column, way, (after - cost) / max(distance, 0.01))
        return sides[DOWN] * sides[UP]
