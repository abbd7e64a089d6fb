"""Number theory on Python's integers: factorisations, divisors, sums and differences of two squares."""

from __future__ import annotations

from functools import lru_cache
from math import gcd, isqrt, prod

TRIAL = 1000  # factors below this are found by division
RHO_STEPS = 1 << 17  # maximum steps of Pollard's method; beyond them a number counts as too hard
MOST_DIVISORS = 4096
# The least strong pseudoprime to all of these bases is above PROVEN (Sorenson and Webster, 2015).
BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
PROVEN = 3_317_044_064_679_887_385_961_981


def is_prime(n: int) -> bool | None:
    """True if n is prime, False if it is composite, None if n is too large for the fixed bases to prove."""
    if n < 2:
        return False
    for p in BASES:
        if n % p == 0:
            return n == p
    odd = n - 1
    twos = (odd & -odd).bit_length() - 1
    odd >>= twos
    for base in BASES:
        x = pow(base, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True if n < PROVEN else None


def _rho(n: int) -> int | None:
    """A proper factor of a composite n by Pollard's method in Brent's form; None after RHO_STEPS steps."""
    steps = RHO_STEPS
    for shift in range(1, 20):
        y, together, batch = 2, 1, 1
        while steps > 0:
            x = y
            for _ in range(batch):
                y = (y * y + shift) % n
            done = 0
            while done < batch and steps > 0:
                start = y
                size = min(128, batch - done)
                for _ in range(size):
                    y = (y * y + shift) % n
                    together = together * abs(x - y) % n
                steps -= size
                done += size
                factor = gcd(together, n)
                if factor == n:  # the batch merged several factors: repeat it step by step
                    factor = 1
                    y = start
                    while factor == 1:
                        y = (y * y + shift) % n
                        factor = gcd(abs(x - y), n)
                if factor == n:
                    break
                if factor > 1:
                    return factor
            else:
                batch *= 2
                continue
            break
    return None


@lru_cache(maxsize=256)
def factorised(n: int) -> tuple[tuple[int, int], ...] | None:
    """The (prime, exponent) pairs of n >= 1 in ascending order; None if n is too hard."""
    found: dict[int, int] = {}
    for p in (2, *range(3, TRIAL, 2)):
        if p * p > n:
            break
        while n % p == 0:
            n //= p
            found[p] = found.get(p, 0) + 1
    rest = [n] if n > 1 else []
    while rest:
        part = rest.pop()
        prime = part < TRIAL * TRIAL or is_prime(part)
        if prime is None:
            return None
        if prime:
            found[part] = found.get(part, 0) + 1
            continue
        root = isqrt(part)
        factor = root if root * root == part else _rho(part)
        if factor is None:
            return None
        rest += [factor, part // factor]
    return tuple(sorted(found.items()))


def divisors_of(n: int) -> list[int] | None:
    """All positive divisors of n >= 1 in ascending order; None if n is too hard or has too many divisors."""
    factors = factorised(n)
    if factors is None or prod([exponent + 1 for _, exponent in factors]) > MOST_DIVISORS:
        return None
    divisors = [1]
    for p, exponent in factors:
        divisors = [d * p**k for k in range(exponent + 1) for d in divisors]
    return sorted(divisors)


def differences_of_two_squares(n: int) -> set[tuple[int, int]] | None:
    """All (x, y) with x >= 0, y >= 0 and x**2 - y**2 == n, for n != 0; None if n is too hard."""
    divisors = divisors_of(abs(n))
    if divisors is None:
        return None
    found = set()
    for small in divisors:
        great = abs(n) // small
        if small <= great and (small + great) % 2 == 0:
            pair = (great + small) // 2, (great - small) // 2
            found.add(pair if n > 0 else pair[::-1])
    return found
