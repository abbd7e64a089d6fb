"""Branch and bound guided by a linear relaxation: bounds prune, reduced costs fix, its point decides.

At each node the linear program is solved between the bounds that propagation left. What it proves holds in
integers (`relaxation.program`): that there is no better solution below the node, that the goal is at least
so much, that a column stays at its bound in every better solution. Where its point lies within what is left
of the domains it is followed without solving again; elsewhere a column that is fractional there is decided.
Without an objective, nodes whose program has no point fail, and the points lead to a first solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from constrint.engine.fixpoint import clear
from constrint.engine.select import choose_value
from constrint.preparing.branching import PLAIN
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchTask
from constrint.presolve import Root
from constrint.relaxation.column_bounds import ColumnBounds
from constrint.relaxation.cuts import cuts
from constrint.relaxation.highs import has_highs
from constrint.relaxation.lp_rows import LpRow, Relaxation, relaxed_or_reason
from constrint.relaxation.merging import Merging
from constrint.relaxation.point import Point
from constrint.relaxation.program import EVER, INFEASIBLE, INTERRUPTED, OPTIMAL, DualProof, RelaxationProgram
from constrint.relaxation.root_cuts import NEAR_INTEGER, RootCuts
from constrint.search.column_changes import by_reduced_costs, excluded
from constrint.search.decisions import write_decision
from constrint.search.depth_first import DepthFirstRun
from constrint.search.pseudo_costs import DOWN, UP, PseudoCosts, Refuted
from constrint.store.domains import contains, set_hi, set_lo
from constrint.store.state import (
    ASKED_FROM,
    AT_LEAST,
    AT_MOST,
    BACKTRACK,
    BOUND,
    DESCEND,
    EQUAL,
    FAILURES,
    HAS_BOUND,
    LEVEL,
    PHASE,
    PROPAGATE,
    TO_DECIDE,
    State,
)
from constrint.support.long_numbers import counted, written

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class RelaxedRun(DepthFirstRun):
    """One search led by a relaxation, resumable after each solution.

    Attributes:
        allowed: Units of work after which `next` pauses, or None; a little more may be spent.
        bound: The relaxation's bound of the goal at the root, or None.
        is_root_open: Whether the relaxation of the root is not solved yet, with its cuts.
        may_give_up: Whether to give up if that is no more than propagation proves; without a goal, if few
            programs of many refute their node.
    """

    def __init__(self, task: SearchTask, relaxation: Relaxation) -> None:
        goal = task.goal
        self.finder = "relaxation"
        self.allowed: int | None = None
        self.bound: int | None = None
        self.may_give_up = False
        self._gives_up = False
        super().__init__(task)
        self._state.scalar[ASKED_FROM] = 0
        columns = relaxation.columns
        self._goal: int | None = None
        self._cost: int | None = None
        self._sign, self._known = 1, 0
        if goal is not None:
            self._goal = goal[0]
            self._cost = next(iter(columns.of(goal[0]).terms))
            self._sign = 1 if goal[1] == "min" else -1
            self._known = self._sign * known_bound(task.prepared, task.root, goal)
        self._relaxation = relaxation
        self._bounds = ColumnBounds(columns, self._state)
        favoured = [
            v >= 0 and value is None for v, value in zip(columns.variable, columns.value, strict=True)
        ]
        self._program = RelaxationProgram(
            relaxation.rows,
            len(columns.variable),
            self._cost,
            self._sign,
            relaxation.rules,
            relaxation.start(),
            Merging(relaxation.rows, len(columns.variable), self._cost, favoured),
        )
        self._column = {
            v: i for i, (v, x) in enumerate(zip(columns.variable, columns.value, strict=True)) if x is None
        }
        self._free_columns = np.array([v < 0 for v in columns.variable], bool)
        self._root_cuts: RootCuts | None = None
        if self._cost is not None:
            deadline = None if task.options.engine == "interpreted" else task.deadline
            self._root_cuts = RootCuts(relaxation, self._cost, self._sign, deadline)
        self._rounds_of_root = self._relaxation.rules.cut_rounds_of_root
        self.is_root_open = True
        self._has_cleared = False  # whether cuts on which the root's optimum does not lie are removed
        self._optimum: NDArray[np.float64] | None = None  # the last one, at any node
        self._has_point = False
        self._is_stated = False  # whether the program of the root is solved
        self._solved = self._refuted = 0  # programs of nodes
        self._least = 0.0  # the bound at the last optimum
        self._costs = PseudoCosts(self._program, len(columns.variable), relaxation.rules)

    def facts(self) -> str:
        """Its state in a line for people."""
        rows, cuts = len(self._program.rows), len(self._program.rows) - len(self._relaxation.rows)
        bound = "" if self.bound is None else f", bound {written(self.bound)} at the root"
        return (
            f"{counted(rows, 'row')}, {cuts:,} of them cuts; {counted(self._solved, 'program')} solved{bound}"
        )

    @property
    def stated(self) -> tuple[Relaxation, Sequence[LpRow]] | None:
        """The relaxation, and its rows with all cuts, which hold in every solution; None before a bound.

        Without an objective, None until many of many programs have refuted their node: elsewhere its rows
        have led learning away from first solutions.
        """
        if not self._is_stated or (self._goal is None and not self._is_judged(True)):
            return None
        return self._relaxation, self._program.rows

    @property
    def point(self) -> Point | None:
        """Variable values at the last optimum of the relaxation; None before the first."""
        return None if self._optimum is None else Point(self._relaxation.columns, self._optimum.tolist())

    def _limit(self) -> Outcome | None:
        if self._gives_up:
            return Outcome.GAVE_UP
        if self.allowed is not None and self.allowed <= 0:
            return Outcome.PAUSED
        return super()._limit()

    def _decide(self) -> None:
        """Solve the relaxation at the present node: prune, narrow, or take a decision."""
        state = self._state
        if not self._demand(state):
            self._fail(state)
            return
        lower, upper = self._bounds.read(state)
        if not self._is_inside(lower, upper):
            verdict = self._solve(state, lower, upper)
            if verdict is not None:
                if not verdict:
                    self._fail(state)
                return
        if not self._has_point or not self._branch(state, lower, upper):
            choose_value(state, int(state.scalar[LEVEL]), int(state.scalar[TO_DECIDE]))
            state.scalar[PHASE] = DESCEND

    def _demand(self, state: State) -> bool:
        """Require a better value than the best solution's; False where the node has none."""
        if not state.scalar[HAS_BOUND] or self._goal is None:
            return True
        bound = int(state.scalar[BOUND])
        if self._sign > 0:
            return set_hi(state, self._goal, min(bound, int(state.hi[self._goal])))
        return set_lo(state, self._goal, max(bound, int(state.lo[self._goal])))

    def _fail(self, state: State) -> None:
        clear(state)
        state.scalar[FAILURES] += 1
        state.scalar[PHASE] = BACKTRACK
        self._has_point = False

    def _is_inside(self, lower: Ints, upper: Ints) -> bool:
        """Whether the last optimum lies within the bounds, so that it is one here, too."""
        if not self._has_point:
            return False
        point = self._program.point
        return bool(((point >= lower - NEAR_INTEGER) & (point <= upper + NEAR_INTEGER)).all())

    def _solve(self, state: State, lower: Ints, upper: Ints) -> bool | None:
        """Solve here: None to decide next, False where nothing is left.

        True where domains were narrowed, or where the turn is over before the program is solved.
        """
        program = self._program
        self._has_point = False
        is_root = int(state.scalar[LEVEL]) == 0
        rules = self._relaxation.rules
        rounds = self._rounds_of_root if is_root else rules.cut_rounds
        while True:
            outcome = program.solve(lower, upper, most=self._most_pivots())
            self._pay()
            if outcome == INTERRUPTED:
                return True  # it goes on in the next turn
            self._solved += 1
            if outcome == INFEASIBLE:
                self.is_root_open = False
                proof = program.refutation(lower, upper)
                self._refuted += proof is not None
                if is_root and proof is not None and self.allowed is not None:
                    self.allowed = max(1, self.allowed)  # the end needs no further turn
                return None if proof is None else False
            if outcome != OPTIMAL:
                self.is_root_open = False
                return None
            self._optimum = program.point
            added = cuts(self._relaxation, program.point) if rounds > 0 else []
            if not added and is_root:
                added = self._rounded()
            if not added:
                break
            program.add(added)
            rounds -= 1
            if is_root:
                self._rounds_of_root = rounds
                if self.allowed is not None and self.allowed <= -rules.overdraft:
                    return True
        self.is_root_open = False
        self._has_point = True
        if self._goal is None:
            self._is_stated = True
            self._gives_up = self.may_give_up and self._is_judged(False)
            return None
        proof = program.bound(lower, upper)
        if proof is None:
            return None
        least = -(-proof.least // proof.scale)
        self._least = proof.least / proof.scale
        self._costs.note(self._least)
        if is_root:
            self.bound, self._is_stated = self._sign * least, True
            if not self._has_cleared:
                self._has_cleared = True
                program.drop_slack(len(self._relaxation.rows))
            program.tell_basis()
            if self.may_give_up and least <= self._known:
                self._gives_up = True  # cuts are separated at the root: below it, few new ones are violated
                return True
        return self._narrow(state, proof, least, lower, upper)

    def _pay(self) -> None:
        """Count the work of the last program."""
        if self.allowed is not None:
            program = self._program
            pivots = program.iterations * program.cost_of_pivot
            self.allowed -= program.cost_of_program + len(program.point) // 2 + pivots

    def _most_pivots(self) -> int:
        """The pivots that the next program may take."""
        if self.allowed is None:
            return EVER
        rules = self._relaxation.rules
        return max(rules.least_pivots, (self.allowed + rules.overdraft) // self._program.cost_of_pivot)

    def _rounded(self) -> list[LpRow]:
        """Cuts by rounding at the root; none once they raise the bound too little."""
        if self._root_cuts is None:
            return []
        before = self._root_cuts.work
        found = self._root_cuts.next_round(self._program.point)
        if self.allowed is not None:
            self.allowed -= self._root_cuts.work - before
        return found

    def _is_judged(self, refutes: bool) -> bool:
        """Whether many programs are solved, and whether many of them refuted their node is as said."""
        rules = self._relaxation.rules
        has_refuted = self._refuted >= rules.share_of_refuted * self._solved
        return self._solved >= rules.trial_of_points and has_refuted == refutes

    def _narrow(self, state: State, proof: DualProof, least: int, lower: Ints, upper: Ints) -> bool | None:
        """Narrow the goal by its bound, and columns by their reduced costs; returns as `_solve`."""
        goal = self._goal
        assert goal is not None
        low = max(int(state.lo[goal]), least) if self._sign > 0 else int(state.lo[goal])
        high = int(state.hi[goal]) if self._sign > 0 else min(int(state.hi[goal]), -least)
        if low > high:
            return False
        changed = low > int(state.lo[goal]) or high < int(state.hi[goal])
        if not (set_lo(state, goal, low) and set_hi(state, goal, high)):
            return False
        # Every better solution has scale * cost <= most, and so little room for a column away from its end.
        most = proof.scale * (int(state.hi[goal]) if self._sign > 0 else -int(state.lo[goal]))
        room = most - proof.least
        narrowed = by_reduced_costs(state, self._bounds, proof.reduced, room, (lower, upper), self._cost)
        if narrowed is None:
            return False
        if not narrowed and not changed:
            return None
        state.scalar[PHASE] = PROPAGATE
        return True

    def _branch(self, state: State, lower: Ints, upper: Ints) -> bool:
        """Take a decision that the optimum suggests, or narrow the node; False where it suggests none."""
        point = self._program.point
        away = np.abs(point - np.rint(point))
        away[self._free_columns] = 0
        fractional = np.flatnonzero((away > NEAR_INTEGER) & (upper > lower))
        if self._cost is not None:
            fractional = fractional[fractional != self._cost]
        level = int(state.scalar[LEVEL])
        if len(fractional):
            chosen = self._choose(state, fractional, lower, upper)
            if isinstance(chosen, Refuted):
                change = excluded(state, self._bounds, chosen)
                if change is None:
                    self._fail(state)
                    return True
                if change:
                    state.scalar[PHASE] = PROPAGATE
                    return True
                chosen = chosen.column  # its value cannot be removed: the decision is refuted by search
            return self._decide_column(state, level, chosen, float(point[chosen]))
        for v in state.branch:
            if state.lo[v] != state.hi[v]:
                at = self._column.get(int(v))
                if at is None:
                    continue
                return self._approach(state, level, int(v), round(float(point[at])))
        return False

    def _choose(self, state: State, fractional: Ints, lower: Ints, upper: Ints) -> int | Refuted:
        """The column to decide, or a side of one that is refuted."""
        if self._goal is None:
            return int(fractional[np.argmax(self._costs.scores(fractional, self._program.point))])
        most = int(state.hi[self._goal]) if self._sign > 0 else -int(state.lo[self._goal])
        return self._costs.choose(fractional, self._least, most, (lower, upper), self._solved, self._pay)

    def _decide_column(self, state: State, level: int, column: int, at: float) -> bool:
        v = int(self._bounds.variable[column])
        if self._bounds.is_member[column]:
            self._costs.decided(column, UP, 1 - at, self._least)
            return self._approach(state, level, v, int(self._bounds.value[column]))
        below = int(np.floor(at))
        if at - below > 0.5:
            self._costs.decided(column, UP, below + 1 - at, self._least)
            return write_decision(state, level, v, AT_LEAST, below + 1)
        self._costs.decided(column, DOWN, at - below, self._least)
        return write_decision(state, level, v, AT_MOST, below)

    def _approach(self, state: State, level: int, v: int, value: int) -> bool:
        """Decide that a variable has a value, or lies on its side."""
        low, high = int(state.lo[v]), int(state.hi[v])
        if value <= low:
            return write_decision(state, level, v, AT_MOST, low)
        if value >= high:
            return write_decision(state, level, v, AT_LEAST, high)
        if state.hole[v] >= 0 and contains(state, v, value):
            return write_decision(state, level, v, EQUAL, value)
        return write_decision(state, level, v, AT_LEAST, value)


def known_bound(prepared: Prepared, root: Root, goal: tuple[int, str]) -> int:
    """The bound of a goal by propagation alone; a relaxation may have narrowed the root since."""
    box = root.box if prepared.root is None else prepared.root.box
    return box.lo[goal[0]] if goal[1] == "min" else box.hi[goal[0]]


def relaxed_run(task: SearchTask) -> RelaxedRun | str:
    """A search guided by a relaxation; a text says why there is none, or none that bounds the goal."""
    if not has_highs():
        return "HiGHS is not installed, or in a version that clashes with OR-Tools"
    relaxation = relaxed_or_reason(task.root)
    if isinstance(relaxation, str):
        return relaxation
    if task.goal is not None and not relaxation.is_about(task.goal[0]):
        return f"none of {len(relaxation.rows):,} linear rows is about what is optimised"
    options = replace(task.options, brancher=PLAIN, restarts=None, lns=False)
    return RelaxedRun(task._replace(options=options), relaxation)
