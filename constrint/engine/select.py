"""Variable and value selection.

The next variable by its group's rule, and the bound or value to try first.
"""

from __future__ import annotations

from constrint.engine.stale import mark_stale
from constrint.store.domains import member_count, next_member
from constrint.store.state import (
    AT_LEAST,
    AT_MOST,
    COUNT_CHANGES,
    COUNT_FAILURES,
    CULPRIT,
    EQUAL,
    HAS_PHASE,
    LEAST_UNIT,
    LEAVES,
    NOTED,
    RANDOM,
    STALE,
    TRAIL,
    UNIT,
    WEIGHING,
    State,
    compilable,
)

# Value rules, of which `choose_value` writes the decision; `preparing/branching.py` names them.
LEAST = 0
GREATEST = 1
LOWER_HALF = 2
UPPER_HALF = 3
ANY_VALUE = 4
MEDIAN = 5
AS_BEST = 6  # nearest to the value in the best solution; without one, the least
AS_BEST_OR_GREATEST = 7  # nearest to the value in the best solution; without one, the greatest
VALUE_RULES = frozenset(
    (LEAST, GREATEST, LOWER_HALF, UPPER_HALF, ANY_VALUE, MEDIAN, AS_BEST, AS_BEST_OR_GREATEST)
)
"""The value rules that there are; `build` refuses others."""

# Variable rules; `preparing/branching.py` names them.
BY_DEGREE = 0  # least domain size divided by degree
IN_ORDER = 1
FEWEST = 2
MOST = 3
SMALLEST = 4
LARGEST = 5
MOST_CONSTRAINED = 6
OCCURRENCE = 7
REGRET = 8
BY_SCORE = 9  # least domain size divided by score
VARIABLE_RULES = frozenset(
    (BY_DEGREE, IN_ORDER, FEWEST, MOST, SMALLEST, LARGEST, MOST_CONSTRAINED, OCCURRENCE, REGRET, BY_SCORE)
)
"""The variable rules that there are; `build` refuses others."""

# Domains of up to this many values are tried one by one, larger ones are halved between their bounds; both
# in the rule's order.
ENUMERATED = 64
# Sizes are multiplied by degrees or scores when compared, and the products must fit int64.
MOST_MEMBERS = 1 << 40
MOST_SCORED_MEMBERS = 1 << 31
MOST_SCORE = 1 << 30


@compilable
def measure(st: State, i: int, v: int, size: int, rule: int) -> int:
    """The key that a rule minimises, for a variable with this many values."""
    if rule == MOST:
        return -size
    if rule == SMALLEST:
        return st.lo[v]
    if rule == LARGEST:
        return -st.hi[v]
    if rule == MOST_CONSTRAINED:
        return min(size, MOST_SCORED_MEMBERS) * MOST_SCORE - min(st.degree[i], MOST_SCORE - 1)
    if rule == OCCURRENCE:
        return -st.degree[i]
    if rule == REGRET:
        second = st.lo[v] + st.step[v]
        if st.hole[v] >= 0:
            second = next_member(st, v, second)
        return st.lo[v] - second
    return 0


@compilable
def size_by(st: State, i: int, v: int, rule: int) -> int:
    """The number that a rule minimises, divided by `share_by`; for a variable that is not fixed."""
    size = member_count(st, v)
    if rule == BY_DEGREE:
        return min(size, MOST_MEMBERS)
    if rule == BY_SCORE:
        return min(size, MOST_SCORED_MEMBERS)
    return size if rule == FEWEST else measure(st, i, v, size, rule)


@compilable
def share_by(st: State, i: int, rule: int) -> int:
    """The positive number by which a rule divides the size of an entry's domain."""
    if rule == BY_DEGREE:
        return st.degree[i]
    return st.score[i] if rule == BY_SCORE else 1


@compilable
def select_between(st: State, first: int, last: int, rule: int) -> int:
    """Index of the variable to decide next among some entries of `branch`; -1 if all are fixed."""
    branch = st.branch
    lo = st.lo
    hi = st.hi
    best = -1
    best_size = 0
    best_share = 0
    for i in range(first, last):
        v = branch[i]
        if lo[v] == hi[v]:
            continue
        if rule == IN_ORDER:
            return i
        size = size_by(st, i, v, rule)
        share = share_by(st, i, rule)
        if best < 0 or size * best_share < best_size * share:
            best = i
            best_size = size
            best_share = share
    return best


@compilable
def select_variable(st: State) -> int:
    """Index into `branch` of the variable to decide next; -1 if all are fixed."""
    first = 0
    for group in range(len(st.group_end)):
        last = st.group_end[group]
        i = select_between(st, first, last, st.group_rule[group])
        if i >= 0:
            return i
        first = last
    return -1


@compilable
def raise_score(st: State, i: int, amount: int) -> None:
    """Raise the score of an entry; if it grows too large, divide all scores by the same number."""
    score = st.score
    score[i] += amount
    if st.scalar[LEAVES] > 0:
        mark_stale(st, i)
    if score[i] > MOST_SCORE:
        for j in range(len(score)):
            score[j] = max(1, score[j] >> 10)
        st.scalar[STALE] = -1
        st.scalar[UNIT] = max(LEAST_UNIT, st.scalar[UNIT] >> 10)


@compilable
def learn_scores(st: State, failed: bool) -> None:
    """Update scores after a node: by its failure, or by the variables that it changed."""
    scalar = st.scalar
    if scalar[WEIGHING] == COUNT_FAILURES and failed and scalar[CULPRIT] >= 0:
        c = scalar[CULPRIT]
        for place in range(st.credit_start[c], st.credit_start[c + 1]):
            raise_score(st, st.credit_entry[place], 1)
    elif scalar[WEIGHING] == COUNT_CHANGES:
        # A growing unit is equivalent to decaying all older scores.
        scalar[UNIT] += scalar[UNIT] >> 10
        for top in range(scalar[NOTED], scalar[TRAIL]):
            i = st.entry[st.trail_variable[top]]
            if i >= 0:
                raise_score(st, i, scalar[UNIT])


@compilable
def draw(st: State, n: int) -> int:
    """A pseudo-random number below n, at most 2**31; equal in both engines."""
    state = (st.scalar[RANDOM] * 1103515245 + 12345) % 2147483648
    st.scalar[RANDOM] = state
    return (state >> 8) % n


@compilable
def member_at(st: State, v: int, place: int) -> int:
    """The member of a bitset variable with this many smaller ones."""
    step = st.step[v]
    if st.holes[v] == 0:
        return st.lo[v] + place * step
    x = st.lo[v]
    for _ in range(place):
        x = next_member(st, v, x + step)
    return x


@compilable
def choose_near(st: State, level: int, v: int, goal: int) -> None:
    """Write the decision that moves v towards a value: its lower bound first, then its upper bound."""
    lo = st.lo[v]
    step = st.step[v]
    value = min(max(goal, lo), st.hi[v])
    value -= (value - lo) % step
    if st.hole[v] >= 0:
        value = next_member(st, v, value)
    st.level_variable[level] = v
    st.level_decision[level] = AT_LEAST if lo < value else AT_MOST
    st.level_value[level] = value


@compilable
def choose_value(st: State, level: int, i: int) -> None:
    """Write the decision for an entry of `branch` into the level."""
    v = st.branch[i]
    rule = st.branch_value[i]
    if rule in (AS_BEST, AS_BEST_OR_GREATEST):
        if st.scalar[HAS_PHASE] == 1:
            choose_near(st, level, v, st.phase[i])
            return
        rule = LEAST if rule == AS_BEST else GREATEST
    lo = st.lo[v]
    hi = st.hi[v]
    step = st.step[v]
    size = member_count(st, v)
    places = (hi - lo) // step + 1
    decision = AT_MOST
    value = lo
    if rule == MEDIAN and st.hole[v] >= 0:
        value = member_at(st, v, (size - 1) // 2)
        decision = EQUAL
    elif rule == ANY_VALUE and st.hole[v] >= 0:
        value = member_at(st, v, draw(st, size))
        decision = EQUAL
    elif rule == ANY_VALUE:
        value = min(lo + draw(st, min(size, 8388608)) * step, hi - step)
    elif rule == GREATEST:
        decision = AT_LEAST
        value = hi if size <= ENUMERATED else lo + (places + 1) // 2 * step
    elif rule == LEAST:
        value = lo if size <= ENUMERATED else lo + (places // 2 - 1) * step
    elif rule in (LOWER_HALF, MEDIAN):
        value = lo + (places // 2 - 1) * step
    elif rule == UPPER_HALF:
        decision = AT_LEAST
        value = lo + (places + 1) // 2 * step
    st.level_variable[level] = v
    st.level_decision[level] = decision
    st.level_value[level] = value
