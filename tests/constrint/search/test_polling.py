"""Optima of quadratic and absolute objectives over wide domains, which bounds alone do not reach."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from constrint import Model, Status
from constrint.search import branch_and_bound

COUNT = int(os.environ.get("CONSTRINT_POLLED", "14"))


def drawn(seed: int) -> str:
    """An objective whose least value lies near 0: squares of linear forms, and absolute values."""
    rng = random.Random(seed)
    terms = []
    for _ in range(rng.randint(1, 2)):
        p, q = rng.randint(1, 4), rng.randint(1, 3)
        terms.append(f"x*x - {p}*x*y + {p * p // 4 + q}*y*y + {rng.randint(-20, 20)}*x")
    for _ in range(rng.randint(0, 2)):
        a, b = rng.sample("xyz", 2)
        terms.append(f"{rng.randint(1, 5)}*abs({a} - {b} + {rng.randint(-9, 9)})")
    constraint = f"x + {rng.randint(1, 3)}*y >= {rng.randint(-20, 20)}" if rng.random() < 0.5 else "z != 1"
    return f"{constraint}\nminimize {' + '.join(terms)}"


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(COUNT))
def test_wide_domains_have_the_optimum_of_narrow_ones(seed: int) -> None:
    """The optimum lies inside the narrow ones, far from their ends."""
    text = drawn(seed)
    narrow = Model.from_text(f"x, y, z in -200..200\n{text}").solve()
    wide = Model.from_text(f"x, y, z in -500000..500000\n{text}").solve(time_limit=20)
    assert wide.status is narrow.status is Status.OPTIMAL
    assert wide.objective == narrow.objective


def test_points_are_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is polled is told like any other solution, and only better ones after it."""
    found = []
    polled = branch_and_bound.polled  # type: ignore[attr-defined]
    monkeypatch.setattr(branch_and_bound, "polled", lambda *given: found.append(polled(*given)) or found[-1])  # type: ignore[func-returns-value]
    told: list[Any] = []
    model = Model.from_text(
        "x, y in -50000..50000 step 7\nx * y % 11 == 3\nx != 6\nmaximize -(x*x) + 3*x*y - 4*y*y - abs(x - 3)"
    )
    r = model.solve(on_solution=told.append)
    assert r.status is Status.OPTIMAL
    assert found[0] is not None
    assert r.objective == told[-1].objective
    assert [one.objective for one in told] == sorted(one.objective for one in told)
    by_rows = [
        -(x * x) + 3 * x * y - 4 * y * y - abs(x - 3)
        for x in range(-50000, -49999 + 100000, 7)
        for y in (range(-50000, 50001, 7) if abs(x) < 300 else ())
        if abs(y) < 300 and x * y % 11 == 3 and x != 6
    ]
    assert r.objective == max(by_rows)
