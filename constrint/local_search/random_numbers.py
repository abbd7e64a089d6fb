"""Random numbers of local searches, for Python and for machine code: Marsaglia's xorshift, of 59 bits."""

from __future__ import annotations

MASK = (1 << 59) - 1
SPREAD = 0x9E3779B97F4A7C15 >> 6  # a multiplier of seeds


def first_number(seed: int) -> int:
    """The number with which a seed begins, which is not 0."""
    return (seed + 1) * SPREAD & MASK or 1


def next_number(x: int) -> int:
    """The number after another one; a random number below n is that, less its last 3 bits, modulo n."""
    x ^= (x << 13) & MASK
    x ^= x >> 7
    x ^= (x << 17) & MASK
    return x
