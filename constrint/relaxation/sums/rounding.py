"""Mixed-integer rounding of the present sum, written in distances: divided and rounded."""

from __future__ import annotations

from constrint.relaxation.sums.adding import divisor_of
from constrint.relaxation.sums.substitution import substitute, turn
from constrint.relaxation.sums.sum_state import (
    BEST,
    BEST_DIVISOR,
    CUT_TERMS,
    CUTS,
    DIVISORS,
    FARTHEST_VALUE,
    IS_SWITCHED,
    LARGEST_FACTOR,
    LARGEST_SIDE,
    LEAST_DEPTH,
    MOST_DIVISORS,
    NEAR_VALUES,
    NEVER,
    ONE,
    OUT_SIDE,
    OUT_TERMS,
    PARTS,
    REST,
    WORK,
    RowSums,
)

FINER = 1 << 6  # units of depth, beside `ONE`
DEEPEST_CUT = 1 << 50
POWERS = 4  # a divisor is halved once less
MOST_TURNS = 12  # columns that are tried from their other bound


def root_of(n: int) -> int:
    """The square root of a number, rounded down."""
    if n < 2:
        return n
    x = 1 << 31
    y = 1
    while y * y < n and y < x:
        y = 2 * y
    x = y
    y = (x + n // x) // 2
    while y < x:
        x = y
        y = (x + n // x) // 2
    return x


def depth(s: RowSums, d: int) -> int:
    """How far the point is beyond the cut by a divisor, in units of `ONE * FINER`; 0 if it is not."""
    rest = s.scalar[REST]
    r = rest % d
    if r == 0:
        return 0
    scale = d - r
    count = s.scalar[PARTS]
    s.scalar[WORK] += count
    excess = -(rest // d) * scale * ONE
    norm = 0
    for i in range(count):
        x = s.parts[i]
        t = s.whole[x] * s.sign[x]
        if t != 0:
            c = (t // d) * scale + max(0, t % d - r)
            norm += c * c
            excess += c * s.distance[x]
    if excess <= 0 or norm == 0:
        return 0
    return min(excess, DEEPEST_CUT) * FINER // max(1, root_of(norm))


def gather(s: RowSums) -> None:
    """The divisors to try: factors of columns between their bounds."""
    count = 0
    for i in range(s.scalar[PARTS]):
        x = s.parts[i]
        a = abs(s.whole[x])
        if a > 1 and s.distance[x] > NEAR_VALUES:
            known = False
            for j in range(count):
                if s.divisor[j] == a:
                    known = True
            if not known:
                if count < s.scalar[MOST_DIVISORS]:
                    s.divisor[count] = a
                    count += 1
                else:
                    least = 0
                    for j in range(count):
                        if s.divisor[j] < s.divisor[least]:
                            least = j
                    if s.divisor[least] < a:
                        s.divisor[least] = a
    s.scalar[DIVISORS] = count
    s.scalar[WORK] += s.scalar[PARTS]


def improve(s: RowSums) -> None:
    """Smaller divisors, and other bounds to count from, as long as the cut becomes deeper."""
    d = s.scalar[BEST_DIVISOR]
    for power in range(1, POWERS):
        smaller = d >> power
        if smaller > 1:
            deep = depth(s, smaller)
            if deep > s.scalar[BEST]:
                s.scalar[BEST] = deep
                s.scalar[BEST_DIVISOR] = smaller
    d = s.scalar[BEST_DIVISOR]
    tries = 0
    for i in range(s.scalar[PARTS]):
        x = s.parts[i]
        if tries >= MOST_TURNS:
            return
        if (
            s.by[x] >= 0
            or s.distance[x] <= NEAR_VALUES
            or s.high[x] - s.low[x] > FARTHEST_VALUE
            or s.whole[x] == 0
        ):
            continue
        if s.distance[x] > (s.high[x] - s.low[x]) * ONE - NEAR_VALUES:
            continue
        tries += 1
        turn(s, x)
        deep = depth(s, d) if abs(s.scalar[REST]) <= LARGEST_SIDE else 0
        if deep > s.scalar[BEST]:
            s.scalar[BEST] = deep
        else:
            turn(s, x)


def put(s: RowSums, x: int, a: int) -> bool:
    """Add to the factor of a column in the cut; False where it is too large."""
    if s.out[x] == 0:
        s.out_support[s.scalar[OUT_TERMS]] = x
        s.scalar[OUT_TERMS] += 1
    s.out[x] += a
    return abs(s.out[x]) <= LARGEST_SIDE


def write(s: RowSums, d: int) -> bool:
    """The cut by a divisor, in columns, among the cuts; False where its numbers are too large."""
    rest = s.scalar[REST]
    r = rest % d
    scale = d - r
    side = (rest // d) * scale
    for i in range(s.scalar[OUT_TERMS]):
        s.out[s.out_support[i]] = 0
    s.scalar[OUT_TERMS] = 0
    for i in range(s.scalar[PARTS]):
        x = s.parts[i]
        t = s.whole[x] * s.sign[x]
        if t == 0:
            continue
        c = ((t // d) * scale + max(0, t % d - r)) * s.sign[x]
        if c == 0:
            continue
        # distance = sign * (column - offset - rate * its column)
        side += c * s.offset[x]
        if abs(side) > LARGEST_SIDE or s.scalar[OUT_TERMS] > len(s.out_support) - 4 or not put(s, x, c):
            return False
        if s.by[x] >= 0 and not put(s, s.by[x], -c * s.rate[x]):
            return False
    s.scalar[OUT_SIDE] = side
    return keep(s)


def keep(s: RowSums) -> bool:
    """Note the cut, divided by its common divisor."""
    divisor = 0
    for i in range(s.scalar[OUT_TERMS]):
        divisor = divisor_of(abs(s.out[s.out_support[i]]), divisor)
    at = s.scalar[CUT_TERMS]
    cut = s.scalar[CUTS]
    if divisor == 0 or cut >= len(s.cut_limit) or at + s.scalar[OUT_TERMS] >= len(s.cut_column):
        return False
    for i in range(s.scalar[OUT_TERMS]):
        x = s.out_support[i]
        a = s.out[x] // divisor
        if abs(a) > LARGEST_FACTOR:
            return False
        if a != 0:
            s.cut_column[at] = x
            s.cut_factor[at] = a
            at += 1
        s.out[x] = 0  # a column may be named twice
    s.cut_limit[cut] = s.scalar[OUT_SIDE] // divisor
    s.scalar[CUTS] = cut + 1
    s.scalar[CUT_TERMS] = at
    s.cut_start[cut + 1] = at
    return True


def rounded(s: RowSums) -> bool:
    """Note the deepest cut of the present sum; False where there is none."""
    if not substitute(s):
        return False
    gather(s)
    s.scalar[BEST] = s.scalar[LEAST_DEPTH]
    s.scalar[BEST_DIVISOR] = 0
    for j in range(s.scalar[DIVISORS]):
        deep = depth(s, s.divisor[j])
        if deep > s.scalar[BEST]:
            s.scalar[BEST] = deep
            s.scalar[BEST_DIVISOR] = s.divisor[j]
    if s.scalar[BEST_DIVISOR] == 0:
        return False
    improve(s)
    return write(s, s.scalar[BEST_DIVISOR])


def round_in_both(s: RowSums) -> bool:
    """Cuts of the present sum by nearer bounds, and by those that make factors positive."""
    s.scalar[IS_SWITCHED] = 0
    found = rounded(s)
    s.scalar[IS_SWITCHED] = 1
    found = rounded(s) or found
    s.scalar[IS_SWITCHED] = 0
    return found


def halved(s: RowSums) -> bool:
    """Note the cut that the present sum gives by halving; False where there is none."""
    s.scalar[IS_SWITCHED] = NEVER
    is_cut = substitute(s) and depth(s, 2) > s.scalar[LEAST_DEPTH] and write(s, 2)
    s.scalar[IS_SWITCHED] = 0
    return is_cut
