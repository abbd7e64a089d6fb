"""Probes: short searches for good values of objectives with absolute values, extremes and products."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from goals import towards

from constrint import IntExpr, IntVar, Model, Status, max_, min_
from constrint.engine.state_arrays import Box
from constrint.presolve import Root
from constrint.presolve.joint import relaxed_bounds
from constrint.search import probes
from constrint.settings import DEFAULT, using

DRAWN = int(os.environ.get("CONSTRINT_DRAWN_OBJECTIVES", "60"))


def objective(rng: random.Random, x: list[IntVar], depth: int = 2) -> Any:
    """A drawn objective over some variables."""
    a, b = rng.choice(x), rng.choice(x)
    if depth and rng.random() < 0.6:
        a, b = objective(rng, x, depth - 1), objective(rng, x, depth - 1)
    return rng.choice(  # type: ignore[no-untyped-call]
        [
            lambda: abs(a - rng.randint(-3, 3) * b),
            lambda: max_(a, b - rng.randint(0, 5)),
            lambda: min_(a + rng.randint(-2, 2), 2 * b),
            lambda: a * b if depth == 2 else a - b,
            lambda: rng.randint(-3, 3) * a - b,
        ]
    )()


def drawn(seed: int, width: int) -> tuple[Model, list[IntVar], IntExpr, str]:
    rng = random.Random(seed)
    m = Model()
    x = [m.int_var(f"x{i}", -width, width, step=rng.choice([1, 1, 1, 2])) for i in range(3)]
    goal = objective(rng, x) - rng.choice([0, 1]) * x[0] + rng.choice([0, 1]) * abs(x[1])
    if rng.random() < 0.4:
        m.add(x[0] + 2 * x[1] >= rng.randint(-width, width))
    if rng.random() < 0.3:
        m.add(x[2] * 3 != x[1], abs(x[0] - x[2]) <= width)
    return m, x, goal, rng.choice(["minimize", "maximize"])


def brute_force(m: Model, x: list[IntVar], goal: Any, way: str) -> Any:
    """The best value of a goal; None where there is no solution."""
    values = [
        goal.evaluate(point)
        for point in (dict(zip(x, xs, strict=True)) for xs in itertools.product(*[list(v.domain) for v in x]))
        if all(constraint.expr.evaluate(point) for constraint in m.constraints)
    ]
    return (min if way == "minimize" else max)(values, default=None)


@pytest.fixture(params=[(1, 0, 10**6), (1, 3, 12), (3, 1, 2000)], ids=["exact", "few nodes", "after some"])
def eager(request: pytest.FixtureRequest) -> Iterator[None]:
    """Probes wherever there is a goal: every answer of theirs, and of none, is met."""
    nodes, brief, most = request.param
    given = {
        "least_range": 2,
        "nodes_of_probe": nodes if most != 10**6 else 10**5,
        "most_halves": 0,
        "most_nodes_of_probes": most,
        "nodes_before_dual": max(1, brief),
    }
    with using(DEFAULT.with_fields(search=given)):
        yield


@pytest.mark.fuzz
@pytest.mark.parametrize("options", [{}, {"learn": True}, {"lns": True}], ids=str)
def test_probes_lose_no_optimum(eager: None, options: Any) -> None:
    for seed in range(DRAWN):
        m, x, goal, way = drawn(seed, 4)
        best = brute_force(m, x, goal, way)
        r = m.solve(**towards(way, goal), engine="interpreted", **options)
        assert r.objective == best, (seed, way)
        assert r.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL), seed


@pytest.mark.fuzz
def test_each_better_solution_is_told_once(eager: None) -> None:
    for seed in range(DRAWN // 4):
        m, _, goal, way = drawn(seed, 4)
        told: list[Any] = []
        r = m.solve(  # type: ignore[call-overload] # `append` gives None
            **towards(way, goal),
            engine="interpreted",
            on_solution=lambda r, told=told: told.append(r.objective),
        )
        assert told == sorted(set(told), reverse=way == "minimize"), seed
        assert told[-1:] == ([] if r.objective is None else [r.objective])


@pytest.mark.parametrize("options", [{}, {"learn": True}, {"learn": False}, {"restarts": "luby"}], ids=str)
@pytest.mark.parametrize(
    ("goal", "best"),
    [
        (lambda x, y, z: abs(x - y) - x, -65536),
        (lambda x, y, z: max_(x, y) - x - min_(y, z), -65536),
        (lambda x, y, z: x * y - x + z, -(65536**2) - 2 * 65536),
        (lambda x, y, z: (x - 17) * (x - 17) + abs(y - x), 0),
        (lambda x, y, z: abs(3 * x - 7 * y) + abs(x + y - 1001) - z, -65535),
    ],
)
def test_wide_objectives_are_proved(goal: Callable[..., Any], best: int, options: Any) -> None:
    m = Model()
    x, y, z = (m.int_var(name, -65536, 65536) for name in "xyz")
    told = []

    def enough(result: Any) -> bool:  # without probes each takes over 10^4 solutions, better by one each
        told.append(result.objective)
        return len(told) < 4000

    r = m.solve(minimize=goal(x, y, z), engine="interpreted", on_solution=enough, **options)
    assert (r.status, r.objective) == (Status.OPTIMAL, best)
    assert r.statistics.nodes < 5000


@pytest.mark.fuzz
def test_bounds_from_implied_rows_hold_every_solution() -> None:
    from constrint.preparing.prepared import Prepared

    for seed in range(DRAWN):
        m, x, goal, _ = drawn(seed, 3)
        prepared = Prepared(m, [(goal, "min")], [])
        best = brute_force(m, x, goal, "minimize"), brute_force(m, x, goal, "maximize")
        if prepared.root is None or best[0] is None:
            continue
        v = prepared.goals[0][0]
        low, high = relaxed_bounds(prepared.root.propagators, prepared.root.box.lo, prepared.root.box.hi, v)
        factor, constant = prepared.scales.get(v, (1, 0))
        ends = sorted((b - constant) // factor for b in best)
        assert low is None or low <= ends[0], seed
        assert high is None or high >= ends[1], seed


def test_a_part_of_a_range() -> None:
    box = Box([0, 1], [20, 1], [5, 1], [None, None])
    root = Root(box, [], exact=False, huge=1 << 62, stable=True)
    part = probes.between(root, 0, 3, 17)
    assert part is not None
    assert (part.box.lo[0], part.box.hi[0]) == (5, 15)
    assert probes.between(root, 0, 6, 9) is None
    listed = Box([0, 1], [20, 1], [1, 1], [(0, 7, 20), None])
    part = probes.between(Root(listed, [], exact=False, huge=1 << 62, stable=True), 0, 1, 19)
    assert part is not None
    assert part.box.values[0] == (7,)
