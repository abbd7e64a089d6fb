"""cumulative with variables for durations, demands and the capacity.

The least durations and demands and the greatest capacity stand for them, so all inferences about starts are
those of `resource`. A demand is at most what the others leave during the compulsory part of its task; a
duration ends before the first moment at which they leave too little; the capacity is at least the peak of the
compulsory parts. The reason of each is a window of one moment.
"""

from __future__ import annotations

from constrint.learning.layout import TRAIL, Learner, learn_compilable
from constrint.learning.resource import EVENTS, LEVELS, TIMES, keep_times, make_profile, push_within
from constrint.store.state import State


@learn_compilable
def read_bounds(ls: Learner, p: int, n: int) -> None:
    """Write the least durations and demands and the greatest capacity."""
    first = ls.start[p]
    for i in range(n):
        ls.factor[first + n + i] = ls.bound[ls.term[first + n + i]]
        ls.factor[first + i] = ls.bound[ls.term[first + 2 * n + i]]
    ls.limit[p] = -ls.bound[ls.term[first + 3 * n]]


@learn_compilable
def limit_demand(ls: Learner, st: State, p: int, n: int, count: int, i: int) -> bool:
    """Limit a demand by what the others leave during the task's compulsory part; False on contradiction."""
    room = ls.room
    first = ls.start[p]
    s = ls.term[first + i]
    own_begin = -ls.bound[s ^ 1]
    own_end = ls.bound[s] + ls.factor[first + i]
    highest = -1
    moment = own_begin
    for e in range(count - 1):
        begin = room[TIMES * n + room[EVENTS * n + e]]
        end = room[TIMES * n + room[EVENTS * n + e + 1]]
        if begin < end and own_begin <= begin and end <= own_end and room[LEVELS * n + e] > highest:
            highest = room[LEVELS * n + e]
            moment = begin
    most = ls.limit[p] - highest + ls.factor[first + n + i]
    demand = ls.term[first + n + i] ^ 1
    if highest < 0 or most >= -ls.bound[demand]:
        return True
    return push_within(ls, st, p, demand, -most, moment, moment + 1)


@learn_compilable
def limit_duration(ls: Learner, st: State, p: int, n: int, count: int, i: int) -> bool:
    """End a task that has begun before the others leave too little capacity; False on contradiction."""
    room = ls.room
    first = ls.start[p]
    s = ls.term[first + i]
    latest = -ls.bound[s ^ 1]
    own_end = ls.bound[s] + ls.factor[first + i]
    most = ls.limit[p] - ls.factor[first + n + i]
    for e in range(count - 1):
        begin = room[TIMES * n + room[EVENTS * n + e]]
        end = room[TIMES * n + room[EVENTS * n + e + 1]]
        moment = max(begin, max(latest, own_end))
        if room[LEVELS * n + e] > most and moment < end:
            duration = ls.term[first + 2 * n + i] ^ 1
            longest = moment - ls.bound[s]
            if longest >= -ls.bound[duration]:
                return True
            return push_within(ls, st, p, duration, -longest, moment, moment + 1)
    return True


@learn_compilable
def limit_others(ls: Learner, st: State, p: int, n: int) -> bool:
    """Propagate to the capacity, demands and durations; False on contradiction."""
    room = ls.room
    first = ls.start[p]
    count = make_profile(ls, p, n)
    highest = 0
    moment = 0
    for e in range(count - 1):
        begin = room[TIMES * n + room[EVENTS * n + e]]
        if begin < room[TIMES * n + room[EVENTS * n + e + 1]] and room[LEVELS * n + e] > highest:
            highest = room[LEVELS * n + e]
            moment = begin
    capacity = ls.term[first + 3 * n] ^ 1
    if highest > ls.bound[capacity] and not push_within(ls, st, p, capacity, highest, moment, moment + 1):
        return False
    before = ls.scalar[TRAIL]
    for i in range(n):
        if ls.scalar[TRAIL] - before >= n:  # the trail has space for as many entries, and one variable may
            return True  # be the demand of many tasks
        s = ls.term[first + i]
        demand = ls.term[first + n + i]
        duration = ls.term[first + 2 * n + i]
        has_part = -ls.bound[s ^ 1] < ls.bound[s] + ls.factor[first + i]
        is_open = ls.bound[demand] < -ls.bound[demand ^ 1]
        if has_part and is_open and not limit_demand(ls, st, p, n, count, i):
            return False
        is_open = ls.bound[duration] < -ls.bound[duration ^ 1]
        if is_open and ls.factor[first + n + i] > 0 and not limit_duration(ls, st, p, n, count, i):
            return False
    return True


@learn_compilable
def keep_open_resource(ls: Learner, st: State, p: int) -> bool:
    """Propagate a resource; False on contradiction."""
    n = (ls.start[p + 1] - ls.start[p] - 1) // 3
    read_bounds(ls, p, n)
    before = ls.scalar[TRAIL]
    if not keep_times(ls, st, p, n):
        return False
    if ls.scalar[TRAIL] > before:
        return True
    return limit_others(ls, st, p, n)
