"""The moves of the local search: the variable of some violated rows, and its value, that gain most.

The functions are written for both Python and `engine.translation`. Where no move gains, the violated rows
gain weight.
"""

from __future__ import annotations

from constrint.local_search.layout import (
    ANYWAY,
    CHOSEN,
    HEAVIEST,
    MEMBERS,
    PLAIN,
    RANDOM,
    ROWS_OF_STEP,
    SCATTERED,
    STEPS,
    TABLE,
    THRESHOLD,
    UNLIMITED,
    VALUES_OF_WIDE,
    VARIABLES_OF_ROW,
    VIOLATED,
    WIDTH,
    WORK,
    WORK_OF_STEP,
    Jumps,
)
from constrint.local_search.random_numbers import next_number


def excess(s: Jumps, r: int, total: int) -> int:
    """By how much a row is violated if its sum is this."""
    if s.low[r] > s.high[r]:
        return 1 if total == s.low[r] else 0
    if total < s.low[r]:
        return s.low[r] - total
    return total - s.high[r] if total > s.high[r] else 0


def image(s: Jumps, e: int, least: int, x: int) -> int:
    """The value of a function."""
    kind = s.kind[e]
    if kind == PLAIN:
        return s.a[e] * x
    if kind == TABLE:
        return s.parts[s.a[e] + x - least]
    if kind == THRESHOLD:
        return s.b[e] if x <= s.a[e] else 0
    for i in range(s.a[e], s.b[e], 2):
        if s.parts[i] == x:
            return s.parts[i + 1]
    return 0


def draw(s: Jumps, count: int) -> int:
    """A random number below a count."""
    x = next_number(s.scalar[RANDOM])
    s.scalar[RANDOM] = x
    return (x >> 3) % count


def note(s: Jumps, r: int, total: int) -> None:
    """A row has a new sum."""
    s.total[r] = total
    is_violated = excess(s, r, total) > 0
    at = s.place[r]
    if is_violated and at < 0:
        s.place[r] = s.scalar[VIOLATED]
        s.violated[s.scalar[VIOLATED]] = r
        s.scalar[VIOLATED] += 1
    elif not is_violated and at >= 0:
        s.scalar[VIOLATED] -= 1
        last = s.violated[s.scalar[VIOLATED]]
        s.violated[at] = last
        s.place[last] = at
        s.place[r] = -1


def assign(s: Jumps, v: int, x: int) -> None:
    """Give a variable a value."""
    least, before = s.least[v], s.value[v]
    s.value[v] = x
    s.changed[v] = s.scalar[STEPS]
    for e in range(s.first[v], s.first[v + 1]):
        r = s.row[e]
        note(s, r, s.total[r] + image(s, e, least, x) - image(s, e, least, before))
    s.scalar[WORK] += 2 * (s.first[v + 1] - s.first[v])


def score_all(s: Jumps, v: int) -> int:
    """Fill `score` for each value of a variable; returns what is to be added to all but the present one."""
    least, before = s.least[v], s.value[v]
    width = s.most[v] - least + 1
    for i in range(width):
        s.score[i] = 0
    shift = 0
    work = width
    for e in range(s.first[v], s.first[v + 1]):
        r = s.row[e]
        weight, here = s.weight[r], excess(s, r, s.total[r])
        rest = s.total[r] - image(s, e, least, before)
        if s.kind[e] == MEMBERS:
            other = weight * (excess(s, r, rest) - here)  # for all values that are not named
            shift += other
            for i in range(s.a[e], s.b[e], 2):
                at = s.parts[i] - least
                s.score[at] += weight * (excess(s, r, rest + s.parts[i + 1]) - here) - other
            work += 2 + s.b[e] - s.a[e]
        else:
            for i in range(width):
                s.score[i] += weight * (excess(s, r, rest + image(s, e, least, least + i)) - here)
            work += 1 + width
    s.scalar[WORK] += work
    return shift


def best_of_narrow(s: Jumps, v: int) -> int:
    """The least score of another value of a variable; that value is `CHOSEN`."""
    shift = score_all(s, v)
    least, before = s.least[v], s.value[v]
    best, chosen, ties = UNLIMITED, before, 0
    for i in range(s.most[v] - least + 1):
        if least + i == before or (s.holes[v] >= 0 and s.inside[s.holes[v] + i] == 0):
            continue
        score = s.score[i] + shift
        if score < best:
            best, chosen, ties = score, least + i, 1
        elif score == best:
            ties += 1
            if draw(s, ties) == 0:
                chosen = least + i
    s.scalar[CHOSEN] = chosen
    return best


def score(s: Jumps, v: int, x: int) -> int:
    """The change of the weighted violation if a variable has a value."""
    least, before = s.least[v], s.value[v]
    change = 0
    for e in range(s.first[v], s.first[v + 1]):
        r = s.row[e]
        then = s.total[r] + image(s, e, least, x) - image(s, e, least, before)
        change += s.weight[r] * (excess(s, r, then) - excess(s, r, s.total[r]))
    s.scalar[WORK] += 3 * (s.first[v + 1] - s.first[v])
    return change


def wanted(s: Jumps, v: int, e: int, side: int) -> int:
    """A value at which a function's row comes to hold at an end, or at which the function changes."""
    r, kind, before = s.row[e], s.kind[e], s.value[v]
    if kind == THRESHOLD:
        return s.a[e] + side
    if kind != PLAIN:
        return s.parts[s.a[e]] + side
    end = s.low[r] if side == 0 else s.high[r]
    if s.low[r] > s.high[r]:
        return before + 1 - 2 * side
    if abs(end) >= UNLIMITED:
        return before
    factor = s.a[e]
    need = end - s.total[r] + factor * before
    return -((-need) // factor) if (side == 0) == (factor > 0) else need // factor


def best_of_wide(s: Jumps, v: int) -> int:
    """The least score among some values of a variable of a wide range or of many rows; it is `CHOSEN`."""
    best, chosen, tried = UNLIMITED, s.value[v], 0
    count = s.first[v + 1] - s.first[v]
    begin = draw(s, count) if count > 0 else 0
    until = s.scalar[WORK] + s.scalar[WORK_OF_STEP]
    for place in range(count):
        s.scalar[WORK] += 1
        e = s.first[v] + (begin + place) % count
        for side in range(2):
            x = min(max(wanted(s, v, e, side), s.least[v]), s.most[v])
            if x != s.value[v] and (s.holes[v] < 0 or s.inside[s.holes[v] + x - s.least[v]] > 0):
                tried += 1
                found = score(s, v, x)
                if found < best:
                    best, chosen = found, x
        if tried >= s.scalar[VALUES_OF_WIDE] or s.scalar[WORK] > until:
            break
    s.scalar[CHOSEN] = chosen
    return best


def best_of(s: Jumps, v: int) -> int:
    """The least score of another value of a variable; that value is `CHOSEN`."""
    width = s.most[v] - s.least[v] + 1
    is_narrow = width <= WIDTH and width * (s.first[v + 1] - s.first[v]) <= s.scalar[WORK_OF_STEP]
    return best_of_narrow(s, v) if is_narrow else best_of_wide(s, v)


def add_weight(s: Jumps) -> None:
    """Increase the weights of the violated rows."""
    is_heavy = False
    for i in range(s.scalar[VIOLATED]):
        r = s.violated[i]
        s.weight[r] += 1
        is_heavy = is_heavy or s.weight[r] > s.scalar[HEAVIEST]
    s.scalar[WORK] += s.scalar[VIOLATED]
    if is_heavy:
        for r in range(len(s.weight)):
            s.weight[r] = (s.weight[r] + 1) // 2
        s.scalar[WORK] += len(s.weight)


def jump(s: Jumps, work: int) -> int:
    """Move until no row is violated, or so much work is done; returns the number of violated rows."""
    limit = s.scalar[WORK] + work
    while s.scalar[VIOLATED] > 0 and s.scalar[WORK] < limit:
        s.scalar[STEPS] += 1
        s.scalar[WORK] += 1
        until = s.scalar[WORK] + s.scalar[WORK_OF_STEP]
        best, variable, value = UNLIMITED, -1, 0
        for _ in range(min(s.scalar[ROWS_OF_STEP], s.scalar[VIOLATED])):
            r = s.violated[draw(s, s.scalar[VIOLATED])]
            count = s.begin[r + 1] - s.begin[r]
            begin = draw(s, count)
            for place in range(min(count, s.scalar[VARIABLES_OF_ROW])):
                if s.scalar[WORK] > until:
                    break
                v = s.member[s.begin[r] + (begin + place) % count]
                found = best_of(s, v)
                if found < best or (found == best and variable >= 0 and s.changed[v] < s.changed[variable]):
                    best, variable, value = found, v, s.scalar[CHOSEN]
        if best >= 0:
            add_weight(s)
        if best <= 0 or (best < UNLIMITED and draw(s, 100) < s.scalar[ANYWAY]):
            assign(s, variable, value)
    return s.scalar[VIOLATED]


def scatter(s: Jumps, begin: int, end: int) -> None:
    """Give one of so many of some variables a random value, so that the search goes on elsewhere."""
    for v in range(begin, end):
        width = s.most[v] - s.least[v] + 1
        if width == 1 or s.first[v] == s.first[v + 1] or draw(s, s.scalar[SCATTERED]) > 0:
            continue
        x = s.least[v] + draw(s, width)
        if s.holes[v] < 0 or s.inside[s.holes[v] + x - s.least[v]] > 0:
            assign(s, v, x)
