"""Representations of a number as a x**2 + b y**2, in Python's integers.

For a, b > 0 the equation is brought to X**2 + d Y**2 == m with X = a x, m = a n and d square-free. Coprime
solutions are found for every m / f**2 and multiplied by f. For a coprime solution t = X / Y is a root of -d
modulo m, and 2 X Y <= m. So X is a remainder of Euclid's algorithm for m and t: Cornacchia, Giornale di
Matematiche 46, 1908. All remainders are tried, so correctness rests on Legendre's theorem on convergents
alone.
"""

from __future__ import annotations

from itertools import product
from math import gcd, isqrt, prod

from constrint.number_theory.factors import differences_of_two_squares, factorised

MOST_ROOTS = 1 << 14  # maximum runs of Euclid's algorithm

Pairs = set[tuple[int, int]]
Factors = dict[int, int]


def weighted_squares(a: int, b: int, n: int) -> Pairs | None:
    """All (x, y) with x >= 0, y >= 0 and a x**2 + b y**2 == n; None if they are too hard to find.

    Args:
        a: At least 1.
        b: Any number but 0. If it is negative, n must not be 0.
        n: Any number.
    """
    common = gcd(a, b)
    if n % common:
        return set()
    a, b, n = a // common, b // common, n // common
    if b < 0:
        root = isqrt(-a * b)
        pairs = differences_of_two_squares(a * n) if root * root == -a * b else None
        return None if pairs is None else {(x // a, y // root) for x, y in pairs if not (x % a or y % root)}
    if n <= 0:
        return set() if n else {(0, 0)}
    square, factors = _square_part(a * b), _product(a, n)
    if square is None or factors is None:
        return None
    pairs = _sums(a * b // square**2, factors)
    return None if pairs is None else {(x // a, y // square) for x, y in pairs if not (x % a or y % square)}


def _square_part(n: int) -> int | None:
    """The greatest number whose square divides n; None if n is too hard."""
    factors = factorised(n)
    return None if factors is None else prod([p ** (exponent // 2) for p, exponent in factors])


def _product(m: int, n: int) -> Factors | None:
    """The factors of m n; None if they are too hard to find."""
    found: Factors = {}
    for part in (factorised(m), factorised(n)):
        if part is None:
            return None
        for p, exponent in part:
            found[p] = found.get(p, 0) + exponent
    return found


def _sums(d: int, factors: Factors) -> Pairs | None:
    """All (x, y) with x, y >= 0 and x**2 + d y**2 == m, for the factors of m and a square-free d >= 1."""
    squares = prod([exponent // 2 + 1 for exponent in factors.values()])
    if squares << len(factors) > MOST_ROOTS:
        return None
    found: Pairs = set()
    primes = list(factors)
    for halves in product(*(range(exponent // 2 + 1) for exponent in factors.values())):
        multiple = prod([p**half for p, half in zip(primes, halves, strict=True)])
        rest = {p: factors[p] - 2 * half for p, half in zip(primes, halves, strict=True)}
        found |= {(multiple * x, multiple * y) for x, y in _coprime_sums(d, rest)}
    return found


def _coprime_sums(d: int, factors: Factors) -> Pairs:
    """The coprime pairs among `_sums`."""
    m = prod([p**exponent for p, exponent in factors.items()])
    found: Pairs = {(1, 0)} if m == 1 else set()
    for t in _roots(d, factors):
        remainder, after = t, m
        while True:
            if remainder * remainder <= m:
                rest, over = divmod(m - remainder * remainder, d)
                y = isqrt(rest)
                if not over and y * y == rest and gcd(remainder, y) == 1:
                    found.add((remainder, y))
            if not remainder:
                break
            remainder, after = after % remainder, remainder
    return found


def _roots(d: int, factors: Factors) -> list[int]:
    """The roots of -d modulo the number that has these factors."""
    roots, modulus = [0], 1
    for p, exponent in factors.items():
        if not exponent:
            continue
        power = p**exponent
        own = _roots_of_power(d, p, exponent)
        step = modulus * pow(modulus, -1, power)
        roots = [(root + (other - root) * step) % (modulus * power) for root in roots for other in own]
        modulus *= power
    return roots


def _roots_of_power(d: int, p: int, exponent: int) -> list[int]:
    """The roots of -d modulo p**exponent, for a d that p**2 does not divide."""
    if d % p == 0:
        return [0] if exponent == 1 else []
    if p == 2:
        roots = [1]
        for k in range(1, exponent):
            both = [root + add for root in roots for add in (0, 1 << k)]
            roots = [root for root in both if (root * root + d) % (2 << k) == 0]
        return roots
    root = _root_of_prime(-d % p, p)
    if root is None:
        return []
    power = p
    for _ in range(exponent - 1):  # Hensel lifting
        power *= p
        root = (root - (root * root + d) * pow(2 * root, -1, power)) % power
    return [root, power - root]


def _root_of_prime(n: int, p: int) -> int | None:
    """A root of n modulo an odd prime that does not divide it, by the algorithm of Tonelli and Shanks."""
    if pow(n, (p - 1) // 2, p) != 1:
        return None
    twos = ((p - 1) & (1 - p)).bit_length() - 1
    odd = (p - 1) >> twos
    other = 2
    while pow(other, (p - 1) // 2, p) == 1:
        other += 1
    factor, root, rest = pow(other, odd, p), pow(n, (odd + 1) // 2, p), pow(n, odd, p)
    while rest != 1:
        square, order = rest, 0
        while square != 1:
            square, order = square * square % p, order + 1
        step = pow(factor, 1 << (twos - order - 1), p)
        factor, twos = step * step % p, order
        root, rest = root * step % p, rest * factor % p
    return root
