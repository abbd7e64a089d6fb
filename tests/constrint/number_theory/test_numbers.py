"""Number theory against its definitions, and against numbers of known factors."""

from __future__ import annotations

from itertools import product
from math import isqrt, prod
from random import Random

import pytest

from constrint.number_theory.factors import (
    differences_of_two_squares,
    divisors_of,
    factorised,
    is_prime,
)
from constrint.number_theory.squares import weighted_squares


def test_small_numbers_against_definitions() -> None:
    for n in range(1, 1200):
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        assert divisors_of(n) == divisors
        assert is_prime(n) is (len(divisors) == 2)
        assert prod(p**k for p, k in factorised(n) or ()) == n
        squares = {(x, y) for x in range(36) for y in range(36) if x * x + y * y == n}
        assert weighted_squares(1, 1, n) == squares
    assert weighted_squares(1, 1, 0) == {(0, 0)}
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
def test_great_numbers(factors: dict[int, int]) -> None:
    assert factorised(prod(p**k for p, k in factors.items())) == tuple(factors.items())


def test_what_is_too_hard_is_not_answered() -> None:
    assert factorised((2**127 - 1) * (2**89 - 1)) is None
    assert divisors_of((2**107 - 1) * 6) is None
    assert divisors_of(prod([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43])) is None
    assert is_prime(2**127 - 1) is None


@pytest.mark.parametrize("n", [561, 1105, 3215031751, 3474749660383, 341550071728321, 3825123056546413051])
def test_pseudoprimes_are_not_taken_for_primes(n: int) -> None:
    assert is_prime(n) is False


@pytest.mark.parametrize("a", range(1, 13))
def test_two_squares_with_factors_against_definitions(a: int) -> None:
    for b, n in product(range(1, 13), range(-1, 250)):
        ys = [y for y in range(isqrt(max(n, 0) // b) + 1) if (n - b * y * y) % a == 0 <= n - b * y * y]
        expected = {(isqrt((n - b * y * y) // a), y) for y in ys}
        assert weighted_squares(a, b, n) == {(x, y) for x, y in expected if a * x * x + b * y * y == n}
    for b, n in product((4 * a, 9 * a), [*range(-40, 0), *range(1, 41)]):  # a b is a square
        expected = {(x, y) for x in range(250) for y in range(120) if a * x * x - b * y * y == n}
        assert weighted_squares(a, -b, n) == expected


def test_two_squares_of_great_numbers() -> None:
    random = Random(5)
    for _ in range(300):
        a, b = random.randint(1, 60), random.randint(1, 60)
        scale = random.choice([1, 1, 7, 12])
        x, y = scale * random.randint(0, 10**9), scale * random.randint(0, 10**9)
        n = a * x * x + b * y * y
        found = weighted_squares(a, b, n)
        assert found is not None
        assert (x, y) in found
        assert all(a * x * x + b * y * y == n for x, y in found)


def test_what_is_too_hard_for_squares_is_not_answered() -> None:
    assert weighted_squares(1, 3, (2**127 - 1) * (2**89 - 1)) is None
    assert (
        weighted_squares(1, 1, prod([5, 13, 17, 29, 37, 41, 53, 61, 73, 89, 97, 101, 109, 113, 137])) is None
    )
    assert weighted_squares(1, -2, 7) is None  # there is no end of them
