"""Domains during search: reading, narrowing with a trail, restoring.

A domain is ``lo``, ``hi`` and ``step`` (members are congruent to ``lo`` modulo ``step``). If ``hole[v] >=
0``, it also has a bitset of the remaining values: bit 0 stands for ``base[v]``, and neighbouring bits are
``step[v]`` apart; the step of such a variable never changes. ``holes[v]`` counts the values between the
bounds that it lacks. Both bounds are always members. Every narrowing returns False if the domain becomes
empty, and records the old value once per level.
"""

from __future__ import annotations

from constrint.store.state import (
    BITS,
    CHANGED,
    FIXED,
    HOLES,
    HUGE,
    LOWER,
    NEXT_STAMP,
    STAMP,
    STRIDE,
    TRAIL,
    UPPER,
    WIDER,
    WORD_TRAIL,
    State,
    compilable,
)


@compilable
def contains(st: State, v: int, x: int) -> bool:
    """Whether x is in the domain of v."""
    lo = st.lo[v]
    if x < lo or x > st.hi[v]:
        return False
    if (x - lo) % st.step[v] != 0:
        return False
    hole = st.hole[v]
    if hole < 0:
        return True
    bit = (x - st.base[v]) // st.step[v]
    return (st.words[hole + bit // BITS] >> (bit % BITS)) & 1 == 1


@compilable
def next_member(st: State, v: int, x: int) -> int:
    """The least member >= x of a bitset variable; x is in its residue class and at most hi."""
    step = st.step[v]
    base = st.base[v]
    hole = st.hole[v]
    bit = (x - base) // step
    word = st.words[hole + bit // BITS] >> (bit % BITS)
    while word == 0:
        bit = (bit // BITS + 1) * BITS
        word = st.words[hole + bit // BITS]
    while word & 1 == 0:
        word >>= 1
        bit += 1
    return base + bit * step


@compilable
def previous_member(st: State, v: int, x: int) -> int:
    """The greatest member <= x of a bitset variable; x is in its residue class and at least lo."""
    step = st.step[v]
    base = st.base[v]
    hole = st.hole[v]
    bit = (x - base) // step
    word = st.words[hole + bit // BITS] & ((1 << (bit % BITS + 1)) - 1)
    while word == 0:
        bit = bit // BITS * BITS - 1
        word = st.words[hole + bit // BITS]
    while (word >> (bit % BITS)) & 1 == 0:
        bit -= 1
    return base + bit * step


@compilable
def member_count(st: State, v: int) -> int:
    """Number of members."""
    return (st.hi[v] - st.lo[v]) // st.step[v] + 1 - st.holes[v]


@compilable
def holes_between(st: State, v: int, x: int, y: int) -> int:
    """Number of holes from x to y of a bitset variable; both lie in its residue class and its bounds."""
    step = st.step[v]
    first = (x - st.base[v]) // step
    last = (y - st.base[v]) // step
    place = st.hole[v]
    count = last - first + 1
    for word in range(first // BITS, last // BITS + 1):
        bits = st.words[place + word]
        if word == last // BITS:
            bits &= (1 << (last % BITS + 1)) - 1
        if word == first // BITS:
            bits >>= first % BITS
        count -= bits.bit_count()
    return count


@compilable
def save(st: State, v: int, event: int) -> None:
    """Record the domain of v once per level, and note the event for its watchers."""
    scalar = st.scalar
    stamp = scalar[STAMP]
    if st.stamp[v] != stamp:
        top = scalar[TRAIL]
        st.trail_variable[top] = v
        st.trail_lo[top] = st.lo[v]
        st.trail_hi[top] = st.hi[v]
        st.trail_step[top] = st.step[v]
        st.trail_holes[top] = st.holes[v]
        st.trail_stamp[top] = st.stamp[v]
        st.stamp[v] = stamp
        scalar[TRAIL] = top + 1
    dirty = st.dirty[v]
    if dirty == 0:
        st.changed[scalar[CHANGED]] = v
        scalar[CHANGED] += 1
    st.dirty[v] = dirty | event


@compilable
def set_lo(st: State, v: int, x: int) -> bool:
    """Remove the values below x."""
    lo = st.lo[v]
    if x <= lo:
        return True
    hi = st.hi[v]
    huge = st.scalar[HUGE]
    if x <= -huge:
        return True
    if x > hi or x >= huge:
        if hi >= huge:
            st.scalar[WIDER] = 1
        return False
    step = st.step[v]
    if step != 1:
        x += (lo - x) % step
    if st.hole[v] >= 0:
        x = next_member(st, v, x)
    save(st, v, LOWER | FIXED if x == hi else LOWER)
    if st.holes[v] > 0:
        st.holes[v] = 0 if x == hi else st.holes[v] - holes_between(st, v, lo, x - step)
    st.lo[v] = x
    return True


@compilable
def set_hi(st: State, v: int, x: int) -> bool:
    """Remove the values above x."""
    hi = st.hi[v]
    if x >= hi:
        return True
    lo = st.lo[v]
    huge = st.scalar[HUGE]
    if x >= huge:
        return True
    if x < lo or x <= -huge:
        if lo <= -huge:
            st.scalar[WIDER] = 1
        return False
    step = st.step[v]
    if step != 1:
        x -= (x - lo) % step
    if st.hole[v] >= 0:
        x = previous_member(st, v, x)
    save(st, v, UPPER | FIXED if x == lo else UPPER)
    if st.holes[v] > 0:
        st.holes[v] = 0 if x == lo else st.holes[v] - holes_between(st, v, x + step, hi)
    st.hi[v] = x
    return True


@compilable
def fix(st: State, v: int, x: int) -> bool:
    """Fix v to x."""
    return contains(st, v, x) and set_lo(st, v, x) and set_hi(st, v, x)


@compilable
def set_word(st: State, word: int, value: int) -> None:
    """Write a word of a bitset or of a propagator's own memory; backtracking restores it."""
    scalar = st.scalar
    stamp = scalar[STAMP]
    if st.word_stamp[word] != stamp:
        top = scalar[WORD_TRAIL]
        st.trail_word[top] = word
        st.trail_bits[top] = st.words[word]
        st.trail_word_stamp[top] = st.word_stamp[word]
        st.word_stamp[word] = stamp
        scalar[WORD_TRAIL] = top + 1
    st.words[word] = value


@compilable
def clear_bit(st: State, v: int, x: int) -> None:
    """Clear the bit of an inner member of a bitset variable."""
    bit = (x - st.base[v]) // st.step[v]
    word = st.hole[v] + bit // BITS
    set_word(st, word, st.words[word] & ~(1 << (bit % BITS)))
    save(st, v, HOLES)
    st.holes[v] += 1


@compilable
def remove(st: State, v: int, x: int) -> bool:
    """Remove x. Inside the bounds of a variable without a bitset it stays: watch the bounds."""
    lo = st.lo[v]
    hi = st.hi[v]
    if x < lo or x > hi:
        return True
    if x == lo:
        return set_lo(st, v, x + 1)
    if x == hi:
        return set_hi(st, v, x - 1)
    if st.hole[v] >= 0 and contains(st, v, x):
        clear_bit(st, v, x)
    return True


@compilable
def greatest_common_divisor(a: int, b: int) -> int:
    """The greatest common divisor of two integers, never negative."""
    while b != 0:
        a, b = b, a % b
    return a if a >= 0 else -a


@compilable
def inverse(a: int, m: int) -> int:
    """The inverse of a modulo m, for a coprime to m >= 1."""
    r0 = m
    r1 = a % m
    t0 = 0
    t1 = 1
    while r1 != 0:
        q = r0 // r1
        r0, r1 = r1, r0 - q * r1
        t0, t1 = t1, t0 - q * t1
    return t0 % m


@compilable
def set_class(st: State, v: int, modulus: int, residue: int) -> bool:
    """Keep the values congruent to residue modulo modulus >= 1."""
    if modulus == 1:
        return True
    lo = st.lo[v]
    hi = st.hi[v]
    if lo == hi:
        return (lo - residue) % modulus == 0
    step = st.step[v]
    if st.hole[v] >= 0:
        if step % modulus == 0 and (lo - residue) % modulus == 0:
            return True
        while (st.lo[v] - residue) % modulus != 0:
            if not set_lo(st, v, st.lo[v] + 1):
                return False
        while (st.hi[v] - residue) % modulus != 0:
            if not set_hi(st, v, st.hi[v] - 1):
                return False
        x = st.lo[v] + step
        while x < st.hi[v]:
            if (x - residue) % modulus != 0 and contains(st, v, x):
                clear_bit(st, v, x)
            x += step
        return True
    common = greatest_common_divisor(step, modulus)
    if (residue - lo) % common != 0:
        return False
    factor = modulus // common
    if factor == 1:
        return True
    # Chinese remainder theorem: the least x >= lo in both residue classes.
    lo += step * ((residue - lo) // common % factor * inverse(step // common, factor) % factor)
    if lo > hi:
        return False
    step *= factor
    hi -= (hi - lo) % step
    event = STRIDE
    if lo != st.lo[v]:
        event |= LOWER
    if hi != st.hi[v]:
        event |= UPPER
    if lo == hi:
        event |= FIXED
    save(st, v, event)
    st.step[v] = step
    st.lo[v] = lo
    st.hi[v] = hi
    return True


@compilable
def set_literal(st: State, literal: int) -> bool:
    """Make a literal true; literal 2 v stands for v == 1, literal 2 v + 1 for v == 0."""
    if literal & 1:
        return set_hi(st, literal >> 1, 0)
    return set_lo(st, literal >> 1, 1)


@compilable
def literal_value(st: State, literal: int) -> int:
    """1 if a literal is true, 0 if it is false, -1 if it is open."""
    v = literal >> 1
    lo = st.lo[v]
    if lo != st.hi[v]:
        return -1
    return lo ^ (literal & 1)


@compilable
def push_level(st: State, level: int) -> None:
    """Open a level: later changes can be undone by `pop_level`."""
    scalar = st.scalar
    st.level_trail[level] = scalar[TRAIL]
    st.level_words[level] = scalar[WORD_TRAIL]
    st.level_stamp[level] = scalar[STAMP]
    scalar[STAMP] = scalar[NEXT_STAMP]
    scalar[NEXT_STAMP] += 1


@compilable
def pop_level(st: State, level: int) -> None:
    """Undo all changes since the level was opened, and close it."""
    scalar = st.scalar
    bottom = st.level_trail[level]
    for top in range(scalar[TRAIL] - 1, bottom - 1, -1):
        v = st.trail_variable[top]
        st.lo[v] = st.trail_lo[top]
        st.hi[v] = st.trail_hi[top]
        st.step[v] = st.trail_step[top]
        st.holes[v] = st.trail_holes[top]
        st.stamp[v] = st.trail_stamp[top]
    scalar[TRAIL] = bottom
    bottom = st.level_words[level]
    for top in range(scalar[WORD_TRAIL] - 1, bottom - 1, -1):
        word = st.trail_word[top]
        st.words[word] = st.trail_bits[top]
        st.word_stamp[word] = st.trail_word_stamp[top]
    scalar[WORD_TRAIL] = bottom
    scalar[STAMP] = st.level_stamp[level]
