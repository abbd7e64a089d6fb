"""Projected enumeration: each combination of some variables' values once, in every way to enumerate."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from random_models import draw_model

import constrint as ci


@pytest.mark.parametrize("block", range(4))
def test_projections_of_drawn_models(block: int) -> None:
    several = 0
    with ThreadPoolExecutor(2) as executor:
        ways: list[dict[Any, Any]] = [
            {},
            {"engine": "interpreted"},
            {"branching": ci.Brancher("first_fail", "max")},
        ]
        ways += [{"seed": 3, "branching": ci.Brancher("dom_w_deg", "random")}, {"executor": executor}]
        for seed in range(20 * block, 20 * block + 20):
            drawn = draw_model(15000 + seed)
            model = drawn.build()
            draw = Random(seed)
            names = draw.sample(list(drawn.domains), draw.randint(0, len(drawn.domains)))
            solutions = drawn.solutions()
            expected = Counter({tuple(one[name] for name in names): 1 for one in solutions})
            several += 1 < len(expected) < len(solutions)
            variables = [name if draw.random() < 0.5 else model.variables[name] for name in names]
            for way in ways[: 5 if seed % 5 == 0 else 4]:
                found = model.iter_solutions(variables=variables, **way)
                seen: list[tuple[int, ...]] = []
                for one in found:
                    assert {name: one[name] for name in drawn.domains} in solutions, (seed, way)
                    seen.append(tuple(one[name] for name in names))
                assert Counter(seen) == expected, (seed, way)
                assert found.complete
            assert model.count(variables=variables) == len(expected)
            if seed % 5 == 0:
                assert model.count(variables=variables, executor=executor) == len(expected)
    assert several > 0


def queens(n: int) -> tuple[ci.Model, ci.ExprArray]:
    m = ci.Model()
    q = m.int_vars("q", n, 0, n - 1)
    m.add(ci.all_different(q), ci.all_different([q[i] + i for i in range(n)]))
    m.add(ci.all_different([q[i] - i for i in range(n)]))
    return m, q


def test_projections_take_arrays_limits_and_callbacks() -> None:
    m, q = queens(6)
    assert m.count() == 4
    m.int_var("free", 0, 10**9)
    assert m.count(variables=q) == 4
    firsts = sorted(one[q[0]] for one in m.iter_solutions(variables=[q[0]]))
    assert firsts == [1, 2, 3, 4]
    seen: list[ci.Result] = []
    found = m.iter_solutions(2, variables=q, on_solution=seen.append)
    assert [one.values for one in found] == [one.values for one in seen]
    assert (len(seen), found.complete) == (2, False)
    stopped = m.iter_solutions(variables=q, on_solution=lambda one: one[q[0]] == 0)
    assert (len(list(stopped)), stopped.complete) == (1, False)


def test_unbounded_variables_beside_the_projection() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y")
    m.add(y * y * y == x * 5 + 7)
    assert [(one[x], one[y]) for one in m.iter_solutions(variables=[x])] == [(4, 3)]
    z = m.int_var("z", 0, None)
    m.add(z > x)
    assert m.count(variables=[x]) == 1
    with pytest.raises(ci.UnboundedError):
        m.count(variables=[z])


def test_counting_tells_of_each_solution() -> None:
    m, q = queens(6)
    seen: list[ci.Result] = []
    assert m.count(on_solution=seen.append) == 4 == len({tuple(one.values.items()) for one in seen})
    assert m.count(on_solution=lambda one: False) == 1
    assert m.count(variables=[q[0]], on_solution=lambda one: one[q[0]] != 3) <= 4
    with pytest.raises(ci.LimitError):
        m.count(on_solution=seen.append, time_limit=0)


def test_what_is_no_variable_cannot_be_projected() -> None:
    m, q = queens(4)
    for wrong in (q[0] + 1, "z", 3, ci.Model().int_var("q[0]", 0, 1)):
        with pytest.raises(ci.ModelError, match="is not a variable of this model"):
            m.iter_solutions(variables=[wrong])  # type: ignore[list-item]
        with pytest.raises(ci.ModelError, match="is not a variable of this model"):
            m.count(variables=[wrong])  # type: ignore[list-item]
