"""Clauses of atoms: at least one member is true. Two members of each are watched.

A member (b, k) becomes false when bound b ^ 1 reaches 1 - k: the watch is in the list of that bound with that
value as its key, and a rise wakes the watches whose keys it passes, each once. A clause has at most one
member for each bound; by that, the member that it made true is found again.

Learned clauses have three tiers, by the number of decision levels that they join. Those of the core are kept.
Those of the middle are kept while they are used. The rest, and what the middle no longer uses, is local: each
reduction keeps the more active half.
"""

from __future__ import annotations

from constrint.learning.layout import (
    ACTIVITY,
    ARENA,
    BUDGET,
    BY_CLAUSE,
    CONFLICTS,
    CORE_LEVELS,
    HEAD_CELLS,
    KEEP,
    KEPT,
    LEVELS,
    MIDDLE_LEVELS,
    NOTHING,
    PROPAGATIONS,
    RECENT,
    SIZE,
    USED,
    WATCH,
    WATCHES,
    Learner,
    learn_compilable,
)
from constrint.learning.linear import add_premise, contradict
from constrint.learning.trail import raise_bound
from constrint.store.state import State

BUMP = 1 << 20  # what a use adds to a clause's activity
HALF_LIFE = 1000  # conflicts without use after which a clause's activity is half
RANKS = 256
WORK_OF_WATCH = 2  # cost of visiting a watch, in eighths of a step


@learn_compilable
def hang(ls: Learner, node: int, clause: int, b: int, k: int) -> None:
    """Add a watch on the member (b, k) of a clause."""
    watched = b ^ 1
    ls.watch_clause[node] = clause
    ls.watch_key[node] = 1 - k
    ls.watch_next[node] = ls.watch_head[watched]
    ls.watch_head[watched] = node


@learn_compilable
def attach(ls: Learner, clause: int) -> None:
    """Watch the first two members of a clause."""
    node = ls.scalar[WATCHES]
    ls.scalar[WATCHES] = node + 2
    ls.arena[clause + WATCH] = node
    at = clause + HEAD_CELLS
    hang(ls, node, clause, ls.arena[at], ls.arena[at + 1])
    hang(ls, node + 1, clause, ls.arena[at + 2], ls.arena[at + 3])


@learn_compilable
def pass_on(ls: Learner, st: State, b: int, old: int, new: int) -> bool:
    """Visit the clauses with a watched member that became false when bound b rose."""
    arena = ls.arena
    bound = ls.bound
    keys = ls.watch_key
    following = ls.watch_next
    before = NOTHING
    node = ls.watch_head[b]
    work = 0  # eighths of a step
    while node >= 0:
        work += WORK_OF_WATCH
        after = following[node]
        key = keys[node]
        if key > new or key <= old:
            before = node
            node = after
            continue
        clause = ls.watch_clause[node]
        which = node - arena[clause + WATCH]
        own = clause + HEAD_CELLS + 2 * which
        other = clause + HEAD_CELLS + 2 * (1 - which)
        other_bound = arena[other]
        other_at = arena[other + 1]
        if bound[other_bound] >= other_at:
            before = node
            node = after
            continue
        end = clause + HEAD_CELLS + 2 * arena[clause + SIZE]
        found = -1
        for at in range(clause + HEAD_CELLS + 4, end, 2):
            if -bound[arena[at] ^ 1] >= arena[at + 1]:
                found = at
                break
        if found >= 0:
            work += (found - clause) >> 1
            member = arena[found]
            k = arena[found + 1]
            arena[found] = arena[own]
            arena[found + 1] = arena[own + 1]
            arena[own] = member
            arena[own + 1] = k
            if before >= 0:
                following[before] = after
            else:
                ls.watch_head[b] = after
            hang(ls, node, clause, member, k)
        else:
            work += (end - clause) >> 1
            if -bound[other_bound ^ 1] < other_at:
                ls.scalar[BUDGET] -= work >> 3
                return contradict(ls, 4 * clause + BY_CLAUSE)
            if not raise_bound(ls, st, other_bound, other_at, 4 * clause + BY_CLAUSE):
                ls.scalar[BUDGET] -= work >> 3
                return False
            ls.scalar[PROPAGATIONS] += 1
            before = node
        node = after
    ls.scalar[BUDGET] -= work >> 3
    return True


@learn_compilable
def explain_clause(ls: Learner, clause: int, b: int) -> None:
    """Add the negations of a clause's members, except the one on bound b (NOTHING: of all), as premises."""
    arena = ls.arena
    arena[clause + ACTIVITY] = present_activity(ls, clause) + BUMP
    arena[clause + USED] = ls.scalar[CONFLICTS]
    first = clause + HEAD_CELLS
    for at in range(first, first + 2 * arena[clause + SIZE], 2):
        if arena[at] != b:
            add_premise(ls, arena[at] ^ 1, 1 - arena[at + 1])


@learn_compilable
def present_activity(ls: Learner, clause: int) -> int:
    """The activity of a learned clause, halved for each `HALF_LIFE` conflicts since its last use."""
    unused = ls.scalar[CONFLICTS] - ls.arena[clause + USED]
    return ls.arena[clause + ACTIVITY] >> min(unused // HALF_LIFE, 60)


@learn_compilable
def is_local(ls: Learner, clause: int) -> bool:
    """Whether a learned clause is kept by its activity alone."""
    levels = ls.arena[clause + LEVELS]
    scalar = ls.scalar
    if levels <= scalar[MIDDLE_LEVELS]:
        unused = scalar[CONFLICTS] - ls.arena[clause + USED]
        return levels > scalar[CORE_LEVELS] and unused > scalar[RECENT]
    return True


@learn_compilable
def rank(ls: Learner, clause: int) -> int:
    """The logarithm of a clause's activity, in quarters: more active clauses have no smaller rank."""
    activity = present_activity(ls, clause) + 4
    bits = 0
    while activity >= 8:
        activity >>= 1
        bits += 1
    return 4 * bits + (activity & 3)


@learn_compilable
def least_rank(ls: Learner) -> int:
    """The rank below which local clauses are dropped, so that at least half of them stay."""
    arena = ls.arena
    counts = ls.lifted
    for i in range(RANKS):
        counts[i] = 0
    total = 0
    clause = 0
    while clause < ls.scalar[ARENA]:
        if is_local(ls, clause):
            counts[rank(ls, clause)] += 1
            total += 1
        clause += HEAD_CELLS + 2 * arena[clause + SIZE]
    kept = 0
    for i in range(RANKS):
        kept += counts[RANKS - 1 - i]
        if 2 * kept >= total:
            return RANKS - 1 - i
    return 0


@learn_compilable
def tidy(ls: Learner, clause: int, to: int, least: int) -> int:
    """Move a clause down the arena without members that are false at the root; returns the next place."""
    arena = ls.arena
    root = ls.root
    size = arena[clause + SIZE]
    if is_local(ls, clause) and rank(ls, clause) < least:
        return to
    first = clause + HEAD_CELLS
    for at in range(first, first + 2 * size, 2):
        if root[arena[at]] >= arena[at + 1]:
            return to
    for i in range(HEAD_CELLS):
        arena[to + i] = arena[clause + i]
    left = 0
    for at in range(first, first + 2 * size, 2):
        if -root[arena[at] ^ 1] >= arena[at + 1]:
            arena[to + HEAD_CELLS + 2 * left] = arena[at]
            arena[to + HEAD_CELLS + 2 * left + 1] = arena[at + 1]
            left += 1
    arena[to + SIZE] = left
    return to + HEAD_CELLS + 2 * left


@learn_compilable
def reduce(ls: Learner) -> None:
    """At a settled root: drop clauses that hold at the root, and learned ones of little use."""
    scalar = ls.scalar
    arena = ls.arena
    least = least_rank(ls)
    for b in range(len(ls.watch_head)):
        ls.watch_head[b] = NOTHING
    scalar[WATCHES] = 0
    scalar[KEPT] = 0
    to = 0
    clause = 0
    end = scalar[ARENA]
    while clause < end:
        following = clause + HEAD_CELLS + 2 * arena[clause + SIZE]
        after = tidy(ls, clause, to, least)
        if after > to:
            attach(ls, to)
            if arena[to + LEVELS] > 0:
                scalar[KEPT] += 1
        to = after
        clause = following
    scalar[ARENA] = to
    scalar[KEEP] = max(scalar[KEEP] + scalar[KEEP] // 20, scalar[KEPT] + scalar[KEPT] // 4)
