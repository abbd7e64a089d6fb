"""Sets with any orders, components and codes combine like Python's sets, without listing."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random
from typing import Any

import numpy as np
import pytest

from constrint import LimitError, Model, ModelError
from constrint.diagrams import merge, reorder
from constrint.diagrams.layers import EdgeBudget
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params


def random_set(random: Random, names: list[str], values: list[list[int]], density: float) -> SolutionSet:
    """A product of random rows over random blocks of variables, in random orders."""
    left = random.sample(range(len(names)), len(names))
    diagrams = []
    while left:
        many = random.randint(1, len(left))
        block, left = left[:many], left[many:]
        rows = [row for row in product(*[values[v] for v in block]) if random.random() < density]
        if not rows:
            return SolutionSet(names, None)
        diagrams.append(merge.of_rows(block, list(np.array(rows).T)))
    return SolutionSet(names, diagrams)


def rows(solutions: SolutionSet) -> set[tuple[object, ...]]:
    return {tuple(solution[name] for name in sorted(solution)) for solution in solutions}


@pytest.mark.parametrize("block", range(5))
def test_random_sets_combine_as_pythons_sets_do(block: int) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        random = Random(seed)
        names = [f"v{i}" for i in range(random.randint(1, 5))]
        values = [sorted(random.sample([-300, -1, 0, 1, 2, 400], random.randint(1, 4))) for _ in names]
        one = random_set(random, names, values, random.choice([0.2, 0.5, 0.9, 1.0]))
        shuffled = random.sample(range(len(names)), len(names))
        other = random_set(
            random,
            [names[i] for i in shuffled],
            [values[i] for i in shuffled],
            random.choice([0.2, 0.6, 1.0]),
        )
        a, b = rows(one), rows(other)
        for found, want in ((one | other, a | b), (one & other, a & b), (one - other, a - b)):
            assert rows(found) == want, f"seed {seed}"
            assert found.size == len(want), f"seed {seed}"
            assert found.names == one.names
            numbered = [tuple(solution[name] for name in found.order) for solution in found]
            assert numbered == sorted(numbered), f"seed {seed}"
            assert all(found.index(solution) == i for i, solution in enumerate(found)), f"seed {seed}"
        assert (one == other) == (other == one) == (a == b), f"seed {seed}"


@pytest.mark.parametrize("block", range(4))
def test_diagrams_in_other_orders_and_projected(block: int) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        random = Random(seed)
        names = [f"v{i}" for i in range(random.randint(2, 6))]
        values = [list(range(random.randint(1, 4))) for _ in names]
        for diagram in random_set(random, names, values, random.choice([0.1, 0.5, 0.9])).diagrams:
            order = random.sample(diagram.variables, len(diagram.variables))
            other = reorder.reordered(diagram, order, EdgeBudget())
            back = reorder.reordered(other, diagram.variables, EdgeBudget())
            assert other.variables == tuple(order)
            assert merge.merged(other).edges == other.edges, f"seed {seed}: more edges than needed"
            for one, two in zip(back.columns(0, back.size), diagram.columns(0, diagram.size), strict=True):
                assert one.tolist() == two.tolist(), f"seed {seed}"
            kept = random.sample(diagram.variables, random.randint(1, len(diagram.variables)))
            quick, without_rows = (
                merge.projected(diagram, kept),
                reorder.projected(diagram, kept, EdgeBudget()),
            )
            assert quick.variables == without_rows.variables
            for one, two in zip(
                quick.columns(0, quick.size), without_rows.columns(0, without_rows.size), strict=True
            ):
                assert one.tolist() == two.tolist(), f"seed {seed}"


def chain(names: list[str]) -> SolutionSet:
    """A set of more than 1e30 solutions, declared in this order."""
    m = Model()
    x = {name: m.int_var(name, 0, 30) for name in names}
    m.add(*[abs(x[a] - x[b]) <= 25 for a, b in pairwise(sorted(names))])
    return m.solutions()


def test_huge_sets_in_different_orders_combine() -> None:
    names = [f"x{i:02}" for i in range(24)]
    one = chain(names)
    m = Model()
    x = {name: m.int_var(name, 0, 30) for name in reversed(names)}
    m.add(*[x[a] + x[b] >= 9 for a, b in pairwise(names)])
    other = m.solutions()
    assert min(one.size, other.size) > 10**30
    both, either = one & other, one | other
    assert both.size + either.size == one.size + other.size
    assert (one - other).size == one.size - both.size
    whole = Model()
    x = {name: whole.int_var(name, 0, 30) for name in names}
    whole.add(*[abs(x[a] - x[b]) <= 25 for a, b in pairwise(names)])
    whole.add(*[x[a] + x[b] >= 9 for a, b in pairwise(names)])
    assert both == whole.solutions()
    for solution in both.sample(20, seed=1):
        assert solution in one
        assert solution in other


def test_components_stay_apart_where_the_sets_agree() -> None:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 99) for i in range(40)]
    m.add(*[a < b for a, b in zip(x[::2], x[1::2], strict=True)])
    whole = m.solutions()
    part = whole.given(x0=3)
    assert len((whole - part).diagrams) == len((whole & part).diagrams) == 20
    assert (whole - part).size == whole.size - part.size
    assert (whole - part) | part == whole
    assert (whole - whole).size == 0


def test_a_huge_projection_is_not_listed() -> None:
    solutions = chain([f"x{i:02}" for i in range(24)])
    kept = solutions.project([f"x{i:02}" for i in range(12)])
    assert kept == chain([f"x{i:02}" for i in range(12)])


def test_values_that_are_no_integers_meet_by_what_they_are() -> None:
    def space(s: Any, f: Any, texts: Any = ()) -> Any:
        return from_tune_params({"s": s, "f": f}, texts)

    one = space(["row", "col"], [0.5, 1, 2], ["s == 'row' or f > 1"])
    other = space(["tile", "col", "row"], [2, 4, 1])
    assert rows(one & other) == rows(one) & rows(other)
    assert rows(one | other) == rows(one) | rows(other)
    assert rows(one - other) == rows(one) - rows(other)
    assert rows(other - one) == rows(other) - rows(one)
    mixed = space(["row", 1, 2], [1])
    numbers = space([1, 2], [1])
    assert rows(mixed & numbers) == rows(numbers)
    assert rows(numbers | mixed) == rows(mixed)
    assert (numbers | mixed).size == 3
    with pytest.raises(ModelError, match="'f' has fractions in one set and integers beyond"):
        one.intersection(space(["row"], [2**53 + 1]))


def test_sets_and_none() -> None:
    whole = chain(["a", "b"])
    none = whole.given(a=99)
    assert (whole | none) == (none | whole) == whole
    assert (whole & none).size == (none & whole).size == (none - whole).size == 0
    assert whole - none == whole
    swapped = chain(["b", "a"])
    assert (none | swapped).names == ("a", "b")
    assert (none | swapped) == whole
    with pytest.raises(ModelError, match="the union of a set of solutions is with another one"):
        whole.union([{"a": 1, "b": 2}])  # type: ignore[arg-type]


def test_orders_that_need_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constrint.solutions.setops.EdgeBudget", lambda: EdgeBudget(edges=10))
    m, n = Model(), Model()
    x = {name: m.int_var(name, 0, 30) for name in "abcdef"}
    y = {name: n.int_var(name, 0, 30) for name in "fcbead"}
    m.add(x["a"] * x["b"] + x["c"] * x["d"] + x["e"] * x["f"] == 120)
    n.add(y["f"] * y["c"] + y["b"] * y["e"] + y["a"] * y["d"] == 125)
    with pytest.raises(LimitError, match="in a common order one of them does not fit"):
        m.solutions().union(n.solutions())
