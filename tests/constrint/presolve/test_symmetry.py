"""Symmetries: what is found, and that one of symmetric solutions is left, the best among them."""

# mypy: disable-error-code="misc"
from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import pytest

from constrint import (
    IntExpr,
    Model,
    Status,
    all_different,
    global_cardinality,
    max_,
    no_overlap,
    sum_,
)
from constrint.learning.session import LearningRun
from constrint.modelling.objectives import Direction
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.presolve.breaking import without_symmetries
from constrint.presolve.structure import ColouredStructure
from constrint.presolve.symmetry import Symmetries
from constrint.search.depth_first import DepthFirstRun


def exchanges(m: Model, goal: Any = None) -> list[dict[int | str, int | str]]:
    """The exchanges found: the names of declared variables, and the values, that move."""
    prepared = Prepared(m, [] if goal is None else [goal], [])
    assert prepared.root is not None
    structure = ColouredStructure(
        prepared.root.box, prepared.root.propagators, prepared.goals[0] if goal else None
    )
    names = {number: str(v.name) for v, number in prepared.variables.items()}  # type: ignore[attr-defined]
    return [
        {
            (names.get(v) or structure.values.get(v, (0, None))[1]): (
                names.get(image) or structure.values.get(image, (0, None))[1]
            )
            for v, image in found.items()
            if v in names or v in structure.values
        }
        for found in Symmetries(structure).found
    ]


def optimum(m: Model, goal: tuple[IntExpr, Direction], search: type[Any]) -> int | None:
    """The best value of a goal, by a search from the root without symmetric solutions; None for none."""
    prepared = Prepared(m, [goal], [])
    if prepared.root is None:
        return None
    (own,) = prepared.goals or [None]  # type: ignore[list-item]
    broken = without_symmetries(prepared.root, own, prepared.variables.values())
    run = search(SearchTask(prepared, broken.root, Options(), perf_counter(), own))
    best = None
    while (found := run.next().found) is not None:
        best = goal[0].evaluate(found)
        run.demand_better(run.value(own[0]))
    return best


def drawn(seed: int) -> Any:
    """A model of few variables with symmetries, its goal, its domains, and what makes a solution of it."""
    draw = Random(seed)
    n, k = draw.randint(3, 5), draw.randint(2, 3)
    m = Model()
    x = m.int_vars("x", n, 0, k - 1)
    rules: list[Callable[[tuple[int, ...]], bool]] = []
    edges = [pair for pair in combinations(range(n), 2) if draw.random() < 0.4]
    for i, j in edges:
        m.add(x[i] != x[j])
        rules.append(lambda at, i=i, j=j: at[i] != at[j])
    if draw.random() < 0.4:
        pairs = [pair for pair in combinations(range(n), 2) if draw.random() < 0.5]
        most = draw.randint(0, 2)
        if pairs:
            m.add(sum_(x[i] == x[j] for i, j in pairs) <= most)
            rules.append(lambda at: sum(at[i] == at[j] for i, j in pairs) <= most)
    if draw.random() < 0.4:
        sizes = [draw.choice((1, 2)) for _ in range(n)]
        room = draw.randint(max(sizes), sum(sizes))
        for value in range(k):
            m.add(sum_(size * (v == value) for size, v in zip(sizes, x, strict=True)) <= room)
        rules.append(
            lambda at: all(sum(s for s, v in zip(sizes, at, strict=True) if v == c) <= room for c in range(k))
        )
    if draw.random() < 0.3:
        counts = {value: draw.randint(0, 2) for value in range(k)}
        m.add(global_cardinality(x, {value: m.int_var(f"n{value}", 0, 3) for value in counts}))
        rules.append(lambda at: all(at.count(value) <= 3 for value in counts))
    if draw.random() < 0.3:
        a, b, c = (draw.randint(1, 2) for _ in range(3))
        bound = draw.randint(2, 6)
        m.add(a * x[0] + b * x[1] + c * x[2] <= bound)
        rules.append(lambda at: a * at[0] + b * at[1] + c * at[2] <= bound)
    if draw.random() < 0.3:
        i, value = draw.randrange(n), draw.randrange(k)
        m.add(x[i] != value)
        rules.append(lambda at: at[i] != value)
    kind = draw.randrange(4)
    if kind == 0:
        goal = (max_(*x) + 1, "min")
    elif kind == 1:
        goal = (sum_(x), draw.choice(("min", "max")))
    elif kind == 2:
        weights = [draw.choice((1, 2)) for _ in range(n)]
        goal = (sum_(w * (v == 0) for w, v in zip(weights, x, strict=True)), draw.choice(("min", "max")))
    else:
        goal = (max_(*x) - x[0], draw.choice(("min", "max")))
    return m, goal, x, [at for at in product(range(k), repeat=n) if all(rule(at) for rule in rules)]


@pytest.mark.parametrize("search", [DepthFirstRun, LearningRun])
@pytest.mark.parametrize("seed", range(60))
def test_an_optimum_is_left(seed: int, search: type[Any]) -> None:
    m, goal, x, solutions = drawn(seed)
    costs = [goal[0].evaluate(dict(zip(x, at, strict=True))) for at in solutions]
    best = (min if goal[1] == "min" else max)(costs, default=None)
    assert optimum(m, goal, search) == best


def test_colours_are_names_and_equal_items_are_alike() -> None:
    m = Model()
    x = m.int_vars("x", 5, 0, 2)
    m.add(x[0] != x[1], x[0] != x[2], x[1] != x[2], x[3] != x[0], x[4] != x[0])
    found = exchanges(m)
    assert {0: 1, 1: 0} in found
    assert {1: 2, 2: 1} in found
    assert {"x[3]": "x[4]", "x[4]": "x[3]"} in found


def test_equal_knapsacks_are_exchanged_as_a_whole() -> None:
    m = Model()
    inside = [[m.bool_var(f"x{i},{b}") for b in range(3)] for i in range(4)]
    for i in range(4):
        m.add(sum_(inside[i]) <= 1)
    for b in range(3):
        m.add(sum_((2 + i) * inside[i][b] for i in range(4)) <= 6)
    goal = (sum_((3 + i * i) * inside[i][b] for i in range(4) for b in range(3)), "max")
    found = exchanges(m, goal)
    assert {key: value for i in range(4) for key, value in _swap(f"x{i},0", f"x{i},1").items()} in found
    assert {key: value for i in range(4) for key, value in _swap(f"x{i},1", f"x{i},2").items()} in found


def _swap(a: str, b: str) -> dict[str, str]:
    return {a: b, b: a}


def test_different_items_are_not_exchanged() -> None:
    m = Model()
    x = m.int_vars("x", 3, 0, 5)
    m.add(2 * x[0] + 3 * x[1] + 4 * x[2] <= 20, all_different(x))
    assert exchanges(m) == []
    m = Model()
    x = m.int_vars("x", 3, 0, 9)
    m.add(no_overlap(x, [2, 2, 3]))
    assert exchanges(m) == [_swap("x[0]", "x[1]")]


def test_a_value_with_a_meaning_keeps_it() -> None:
    m = Model()
    x = m.int_vars("x", 4, 0, 2)
    m.add(x[0] != x[1], x[2] != x[3], x[1] != x[2], sum_(v == 2 for v in x) <= 1)
    moved = [found for found in exchanges(m) if any(isinstance(v, int) for v in found)]
    assert all(2 not in found for found in moved)
    assert {0: 1, 1: 0} in moved


def test_the_values_of_an_objective_are_no_names() -> None:
    m = Model()
    x = m.int_vars("x", 2, 0, 1)
    m.add(x[0] != x[1])
    assert exchanges(m, (x[0], "max")) == []
    assert optimum(m, (x[0], "max"), DepthFirstRun) == 1


def test_solutions_are_counted_with_their_symmetric_ones() -> None:
    m = Model()
    x = m.int_vars("x", 4, 0, 3)
    m.add(*[a != b for a, b in combinations(x, 2)])
    assert m.count() == 24
    assert len(list(m.iter_solutions())) == 24
    assert len({tuple(r[v] for v in x) for r in m.iter_solutions()}) == 24


@pytest.mark.parametrize("with_proof", [False, True])
def test_a_proof_keeps_all_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_proof: bool
) -> None:
    from constrint.presolve import breaking

    asked = []
    monkeypatch.setattr(
        breaking,
        "without_symmetries",
        lambda *args: asked.append(args) or without_symmetries(*args),  # type: ignore[func-returns-value]
    )
    m = Model()
    x = m.int_vars("x", 4, 0, 3)
    m.add(*[a != b for a, b in combinations(x, 2) if not (a is x[0] and b is x[3])])
    proof = tmp_path / "proof" if with_proof else None
    assert m.solve(minimize=max_(*x), learn=True, proof=proof).objective == 2
    assert bool(asked) is not with_proof


def test_the_portfolio_proves_by_symmetry(monkeypatch: pytest.MonkeyPatch) -> None:
    from constrint.search import admission

    asked = []

    def spied(*args: Any) -> Any:
        asked.append(without_symmetries(*args))
        return asked[-1]

    monkeypatch.setattr(admission, "without_symmetries", spied)
    squares = list(product(range(5), range(6)))
    m = Model()
    x = m.int_vars("x", 30, 0, 8)
    for (i, (a, b)), (j, (c, d)) in combinations(enumerate(squares), 2):
        if a == c or b == d or abs(a - c) == abs(b - d):
            m.add(x[i] != x[j])
    result = m.solve(minimize=max_(*x) + 1, learn="auto", engine="interpreted")
    assert result.status is Status.OPTIMAL
    (broken,) = asked
    assert len(broken.root.propagators) > len(broken.ordered.propagators)
