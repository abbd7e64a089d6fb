"""The present sum in distances of its columns from bounds, or from 0/1 columns that bound them."""

from __future__ import annotations

from constrint.relaxation.sums.sum_state import (
    FARTHEST_VALUE,
    IS_SWITCHED,
    LARGEST_FACTOR,
    LARGEST_SIDE,
    MOST_LENGTH,
    MOST_TERMS,
    NEAR_VALUES,
    NEVER,
    ONE,
    PARTS,
    PASS,
    REST,
    SIDE,
    TERMS,
    WORK,
    RowSums,
)


def place(s: RowSums, x: int) -> None:
    """Count a column from its nearer bound, perhaps a variable one."""
    at = s.value[x]
    below = at - s.low[x] * ONE
    above = s.high[x] * ONE - at
    s.sign[x] = 1 if below <= above else -1
    s.offset[x] = s.low[x] if below <= above else s.high[x]
    s.by[x] = -1
    s.rate[x] = 0
    s.distance[x] = max(0, min(below, above))
    if s.switch[x] >= 0 and s.scalar[IS_SWITCHED] != NEVER:
        over = s.ceiling[x] * s.value[s.switch[x]] - at
        is_better = over <= s.distance[x] + NEAR_VALUES
        if s.scalar[IS_SWITCHED] != 0:  # a distance whose factor is positive is rounded down
            is_better = s.total[x] < 0
            if not is_better:
                s.sign[x] = 1
                s.offset[x] = s.low[x]
                s.distance[x] = max(0, below)
        if is_better:
            s.sign[x] = -1
            s.offset[x] = 0
            s.rate[x] = s.ceiling[x]
            s.by[x] = s.switch[x]
            s.distance[x] = max(0, over)
    if s.keeper[x] >= 0 and s.scalar[IS_SWITCHED] != NEVER:
        over = at - s.floor[x] * s.value[s.keeper[x]]
        if over < s.distance[x] - NEAR_VALUES:
            s.sign[x] = 1
            s.offset[x] = 0
            s.rate[x] = s.floor[x]
            s.by[x] = s.keeper[x]
            s.distance[x] = max(0, over)


def place_plain(s: RowSums, x: int) -> None:
    """Count a 0/1 column from its nearer bound."""
    at = s.value[x]
    s.by[x] = -1
    s.rate[x] = 0
    if 2 * at <= ONE:
        s.sign[x] = 1
        s.offset[x] = 0
        s.distance[x] = max(0, at)
    else:
        s.sign[x] = -1
        s.offset[x] = 1
        s.distance[x] = max(0, ONE - at)


def substitute(s: RowSums) -> bool:
    """Write the sum in distances: `whole`, `parts` and `REST`; False where numbers are too large."""
    for i in range(s.scalar[PARTS]):
        s.whole[s.parts[i]] = 0
    s.scalar[PASS] += 1
    count = s.scalar[TERMS]
    s.scalar[PARTS] = count
    if count > s.scalar[MOST_LENGTH]:
        s.scalar[PARTS] = 0
        return False
    for i in range(count):
        x = s.support[i]
        s.parts[i] = x
        s.whole[x] = s.total[x]
        s.seen[x] = s.scalar[PASS]
        place(s, x)
    # Columns by which others are placed have bounds of their own.
    for i in range(s.scalar[TERMS]):
        x = s.support[i]
        y = s.by[x]
        if y >= 0:
            if s.seen[y] != s.scalar[PASS]:
                if count >= MOST_TERMS:
                    s.scalar[PARTS] = count
                    return False
                s.seen[y] = s.scalar[PASS]
                s.parts[count] = y
                count += 1
            place_plain(s, y)
            s.whole[y] += s.total[x] * s.rate[x]
    s.scalar[PARTS] = count
    rest = s.scalar[SIDE]
    for i in range(count):
        x = s.parts[i]
        a = s.whole[x]
        if abs(a) > LARGEST_FACTOR or s.distance[x] > FARTHEST_VALUE * ONE:
            return False
        rest -= a * s.offset[x]
    s.scalar[REST] = rest
    s.scalar[WORK] += 3 * count
    return abs(rest) <= LARGEST_SIDE


def turn(s: RowSums, x: int) -> None:
    """Count a column from its other bound."""
    other = s.low[x] if s.sign[x] < 0 else s.high[x]
    s.scalar[REST] -= s.whole[x] * (other - s.offset[x])
    s.distance[x] = (s.high[x] - s.low[x]) * ONE - s.distance[x]
    s.offset[x] = other
    s.sign[x] = -s.sign[x]
