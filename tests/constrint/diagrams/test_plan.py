"""The planner against brute force: sizes, rows and numbers, with every way of joining covered."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import comb
from random import Random

import numpy as np
import pytest
from random_models import draw_model

from constrint import IntExpr, LimitError, Model, divides, element, max_, sum_
from constrint.diagrams.planner import solve_all
from constrint.settings import DEFAULT, using
from constrint.solutions.solutionset import SolutionSet

BLOCK = 60


def rows_of(solutions: SolutionSet | list[dict[str, int]], names: list[str]) -> list[tuple[int, ...]]:
    return sorted(tuple(int(solution[name]) for name in names) for solution in solutions)


@pytest.mark.parametrize("block", range(10))
def test_random_models_against_brute_force(block: int) -> None:
    """600 models: the whole set, and each solution's number."""
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        drawn = draw_model(seed)
        model = drawn.build()
        found = model.solutions()
        names = list(model.variables)
        assert found.size == model.count() == len(drawn.solutions()), f"seed {seed}"
        assert rows_of(found, names) == rows_of(drawn.solutions(), names), f"seed {seed}"
        assert [found.index(solution) for solution in found] == list(range(found.size)), f"seed {seed}"


def test_random_models_through_every_join_in_small_chunks() -> None:
    """400 models with joins for every layer, however small, and chunks of 50 rows."""
    kinds: Counter[str] = Counter()
    with using(DEFAULT.with_fields(building={"few": 0, "chunk": 50})):
        for seed in range(60_000, 60_400):
            drawn = draw_model(seed)
            model = drawn.build()
            for component in solve_all(model)[0]:
                kinds.update(component.kinds)
            names = list(model.variables)
            assert rows_of(model.solutions(), names) == rows_of(drawn.solutions(), names), f"seed {seed}"
    assert set(kinds) == {"all", "range", "table", "solved"}


def test_count_without_the_planner_is_the_same() -> None:
    for seed in range(70_000, 70_060):
        model = draw_model(seed).build()
        assert model.count() == model.count(engine="interpreted"), f"seed {seed}"


def test_factors_in_order() -> None:
    m = Model()
    a, b, c = (m.int_var(name, 1, 5040) for name in "abc")
    m.add(a * b * c == 5040, a <= b, b <= c)
    assert m.solutions().size == 138
    assert "computed from an equation" in str(m.plan())


def test_linear_equation_over_wide_ranges() -> None:
    m = Model()
    x, y, z, w = (m.int_var(name, 0, 1000) for name in "xyzw")
    m.add(12 * x + 15 * y + 20 * z + 28 * w == 10007)
    table = m.solutions().to_numpy()
    assert table.shape == (1679328, 4)
    assert np.all(table.astype(np.int64) @ [12, 15, 20, 28] == 10007)


def test_unbounded_variables_are_bounded_by_propagation() -> None:
    m = Model()
    x, y = m.int_var("x", 0, None), m.int_var("y", 0, None)
    m.add(3 * x + 5 * y == 100)
    assert m.solutions().size == m.count(engine="interpreted") == 7


def test_a_wide_variable_may_be_defined_by_an_equation() -> None:
    m = Model()
    x, y = m.int_var("x", 1, 40), m.int_var("y", 1, 40)
    area = m.int_var("area", 0, 10**12)
    m.add(area == x * y * 1_000_003, x < y)
    found = m.solutions()
    assert found.size == 780
    assert all(row["area"] == row["x"] * row["y"] * 1_000_003 for row in found)


def test_integers_beyond_int64_are_exact() -> None:
    m = Model()
    x, y = m.int_var("x", 2**70, 2**70 + 20), m.int_var("y", 1, 20)
    m.add((x * y) % 7 == 3, x * x > 2**140 + 2**73)
    want = [
        (v, u)
        for v in range(2**70, 2**70 + 21)
        for u in range(1, 21)
        if v * u % 7 == 3 and v * v > 2**140 + 2**73
    ]
    assert rows_of(m.solutions(), ["x", "y"]) == want


def test_partial_functions_are_relational() -> None:
    m = Model()
    x, y = m.int_var("x", -3, 3), m.int_var("y", -3, 3)
    m.add((x // y >= 0) | (x == 0), element([5, 6, 7], x + y) != 6)
    want = [
        (v, u)
        for v in range(-3, 4)
        for u in range(-3, 4)
        if (v == 0 or (u != 0 and v // u >= 0)) and v + u in (0, 2)
    ]
    assert rows_of(m.solutions(), ["x", "y"]) == want


def test_a_contradiction_has_no_solutions() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.add(2 * x - 2 * y == 1)
    assert m.solutions().size == 0
    assert list(m.solutions()) == []
    assert m.solutions().to_numpy().shape == (0, 2)
    assert "no solution" in str(m.plan())


def test_a_model_without_variables_has_one_solution() -> None:
    assert list(Model().solutions()) == [{}]
    assert Model().count() == 1


def test_the_memory_limit_names_the_way_out() -> None:
    m = Model()
    x, y, z = (m.int_var(name, 1, 300) for name in "xyz")
    m.add((x * x + y * y + z * z) % 101 == x * y * z % 97)
    with pytest.raises(LimitError, match="iter_solutions"):
        m.solutions(memory_limit=10_000)


def test_an_infinite_model_is_refused() -> None:
    m = Model()
    m.int_var("x", 0, None)
    with pytest.raises(LimitError, match="'x' has no finite bounds"):
        m.solutions()


def test_many_variables_in_a_chain() -> None:
    m = Model()
    steps = [m.int_var(f"x{i}", 0, 9) for i in range(120)]
    m.add(*[a <= b for a, b in pairwise(steps)])
    found = m.solutions()
    assert found.size == m.count() == comb(129, 9)
    assert found[0] == {f"x{i}": 0 for i in range(120)}
    assert found[-1] == {f"x{i}": 9 for i in range(120)}


def test_conditions_that_hold_whatever_follows_are_forgotten() -> None:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 50) for i in range(6)]
    m.add(max_(x[0], x[1]) * 2 + x[2] + x[3] + x[4] + x[5] <= 299, divides(2, x[0] + x[1]))
    found = m.solutions()
    assert found.size == 1301 * 51**4 - 51  # 300 is reached by 51 pairs of even values with a 50
    assert found.width < 60


def test_sums_are_counted_by_their_partial_sums() -> None:
    random = Random(5)
    counted = 0
    for seed in range(200):
        m = Model()
        names = [
            m.int_var(f"x{i}", random.randint(-9, 3), random.randint(4, 15), step=random.choice([1, 1, 2, 3]))
            for i in range(random.randint(2, 4))
        ]
        total = sum_([random.choice([-3, -2, 1, 2, 4, 6]) * name for name in names])
        bound = random.randint(-20, 40)
        m.add(total == bound if seed % 2 else total <= bound)
        count = m.count()
        assert count == m.solutions().size, f"seed {seed}"
        counted += count > 0
    assert counted > 120


def test_a_sum_beyond_int64_is_counted_exactly() -> None:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 9) for i in range(40)]
    m.add(sum_(x) <= 359)
    assert m.count() == 10**40 - 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x in 1..10**18", 10**18),
        ("x in 1..10**18; y in 0..3; y * y == 4", 10**18),
        ("x in -5..10**30; y in 1..2; b bool", 2 * 2 * (10**30 + 6)),
        ("x in 1..10**18; y in 1..10**18; x + y - y == 3", 10**18),
        ("x in 1..10**18; x >= 0 or x == 7", 10**18),
        ("x in 1..10**18; 1 == 2", 0),
    ],
)
def test_free_variables_are_counted_by_their_range(text: str, count: int) -> None:
    assert Model.from_text(text).count(time_limit=5) == count


@pytest.mark.parametrize("depth", [5, 200, 600])
def test_sets_of_deep_expressions_are_built_or_refused(depth: int) -> None:
    m = Model()
    x, y = m.int_var("x", 0, 2), m.int_var("y", 0, 2)
    e: IntExpr = x
    for _ in range(depth):
        e = (e + y) % 3
    m.add(e == 1)
    size, refusal = None, ""
    try:
        size = m.solutions().size
    except LimitError as error:
        refusal = str(error)
    assert size == 3 or "nested too deeply" in refusal


def test_fronts_of_deep_expressions_are_found() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 2), m.int_var("y", 0, 2)
    e: IntExpr = x
    for _ in range(600):
        e = (e + y) % 3
    m.add(e == 1)
    assert len(m.pareto([(x, "min"), (y, "max")])) == 1
    assert len(m.pareto([(e, "max"), (y, "max")])) == 1


def squared(times: int) -> Model:
    """x squared again and again; the product has a factor for each path to x."""
    steps = [f"e{i + 1} := e{i} * e{i}" for i in range(times)]
    return Model.from_text("\n".join(["x in -2..1", "e0 := x + 1", *steps, f"e{times} <= 1"]))


def test_products_of_too_many_factors_are_refused() -> None:
    assert squared(8).solutions().size == squared(8).count() == 3
    with pytest.raises(LimitError, match="a product of more than 2000 factors"):
        squared(40).solutions()
