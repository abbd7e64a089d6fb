"""Dual bounds of a linear relaxation at nodes of a learning search, as rows that it propagates.

Multipliers of the relaxation's rows, those of an optimum or of a ray that shows that there is no point, add
these rows up to one. It holds in every solution, whatever the bounds at the node were. Where no point is
better than the best solution, that row is violated at the node, and the search learns from the violation.
Where reduced costs are great, the row narrows. Nothing of floating point is trusted: the multipliers are made
integers before rows are added up (`relaxation.program`). Conflicts from rays: Achterberg, "Conflict analysis
in mixed integer programming", Discrete Optimization 4, 2007; within a search that learns: Perron, Didier and
Gay, "The CP-SAT-LP solver", CP 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from constrint.learning.added_rows import AddedRow, AddedRows, row_of
from constrint.learning.entries import Atom
from constrint.learning.layout import CONFLICTS, CONSULT_AT, HAS_SOLUTION, Learner
from constrint.relaxation.lp_rows import LpRow as RelaxedRow
from constrint.relaxation.lp_rows import Relaxation
from constrint.relaxation.merging import Merging
from constrint.relaxation.program import EVER, INFEASIBLE, OPTIMAL, SAFE, DualProof, RelaxationProgram
from constrint.settings import DEFAULT, LearningSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

# Cost of a program in the search's budget; measured: 0.45 ms, and 0.045 ms for each pivot. That of small
# programs is less by the same part as in `RelaxationProgram.cost_of_program`.
STEPS_OF_PROGRAM, STEPS_OF_PIVOT, STEPS_OF_MICROSECOND = 20_000, 2000, 45


class ColumnPlaces:
    """Where the bounds of a relaxation's columns are in a learner.

    Args:
        keys: The variable of each column, and its member, or None for the variable itself.
        truths: The atom of each 0/1 column that is one, by that key.

    Attributes:
        keys: The variable of each column, and its member.
        atoms: The atom of each column, or None.
        is_variable: Whether a column is a variable, or the truth of an atom.
    """

    def __init__(
        self, keys: Sequence[tuple[int, int | None]], truths: Mapping[tuple[int, int | None], Atom]
    ) -> None:
        self.keys = keys
        self.atoms = [truths.get(key) for key in keys]
        self.is_variable = [
            (atom is not None or value is None) and v >= 0
            for (v, value), atom in zip(keys, self.atoms, strict=True)
        ]
        literals = [(j, atom) for j, atom in enumerate(self.atoms) if atom is not None]
        others = [(j, *key) for j, key in enumerate(keys) if key not in truths and key[0] >= 0]
        plain = [(j, v) for j, v, value in others if value is None]
        members = [(j, v, value) for j, v, value in others if value is not None]
        count = len(keys)
        self._is_plain: NDArray[np.bool_] = np.zeros(count, bool)
        self._is_plain[[j for j, _, value in others if value is None]] = True
        self._is_truth: NDArray[np.bool_] = np.zeros(count, bool)  # of a variable whose bounds are 0 and 1
        self._is_truth[[j for j, (b, k) in literals if k == 1 - (b & 1)]] = True
        self._is_opposite: NDArray[np.bool_] = np.zeros(count, bool)
        self._is_opposite[[j for j, (b, _) in literals if b & 1]] = True
        self._truth = np.array([max(0, v) for v, _ in keys], np.int64)  # the variable of each column
        for j, (b, _) in literals:
            self._truth[j] = b >> 1
        self._literal = _column([j for j, _ in literals])
        self._literal_bound = _column([b for _, (b, _) in literals])
        self._literal_at = _column([k for _, (_, k) in literals])
        self._plain, self._plain_bound = _column([j for j, _ in plain]), _column([2 * v for _, v in plain])
        self._member, self._member_bound = (
            _column([j for j, _, _ in members]),
            _column([2 * v for _, v, _ in members]),
        )
        self._member_value = _column([value for _, _, value in members])

    def read(self, bounds: Sequence[int]) -> tuple[Ints, Ints]:
        """The least and the greatest value of each column, from a learner's bounds."""
        bound: Ints = np.asarray(bounds, np.int64)
        lower, upper = np.zeros(len(self.keys), np.int64), np.ones(len(self.keys), np.int64)
        lower[self._plain] = bound[self._plain_bound]
        upper[self._plain] = -bound[self._plain_bound + 1]
        lower[self._literal] = bound[self._literal_bound] >= self._literal_at
        upper[self._literal] = -bound[self._literal_bound ^ 1] >= self._literal_at
        low, high = bound[self._member_bound], -bound[self._member_bound + 1]
        inside = (low <= self._member_value) & (self._member_value <= high)
        upper[self._member] = inside
        lower[self._member] = inside & (low == high)
        return lower, upper

    def row(self, ls: Learner, proof: DualProof) -> AddedRow | None:
        """The row of a proof; columns without a variable have their least part. None if nothing is left."""
        whole, root = proof.whole, np.asarray(ls.root, np.int64)
        if not float(np.abs(whole.astype(np.float64)).sum()) < SAFE:
            return None
        truth = (root[2 * self._truth] >= 0) & (root[2 * self._truth + 1] >= -1)
        has_variable = self._is_plain | (self._is_truth & truth)
        limit = -proof.sides - int(np.minimum(whole[~has_variable], 0).sum())
        is_opposite = has_variable & self._is_opposite  # the column is 1 - v
        limit -= int(whole[is_opposite].sum())
        columns = np.flatnonzero(has_variable & (whole != 0))
        factors = np.where(is_opposite, -whole, whole)[columns]
        return row_of(ls, self._truth[columns], factors, limit)


class Duals:
    """Consults a relaxation at nodes of a learning search.

    How often depends on how much it finds, on what it takes, and on how much of the gap its bound closes at
    the root; all of that is counted, so that equal seeds give equal answers.

    Args:
        ls: The learner.
        relaxation: The relaxation.
        rows: Its rows, with all cuts.
        goal: The variable that is optimised, and its direction; None where only rays say something.
        truths: The atom of each 0/1 column that is one, by variable and member.
        rules: The settings.

    Attributes:
        spent: Steps of the search's budget that programs took.
    """

    def __init__(
        self,
        ls: Learner,
        relaxation: Relaxation,
        rows: Sequence[RelaxedRow],
        goal: tuple[int, str] | None,
        truths: Mapping[tuple[int, int | None], Atom],
        rules: LearningSettings,
    ) -> None:
        self._rules = rules
        of = relaxation.columns
        self._columns = ColumnPlaces(list(zip(of.variable, of.value, strict=True)), truths)
        self._goal, self._sign = 0, 1
        self._cost: int | None = None
        if goal is not None:
            self._goal = 2 * goal[0] + int(goal[1] == "max")  # as a bound that is minimised
            self._cost = next(iter(of.of(goal[0]).terms))
            self._sign = 1 if goal[1] == "min" else -1
        start = relaxation.start()
        merging = Merging(rows, len(of.variable), self._cost, self._columns.is_variable)
        self._program = RelaxationProgram(
            rows, len(of.variable), self._cost, self._sign, relaxation.rules, start, merging
        )
        self._added = AddedRows(ls)
        self._interval = 1  # conflicts between two checks
        self._acted = 0.0  # the part of the last programs whose row acted
        self.spent = 0
        self._trivial = self._proven = int(ls.root[self._goal])
        proof = self._ask(*self._columns.read(ls.root), is_root=True)
        if proof is not None and proof.scale > 0:
            self._proven = -(-proof.least // proof.scale)
        ls.scalar[CONSULT_AT] = ls.scalar[CONFLICTS]

    def consult(self, ls: Learner, worked: int) -> Learner | None:
        """Consult it at the present node: the learner with the proven row, or None without one.

        Args:
            ls: The learner.
            worked: The steps that the search itself has taken.
        """
        if not self._wait(ls, worked):  # not yet: the share has changed
            return None
        proof = self._ask(*self._columns.read(ls.bound))
        row = None if proof is None else self._columns.row(ls, proof)
        if row is not None and not _acts(ls, row):
            row = None
        rules = self._rules
        self._acted += (int(row is not None) - self._acted) / rules.programs_remembered
        most = rules.longest_interval if row is None else self._interval // 2
        self._interval = max(1, min(2 * self._interval, most))
        self._wait(ls, worked)
        return None if row is None else self._added.with_row(ls, row)

    def _wait(self, ls: Learner, worked: int) -> bool:
        """Set when the next program is due; whether all so far are paid for.

        It is looked at again after `longest_interval` conflicts: solutions and bounds change the share.
        """
        conflicts = int(ls.scalar[CONFLICTS])
        owed = max(0, int((self.spent - self._rules.free) / self._share(ls)) - worked)
        until_paid = min(self._rules.longest_interval, 1 + owed * (1 + conflicts) // (1 + worked))
        ls.scalar[CONSULT_AT] = conflicts + max(self._interval, until_paid)
        return owed == 0

    def _ask(self, lower: Ints, upper: Ints, is_root: bool = False) -> DualProof | None:
        """The row that dual multipliers prove within bounds of the columns; None after too many pivots."""
        program, enough = self._program, None
        if self._cost is not None:
            enough = 1 + (int(upper[self._cost]) if self._sign > 0 else -int(lower[self._cost]))
        cost, most = program.cost_of_program, DEFAULT.relaxation.cost_of_program
        price = max(STEPS_OF_PIVOT * cost // most, STEPS_OF_MICROSECOND * program.cost_of_pivot)
        outcome = program.solve(
            lower, upper, enough, EVER if is_root else max(1, self._rules.most_of_look // price)
        )
        self.spent += STEPS_OF_PROGRAM * cost // most + program.iterations * price
        if outcome == INFEASIBLE:
            return program.refutation(lower, upper)
        return program.bound(lower, upper) if outcome == OPTIMAL and self._cost is not None else None

    def _share(self, ls: Learner) -> float:
        """The share of the work that linear programs may take, relative to the search itself."""
        if not ls.scalar[HAS_SOLUTION] or self._cost is None:
            return 1.0
        gap = -int(ls.root[self._goal ^ 1]) - self._trivial
        closed = (self._proven - self._trivial) / max(1, gap)
        rules = self._rules
        by_gap = float(min(1.0, closed) ** rules.steep)
        return max(rules.least_share, by_gap, self._acted)


def _column(numbers: Sequence[int]) -> Ints:
    return np.array(numbers, np.int64)


def _acts(ls: Learner, row: AddedRow) -> bool:
    """Whether a row is violated at the present node, or narrows it."""
    bound = np.asarray(ls.bound, np.int64)
    low, high = bound[row.bounds], -bound[row.bounds ^ 1]
    room = row.limit - int((row.factors * low).sum())
    return room < 0 or bool((row.factors * (high - low) > room).any())
