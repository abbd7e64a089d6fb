"""Bounds by HiGHS, proven in integers: as good as those of exact arithmetic, and never tighter."""

# mypy: disable-error-code="operator"
from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from constrint import Model, Status, max_, sum_
from constrint.lowering.problem import Infeasible
from constrint.preparing.prepared import Prepared
from constrint.presolve.joint import relaxed_bounds
from constrint.relaxation import proven_bounds
from constrint.relaxation.highs import has_highs
from constrint.settings import DEFAULT

pytestmark = pytest.mark.skipif(not has_highs(), reason="HiGHS is not installed")
DRAWN = 150


def drawn(seed: int) -> tuple[Prepared, int] | None:
    """A drawn model, lowered and reasoned about, and its goal's variable; None if nothing is left."""
    draw = Random(seed)
    m = Model()
    wide = draw.choice([1, 9, 1000, 10**6])
    x = [m.int_var(f"x{i}", -draw.randint(0, wide), draw.randint(1, wide)) for i in range(draw.randint(3, 9))]
    for _ in range(draw.randint(1, 4)):
        row = sum_(draw.randint(-9, 9) * v for v in x)
        m.add(row <= draw.randint(-wide, 5 * wide) if draw.random() < 0.8 else row == draw.randint(0, wide))
    goal = sum_(draw.randint(-9, 9) * v for v in x)
    if draw.random() < 0.3:
        goal = max_(goal, x[0] * x[1])
    prepared = Prepared(m, [(goal, "min")], [])
    return None if prepared.root is None else (prepared, prepared.goals[0][0])


def test_they_agree_with_exact_arithmetic() -> None:
    used = tight = 0
    for seed in range(DRAWN):
        made = drawn(seed)
        if made is None or made[0].root.exact:  # type: ignore[union-attr]
            continue
        prepared, v = made
        root = replace(prepared.root, settings=DEFAULT.with_fields(relaxation={"few_cells": 0}))  # type: ignore[type-var]
        try:
            assert root is not None
            exact = relaxed_bounds(root.propagators, root.box.lo, root.box.hi, v)
        except Infeasible:
            exact = (1, 0)
        try:
            assert root is not None
            low, high = proven_bounds.safe_bounds(root, v, "max")
        except Infeasible:
            assert exact == (1, 0), seed
            continue
        if exact == (1, 0) or None in exact:
            continue
        used += 1
        assert low is not None, seed
        assert high is not None, seed
        assert low <= exact[0], seed
        assert high >= exact[1], seed
        tight += low >= exact[0] - 1 and high <= exact[1] + 1
    assert used > 60
    assert tight > 0.95 * used  # wide domains multiply what the rounding of multipliers loses


def test_numbers_beyond_the_machines_are_left_to_exact_arithmetic() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 2**30), m.int_var("y", 0, 2**30)
    extra = [m.bool_var(f"b{i}") for i in range(40)]
    m.add(sum_(extra) + x <= 2**29)
    prepared = Prepared(m, [(x * y - sum_(extra), "max")], [])
    assert prepared.root is not None
    root, v = prepared.root, prepared.goals[0][0]
    assert proven_bounds.safe_bounds(root, v, "max") == relaxed_bounds(
        root.propagators, root.box.lo, root.box.hi, v
    )


def test_large_knapsacks_are_bounded_without_exact_pivots(monkeypatch: pytest.MonkeyPatch) -> None:
    import constrint.presolve.simplex as simplex

    monkeypatch.setattr(simplex.Simplex, "extreme", lambda *_: pytest.fail("exact pivots"))
    draw = Random(3)
    m = Model()
    take = [m.bool_var(f"x{i}") for i in range(150)]
    weights = [draw.randint(10, 99) for _ in take]
    m.add(sum_(w * v for w, v in zip(weights, take, strict=True)) <= sum(weights) // 2)
    r = m.solve(maximize=sum_(draw.randint(10, 99) * v for v in take))
    assert r.status is Status.OPTIMAL
