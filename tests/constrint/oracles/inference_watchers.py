"""Watchers of searches: after every step, what was inferred leaves every solution that is still wanted."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
from known_solutions import TALLY, Solutions, Wrong

from constrint.learning.clause_exchange import exchange_clauses
from constrint.learning.explain import explain
from constrint.learning.layout import (
    ARENA,
    AT_MOST,
    BY_CLAUSE,
    DECISION,
    HEAD_CELLS,
    LEARNED,
    PREMISES,
    SIZE,
    TRAIL,
    Learner,
)
from constrint.learning.session import LearningRun
from constrint.preparing.branching import Brancher
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.restart_rules import Restarts
from constrint.preparing.search_protocol import Outcome, Search, SearchTask
from constrint.presolve import Root
from constrint.relaxation.lp_rows import LpRow, Relaxation, relaxed
from constrint.relaxation.program import OPTIMAL, RelaxationProgram
from constrint.search.depth_first import DepthFirstRun
from constrint.search.relaxed import RelaxedRun
from constrint.search.weights import on_domains
from constrint.store.domains import contains
from constrint.store.state import AT_LEAST, BACKTRACK, FLOOR, HAS_BOUND, PHASE, State
from constrint.store.state import AT_MOST as DECIDE_AT_MOST
from constrint.store.state import LEVEL as DEPTH

INTERPRETED = Options(engine="interpreted", learn=True)
MOST_CHECKS = 800  # at one search


def _over(known: Solutions, search: Search, value: Any) -> None:
    """Note a solution, or the end: none that is wanted is left then."""
    if value is None:
        if known.wanted.any():
            raise Wrong(f"{type(search).__name__} ends before {known.rows[known.wanted][0].tolist()}")
        return
    numbers = search.prepared.variables
    values = np.array([[v, value[x]] for x, v in numbers.items()], np.int64).reshape(-1, 2)
    if not (known.rows[:, values[:, 0]] == values[:, 1]).all(axis=1).any():
        raise Wrong(f"{type(search).__name__} finds {value}, which is no solution")
    if known.goal is None:
        known.want_better(None)
        return
    found = search.value(known.goal[0])
    sign = 1 if known.goal[1] == "min" else -1
    if sign * found not in known.costs[known.wanted]:
        raise Wrong(f"{type(search).__name__} finds a solution of {found}, which is none or was not wanted")
    known.want_better(found)


# ---------------------------------------------------------------- learning


class _Learning:
    """Looks at one learning search."""

    def __init__(self, run: LearningRun, known: Solutions, rng: Random) -> None:
        self.run, self.known, self.rng = run, known, rng
        self._mark = (0, 0)
        self._seen: set[frozenset[tuple[int, int]]] = set()
        self._trail: list[tuple[int, int, int]] = []
        self._rows = len(run._ls.kind)
        self._kinds = run._ls.kind

    def check(self) -> None:
        """Check all that is new."""
        known, ls = self.known, self.run._ls
        holds = (known.bounds[:, : len(ls.root)] >= np.array(ls.root)).all(axis=1)
        known.wanted_hold(holds, "root bound")  # type: ignore[arg-type]
        self._clauses()
        self._added_rows()
        self._explanations()

    def _clauses(self) -> None:
        """Each new clause leaves what is wanted; those that stay move when others are dropped."""
        ls, scalar = self.run._ls, self.run._ls.scalar
        mark = (int(scalar[ARENA]), int(scalar[LEARNED]))
        if mark == self._mark:
            return
        self._mark = mark
        at = 0
        while at < mark[0]:
            size = ls.arena[at + SIZE]
            cells = ls.arena[at + HEAD_CELLS : at + HEAD_CELLS + 2 * size]
            clause = tuple(zip(cells[::2], cells[1::2], strict=True))
            members = frozenset(clause)
            if members not in self._seen:
                self._seen.add(members)
                self.known.wanted_hold(self.known.clause(clause), f"clause {clause}")
            at += HEAD_CELLS + 2 * size

    def _added_rows(self) -> None:
        """Each new row leaves what is wanted: variables that are fixed at the root are part of its limit."""
        ls = self.run._ls
        if ls.kind is self._kinds:
            return
        self._kinds = ls.kind
        for p in range(self._rows, len(ls.kind)):
            assert ls.kind[p] == AT_MOST
            terms, factors = ls.term[ls.start[p] : ls.start[p + 1]], ls.factor[ls.start[p] : ls.start[p + 1]]
            total = self.known.bounds[:, terms] @ np.array(factors, np.int64)
            self.known.wanted_hold(total <= ls.limit[p], f"dual-row {terms} {factors} <= {ls.limit[p]}")

    def _explanations(self) -> None:
        """Each new entry of the trail follows from its premises."""
        ls, st, scalar = self.run._ls, self.run._state, self.run._ls.scalar
        top = int(scalar[TRAIL])
        now = list(zip(ls.trail_bound[:top], ls.trail_new[:top], ls.trail_why[:top], strict=True))
        same = 0
        while same < min(top, len(self._trail)) and now[same] == self._trail[same]:
            same += 1
        self._trail = now
        for at in range(same, top):
            b, new, why = now[at]
            if why == DECISION:
                if ls.trail_level[at] == 0:
                    self.known.wanted_hold(self.known.true((b, new)), f"unit {(b, new)}")
                continue
            for k in {new, self.rng.randint(ls.trail_old[at] + 1, new)}:
                explain(ls, st, b, k, why, at)
                count = scalar[PREMISES]
                premises = np.array([ls.premise_bound[:count], ls.premise_at[:count]], np.int64).T
                met = (self.known.bounds[:, premises[:, 0]] >= premises[:, 1]).all(axis=1)
                self.known.wanted_hold(
                    ~met | self.known.true((b, k)),
                    f"{_kind(ls, why)} of {(b, k)} by {premises.tolist()} ({why})",
                )


def _kind(ls: Learner, why: int) -> str:
    """What makes an explanation."""
    return "explanation:" + ("clause" if why & 3 == BY_CLAUSE else _KINDS[ls.kind[why >> 2]])


# By number.
_KINDS = ("sum", "disequality", "resource", "propagator", "circuit", "extreme", "open-resource", "distinct")


def watch_learning(prepared: Prepared, root: Root, known: Solutions, rng: Random, step: int) -> None:
    """Watch two learning searches that exchange clauses, or one that asks a relaxation."""
    goal = known.goal
    runs = []
    relaxation = relaxed(root) if rng.random() < 0.7 else None
    has_relaxation = relaxation is not None and (goal is None or relaxation.is_about(goal[0]))
    for seed in range(1 if has_relaxation else 2):
        options = Options(engine="interpreted", learn=True, seed=seed)
        run = LearningRun(
            SearchTask(prepared, root, options, perf_counter(), goal), exchanges=not has_relaxation
        )
        runs.append(run)
        if has_relaxation and relaxation is not None and len(run._ls.root):
            run.consult(relaxation, relaxation.rows)
    watchers = [_Learning(run, known, rng) for run in runs]
    known.wanted[:] = True
    for number in range(MOST_CHECKS):
        for run, watcher in zip(runs, watchers, strict=True):
            run.allowed = step
            ended = run.next(checked=False)
            if ended.outcome is Outcome.PAUSED:
                watcher.check()
                continue
            found = ended.found
            _over(known, run, found)
            if found is None or goal is None:
                return
            for other in runs:
                other.demand_better(run.value(goal[0]))
            watcher.check()
        if number % 16 == 15:
            exchange_clauses(runs)


# ---------------------------------------------------------------- trees


def _look_at_node(state: State, known: Solutions, what: str) -> None:
    """At a node, every solution that is wanted and meets the decisions in force is left in the domains."""
    scalar = state.scalar
    if scalar[PHASE] == BACKTRACK or scalar[FLOOR] > 0:
        return
    left = known.wanted.copy()
    TALLY[f"node:{what}"] += 1
    for level in range(scalar[DEPTH]):
        v, value = state.level_variable[level], state.level_value[level]
        decision, column = state.level_decision[level], known.rows[:, state.level_variable[level]]
        if decision == DECIDE_AT_MOST:
            left &= column <= value
        elif decision == AT_LEAST:
            left &= column >= value
        else:
            left &= column == value
    if scalar[HAS_BOUND] == 0 and known.goal is not None and not known.wanted.all():
        return  # it has not been told of the best solution yet
    for row in known.rows[left]:
        for v, value in enumerate(row.tolist()):
            if not contains(state, v, value):
                raise Wrong(f"{what}: variable {v} has lost {value} of {row.tolist()}")


def watch_branching(prepared: Prepared, root: Root, known: Solutions, rng: Random) -> None:
    """Watch a plain search, with restarts and nogoods or without."""
    options = Options(engine="interpreted", learn=False, seed=rng.randrange(3))
    if rng.random() < 0.6:
        rule = rng.choice(["dom_w_deg", "activity", "auto", "first_fail"])
        options = Options(
            engine="interpreted",
            learn=False,
            restarts=Restarts("luby", 2),
            brancher=Brancher(rule, "auto"),  # type: ignore[arg-type]
        )
        most = root.settings.portfolio.most_matched
        root = replace(
            root, propagators=[on_domains(node, root.box, most) for node in root.propagators], settled=None
        )
    run = DepthFirstRun(SearchTask(prepared, root, options, perf_counter(), known.goal))
    _drive(run, known, "branching")


def watch_relaxation(prepared: Prepared, root: Root, known: Solutions, rng: Random) -> None:
    """Watch a search that a relaxation leads, and its rows, cuts and bounds."""
    relaxation = relaxed(root)
    if relaxation is None:
        return
    _check_rows(relaxation, relaxation.rows, known)
    if known.goal is not None and not relaxation.is_about(known.goal[0]):
        return
    options = Options(engine="interpreted", seed=rng.randrange(3))
    run = RelaxedRun(SearchTask(prepared, root, options, perf_counter(), known.goal), relaxation)
    _drive(run, known, "relaxation")
    added = run._program.rows[len(relaxation.rows) :]
    TALLY["cut"] += len(added)
    _check_rows(relaxation, added, known)


def _drive(run: DepthFirstRun, known: Solutions, what: str) -> None:
    """Run a search to its end, node by node."""
    known.wanted[:] = True
    for _ in range(MOST_CHECKS):
        if isinstance(run, RelaxedRun):
            run.allowed = 1
        else:
            run.turn_ends = run.node_count + 1
        step = run.next(checked=False)
        if step.outcome is Outcome.PAUSED:
            _look_at_node(run._state, known, what)
            if isinstance(run, RelaxedRun) and run.bound is not None and known.goal is not None:
                sign = 1 if known.goal[1] == "min" else -1
                known.wanted_hold(known.costs >= sign * run.bound, f"{what}-bound {run.bound}")
            continue
        if step.outcome is Outcome.GAVE_UP:
            return
        found = step.found
        _over(known, run, found)
        if found is None or known.goal is None:
            return


def _check_rows(relaxation: Relaxation, rows: list[LpRow], known: Solutions) -> None:
    """Rows hold in every solution, for some choice of the columns that belong to no variable."""
    columns = relaxation.columns
    free = [j for j, v in enumerate(columns.variable) if v < 0]
    values = np.zeros((len(known.rows), len(columns.variable)), np.int64)
    for j, (v, value) in enumerate(zip(columns.variable, columns.value, strict=True)):
        if v >= 0:
            values[:, j] = known.rows[:, v] if value is None else known.rows[:, v] == value
    chosen = [row for row in rows if any(j in row.terms for j in free)]
    for row in rows:
        if row not in chosen:
            total = values[:, list(row.terms)] @ np.array(list(row.terms.values()), np.int64)
            _between(known, total, row)
    if chosen:
        for solution, column in zip(known.rows, values, strict=True):
            program = RelaxationProgram(chosen, len(columns.variable), 0, 1)
            lower, upper = column.copy(), column.copy()
            lower[free], upper[free] = 0, 1
            # The cost's own bounds are left out of a program: they are a row here.
            program.add([LpRow({0: 1}, int(lower[0]), int(upper[0]))])
            if program.solve(lower, upper) != OPTIMAL:
                raise Wrong(f"rows of tables rule out {solution.tolist()}")


def _between(known: Solutions, total: np.ndarray[Any, Any], row: LpRow) -> None:
    if row.low is not None:
        known.all_hold(total >= row.low, f"relaxed-row {row}")
    if row.high is not None:
        known.all_hold(total <= row.high, f"relaxed-row {row}")
