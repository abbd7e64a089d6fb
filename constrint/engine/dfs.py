"""Depth-first search with an explicit stack of decisions, so that it can pause and resume at any node.

A node is a fixpoint and a decision. The left branch of a decision opens a level. When that branch is
exhausted, the level is undone, and the opposite of the decision holds at the level below.
"""

from __future__ import annotations

from constrint.engine.fixpoint import FAILED, INTERRUPTED, STABLE, clear, enqueue_all, fixpoint
from constrint.engine.nogoods import apply, deny, keep_nogoods
from constrint.engine.ranking import select_ranked
from constrint.engine.select import choose_value, learn_scores, select_variable
from constrint.engine.stale import mark_trailed
from constrint.store.domains import fix, pop_level, push_level, set_hi, set_lo
from constrint.store.state import (
    ASK,
    ASKED_FROM,
    BACKTRACK,
    BOUND,
    CHANGED,
    CULPRIT,
    CUT,
    DESCEND,
    EXHAUSTED,
    FAILURE_LIMIT,
    FAILURES,
    FLOOR,
    FULL,
    GOAL,
    GOAL_VARIABLE,
    GUIDED,
    HAS_BOUND,
    HAS_PHASE,
    HUGE,
    LEAVES,
    LEVEL,
    NEEDS_BOUND,
    NODES,
    NOGOODS,
    NOTED,
    PATIENCE,
    PAUSED,
    PHASE,
    PROPAGATE,
    PROPAGATIONS,
    RECORDING,
    REFUTED,
    RELAX,
    RESTART,
    SOLUTION,
    SPENT,
    STALE,
    TO_DECIDE,
    TRAIL,
    UNBOUNDED,
    WEIGHING,
    WORD_TRAIL,
    State,
    compilable,
)

# A node that takes more than CREEPING times the patience, with bounds still moving, has creeping bounds.
CREEPING = 10


@compilable
def has_room(st: State) -> bool:
    """Whether the trails and the level stack have space for one more level, whatever it changes."""
    scalar = st.scalar
    return (
        scalar[TRAIL] + len(st.lo) <= len(st.trail_variable)
        and scalar[WORD_TRAIL] + len(st.words) <= len(st.trail_word)
        and scalar[LEVEL] + 1 < len(st.level_trail)
        # Each refutation before the next check leaves a level.
        and (scalar[RECORDING] == 0 or scalar[REFUTED] + scalar[LEVEL] + 2 < len(st.refuted_variable))
    )


@compilable
def tighten_goal(st: State) -> bool:
    """Require an objective better than the best solution's."""
    scalar = st.scalar
    if scalar[HAS_BOUND] == 0:
        return True
    if scalar[GOAL] == 1:
        return set_hi(st, scalar[GOAL_VARIABLE], scalar[BOUND])
    return set_lo(st, scalar[GOAL_VARIABLE], scalar[BOUND])


@compilable
def note_refuted(st: State, level: int) -> None:
    """Record that the subtree below the decision of a level is exhausted."""
    top = st.scalar[REFUTED]
    st.refuted_variable[top] = st.level_variable[level]
    st.refuted_decision[top] = st.level_decision[level]
    st.refuted_value[top] = st.level_value[level]
    st.refuted_level[top] = level
    st.scalar[REFUTED] = top + 1


@compilable
def leave(st: State) -> int:
    """Undo the deepest level; returns its number."""
    scalar = st.scalar
    level = scalar[LEVEL] - 1
    if scalar[LEAVES] > 0:
        mark_trailed(st, st.level_trail[level])
    pop_level(st, level)
    scalar[LEVEL] = level
    if scalar[RECORDING] == 1:
        scalar[REFUTED] = st.level_refuted[level]
    return level


@compilable
def backtrack(st: State) -> bool:
    """Leave the deepest left branch for its right branch; False if there is none."""
    scalar = st.scalar
    while scalar[LEVEL] > scalar[FLOOR]:
        level = leave(st)
        if scalar[RECORDING] == 1:
            note_refuted(st, level)
        if tighten_goal(st) and deny(
            st, st.level_variable[level], st.level_decision[level], st.level_value[level]
        ):
            if st.level_creeps[level] == 1:
                # The node was left before its fixpoint, and its queue was cleared.
                enqueue_all(st)
            return True
        clear(st)
    return False


@compilable
def descend(st: State) -> None:
    """Open a level and apply the decision that is written in it."""
    scalar = st.scalar
    level = scalar[LEVEL]
    push_level(st, level)
    st.level_refuted[level] = scalar[REFUTED]
    scalar[LEVEL] = level + 1
    scalar[PHASE] = PROPAGATE
    if not apply(st, st.level_variable[level], st.level_decision[level], st.level_value[level]):
        clear(st)
        scalar[FAILURES] += 1
        scalar[PHASE] = BACKTRACK


@compilable
def back_to_root(st: State) -> bool:
    """Leave all levels and queue every propagator; False if no better solution is left there."""
    scalar = st.scalar
    clear(st)
    while scalar[LEVEL] > 0:
        leave(st)
    scalar[FLOOR] = 0
    scalar[SPENT] = 0
    scalar[PHASE] = PROPAGATE
    enqueue_all(st)
    return tighten_goal(st)


@compilable
def relax(st: State) -> bool:
    """From the root, fix the variables to keep to their values in the best solution; False if impossible.

    Search then stays above that level; if nothing is kept, it covers the whole tree.
    """
    scalar = st.scalar
    if not back_to_root(st):
        return False
    for i in range(len(st.keep)):
        if st.keep[i] == 1:
            if scalar[LEVEL] == 0:
                push_level(st, 0)
                st.level_refuted[0] = scalar[REFUTED]
                scalar[LEVEL] = 1
                scalar[FLOOR] = 1
            if not fix(st, st.branch[i], st.phase[i]):
                return False
    return True


@compilable
def resume(st: State) -> int:
    """Do what the phase says, up to the next fixpoint.

    Returns PAUSED, or CUT or EXHAUSTED for `run` to return.
    """
    scalar = st.scalar
    phase = scalar[PHASE]
    if phase == DESCEND:
        descend(st)
    elif phase == RESTART and not back_to_root(st):
        return EXHAUSTED
    elif phase == RELAX and not relax(st):
        clear(st)
        return EXHAUSTED
    if scalar[PHASE] == BACKTRACK:
        if not backtrack(st):
            return EXHAUSTED
        scalar[PHASE] = PROPAGATE
        if scalar[FAILURE_LIMIT] > 0 and scalar[FAILURES] >= scalar[FAILURE_LIMIT]:
            return CUT
    return PAUSED


@compilable
def propagate(st: State, budget: int) -> int:
    """Propagate constraints and nogoods to a fixpoint."""
    while True:
        outcome = fixpoint(st, budget)
        if outcome != STABLE or st.scalar[NOGOODS] == 0:
            return outcome
        if not keep_nogoods(st):
            st.scalar[CULPRIT] = -1
            clear(st)
            return FAILED
        if st.scalar[CHANGED] == 0:
            return STABLE


@compilable
def note_solution(st: State) -> None:
    """Store the values of the solution, to search near them."""
    for i in range(len(st.branch)):
        st.phase[i] = st.lo[st.branch[i]]
    st.scalar[HAS_PHASE] = 1


@compilable
def is_unbounded(st: State, v: int) -> bool:
    """Whether a domain has no finite bound to branch on."""
    return st.lo[v] <= -st.scalar[HUGE] or st.hi[v] >= st.scalar[HUGE]


@compilable
def decide(st: State, i: int, creeps: bool) -> int:
    """Decide on an entry of `branch`; returns PAUSED, or the obstacle: NEEDS_BOUND, FULL or ASK."""
    scalar = st.scalar
    v = st.branch[i]
    if is_unbounded(st, v):
        scalar[UNBOUNDED] = v
        return NEEDS_BOUND
    if not has_room(st):
        return FULL
    level = scalar[LEVEL]
    st.level_creeps[level] = 1 if creeps else 0
    if scalar[ASKED_FROM] >= 0 and i >= scalar[ASKED_FROM]:
        scalar[TO_DECIDE] = i
        return ASK
    choose_value(st, level, i)
    descend(st)
    return PAUSED


@compilable
def run(st: State, nodes: int, propagations: int) -> int:
    """Search until a solution, the end, or a limit; the state then is at a node boundary.

    Args:
        st: The state; a later call continues from it.
        nodes: Pause after this many nodes.
        propagations: Pause a fixpoint after this many propagations, and before a node if this call has made
            as many.

    Returns:
        SOLUTION (the branch variables are fixed), EXHAUSTED, PAUSED, FULL (the trails must grow), NEEDS_BOUND
        (scalar[UNBOUNDED] cannot be branched on), CUT (the failure limit is reached), or ASK (the caller must
        write a decision into the level, with phase DESCEND).
    """
    scalar = st.scalar
    begun = scalar[PROPAGATIONS]
    scalar[STALE] = -1  # the caller may have changed anything
    while True:
        if scalar[PHASE] != PROPAGATE:
            outcome = resume(st)
            if outcome != PAUSED:
                return outcome
            if scalar[PHASE] == BACKTRACK:
                continue
        if nodes <= 0 or scalar[PROPAGATIONS] - begun >= propagations:
            return PAUSED
        before = scalar[PROPAGATIONS]
        budget = propagations
        if scalar[SPENT] == 0:
            scalar[NOTED] = scalar[TRAIL]
        if scalar[SPENT] < scalar[PATIENCE]:
            budget = min(budget, scalar[PATIENCE] - scalar[SPENT])
        outcome = propagate(st, budget)
        scalar[SPENT] += scalar[PROPAGATIONS] - before
        i = -1
        if outcome == INTERRUPTED:
            if scalar[SPENT] < scalar[PATIENCE]:
                return PAUSED
            i = select_ranked(st) if scalar[LEAVES] > 0 else select_variable(st)
            if i < 0:
                return PAUSED
            if is_unbounded(st, st.branch[i]) and scalar[SPENT] < CREEPING * scalar[PATIENCE]:
                return PAUSED
        scalar[SPENT] = 0
        nodes -= 1
        scalar[NODES] += 1
        if scalar[WEIGHING] != 0:
            learn_scores(st, outcome == FAILED)
        if outcome == FAILED:
            scalar[FAILURES] += 1
            scalar[PHASE] = BACKTRACK
            continue
        if outcome != INTERRUPTED:
            i = select_ranked(st) if scalar[LEAVES] > 0 else select_variable(st)
        if i < 0:
            scalar[PHASE] = BACKTRACK
            if scalar[GUIDED] == 1:
                note_solution(st)
            return SOLUTION
        outcome = decide(st, i, outcome == INTERRUPTED)
        if outcome != PAUSED:
            return outcome
