"""Linear propagators: sum <= limit and sum != limit, each optionally under the condition of a literal.

Every term of `AT_MOST` is a positive factor times a bound, so the bounds give its least value. Explanations
are lazy and lifted: the excess of a sum over its limit relaxes its premises.
"""

from __future__ import annotations

from constrint.learning.layout import (
    BY_CONTRAPOSITION,
    BY_TERMS,
    FAILED_BOUND,
    FAILED_WHY,
    NOTHING,
    PREMISES,
    Learner,
    learn_compilable,
)
from constrint.learning.trail import raise_bound, value_before, weakest
from constrint.store.state import State


@learn_compilable
def add_premise(ls: Learner, b: int, k: int) -> None:
    """Add an atom to the premises, unless it holds at the root."""
    if k > ls.root[b]:
        count = ls.scalar[PREMISES]
        ls.premise_bound[count] = b
        ls.premise_at[count] = k
        ls.scalar[PREMISES] = count + 1


@learn_compilable
def contradict(ls: Learner, why: int) -> bool:
    """Record that a propagator or a clause cannot hold; returns False."""
    ls.scalar[FAILED_BOUND] = NOTHING
    ls.scalar[FAILED_WHY] = why
    return False


@learn_compilable
def keep_at_most(ls: Learner, st: State, p: int) -> bool:
    """Propagate ``[literal ->] sum <= limit``."""
    bound = ls.bound
    term = ls.term
    factor = ls.factor
    first = ls.start[p]
    last = ls.start[p + 1]
    condition = ls.literal[p]
    holds = True
    if condition != NOTHING:
        at = ls.literal_at[p]
        if -bound[condition ^ 1] < at:
            return True
        holds = bound[condition] >= at
    room = ls.limit[p]
    for i in range(first, last):
        room -= factor[i] * bound[term[i]]
    if room < 0:
        if holds:
            return contradict(ls, 4 * p + BY_TERMS)
        return raise_bound(ls, st, condition ^ 1, 1 - ls.literal_at[p], 4 * p + BY_CONTRAPOSITION)
    if not holds:
        return True
    for i in range(first, last):
        b = term[i]
        a = factor[i]
        low = bound[b]
        if a * (-bound[b ^ 1] - low) > room and not raise_bound(
            ls, st, b ^ 1, -(low + room // a), 4 * p + BY_TERMS
        ):
            return False
    return True


@learn_compilable
def keep_different(ls: Learner, st: State, p: int) -> bool:
    """Propagate ``[literal ->] sum != limit``; acts when at most one variable is open."""
    bound = ls.bound
    condition = ls.literal[p]
    holds = True
    if condition != NOTHING:
        at = ls.literal_at[p]
        if -bound[condition ^ 1] < at:
            return True
        holds = bound[condition] >= at
    rest = ls.limit[p]
    open_term = -1
    for i in range(ls.start[p], ls.start[p + 1]):
        b = ls.term[i]
        if bound[b] == -bound[b ^ 1]:
            rest -= ls.factor[i] * bound[b]
        elif open_term >= 0:
            return True
        else:
            open_term = i
    if open_term < 0:
        if rest != 0:
            return True
        if holds:
            return contradict(ls, 4 * p + BY_TERMS)
        return raise_bound(ls, st, condition ^ 1, 1 - ls.literal_at[p], 4 * p + BY_CONTRAPOSITION)
    if not holds or rest % ls.factor[open_term] != 0:
        return True
    value = rest // ls.factor[open_term]
    b = ls.term[open_term]
    if bound[b] == value:
        return raise_bound(ls, st, b, value + 1, 4 * p + BY_TERMS)
    if bound[b ^ 1] == -value:
        return raise_bound(ls, st, b ^ 1, 1 - value, 4 * p + BY_TERMS)
    return True


@learn_compilable
def explain_sum(ls: Learner, p: int, skipped: int, at: int, spare: int) -> None:
    """Add the least values of a sum's terms, before an entry, as premises, relaxed by `spare` in all."""
    term = ls.term
    factor = ls.factor
    kept = 0
    base = ls.scalar[PREMISES]
    for i in range(ls.start[p], ls.start[p + 1]):
        b = term[i]
        if b == skipped:
            continue
        low = value_before(ls, b, at)
        over = factor[i] * (low - ls.root[b])
        if over <= spare:
            spare -= over
        else:
            add_premise(ls, b, low)
            ls.lifted[kept] = i
            kept += 1
    for j in range(kept):
        a = factor[ls.lifted[j]]
        if a <= spare:
            ls.premise_at[base + j] -= spare // a
            spare %= a


@learn_compilable
def explain_at_most(ls: Learner, st: State, p: int, b: int, k: int, how: int, at: int) -> None:
    """Add the premises from which `AT_MOST` p derives the atom (b, k), or a contradiction if b is NOTHING."""
    if how == BY_TERMS and ls.literal[p] != NOTHING:
        add_premise(ls, ls.literal[p], ls.literal_at[p])
    total = 0
    own = NOTHING
    enough = ls.limit[p] + 1
    if how == BY_TERMS and b != NOTHING:
        own = b ^ 1
        k = weakest(ls, st, b, k)
    for i in range(ls.start[p], ls.start[p + 1]):
        if ls.term[i] == own:
            enough -= ls.factor[i] * (1 - k)
        else:
            total += ls.factor[i] * value_before(ls, ls.term[i], at)
    explain_sum(ls, p, own, at, total - enough)


@learn_compilable
def explain_different(ls: Learner, p: int, b: int, how: int, at: int) -> None:
    """Add the premises from which `DIFFERENT` p derives an atom of bound b, or a contradiction."""
    if how == BY_TERMS and ls.literal[p] != NOTHING:
        add_premise(ls, ls.literal[p], ls.literal_at[p])
    own = NOTHING
    if how == BY_TERMS and b != NOTHING:
        own = b & ~1
        add_premise(ls, b, value_before(ls, b, at))
    for i in range(ls.start[p], ls.start[p + 1]):
        u = ls.term[i]
        if u != own:
            add_premise(ls, u, value_before(ls, u, at))
            add_premise(ls, u ^ 1, value_before(ls, u ^ 1, at))
