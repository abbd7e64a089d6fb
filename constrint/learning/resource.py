"""cumulative: time table, overload check, edge finding.

Every inference has the form that a window of time is too short: given their bounds, the tasks need more
energy in it than the resource has. A window is therefore the reason of every bound here (`resource_reasons`).
Durations, demands and the capacity are numbers here; where they are variables, their bounds stand for them
(`open_resource`).

- Time table: windows of one moment, where compulsory parts overlap. Explained moment by moment, as in Schutt,
  Feydy, Stuckey, Wallace, "Explaining the cumulative propagator", Constraints 2011. O(n^2) a run.
- Overload check and edge finding on windows from a least start to a greatest end, with the energy of
  compulsory parts anywhere: Vilím, "Timetable edge finding filtering algorithm for discrete cumulative
  resources", CPAIOR 2011; explained as in Schutt, Feydy, Stuckey, "Explaining time-table-edge-finding
  propagation for the cumulative resource constraint", CPAIOR 2013, O(n^2) a run. With a capacity of 1 it is
  edge finding on one machine (for the task that needs the most in a window).

Below the root windows are searched in some runs only, the fewer the less they found (`keep_times`).
"""

from __future__ import annotations

from constrint.learning.layout import (
    BY_TERMS,
    LEVEL,
    MOST_SKIPPED,
    NOTHING,
    TRAIL,
    WINDOWS_COST,
    Learner,
    learn_compilable,
)
from constrint.learning.linear import contradict
from constrint.learning.trail import raise_bound
from constrint.propagators.all_different import sort_by
from constrint.store.state import State

# Rows of scratch space with n entries each (the last three with 2 n).
STARTS, ENDS, BY_START, BY_END, SPENT_FROM_START, SPENT_FROM_END = 0, 1, 2, 3, 4, 5
EVENTS, TIMES, LEVELS = 6, 8, 10
ROOM_OF_TASK = 18  # the rows, and what `distinct` writes for two tasks or more

CONTRADICTED, UNCHANGED, MOVED = 0, 1, 2
# How often windows are searched, by the share of the last runs that found something, in parts of WHOLE.
WHOLE = 1 << 12
GAIN_SHIFT = 4  # a run changes the share by a sixteenth of the difference


@learn_compilable
def push_within(ls: Learner, st: State, p: int, b: int, k: int, begin: int, end: int) -> bool:
    """Make an atom true with a window as the reason."""
    at = ls.scalar[TRAIL]
    ls.window_begin[at] = begin
    ls.window_end[at] = end
    return raise_bound(ls, st, b, k, 4 * p + BY_TERMS)


@learn_compilable
def contradict_within(ls: Learner, p: int, begin: int, end: int) -> bool:
    """Record that a window is too short for its tasks; returns False."""
    at = ls.scalar[TRAIL]
    ls.window_begin[at] = begin
    ls.window_end[at] = end
    return contradict(ls, 4 * p + BY_TERMS)


@learn_compilable
def compulsory(ls: Learner, s: int, duration: int, begin: int, end: int) -> int:
    """The length of a task's compulsory part between two times."""
    first = max(begin, -ls.bound[s ^ 1])
    last = min(end, ls.bound[s] + duration)
    return max(0, last - first)


@learn_compilable
def make_profile(ls: Learner, p: int, n: int) -> int:
    """Write the times at which compulsory parts start or end, in order, and the demand after each.

    Returns the number of times.
    """
    first = ls.start[p]
    room = ls.room
    count = 0
    for i in range(n):
        s = ls.term[first + i]
        begin = -ls.bound[s ^ 1]
        end = ls.bound[s] + ls.factor[first + i]
        if begin < end:
            room[TIMES * n + i] = begin
            room[TIMES * n + n + i] = end
            room[EVENTS * n + count] = i
            room[EVENTS * n + count + 1] = n + i
            count += 2
    sort_by(room, EVENTS * n, TIMES * n, count)
    level = 0
    for e in range(count):
        i = room[EVENTS * n + e]
        if i < n:
            level += ls.factor[first + n + i]
        else:
            level -= ls.factor[first + i]
        room[LEVELS * n + e] = level
    return count


@learn_compilable
def fit_after(ls: Learner, st: State, p: int, n: int, count: int, i: int) -> bool:
    """Start a task after the times at which the profile leaves too little capacity.

    False on contradiction.
    """
    room = ls.room
    first = ls.start[p]
    s = ls.term[first + i]
    duration = ls.factor[first + i]
    most = ls.limit[p] - ls.factor[first + n + i]
    own_begin = -ls.bound[s ^ 1]
    own_end = ls.bound[s] + duration
    for e in range(count - 1):
        if room[LEVELS * n + e] <= most:
            continue
        begin = room[TIMES * n + room[EVENTS * n + e]]
        end = room[TIMES * n + room[EVENTS * n + e + 1]]
        low = ls.bound[s]
        if begin >= low + duration:
            return True
        if begin == end or end <= low or (own_begin <= begin and end <= own_end):
            continue
        moment = min(end, low + duration) - 1
        # Once in each run: the trail has space for as many entries.
        return push_within(ls, st, p, s, moment + 1, moment, moment + 1)
    return True


@learn_compilable
def fit_before(ls: Learner, st: State, p: int, n: int, count: int, i: int) -> bool:
    """End a task before the times at which the profile leaves too little capacity; False on contradiction."""
    room = ls.room
    first = ls.start[p]
    s = ls.term[first + i]
    duration = ls.factor[first + i]
    most = ls.limit[p] - ls.factor[first + n + i]
    own_begin = -ls.bound[s ^ 1]
    own_end = ls.bound[s] + duration
    for e in range(count - 2, -1, -1):
        if room[LEVELS * n + e] <= most:
            continue
        begin = room[TIMES * n + room[EVENTS * n + e]]
        end = room[TIMES * n + room[EVENTS * n + e + 1]]
        high = -ls.bound[s ^ 1]
        if end <= high:
            return True
        if begin == end or begin >= high + duration or (own_begin <= begin and end <= own_end):
            continue
        moment = max(begin, high)
        return push_within(ls, st, p, s ^ 1, duration - moment, moment, moment + 1)
    return True


@learn_compilable
def keep_profile(ls: Learner, st: State, p: int, n: int) -> bool:
    """Time-table filtering; False on contradiction."""
    room = ls.room
    first = ls.start[p]
    count = make_profile(ls, p, n)
    highest = 0
    for e in range(count - 1):
        begin = room[TIMES * n + room[EVENTS * n + e]]
        if begin < room[TIMES * n + room[EVENTS * n + e + 1]]:
            highest = max(highest, room[LEVELS * n + e])
            if highest > ls.limit[p]:
                return contradict_within(ls, p, begin, begin + 1)
    for i in range(n):
        if (
            highest + ls.factor[first + n + i] > ls.limit[p]
            and ls.bound[ls.term[first + i]] < -ls.bound[ls.term[first + i] ^ 1]
            and not (fit_after(ls, st, p, n, count, i) and fit_before(ls, st, p, n, count, i))
        ):
            return False
    return True


@learn_compilable
def note_windows(ls: Learner, p: int, n: int) -> None:
    """Write least starts and greatest ends, their orders, and the compulsory energy from each of them on."""
    room = ls.room
    first = ls.start[p]
    for i in range(n):
        s = ls.term[first + i]
        room[STARTS * n + i] = ls.bound[s]
        room[ENDS * n + i] = ls.factor[first + i] - ls.bound[s ^ 1]
        room[BY_START * n + i] = i
        room[BY_END * n + i] = i
    sort_by(room, BY_START * n, STARTS * n, n)
    sort_by(room, BY_END * n, ENDS * n, n)
    for i in range(n):
        room[SPENT_FROM_START * n + i] = 0
        room[SPENT_FROM_END * n + i] = 0
    for j in range(n):
        s = ls.term[first + j]
        latest = -ls.bound[s ^ 1]
        end = ls.bound[s] + ls.factor[first + j]
        if latest < end:
            demand = ls.factor[first + n + j]
            for i in range(n):
                at = max(latest, room[STARTS * n + i])
                if at < end:
                    room[SPENT_FROM_START * n + i] += demand * (end - at)
                at = max(latest, room[ENDS * n + i])
                if at < end:
                    room[SPENT_FROM_END * n + i] += demand * (end - at)


@learn_compilable
def free_energy(ls: Learner, p: int, n: int, j: int) -> int:
    """The energy of a task without its compulsory part."""
    at = ls.start[p] + j
    s = ls.term[at]
    earliest = ls.bound[s]
    fixed = max(0, earliest + ls.factor[at] + ls.bound[s ^ 1])
    return ls.factor[at + n] * (ls.factor[at] - fixed)


@learn_compilable
def start_after_windows(ls: Learner, st: State, p: int, n: int) -> int:
    """Check all windows, and delay the task that would exceed a window the most, one for each window."""
    room = ls.room
    first = ls.start[p]
    moved = 0
    for kb in range(n):
        end = room[ENDS * n + room[BY_END * n + kb]]
        if kb + 1 < n and room[ENDS * n + room[BY_END * n + kb + 1]] == end:
            continue
        beyond = room[SPENT_FROM_END * n + room[BY_END * n + kb]]
        energy = 0
        most = 0
        who = NOTHING
        for ka in range(n - 1, -1, -1):
            j = room[BY_START * n + ka]
            begin = room[STARTS * n + j]
            if begin >= end:
                continue
            if room[ENDS * n + j] <= end:
                energy += free_energy(ls, p, n, j)
            else:
                duration = ls.factor[first + j]
                inside = min(duration, end - begin)
                free = inside - compulsory(ls, ls.term[first + j], duration, begin, end)
                if ls.factor[first + n + j] * free > most:
                    most = ls.factor[first + n + j] * free
                    who = j
            if ka > 0 and room[STARTS * n + room[BY_START * n + ka - 1]] == begin:
                continue
            left = ls.limit[p] * (end - begin) - energy - room[SPENT_FROM_START * n + j] + beyond
            if left < 0:
                contradict_within(ls, p, begin, end)
                return CONTRADICTED
            if most > left and moved < n:
                s = ls.term[first + who]
                demand = ls.factor[first + n + who]
                allowed = compulsory(ls, s, ls.factor[first + who], begin, end) + left // demand
                moved += 1
                start = end - allowed
                # The compulsory part of the task may have grown since the window was summed up.
                is_later = allowed < ls.factor[first + who] and start > ls.bound[s]
                if is_later and not push_within(ls, st, p, s, start, begin, end):
                    return CONTRADICTED
    return MOVED if moved > 0 else UNCHANGED


@learn_compilable
def end_before_windows(ls: Learner, st: State, p: int, n: int) -> bool:
    """Advance the ends of tasks that would exceed a window; False on contradiction."""
    room = ls.room
    first = ls.start[p]
    moved = 0
    for ka in range(n):
        begin = room[STARTS * n + room[BY_START * n + ka]]
        if ka > 0 and room[STARTS * n + room[BY_START * n + ka - 1]] == begin:
            continue
        since = room[SPENT_FROM_START * n + room[BY_START * n + ka]]
        energy = 0
        most = 0
        who = NOTHING
        for kb in range(n):
            j = room[BY_END * n + kb]
            end = room[ENDS * n + j]
            if end <= begin:
                continue
            if room[STARTS * n + j] >= begin:
                energy += free_energy(ls, p, n, j)
            else:
                duration = ls.factor[first + j]
                inside = min(duration, end - begin)
                free = inside - compulsory(ls, ls.term[first + j], duration, begin, end)
                if ls.factor[first + n + j] * free > most:
                    most = ls.factor[first + n + j] * free
                    who = j
            if kb + 1 < n and room[ENDS * n + room[BY_END * n + kb + 1]] == end:
                continue
            left = ls.limit[p] * (end - begin) - energy - since + room[SPENT_FROM_END * n + j]
            if most > left and moved < n:
                s = ls.term[first + who]
                duration = ls.factor[first + who]
                allowed = compulsory(ls, s, duration, begin, end) + left // ls.factor[first + n + who]
                moved += 1
                latest = begin + allowed - duration
                is_earlier = allowed < duration and latest < -ls.bound[s ^ 1]
                if is_earlier and not push_within(ls, st, p, s ^ 1, -latest, begin, end):
                    return False
    return True


@learn_compilable
def search_windows(ls: Learner, st: State, p: int, n: int) -> int:
    """Overload check and edge finding: CONTRADICTED, UNCHANGED or MOVED."""
    before = ls.scalar[TRAIL]
    note_windows(ls, p, n)
    outcome = start_after_windows(ls, st, p, n)
    if outcome != UNCHANGED:
        return outcome
    if not end_before_windows(ls, st, p, n):
        return CONTRADICTED
    return MOVED if ls.scalar[TRAIL] > before else UNCHANGED


@learn_compilable
def keep_windows(ls: Learner, st: State, p: int, n: int) -> bool:
    """Propagate to the starts of n tasks; False on contradiction. Their changes queue the resource again."""
    before = ls.scalar[TRAIL]
    if not keep_profile(ls, st, p, n):
        return False
    return ls.scalar[TRAIL] > before or search_windows(ls, st, p, n) != CONTRADICTED


@learn_compilable
def keep_times(ls: Learner, st: State, p: int, n: int) -> bool:
    """Propagate to the starts of n tasks, with windows searched in some runs; False on contradiction.

    Below the root they are searched as often as they found something. The time table alone decides
    whether fixed starts are a solution.
    """
    before = ls.scalar[TRAIL]
    if not keep_profile(ls, st, p, n):
        return False
    if ls.scalar[TRAIL] > before:
        return True
    if ls.scalar[LEVEL] > 0 and ls.to_skip[p] > 0:
        ls.to_skip[p] -= 1
        return True
    outcome = search_windows(ls, st, p, n)
    found = 0 if outcome == UNCHANGED else WHOLE
    ls.gain[p] += (found - ls.gain[p]) >> GAIN_SHIFT
    rarely = WHOLE // (ls.scalar[WINDOWS_COST] * max(ls.gain[p], 1))
    ls.to_skip[p] = min(rarely, ls.scalar[MOST_SKIPPED])
    return outcome != CONTRADICTED


@learn_compilable
def keep_resource(ls: Learner, st: State, p: int) -> bool:
    """Propagate a resource with numbers for all but the starts; False on contradiction."""
    return keep_times(ls, st, p, (ls.start[p + 1] - ls.start[p]) // 2)
