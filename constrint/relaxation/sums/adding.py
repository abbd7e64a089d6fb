"""Sums of rows: columns away from their bounds cancel out, one after the other."""

from __future__ import annotations

from constrint.relaxation.sums.sum_state import (
    IS_PLAIN,
    LARGEST_FACTOR,
    LARGEST_SIDE,
    MOST_LENGTH,
    NEAR_VALUES,
    ONE,
    SIDE,
    STAMP,
    TERMS,
    WORK,
    RowSums,
)


def clear(s: RowSums) -> None:
    """Begin a sum."""
    for i in range(s.scalar[TERMS]):
        s.total[s.support[i]] = 0
    s.scalar[TERMS] = 0
    s.scalar[SIDE] = 0


def take(s: RowSums, r: int, factor: int) -> None:
    """Begin with a row times a factor."""
    clear(s)
    for i in range(s.start[r], s.start[r + 1]):
        x = s.column[i]
        s.total[x] = factor * s.factor[i]
        s.support[i - s.start[r]] = x
    s.scalar[TERMS] = s.start[r + 1] - s.start[r]
    s.scalar[SIDE] = factor * s.limit[r]
    s.scalar[WORK] += s.scalar[TERMS]


def divisor_of(a: int, b: int) -> int:
    """The greatest common divisor of two numbers that are not negative."""
    while b != 0:
        a, b = b, a % b
    return a


def is_wide(s: RowSums, x: int) -> bool:
    """Whether a column has other values than 0 and 1."""
    return s.low[x] != 0 or s.high[x] != 1


def room(s: RowSums, x: int) -> int:
    """How far the point is from the bounds of a column."""
    at = s.value[x]
    above = s.high[x] * ONE - at
    if s.scalar[IS_PLAIN] != 0:
        return min(above, at - s.low[x] * ONE)
    if s.switch[x] >= 0:
        above = min(above, s.ceiling[x] * s.value[s.switch[x]] - at)
    below = at - s.low[x] * ONE
    if s.keeper[x] >= 0:
        below = min(below, at - s.floor[x] * s.value[s.keeper[x]])
    return min(above, below)


def factor_in(s: RowSums, r: int, x: int) -> int:
    """The factor of a column in a row."""
    for i in range(s.start[r], s.start[r + 1]):
        if s.column[i] == x:
            return s.factor[i]
    return 0


def partner(s: RowSums, x: int) -> int:
    """The row to add so that a column vanishes: the tightest, then the shortest; -1 for none."""
    best = -1
    best_slack = 0
    best_length = 0
    a = s.total[x]
    for i in range(s.of_start[x], s.of_start[x + 1]):
        r = s.of[i]
        length = s.start[r + 1] - s.start[r]
        s.scalar[WORK] += 1
        if s.used[r] == s.scalar[STAMP] or length > s.scalar[MOST_LENGTH]:
            continue
        b = factor_in(s, r, x)
        s.scalar[WORK] += length // 4
        if s.is_equation[r] == 0 and (a > 0) == (b > 0):
            continue
        slack = s.slack[r] // ONE
        if best < 0 or slack < best_slack or (slack == best_slack and length < best_length):
            best = r
            best_slack = slack
            best_length = length
    return best


def add_row(s: RowSums, r: int, factor: int) -> int:
    """Add a row times a factor to the sum; the number of terms that were looked at."""
    length = s.scalar[TERMS]
    for i in range(s.start[r], s.start[r + 1]):
        y = s.column[i]
        if s.total[y] == 0:
            s.support[length] = y
            length += 1
        s.total[y] += factor * s.factor[i]
    kept = 0
    for i in range(length):
        y = s.support[i]
        if s.total[y] != 0:
            s.support[kept] = y
            kept += 1
    s.scalar[TERMS] = kept
    s.scalar[SIDE] += factor * s.limit[r]
    s.scalar[WORK] += length
    return length


def is_small(s: RowSums) -> bool:
    """Whether the sum has terms, not too many, and no number of it is too large."""
    most = 0
    for i in range(s.scalar[TERMS]):
        most = max(most, abs(s.total[s.support[i]]))
    has_terms = 0 < s.scalar[TERMS] <= s.scalar[MOST_LENGTH]
    return has_terms and most <= LARGEST_FACTOR and abs(s.scalar[SIDE]) <= LARGEST_SIDE


def add(s: RowSums, r: int, x: int) -> bool:
    """Add the multiple of a row that makes a column vanish; False where numbers grow too large."""
    b = factor_in(s, r, x)
    a = s.total[x]
    common = divisor_of(abs(a), abs(b))
    mine = abs(b) // common
    theirs = abs(a) // common
    if (a > 0) == (b > 0):
        theirs = -theirs
    if mine > LARGEST_FACTOR or abs(theirs) > LARGEST_FACTOR:
        return False
    for i in range(s.scalar[TERMS]):
        s.total[s.support[i]] *= mine
    s.scalar[SIDE] *= mine
    length = add_row(s, r, theirs)
    s.scalar[WORK] += length
    kept = s.scalar[TERMS]
    side = s.scalar[SIDE]
    divisor = 0
    most = 0
    for i in range(kept):
        a = abs(s.total[s.support[i]])
        most = max(most, a)
        divisor = divisor_of(a, divisor)
    if kept == 0:
        s.scalar[SIDE] = 0
        return False
    s.scalar[SIDE] = side // divisor
    for i in range(kept):
        s.total[s.support[i]] //= divisor
    return most // divisor <= LARGEST_FACTOR and abs(side) <= LARGEST_SIDE and kept <= s.scalar[MOST_LENGTH]


def following(s: RowSums) -> bool:
    """Add the row without the wide column that is farthest from its bounds; False where there is none."""
    for _ in range(3):  # columns that are tried
        best = -1
        most = NEAR_VALUES
        for i in range(s.scalar[TERMS]):
            x = s.support[i]
            if is_wide(s, x) and s.of_start[x] < s.of_start[x + 1]:
                away = room(s, x)
                if away > most and s.flip[x] != s.scalar[STAMP]:
                    best = x
                    most = away
        s.scalar[WORK] += s.scalar[TERMS]
        if best < 0:
            return False
        r = partner(s, best)
        if r >= 0:
            s.used[r] = s.scalar[STAMP]
            return add(s, r, best)
        s.flip[best] = s.scalar[STAMP]  # it stays in this sum
    return False
