"""One example of each propagator of arithmetic and logic: domains before, domains after, and why.

Variables are numbered from 0 on in the order of the domains; `is_true(v)` is the literal of a 0/1 variable.
"""

from __future__ import annotations

from pruning import NO_SOLUTION, pruned

from constrint import propagators as p


def is_true(v: int) -> int:
    return 2 * v


def is_false(v: int) -> int:
    return 2 * v + 1


def test_example_linear_le() -> None:
    """2 x + y <= 8: where y is 2 at least, 2 x is 6 at most; where x is 0, y is 8 at most."""
    assert pruned(p.LinearLe(((2, 0), (1, 1)), 8), "0..9", "2..9") == ["0..3", "2..8"]


def test_example_linear_eq() -> None:
    """3 x + 2 y == 12: bounds alone; that x is even is not seen."""
    assert pruned(p.LinearEq(((3, 0), (2, 1)), 12), "0..9", "0..3") == ["2..4", "0..3"]


def test_example_linear_ne() -> None:
    """x + y != 5: y is 2, so x is not 3."""
    assert pruned(p.LinearNe(((1, 0), (1, 1)), 5), "1..5", "2") == ["1, 2, 4, 5", "2"]


def test_example_linear_le_if() -> None:
    """b <-> x + y <= 3: the least sum is 4, so b is false."""
    assert pruned(p.LinearLeIf(is_true(0), ((1, 1), (1, 2)), 3), "0, 1", "2..9", "2..9") == [
        "0",
        "2..9",
        "2..9",
    ]


def test_example_linear_eq_if() -> None:
    """b <-> x + y == 3: b is true, so both are 3 at most."""
    assert pruned(p.LinearEqIf(is_true(0), ((1, 1), (1, 2)), 3), "1", "0..9", "0..9") == ["1", "0..3", "0..3"]


def test_example_product() -> None:
    """x y == 12 with x in 2..5: y is 3, 4 or 6, the divisors of 12 from there; so x is 4 at most."""
    assert pruned(p.Product(0, 1, 2), "2..5", "0..9", "12") == ["2..4", "3, 4, 6", "12"]


def test_example_power() -> None:
    """x ** 2 in 5..30: 3 to 5, since 2 * 2 is too little and 6 * 6 too much."""
    assert pruned(p.Power(0, 1, 2), "0..9", "2", "5..30") == ["3..5", "2", "9..25"]


def test_example_div_mod() -> None:
    """x // 4 == 2: x is 8 to 11, so the remainder is any."""
    assert pruned(p.DivMod(0, 1, 2, 3), "0..20", "4", "2", "0..9") == ["8..11", "4", "2", "0..3"]


def test_example_divides() -> None:
    """5 divides x in 6..13: x is 10, the only multiple."""
    assert pruned(p.Divides(is_true(0), 1, 2), "1", "5", "6..13") == ["1", "5", "10"]


def test_example_maximum() -> None:
    """z == max(x, y): z is at least 4 since x is, and at most 7; neither is above z."""
    assert pruned(p.Maximum(0, (1, 2)), "0..7", "4..9", "1..5") == ["4..7", "4..7", "1..5"]


def test_example_minimum() -> None:
    """z == min(x, y): y is above z, so x is z."""
    assert pruned(p.Minimum(0, (1, 2)), "0..3", "0..9", "5..9") == ["0..3", "0..3", "5..9"]


def test_example_absolute() -> None:
    """|x| in 3..4: x is between -4 and 4; of a range, nothing is taken from its middle."""
    assert pruned(p.Absolute(0, 1), "-9..9", "3..4") == ["-4..4", "3, 4"]


def test_example_member() -> None:
    """b <-> x in {1, 2, 7}: b is false, so x is none of them."""
    assert pruned(p.Member(is_true(0), 1, (1, 2, 7, 7)), "0", "0..9") == ["0", "0, 3..6, 8, 9"]


def test_example_clause() -> None:
    """a or not b or c: a is false and b true, so c is true."""
    clause = p.Clause((is_true(0), is_false(1), is_true(2)))
    assert pruned(clause, "0", "1", "0, 1") == ["0", "1", "1"]


def test_example_element() -> None:
    """[7, 3, 9, 3][i] == z: z is 3 or 4, so i is 1 or 3, where the list has 3."""
    assert pruned(p.Element((7, 3, 9, 3), 0, 1), "0..9", "3..4") == ["1, 3", "3"]


def test_example_gcd() -> None:
    """gcd(x, y) == 4: both are multiples of 4."""
    assert pruned(p.Gcd(0, 1, 2), "6..10", "3..5", "4") == ["8", "4", "4"]


def test_example_lcm() -> None:
    """lcm(x, y) == 6: both divide 6."""
    assert pruned(p.Lcm(0, 1, 2), "4..9", "1..4", "6") == ["6", "1..3", "6"]


def test_example_ceil_div() -> None:
    """ceil(x / 4) == 3: x is 9 to 12."""
    assert pruned(p.CeilDiv(0, 1, 2), "0..20", "4", "3") == ["9..12", "4", "3"]


def test_example_selection() -> None:
    """[x, y, z][i] == 5: only y can be 5, so i is 1, and y is 5."""
    assert pruned(p.Selection((0, 1, 2), 3, 4), "0..4", "3..9", "6..8", "0..9", "5") == [
        *("0..4", "5", "6..8", "1", "5")
    ]


def test_example_table() -> None:
    """(x, y) in {(1, 5), (2, 6), (3, 7)}: x is not 2, so y is not 6."""
    table = p.Table(is_true(0), (1, 2), ((1, 5), (2, 6), (3, 7)))
    assert pruned(table, "1", "1, 3", "0..9") == ["1", "1, 3", "5, 7"]


def test_example_short_table() -> None:
    """(x, y) in {(1, any), (any, 6)}: y is not 6, so x is 1."""
    table = p.ShortTable(is_true(0), (1, 2), ((1, None), (None, 6)))
    assert pruned(table, "1", "0..3", "7..9") == ["1", "1", "7..9"]


def test_example_pairs() -> None:
    """2 x y + z w >= 2, of 0/1 variables: z w alone is too little, so x and y are 1."""
    pairs = p.Pairs(((2, 0, 1), (1, 2, 3)), 2, 3)
    assert pruned(pairs, "0, 1", "0, 1", "0, 1", "0, 1") == ["1", "1", "0, 1", "0, 1"]


def test_a_contradiction_is_no_solution() -> None:
    """x + y <= 1 where both are at least 1."""
    assert pruned(p.LinearLe(((1, 0), (1, 1)), 1), "1..5", "1..5") == NO_SOLUTION
