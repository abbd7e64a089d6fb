"""Counting over variables with too many values to list, against brute force and formulas."""

from __future__ import annotations

import pytest
from random_models import draw_model

from constrint import Model
from constrint.diagrams.planner import count_planned
from constrint.diagrams.wide import count_wide

WIDE = 10**18


@pytest.mark.parametrize("block", range(3))
def test_random_models_in_which_small_domains_count_as_wide(block: int) -> None:
    """300 models: what is counted is right, and most of what has one wide variable is counted."""
    counted = 0
    for seed in range(100 * block, 100 * (block + 1)):
        drawn = draw_model(seed, max_assignments=300)
        model = drawn.build()
        domains = {name: variable.domain for name, variable in model.variables.items()}
        most = sorted(domain.size for domain in domains.values())[-1] - 1  # type: ignore[operator, type-var]
        factor, rest = count_wide(model, domains, most, None)
        counted += not rest.variables
        left = Model()
        left.variables.update({variable.name: variable for variable in rest.variables})
        left.add(*rest.conditions)
        number = factor * len(list(left.iter_solutions()))
        assert number == len(drawn.solutions()), f"seed {seed}\n{drawn.text()}"
    assert counted > 25


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("x in 1..n; x % 7 == 3", (WIDE - 3) // 7 + 1),
        ("x in 1..n; x % 7 in {1, 3, 6}", sum((WIDE - r) // 7 + 1 for r in (1, 3, 6))),
        ("x in 1..n; x % 2 == 0 or x % 3 == 0", WIDE // 2 + WIDE // 3 - WIDE // 6),
        ("x in 1..n; x not in {5, 77, 1000}; x > 77 or x == 5", WIDE - 77 - 1),
        ("x in 1..n; y in -n..n; x % 5 == 0; y >= 0", WIDE // 5 * (WIDE + 1)),
        ("x in 1..n; y in 0..; y == x // 10; y % 2 == 1", WIDE // 2),
        ("x, y in 0..n; x + y == n", WIDE + 1),
        ("x, y in 0..n; 3 * x + 5 * y == n", WIDE // 15 + 1),
        ("x in 0..n; x * x % 20 == 0", WIDE // 10 + 1),
        ("x in 0..n; x ** 3 - 1000 * x <= 10 ** 30", 10**10 + 1),
        ("x in 1..n; b bool; b <-> x > 5; x % 2 == 0 -> b", WIDE - 2),
        ("x in 1..n; 100 // (x % 10) >= 0", WIDE - WIDE // 10),
        ("x in 1..n; s := 100 // (x % 10); x % 10 == 0 or s >= 50", WIDE // 10 * 3),
        ("x in 1..n; not (100 // (x % 10) >= 50)", WIDE // 10 * 8),
        ("x in 1..n; if_then_else(x % 10 == 0, 3, 10 // (x % 10)) >= 3", WIDE // 10 * 4),
        ("x in 1..n; gcd(x, 6) == 2", WIDE // 2 - WIDE // 6),
        ("x in 1..n; x % 1000003 == 3", (WIDE - 3) // 1000003 + 1),
        ("x in -n..n; abs(x) % 4 == 1; min(x, 10) == 10", (WIDE - 10) // 4),
        ("x in 1..n; y in 0..5; z in 1..n; x % 5 == y; z % 2 == 0", WIDE * (WIDE // 2)),
        ("x in 1..n; c := 3; c == 4", 0),
    ],
)
def test_wide_domains_are_counted_at_once(text: str, number: int) -> None:
    model = Model.from_text(text, constants={"n": WIDE})
    assert count_planned(model, 20.0) == number
    assert model.count(time_limit=20.0) == number


def test_the_plan_says_what_is_counted_without_a_list() -> None:
    model = Model.from_text("x in 1..n; x % 7 in {1, 3}", constants={"n": WIDE})
    assert str(model.plan()).splitlines()[-1] == (
        "285,714,285,714,285,715 solutions, counted by ranges, residues and partial sums"
    )
