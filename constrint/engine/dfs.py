"""Depth-first search with its decisions on an explicit stack, so that it can stop at any node and go on.

A node is a fixpoint and a decision. The left branch of a decision opens a level; when that is exhausted,
the level is undone and the opposite of the decision holds at the level below.
"""

from __future__ import annotations

from constrint.engine.fixpoint import FAILED, INTERRUPTED, clear, enqueue_all, fixpoint
from constrint.engine.state import (
    ANY_VALUE,
    AT_LEAST,
    AT_MOST,
    BACKTRACK,
    BOUND,
    EQUAL,
    EXHAUSTED,
    FAILURES,
    FULL,
    GOAL,
    GOAL_VARIABLE,
    GREATEST,
    HAS_BOUND,
    HUGE,
    LEAST,
    LEVEL,
    LOWER_HALF,
    NEEDS_BOUND,
    NODES,
    ORDERED,
    PATIENCE,
    PAUSED,
    PHASE,
    PROPAGATE,
    PROPAGATIONS,
    RANDOM,
    SOLUTION,
    SPENT,
    TRAIL,
    UNBOUNDED,
    WORD_TRAIL,
    State,
    kernel,
)
from constrint.engine.store import contains, fix, member_count, pop_level, push_level, remove, set_hi, set_lo

# Domains up to this wide are tried value by value, wider ones are halved; both in the order of the values.
ENUMERATED = 64
# Times the patience with a node after which bounds that still move are taken to creep without an end.
CREEPING = 10


@kernel
def has_room(st: State) -> bool:
    """Whether one more level fits the trails and the level stack, whatever it changes."""
    scalar = st.scalar
    return (
        scalar[TRAIL] + len(st.lo) <= len(st.trail_variable)
        and scalar[WORD_TRAIL] + len(st.words) <= len(st.trail_word)
        and scalar[LEVEL] + 1 < len(st.level_trail)
    )


@kernel
def select_variable(st: State) -> int:
    """Index into `branch` of the variable to decide next; -1 when all are fixed."""
    branch = st.branch
    lo = st.lo
    hi = st.hi
    step = st.step
    ordered = st.scalar[ORDERED]
    best = -1
    best_size = 0
    best_degree = 0
    for i in range(len(branch)):
        v = branch[i]
        width = hi[v] - lo[v]
        if width == 0:
            continue
        if i < ordered:
            return i
        size = member_count(st, v) if st.sparse[v] == 1 else width // step[v] + 1
        degree = st.degree[i]
        if best < 0 or size * best_degree < best_size * degree:
            best = i
            best_size = size
            best_degree = degree
    return best


@kernel
def draw(st: State, n: int) -> int:
    """A pseudo-random number below n, at most 2**31; the same in both engines."""
    state = (st.scalar[RANDOM] * 1103515245 + 12345) % 2147483648
    st.scalar[RANDOM] = state
    return (state >> 8) % n


@kernel
def choose_value(st: State, level: int, v: int, rule: int) -> None:
    """Write the decision for v into the level."""
    lo = st.lo[v]
    hi = st.hi[v]
    step = st.step[v]
    size = (hi - lo) // step + 1
    decision = AT_MOST
    value = lo
    if rule == ANY_VALUE:
        value = lo + draw(st, min(size, 8388608)) * step
        decision = EQUAL
        if st.hole[v] < 0 or not contains(st, v, value):
            decision = AT_MOST
            value = min(value, hi - step)
    elif rule == GREATEST:
        decision = AT_LEAST
        value = hi if size <= ENUMERATED else lo + (size + 1) // 2 * step
    elif rule == LEAST:
        value = lo if size <= ENUMERATED else lo + (size // 2 - 1) * step
    elif rule == LOWER_HALF:
        value = lo + (size // 2 - 1) * step
    else:
        decision = AT_LEAST
        value = lo + (size + 1) // 2 * step
    st.level_variable[level] = v
    st.level_decision[level] = decision
    st.level_value[level] = value


@kernel
def decide(st: State, level: int) -> bool:
    """Apply the decision of a level."""
    v = st.level_variable[level]
    value = st.level_value[level]
    decision = st.level_decision[level]
    if decision == AT_MOST:
        return set_hi(st, v, value)
    if decision == AT_LEAST:
        return set_lo(st, v, value)
    return fix(st, v, value)


@kernel
def refute(st: State, level: int) -> bool:
    """Apply the opposite of the decision of a level."""
    v = st.level_variable[level]
    value = st.level_value[level]
    decision = st.level_decision[level]
    if decision == AT_MOST:
        return set_lo(st, v, value + 1)
    if decision == AT_LEAST:
        return set_hi(st, v, value - 1)
    return remove(st, v, value)


@kernel
def tighten_goal(st: State) -> bool:
    """Demand an objective better than the best solution so far."""
    scalar = st.scalar
    if scalar[HAS_BOUND] == 0:
        return True
    if scalar[GOAL] == 1:
        return set_hi(st, scalar[GOAL_VARIABLE], scalar[BOUND])
    return set_lo(st, scalar[GOAL_VARIABLE], scalar[BOUND])


@kernel
def backtrack(st: State) -> bool:
    """Leave the deepest left branch for its right branch; False when none is left."""
    scalar = st.scalar
    while scalar[LEVEL] > 0:
        level = scalar[LEVEL] - 1
        pop_level(st, level)
        scalar[LEVEL] = level
        if tighten_goal(st) and refute(st, level):
            if st.level_creeps[level] == 1:
                # The node was left before its fixpoint, and its queue is gone.
                enqueue_all(st)
            return True
        clear(st)
    return False


@kernel
def run(st: State, nodes: int, propagations: int) -> int:
    """Search until a solution, the end, or a limit; the state then stands at a node boundary.

    Args:
        st: The state; a later call goes on from it.
        nodes: Pause after this many nodes.
        propagations: Pause a fixpoint after this many propagations.

    Returns:
        SOLUTION (the domains of the branch variables are single values), EXHAUSTED, PAUSED, FULL
        (the trails must grow), or NEEDS_BOUND (scalar[UNBOUNDED] cannot be branched on).
    """
    scalar = st.scalar
    huge = scalar[HUGE]
    while True:
        if scalar[PHASE] == BACKTRACK:
            if not backtrack(st):
                return EXHAUSTED
            scalar[PHASE] = PROPAGATE
        if nodes <= 0:
            return PAUSED
        before = scalar[PROPAGATIONS]
        budget = propagations
        if scalar[SPENT] < scalar[PATIENCE]:
            budget = min(budget, scalar[PATIENCE] - scalar[SPENT])
        outcome = fixpoint(st, budget)
        scalar[SPENT] += scalar[PROPAGATIONS] - before
        i = -1
        if outcome == INTERRUPTED:
            if scalar[SPENT] < scalar[PATIENCE]:
                return PAUSED
            i = select_variable(st)
            if i < 0:
                return PAUSED
            v = st.branch[i]
            if st.lo[v] <= -huge or st.hi[v] >= huge:
                if scalar[SPENT] < CREEPING * scalar[PATIENCE]:
                    return PAUSED
                scalar[UNBOUNDED] = v
                return NEEDS_BOUND
        scalar[SPENT] = 0
        nodes -= 1
        scalar[NODES] += 1
        if outcome == FAILED:
            scalar[FAILURES] += 1
            scalar[PHASE] = BACKTRACK
            continue
        if outcome != INTERRUPTED:
            i = select_variable(st)
        if i < 0:
            scalar[PHASE] = BACKTRACK
            return SOLUTION
        v = st.branch[i]
        if st.lo[v] <= -huge or st.hi[v] >= huge:
            scalar[UNBOUNDED] = v
            return NEEDS_BOUND
        if not has_room(st):
            return FULL
        level = scalar[LEVEL]
        choose_value(st, level, v, st.branch_value[i])
        st.level_creeps[level] = 1 if outcome == INTERRUPTED else 0
        push_level(st, level)
        scalar[LEVEL] = level + 1
        if not decide(st, level):
            clear(st)
            scalar[FAILURES] += 1
            scalar[PHASE] = BACKTRACK
