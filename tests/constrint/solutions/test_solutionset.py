"""Answers of a solution set without listing, compared with the list."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_models import draw_model

from constrint import Model, ModelError, divides
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params

SEEDS = [seed for seed in range(80_000, 80_160) if len(draw_model(seed).solutions()) > 1]


def tiles() -> SolutionSet:
    m = Model()
    a, b, c, free = (m.int_var(name, 1, 12) for name in ("a", "b", "c", "free"))
    big = m.bool_var("big")
    m.add(a * b <= 40, divides(c, a * b), big == (a > 6), free >= 3)
    return m.solutions()


def huge() -> SolutionSet:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 99) for i in range(24)]
    m.add(*[abs(a - b) <= 40 for a, b in pairwise(x[:12])], sum(x[12:], start=m.int_var("y", 0, 9)) <= 700)
    return m.solutions()


@pytest.mark.parametrize("start", range(0, len(SEEDS), 20))
def test_questions_about_random_models(start: int) -> None:
    for seed in SEEDS[start : start + 20]:
        solutions = draw_model(seed).build().solutions()
        listed = list(solutions)
        name = solutions.names[0]
        value = listed[0][name]
        counted = [s[name] for s in listed]
        assert solutions.value_counts(name) == {v: counted.count(v) for v in set(counted)}, f"seed {seed}"
        given = solutions.given(**{name: value})
        assert list(given) == [s for s in listed if s[name] == value], f"seed {seed}"
        cost = {n: i * i - 3 for i, n in enumerate(solutions.names)}
        costs = [sum(cost[n] * s[n] for n in cost) for s in listed]
        assert solutions.minimum(cost) == (min(costs), listed[costs.index(min(costs))]), f"seed {seed}"
        assert solutions.maximum(cost) == (max(costs), listed[costs.index(max(costs))]), f"seed {seed}"
        kept = solutions.names[::2]
        projected = {tuple(s[n] for n in kept) for s in listed}
        assert {tuple(s.values()) for s in solutions.project(kept)} == projected, f"seed {seed}"
        assert solutions.project(kept).size == len(projected), f"seed {seed}"


def test_set_operations_are_those_of_sets() -> None:
    for seed in SEEDS[:60]:
        model = draw_model(seed).build()
        whole = model.solutions()
        name = whole.names[-1]
        listed = list(whole)
        half = whole.given(**{name: listed[0][name]})
        rest = whole - half
        assert list(whole & half) == list(half), f"seed {seed}"
        assert sorted(map(repr, rest)) == sorted(repr(s) for s in listed if s not in half), f"seed {seed}"
        assert (half | rest) == whole, f"seed {seed}"
        assert (half & rest).size == 0, f"seed {seed}"


def test_sets_in_different_orders_combine() -> None:
    m, n = Model(), Model()
    x, y, z = (m.int_var(name, 0, 20) for name in "xyz")
    m.add(x + y * z == 20)
    z, y, x = (n.int_var(name, 0, 20) for name in "zyx")
    n.add(z >= y, x % 2 == 0)
    both = m.solutions() & n.solutions()
    want = [s for s in m.solutions() if s["z"] >= s["y"] and s["x"] % 2 == 0]
    assert sorted(s["y"] for s in both) == sorted(s["y"] for s in want)
    assert both.names == ("x", "y", "z")


def test_numbers_and_slices() -> None:
    solutions = tiles()
    listed = list(solutions)
    assert len(solutions) == solutions.size == len(listed)
    assert solutions[5] == listed[5]
    assert solutions[-1] == listed[-1]
    assert solutions[3:2000:7] == listed[3:2000:7]
    assert solutions[10:14] == listed[10:14]
    assert solutions[::-1] == listed[::-1]
    assert [tuple(s[n] for n in solutions.order) for s in listed] == sorted(
        tuple(s[n] for n in solutions.order) for s in listed
    )
    with pytest.raises(IndexError):
        solutions[solutions.size]


def test_membership_and_index() -> None:
    solutions = tiles()
    inside = solutions[77]
    assert inside in solutions
    assert tuple(inside.values()) in solutions
    assert solutions.index(inside) == 77
    outside = {**inside, "free": 2}
    assert outside not in solutions
    with pytest.raises(ValueError, match="no solution"):
        solutions.index(outside)
    with pytest.raises(ModelError, match="no value for big"):
        solutions.index(dict.fromkeys("abc", 1) | {"free": 3})


def test_listing_in_every_way_is_the_same() -> None:
    solutions = tiles()
    listed = [tuple(s.values()) for s in solutions]
    table = solutions.to_numpy()
    assert table.dtype == np.int8
    assert [tuple(row) for row in table.tolist()] == listed
    for rows in (1, 7, 1000, 10**6):
        chunks = list(solutions.iter_chunks(rows))
        assert all(len(chunk) == rows for chunk in chunks[:-1])
        assert np.array_equal(np.concatenate(chunks), table)
    columns = solutions.to_columns()
    assert list(columns) == list(solutions.names)
    assert all(np.array_equal(columns[name], table[:, i]) for i, name in enumerate(solutions.names))
    frame = solutions.to_pandas()
    assert frame.shape == table.shape


def test_samples_are_distinct_uniform_and_repeatable() -> None:
    solutions = tiles()
    drawn = solutions.sample(200, seed=4)
    assert drawn == solutions.sample(200, seed=4)
    assert drawn != solutions.sample(200, seed=5)
    assert len({tuple(s.values()) for s in drawn}) == 200
    assert all(s in solutions for s in drawn)
    everything = solutions.sample(10**9, seed=1)
    assert sorted(map(repr, everything)) == sorted(map(repr, solutions))
    thirds = [0, 0, 0]
    for seed in range(60):
        for solution in solutions.sample(50, seed=seed):
            thirds[solutions.index(solution) * 3 // solutions.size] += 1
    assert max(thirds) - min(thirds) < 200  # 1000 each expected, standard deviation 26
    assert solutions.sample_numpy(5, seed=2).shape == (5, 5)


def test_a_set_too_large_to_list() -> None:
    solutions = huge()
    assert solutions.size > 10**40
    middle = solutions.size // 3
    solution = solutions[middle]
    assert solutions.index(solution) == middle
    assert solution in solutions
    assert all(s in solutions for s in solutions.sample(20, seed=3))
    cost, best = solutions.maximum(dict.fromkeys(solutions.names, 1))
    assert cost == sum(best.values()) == 12 * 99 + 700
    assert sum(solutions.value_counts("x3").values()) == solutions.size
    with pytest.raises(OverflowError):
        len(solutions)


def test_neighbours() -> None:
    solutions = tiles()
    listed = list(solutions)
    for number in (0, 100, 1000):
        here = listed[number]
        near = solutions.neighbours(here)
        want = [s for s in listed if sum(s[n] != here[n] for n in here) == 1]
        assert sorted(map(repr, near)) == sorted(map(repr, want))
        steps = solutions.neighbours(here, kind="adjacent")
        assert all(abs(sum(s.values()) - sum(here.values())) == 1 for s in steps)
        assert [s for s in near if abs(sum(s.values()) - sum(here.values())) == 1] == steps
    with pytest.raises(ModelError, match="hamming"):
        solutions.neighbours(listed[0], kind="far")  # type: ignore[arg-type]


def test_costs_are_functions_of_one_variable_each() -> None:
    m = Model()
    x, y = m.int_var("x", -5, 9), m.int_var("y", 0, 9)
    m.add(x + y >= 3)
    solutions = m.solutions()
    cost = 3 * x**2 - 2 * y + 7
    listed = [(3 * s["x"] ** 2 - 2 * s["y"] + 7, s) for s in solutions]
    assert solutions.minimum(cost)[0] == min(value for value, _ in listed)
    assert solutions.maximum(cost)[0] == max(value for value, _ in listed)
    with pytest.raises(ModelError, match="depends on x, y"):
        solutions.minimum(x * y)
    with pytest.raises(ModelError, match="undefined for x = 0"):
        solutions.minimum(12 // x)
    with pytest.raises(ModelError, match="names w"):
        solutions.minimum({"w": 1})


def test_costs_by_value() -> None:
    space = from_tune_params({"f": [0.25, 0.5, 0.75], "s": ["row", "col"], "n": [3, 1]}, ["f * n < 2"])
    listed = list(space)

    def least(cost: Any) -> Any:
        return min((sum(part(row[name]) for name, part in cost.items()) for row in listed), default=None)

    assert space.maximum({"f": 1, "n": 0.5})[0] == max(row["f"] + 0.5 * row["n"] for row in listed)
    cost = {"f": lambda v: abs(v - 0.5), "s": {"row": 2, "col": 1}.get, "n": lambda v: -v}
    assert space.minimum(cost)[0] == least(cost)  # type: ignore[arg-type]
    assert space.minimum({"s": {"row": 2, "col": 1}, "n": 1})[1] == {"f": 0.25, "s": "col", "n": 1}
    for bad, message in [
        ({"s": 2}, "values of 's' are not numbers"),
        ({"s": {"row": 1}}, "no value for s = 'col'"),
        ({"f": lambda v: None}, "is None, which is not a number"),
        ({"f": "x"}, "a number, a function or a dict"),
        ("f", "a cost is an expression, or a dict such as {'f': 2}, not 'f'"),
    ]:
        with pytest.raises(ModelError, match=message):
            space.minimum(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s["x"], "the number of a solution must be an integer, not 'x'"),
        (lambda s: s[1.5], "must be an integer, not 1.5"),
        (lambda s: s.index(5), "a solution is a dict, or a sequence"),
        (lambda s: s.index((1, 2)), "a solution has 5 values, not 2"),
        (lambda s: s.project("a"), r"a list of names, such as \['a'\]"),
        (lambda s: s.project(["a", "a"]), "each name once"),
        (lambda s: s.sample(-1), "cannot be negative"),
        (lambda s: s.sample(2.5), "the size of a sample must be an integer"),
        (lambda s: list(s.iter_chunks(0)), "at least one row"),
    ],
)
def test_wrong_questions_say_what_to_write(ask: Callable[..., Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ask(tiles())


def test_files_keep_a_set(tmp_path: Path) -> None:
    wide = Model()
    v = wide.int_var("v", 2**80, 2**80 + 9)
    wide.add(v % 3 == 1)
    for i, solutions in enumerate([tiles(), wide.solutions(), tiles().given(free=1)]):
        path = tmp_path / f"{i}.npz"
        solutions.save(path)
        again = SolutionSet.load(path)
        assert again.names == solutions.names
        assert list(again) == list(solutions)
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    with pytest.raises(ModelError, match="no solution set"):
        SolutionSet.load(tmp_path / "bad.npz")


def test_names_that_are_none() -> None:
    with pytest.raises(ModelError, match="no variable is named 'q'"):
        tiles().value_counts("q")
    with pytest.raises(ModelError, match="different variables"):
        tiles().union(huge())
