"""The main loop: propagate, learn or decide, until a solution, the end, or a pause for the caller."""

from __future__ import annotations

from constrint.learning.analyse import learn
from constrint.learning.circuits import keep_circuit
from constrint.learning.clauses import pass_on, reduce
from constrint.learning.decide import decide
from constrint.learning.distinct import keep_distinct
from constrint.learning.extremes import keep_extreme
from constrint.learning.generic import run_propagator
from constrint.learning.inbox import take_in
from constrint.learning.layout import (
    ARENA,
    AT_MOST,
    BROKEN,
    BUDGET,
    CIRCUIT,
    CONFLICTS,
    CONSULT,
    CONSULT_AT,
    DECISION,
    DIFFERENT,
    DISTINCT,
    EXHAUSTED,
    EXTREME,
    FAULT,
    FULL,
    HAS_SOLUTION,
    HEAD_CELLS,
    INBOX,
    KEEP,
    KEPT,
    LEVEL,
    LOG,
    MUST,
    MUST_TO,
    NEXT,
    NOTHING,
    OPEN_RESOURCE,
    PAUSED,
    PROPAGATIONS,
    QUEUE_HEAD,
    QUEUE_TAIL,
    RESOURCE,
    RESTART_AT,
    SOLUTION,
    TRAIL,
    WATCHES,
    Learner,
    learn_compilable,
)
from constrint.learning.linear import keep_at_most, keep_different
from constrint.learning.open_resource import keep_open_resource
from constrint.learning.resource import keep_resource
from constrint.learning.restarts import restart
from constrint.learning.trail import back_to, raise_bound, settle_root
from constrint.store.state import State

CONTRADICTION = 0
AT_REST = 1
INTERRUPTED = 2

CONFLICT_COST = 100  # cost of a conflict's analysis in the budget


@learn_compilable
def has_room(ls: Learner) -> bool:
    """Whether the arrays have space for whatever one propagator, conflict or decision adds."""
    scalar = ls.scalar
    most = len(ls.bound) + 2
    return (
        scalar[TRAIL] + 2 * most < len(ls.trail_bound)
        and scalar[ARENA] + HEAD_CELLS + 2 * most < len(ls.arena)
        and scalar[WATCHES] + 2 < len(ls.watch_next)
        and scalar[LOG] + 1 + 2 * most < len(ls.log)
        and scalar[LEVEL] + 2 < len(ls.level_start)
    )


@learn_compilable
def wake(ls: Learner, b: int) -> None:
    """Queue the propagators that depend on a bound."""
    scalar = ls.scalar
    queue = ls.queue
    queued = ls.queued
    wakes = ls.wake
    only_fixed = ls.wake_fixed
    capacity = len(queued)
    is_fixed = ls.bound[b] == -ls.bound[b ^ 1]
    for w in range(ls.wake_start[b], ls.wake_start[b + 1]):
        p = wakes[w]
        if queued[p] == 0 and (is_fixed or only_fixed[w] == 0):
            queued[p] = 1
            which = 0 if ls.kind[p] <= DIFFERENT else 1
            tail = scalar[QUEUE_TAIL + which]
            queue[which * capacity + tail % capacity] = p
            scalar[QUEUE_TAIL + which] = tail + 1


@learn_compilable
def propagate(ls: Learner, st: State) -> int:
    """Propagate to a fixpoint: AT_REST, CONTRADICTION, or INTERRUPTED, to be called again."""
    scalar = ls.scalar
    kinds = ls.kind
    queue = ls.queue
    queued = ls.queued
    capacity = len(kinds)
    most_entries = len(ls.trail_bound) - len(ls.bound) - 2
    while True:
        if scalar[TRAIL] >= most_entries or scalar[BUDGET] <= 0:
            return INTERRUPTED
        scalar[BUDGET] -= 1
        if scalar[NEXT] < scalar[TRAIL]:
            at = scalar[NEXT]
            scalar[NEXT] = at + 1
            b = ls.trail_bound[at]
            wake(ls, b)
            if not pass_on(ls, st, b, ls.trail_old[at], ls.trail_new[at]):
                return CONTRADICTION
            continue
        which = 0
        if scalar[QUEUE_HEAD] == scalar[QUEUE_TAIL]:
            which = 1
            if scalar[QUEUE_HEAD + 1] == scalar[QUEUE_TAIL + 1]:
                return AT_REST
        head = scalar[QUEUE_HEAD + which]
        p = queue[which * capacity + head % capacity]
        scalar[QUEUE_HEAD + which] = head + 1
        scalar[PROPAGATIONS] += 1
        queued[p] = 0
        kind = kinds[p]
        if kind == AT_MOST:
            scalar[BUDGET] -= (ls.start[p + 1] - ls.start[p]) >> 3
            holds = keep_at_most(ls, st, p)
        elif kind == DIFFERENT:
            holds = keep_different(ls, st, p)
        elif kind == RESOURCE:
            scalar[BUDGET] -= ls.start[p + 1] - ls.start[p]
            holds = keep_resource(ls, st, p)
        elif kind == DISTINCT:
            scalar[BUDGET] -= (ls.start[p + 1] - ls.start[p]) >> 2
            holds = keep_distinct(ls, st, p)
        elif kind == OPEN_RESOURCE:
            scalar[BUDGET] -= ls.start[p + 1] - ls.start[p]
            holds = keep_open_resource(ls, st, p)
        elif kind == CIRCUIT:
            scalar[BUDGET] -= ls.start[p + 1] - ls.start[p]
            holds = keep_circuit(ls, st, p)
        elif kind == EXTREME:
            scalar[BUDGET] -= (ls.start[p + 1] - ls.start[p]) // 8
            holds = keep_extreme(ls, st, p)
        else:
            holds = run_propagator(ls, st, p)
        if not holds:
            return CONTRADICTION


@learn_compilable
def note_solution(ls: Learner) -> None:
    """Store the values of the solution, to search near them."""
    for v in range(len(ls.best)):
        ls.best[v] = ls.bound[2 * v]
    ls.scalar[HAS_SOLUTION] = 1


@learn_compilable
def run(ls: Learner, st: State, budget: int) -> int:
    """Search until a solution, the end, the end of the budget, a consultation, or full arrays."""
    scalar = ls.scalar
    scalar[BUDGET] = budget
    if scalar[MUST] != NOTHING:
        if scalar[LEVEL] > 0:  # at the root, where search may have paused, queues are kept
            back_to(ls, 0)
        if not raise_bound(ls, st, scalar[MUST], scalar[MUST_TO], DECISION):
            return EXHAUSTED
        scalar[MUST] = NOTHING
    if scalar[INBOX] > 0 and scalar[LEVEL] > 0:
        back_to(ls, 0)
    while True:
        if not has_room(ls):
            return FULL
        if scalar[INBOX] > 0:
            if not take_in(ls, st):
                return EXHAUSTED
            continue
        outcome = propagate(ls, st)
        if scalar[FAULT] != 0:
            return BROKEN
        if outcome == INTERRUPTED:
            return PAUSED if has_room(ls) else FULL
        if outcome == CONTRADICTION:
            scalar[BUDGET] -= CONFLICT_COST
            if not learn(ls, st):
                return BROKEN if scalar[FAULT] != 0 else EXHAUSTED
            continue
        if scalar[LEVEL] == 0:
            settle_root(ls)
            if scalar[KEPT] > scalar[KEEP]:
                reduce(ls)
        if scalar[CONFLICTS] >= scalar[RESTART_AT] and scalar[LEVEL] > 0:
            restart(ls)
            continue
        if scalar[CONFLICTS] >= scalar[CONSULT_AT]:
            return CONSULT
        if not decide(ls, st):
            note_solution(ls)
            return SOLUTION
