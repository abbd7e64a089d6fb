"""The moves of annealing: exchanges of two values, and new values, which are undone where they cost too much.

Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 220, 1983. The functions are
written for both Python and `engine.translation`.
"""

from __future__ import annotations

from constrint.local_search.annealed_layout import (
    BEST,
    COUNTED,
    DUE,
    EQUAL,
    FACTOR,
    GOAL,
    HAS_BEST,
    HIGHEST,
    HIT,
    HOTTEST,
    IS_BETTER,
    IS_FEASIBLE,
    LOWEST,
    MOVES,
    MOVES_LEFT,
    MOVES_OF_STAGE,
    NOT_ABOVE,
    NUMBER,
    PENALTY,
    PENALTY_LIMIT,
    PENDING,
    PRODUCT,
    RANDOM,
    SIGN,
    SIZE,
    STAGE,
    STAGE_LIMIT,
    STAGES,
    SUM,
    TEMPERATURE,
    TRAIL,
    UNIT,
    VIOLATION,
    WORK,
    Annealed,
)
from constrint.local_search.random_numbers import next_number

SAMPLED = 200  # moves by which the first temperature is chosen
COOLER = 15  # sixteenths of the temperature are left after a stage


def draw(s: Annealed, count: int) -> int:
    """A random number below a count."""
    x = next_number(s.scalar[RANDOM])
    s.scalar[RANDOM] = x
    return (x >> 3) % count


def put(s: Annealed, place: int, x: int) -> None:
    """Change a cell."""
    top = s.scalar[TRAIL]
    s.trail_place[top] = place
    s.trail_value[top] = s.cell[place]
    s.scalar[TRAIL] = top + 1
    s.cell[place] = x


def demand(s: Annealed, f: int) -> None:
    """Put a function on the heap."""
    if s.is_due[f] > 0:
        return
    s.is_due[f] = 1
    at = s.scalar[PENDING]
    s.scalar[PENDING] = at + 1
    while at > 0:
        above = (at - 1) // 2
        if s.due[above] <= f:
            break
        s.due[at] = s.due[above]
        at = above
    s.due[at] = f


def first_due(s: Annealed) -> int:
    """Take the function of least number from the heap."""
    found = s.due[0]
    s.is_due[found] = 0
    size = s.scalar[PENDING] - 1
    s.scalar[PENDING] = size
    last = s.due[size]
    at, below = 0, 1
    while below < size:
        if below + 1 < size and s.due[below + 1] < s.due[below]:
            below += 1
        if s.due[below] >= last:
            break
        s.due[at] = s.due[below]
        at, below = below, 2 * below + 1
    s.due[at] = last
    return found


def change(s: Annealed, v: int, x: int) -> None:
    """Give a variable a value; functions of it become due."""
    before = s.cell[v]
    put(s, v, x)
    for e in range(s.first[v], s.first[v + 1]):
        f, kind = s.target[e], s.kind_of_term[e]
        place = s.place[f]
        if kind == FACTOR:
            put(s, place, s.cell[place] + s.a[e] * (x - before))
        elif kind == HIT:
            if s.b[e] == x:
                put(s, place, s.cell[place] + s.a[e])
            elif s.b[e] == before:
                put(s, place, s.cell[place] - s.a[e])
            else:
                continue
        elif kind == COUNTED:
            old, new = s.at[e] + s.a[e] * before, s.at[e] + s.a[e] * x
            put(s, old, s.cell[old] - 1)
            put(s, new, s.cell[new] + 1)
            put(s, place, s.cell[place] + s.cell[new] - 1 - s.cell[old])
        demand(s, f)
    s.scalar[WORK] += 2 + s.first[v + 1] - s.first[v]


def excess(s: Annealed, f: int, x: int) -> int:
    """By how much a function's ends are violated if this is its value."""
    if s.low[f] > s.high[f]:
        return 1 if x == s.low[f] else 0
    if x < s.low[f]:
        return s.low[f] - x
    return x - s.high[f] if x > s.high[f] else 0


def extreme(s: Annealed, f: int, sign: int) -> int:
    """The greatest of a function's arguments, or with -1 the least."""
    found = s.cell[s.argument[s.begin[f]]]
    for i in range(s.begin[f] + 1, s.end[f]):
        x = s.cell[s.argument[i]]
        if sign * x > sign * found:
            found = x
    s.scalar[WORK] += s.end[f] - s.begin[f]
    return found


def value_of(s: Annealed, f: int) -> int:
    """The value of a function."""
    kind, total = s.kind[f], s.cell[s.place[f]]
    if kind == SUM:
        return total
    if kind == NOT_ABOVE:
        return s.is_opposite[f] ^ (1 if total <= 0 else 0)
    if kind == EQUAL:
        return s.is_opposite[f] ^ (1 if total == 0 else 0)
    if kind == NUMBER:
        return s.parts[min(max(s.begin[f] + total, s.begin[f]), s.end[f] - 1)]
    if kind == SIZE:
        return abs(total)
    if kind == HIGHEST:
        return extreme(s, f, 1)
    if kind == LOWEST:
        return extreme(s, f, -1)
    begin = s.begin[f]
    x = s.cell[s.argument[begin]]
    if kind == PRODUCT:
        return x * s.cell[s.argument[begin + 1]]
    return s.cell[s.argument[min(max(begin + 1 + x, begin + 1), s.end[f] - 1)]]


def settle(s: Annealed) -> None:
    """Compute all functions that are due."""
    while s.scalar[PENDING] > 0:
        f = first_due(s)
        v = s.out[f]
        before, x = s.cell[v], value_of(s, f)
        s.scalar[WORK] += 3
        if x != before:
            s.scalar[VIOLATION] += excess(s, f, x) - excess(s, f, before)
            change(s, v, x)


def undo(s: Annealed) -> None:
    """Restore what the present move changed."""
    for i in range(s.scalar[TRAIL] - 1, -1, -1):
        s.cell[s.trail_place[i]] = s.trail_value[i]
    s.scalar[TRAIL] = 0


def goal_cost(s: Annealed) -> int:
    """The objective, such that less is better; 0 without one."""
    return s.scalar[SIGN] * s.cell[s.scalar[GOAL]] if s.scalar[GOAL] >= 0 else 0


def cost(s: Annealed) -> int:
    """The cost of the present point."""
    return goal_cost(s) + s.scalar[PENALTY] * s.scalar[VIOLATION]


def takes(s: Annealed, place: int, x: int) -> bool:
    """Whether a value is in the domain of a decided variable."""
    if x < s.least[place] or x > s.most[place]:
        return False
    return s.holes[place] < 0 or s.inside[s.holes[place] + x - s.least[place]] > 0


def step(s: Annealed) -> bool:
    """Exchange the values of two variables, or give one another value; False where a draw gives no move."""
    s.scalar[WORK] += 2
    place = draw(s, len(s.decided))
    v = s.decided[place]
    x, begin = s.cell[v], s.partners[place]
    count = s.partners_end[place] - begin
    if count > 1 and (s.is_exchanged[place] > 0 or draw(s, 2) == 0):
        other = s.partner[begin + draw(s, count)]
        w = s.decided[other]
        y = s.cell[w]
        if x == y or not takes(s, place, y) or not takes(s, other, x):
            return False
        change(s, v, y)
        change(s, w, x)
    else:
        y = s.least[place] + draw(s, s.most[place] - s.least[place] + 1)
        if s.is_exchanged[place] > 0 or x == y or not takes(s, place, y):
            return False
        change(s, v, y)
    settle(s)
    return True


def note_best(s: Annealed) -> None:
    """Keep the present point if it is the best solution."""
    if s.scalar[VIOLATION] > 0:
        return
    s.scalar[IS_FEASIBLE] = 1
    if s.scalar[HAS_BEST] > 0 and goal_cost(s) >= s.scalar[BEST]:
        return
    s.scalar[BEST] = goal_cost(s)
    s.scalar[HAS_BEST] = 1
    s.scalar[DUE] = 1
    s.scalar[IS_BETTER] = 1
    for place in range(len(s.decided)):
        s.best[place] = s.cell[s.decided[place]]
    s.scalar[WORK] += len(s.decided)


def move(s: Annealed) -> int:
    """Make a random move, and undo it where it costs too much; gives what it would change, 0 for nothing."""
    before, violation = cost(s), s.scalar[VIOLATION]
    s.scalar[MOVES] += 1
    if not step(s):
        return 0
    more = cost(s) - before
    if more > 0 and more * UNIT * UNIT > s.scalar[TEMPERATURE] * s.chance[draw(s, len(s.chance))]:
        undo(s)
        s.scalar[VIOLATION] = violation
        return more
    s.scalar[TRAIL] = 0
    if more < 0 or violation > 0:
        note_best(s)
    return more


def go_to_best(s: Annealed) -> None:
    """Return to the best solution."""
    for place in range(len(s.decided)):
        v = s.decided[place]
        if s.cell[v] != s.best[place]:
            change(s, v, s.best[place])
            settle(s)
            s.scalar[TRAIL] = 0


def heat(s: Annealed) -> None:
    """Begin a cooling, from the best solution if there is one, as hot as moves change the cost."""
    if s.scalar[STAGE] > 0:
        if s.scalar[IS_FEASIBLE] > 0:
            s.scalar[PENALTY] = max(1, s.scalar[PENALTY] * 7 // 8)
        else:
            s.scalar[PENALTY] = min(s.scalar[PENALTY_LIMIT], 2 * s.scalar[PENALTY])
        if s.scalar[IS_BETTER] == 0:
            s.scalar[MOVES_OF_STAGE] = min(s.scalar[STAGE_LIMIT], s.scalar[MOVES_OF_STAGE] * 3 // 2)
    if s.scalar[HAS_BEST] > 0:
        go_to_best(s)
    else:
        note_best(s)
    is_first = s.scalar[STAGE] == 0
    goals, violations, count = 0, 0, 1
    for _ in range(SAMPLED):
        goal, violation = goal_cost(s), s.scalar[VIOLATION]
        if step(s):
            goals += abs(goal_cost(s) - goal)
            violations += abs(s.scalar[VIOLATION] - violation)
            count += 1
            undo(s)
            s.scalar[VIOLATION] = violation
    if is_first:
        s.scalar[PENALTY] = min(s.scalar[PENALTY_LIMIT], 1 + goals // max(1, violations))
    s.scalar[HOTTEST] = 1 + (goals + s.scalar[PENALTY] * violations) * UNIT // (2 * count)
    s.scalar[TEMPERATURE] = s.scalar[HOTTEST]
    s.scalar[STAGE] = 1
    s.scalar[IS_FEASIBLE] = 0
    s.scalar[IS_BETTER] = 0
    s.scalar[MOVES_LEFT] = s.scalar[MOVES_OF_STAGE]


def anneal(s: Annealed, work: int) -> int:
    """Move until so much work is done, or a stage ends with a better solution to tell; 1 for the latter.

    Without an objective, the first solution is told at once.
    """
    limit = s.scalar[WORK] + work
    while s.scalar[WORK] < limit:
        if s.scalar[STAGE] == 0 or s.scalar[STAGE] > s.scalar[STAGES]:
            heat(s)
        if s.scalar[GOAL] < 0 and s.scalar[DUE] > 0:
            return 1
        s.scalar[MOVES_LEFT] -= 1
        move(s)
        if s.scalar[MOVES_LEFT] <= 0:
            s.scalar[MOVES_LEFT] = s.scalar[MOVES_OF_STAGE]
            s.scalar[TEMPERATURE] = s.scalar[TEMPERATURE] * COOLER // 16
            s.scalar[STAGE] += 1
            if s.scalar[DUE] > 0:
                return 1
    return 0
