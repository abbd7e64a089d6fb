"""Number theory against its definitions, and against numbers of known factors."""

from __future__ import annotations

from math import prod

import pytest

from constrint.numbers import (
    differences_of_two_squares,
    divisors_of,
    factorised,
    is_prime,
    sums_of_two_squares,
)


def test_small_numbers_against_definitions():
    for n in range(1, 1200):
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        assert divisors_of(n) == divisors
        assert is_prime(n) is (len(divisors) == 2)
        assert prod(p**k for p, k in factorised(n)) == n
        squares = {(x, y) for x in range(36) for y in range(36) if x * x + y * y == n}
        assert sums_of_two_squares(n) == squares
    assert sums_of_two_squares(0) == {(0, 0)}
    for n in [*range(-200, 0), *range(1, 200)]:
        expected = {(x, y) for x in range(110) for y in range(110) if x * x - y * y == n}
        assert differences_of_two_squares(n) == expected


@pytest.mark.parametrize(
    "factors",
    [
        {2: 3, 1009: 2, 1000003: 3},
        {998244353: 1, 1000000007: 1},
        {2**31 - 1: 1, 2**61 - 1: 1},
        {3: 80, 7: 10},
        {10**9 + 7: 4},
    ],
)
def test_great_numbers(factors):
    assert dict(factorised(prod(p**k for p, k in factors.items()))) == factors


def test_what_is_too_hard_is_not_answered():
    assert factorised((2**127 - 1) * (2**89 - 1)) is None
    assert divisors_of((2**107 - 1) * 6) is None
    assert divisors_of(prod([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43])) is None
    assert is_prime(2**127 - 1) is None


@pytest.mark.parametrize("n", [561, 1105, 3215031751, 3474749660383, 341550071728321, 3825123056546413051])
def test_pseudoprimes_are_not_taken_for_primes(n):
    assert is_prime(n) is False
