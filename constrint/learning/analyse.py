"""Conflict analysis: from a contradiction to a clause that excludes its cause.

The clause is that of the first unique implication point. The trail is undone entry by entry during the
analysis, so that explanations see the bounds from before the entry that they explain.
"""

from __future__ import annotations

from constrint.learning.clauses import BUMP, attach
from constrint.learning.explain import explain
from constrint.learning.heap import age, bump
from constrint.learning.layout import (
    ACTIVITY,
    ARENA,
    BY_CLAUSE,
    CONFLICTS,
    COUNTED,
    DECISION,
    FAILED_BOUND,
    FAILED_TO,
    FAILED_WHY,
    FOLLOWS,
    GOAL,
    HEAD_CELLS,
    IS_BELOW,
    IS_LOGGED,
    JOINS,
    KEPT,
    LEARNED,
    LEVEL,
    LEVELS,
    LITERALS,
    LOG,
    MEMBERS,
    NOTHING,
    OPEN,
    PREMISES,
    SIZE,
    STAMP,
    TRAIL,
    USED,
    WITHIN,
    Learner,
    learn_compilable,
)
from constrint.learning.linear import add_premise
from constrint.learning.restarts import MOST_WITHIN
from constrint.learning.shrink import shrink
from constrint.learning.trail import back_to, entry_of, raise_bound, undo_last
from constrint.store.state import State

MOST_VISITED = 200  # most entries that the test for redundancy visits


@learn_compilable
def resolve_premises(ls: Learner) -> int:
    """Mark the entries that made the premises true: open ones of this level, members of the clause below.

    Returns:
        The number of decision levels of the premises.
    """
    scalar = ls.scalar
    stamp = scalar[STAMP]
    scalar[JOINS] += 1
    mark = scalar[JOINS]
    levels = 0
    for i in range(scalar[PREMISES]):
        k = ls.premise_at[i]
        at = entry_of(ls, ls.premise_bound[i], k)
        if at < 0:
            continue
        level = ls.trail_level[at]
        if level == 0:
            continue
        if ls.level_joined[level] != mark:
            ls.level_joined[level] = mark
            levels += 1
        if ls.seen[at] == stamp:
            ls.need[at] = max(ls.need[at], k)
            continue
        ls.seen[at] = stamp
        ls.need[at] = k
        ls.known[at] = 0
        if scalar[FOLLOWS] == 0:
            bump(ls, ls.trail_bound[at] >> 1)
        if level == scalar[LEVEL]:
            scalar[OPEN] += 1
        else:
            ls.clause_entry[scalar[LITERALS]] = at
            scalar[LITERALS] += 1
    return levels


@learn_compilable
def note_levels(ls: Learner, why: int, levels: int) -> None:
    """Lower the number of levels of a learned clause that took part as a reason."""
    if why & 3 == BY_CLAUSE and 0 < levels < ls.arena[(why >> 2) + LEVELS]:
        ls.arena[(why >> 2) + LEVELS] = levels


@learn_compilable
def conflict_level(ls: Learner) -> int:
    """The highest level that the premises need."""
    level = 0
    for i in range(ls.scalar[PREMISES]):
        at = entry_of(ls, ls.premise_bound[i], ls.premise_at[i])
        if at >= 0:
            level = max(level, ls.trail_level[at])
    return level


@learn_compilable
def first_implication_point(ls: Learner, st: State) -> None:
    """Resolve the conflict until one atom of its level is left; its entry becomes `clause_entry[0]`."""
    scalar = ls.scalar
    stamp = scalar[STAMP]
    at = scalar[TRAIL] - 1
    while True:
        while ls.seen[at] != stamp:
            undo_last(ls)
            at -= 1
        if scalar[OPEN] == 1:
            ls.clause_entry[0] = at
            return
        undo_last(ls)
        scalar[OPEN] -= 1
        explain(ls, st, ls.trail_bound[at], ls.need[at], ls.trail_why[at], at)
        note_levels(ls, ls.trail_why[at], resolve_premises(ls))
        at -= 1


@learn_compilable
def is_redundant(ls: Learner, st: State, start: int) -> bool:
    """Whether the other members of the clause imply the atom of an entry, by reasons of any depth."""
    stamp = ls.scalar[STAMP]
    stack = ls.stack
    stack[0] = start
    count = 1
    done = 0
    holds = True
    while holds and done < count:
        at = stack[done]
        done += 1
        why = ls.trail_why[at]
        if why == DECISION:
            holds = False
            break
        # For inner entries the full value is proven, so the proof serves all uses.
        explain(ls, st, ls.trail_bound[at], ls.need[at] if done == 1 else ls.trail_new[at], why, at)
        for i in range(ls.scalar[PREMISES]):
            k = ls.premise_at[i]
            source = entry_of(ls, ls.premise_bound[i], k)
            if source < 0 or ls.trail_level[source] == 0 or ls.known[source] == stamp:
                continue
            if ls.seen[source] == stamp and ls.need[source] >= k:
                continue
            if (
                ls.known[source] == -stamp
                or count == MOST_VISITED
                or ls.level_seen[ls.trail_level[source]] != stamp
            ):
                holds = False
                break
            ls.known[source] = stamp
            stack[count] = source
            count += 1
    if not holds:
        # Only the last entry is known to be unprovable: a later test may visit the others again.
        for i in range(1, count):
            ls.known[stack[i]] = 0
        if done > 1:
            ls.known[stack[done - 1]] = -stamp
    return holds


@learn_compilable
def merge_members(ls: Learner) -> None:
    """Keep one member for each bound, the strongest, and mark the levels of the remaining members."""
    scalar = ls.scalar
    entries = ls.clause_entry
    strongest = ls.strongest
    count = scalar[LITERALS]
    for i in range(count):
        at = entries[i]
        b = ls.trail_bound[at]
        strongest[b] = max(strongest[b], at)
    left = 0
    for i in range(count):
        at = entries[i]
        if strongest[ls.trail_bound[at]] == at:
            entries[left] = at
            left += 1
        else:
            ls.seen[at] = 0
    scalar[LITERALS] = left
    for i in range(left):
        strongest[ls.trail_bound[entries[i]]] = NOTHING
        ls.level_seen[ls.trail_level[entries[i]]] = scalar[STAMP]


@learn_compilable
def drop_redundant(ls: Learner, st: State) -> None:
    """Remove the members that the others imply; the first one stays."""
    entries = ls.clause_entry
    left = 1
    for i in range(1, ls.scalar[LITERALS]):
        if not is_redundant(ls, st, entries[i]):
            entries[left] = entries[i]
            left += 1
    ls.scalar[LITERALS] = left


@learn_compilable
def store_clause(ls: Learner) -> int:
    """Write the clause into the arena and watch it; returns its place."""
    scalar = ls.scalar
    arena = ls.arena
    entries = ls.clause_entry
    count = scalar[LITERALS]
    second = 1
    levels = 0
    for i in range(count):
        level = ls.trail_level[entries[i]]
        if ls.level_seen[level] != -scalar[STAMP]:
            ls.level_seen[level] = -scalar[STAMP]
            levels += 1
        if i > 0 and level > ls.trail_level[entries[second]]:
            second = i
    entries[1], entries[second] = entries[second], entries[1]
    clause = scalar[ARENA]
    arena[clause + SIZE] = count
    arena[clause + LEVELS] = levels
    arena[clause + USED] = scalar[CONFLICTS]
    arena[clause + ACTIVITY] = BUMP
    for i in range(count):
        at = clause + HEAD_CELLS + 2 * i
        arena[at] = ls.trail_bound[entries[i]] ^ 1
        arena[at + 1] = 1 - ls.need[entries[i]]
    scalar[ARENA] = clause + HEAD_CELLS + 2 * count
    scalar[KEPT] += 1
    attach(ls, clause)
    return clause


@learn_compilable
def write_log(ls: Learner) -> None:
    """Append the clause under construction to the log: its size and its members."""
    scalar = ls.scalar
    log = ls.log
    end = scalar[LOG]
    log[end] = scalar[LITERALS]
    for i in range(scalar[LITERALS]):
        entry = ls.clause_entry[i]
        log[end + 1 + 2 * i] = ls.trail_bound[entry] ^ 1
        log[end + 2 + 2 * i] = 1 - ls.need[entry]
    scalar[LOG] = end + 1 + 2 * scalar[LITERALS]


@learn_compilable
def learn(ls: Learner, st: State) -> bool:
    """Learn from the noted conflict, and backtrack to where the new clause propagates; False at the end.

    `DECISION` as a reason means none: a unit clause holds at the root, for good.
    """
    scalar = ls.scalar
    scalar[CONFLICTS] += 1
    if scalar[LEVEL] == 0:
        return False
    scalar[STAMP] += 1
    b = scalar[FAILED_BOUND]
    k = scalar[FAILED_TO]
    explain(ls, st, b, k, scalar[FAILED_WHY], scalar[TRAIL])
    if b != NOTHING:
        add_premise(ls, b ^ 1, 1 - k)
    level = conflict_level(ls)
    if level == 0:
        return False
    back_to(ls, level)
    scalar[OPEN] = 0
    scalar[LITERALS] = 1
    note_levels(ls, scalar[FAILED_WHY], resolve_premises(ls))
    first_implication_point(ls, st)
    merge_members(ls)
    drop_redundant(ls, st)
    if shrink(ls, st):
        merge_members(ls)
    scalar[LEARNED] += 1
    if scalar[IS_LOGGED] == 1:
        write_log(ls)
    age(ls)
    scalar[MEMBERS + scalar[FOLLOWS]] += scalar[LITERALS]
    scalar[COUNTED + scalar[FOLLOWS]] += 1
    first = ls.clause_entry[0]
    b = ls.trail_bound[first] ^ 1
    k = 1 - ls.need[first]
    if scalar[LITERALS] == 1:
        if b == scalar[GOAL] and scalar[IS_BELOW] != 0:
            scalar[WITHIN] = min(2 * scalar[WITHIN] + 1, MOST_WITHIN)
        back_to(ls, 0)
        return raise_bound(ls, st, b, k, DECISION)
    clause = store_clause(ls)
    back_to(ls, ls.trail_level[ls.clause_entry[1]])
    return raise_bound(ls, st, b, k, 4 * clause + BY_CLAUSE)
