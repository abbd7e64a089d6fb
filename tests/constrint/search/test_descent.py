"""The short descent before tables: the lexicographic optimum of preferences, whether it ends or gives up."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from constrint import Model, Status
from constrint.answers.plan import explain_methods
from constrint.answers.search_arguments import options_of
from constrint.search import descent, solver
from constrint.search.solver import Solver
from constrint.settings import DEFAULT

SIZE = 21  # values of each of four variables: more combinations than the least for tables


def drawn(seed: int) -> tuple[Model, list[tuple[int, ...]]]:
    """A model over a, b, c, d with a condition that contradicts preferences, and its solutions."""
    rng = Random(seed)
    m = Model()
    a, b, c, d = (m.int_var(name, 1, SIZE) for name in "abcd")
    most, modulus, rest, sum_ = (
        rng.randint(20, 200),
        rng.randint(2, 7),
        rng.randint(0, 6),
        rng.randint(20, 60),
    )
    m.add(a * b <= most, (b * c + d) % modulus == rest % modulus, a + c + d >= sum_, c * d != a * b)
    values = range(1, SIZE + 1)
    solutions = [
        (i, j, k, n)
        for i, j in product(values, values)
        if i * j <= most
        for k, n in product(values, values)
        if (j * k + n) % modulus == rest % modulus and i + k + n >= sum_ and k * n != i * j
    ]
    return m, solutions  # type: ignore[return-value]


@pytest.mark.parametrize("limits", [(100, 4), (2, 0)], ids=["as it is", "gives up early"])
@pytest.mark.parametrize("tables", [True, False], ids=["then tables", "then search"])
def test_preferences_are_met_in_their_order(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, ...], tables: bool
) -> None:
    nodes, failures = limits
    given = {"nodes_of_descent": nodes, "failures_of_descent": failures}
    if not tables:
        monkeypatch.setattr(descent, "sweep", lambda plan, root: None)
    for seed in range(8):
        m, solutions = drawn(seed)
        m.settings = DEFAULT.with_fields(search=given)
        rng = Random(seed)
        order = rng.sample(range(4), 4)
        ways = [rng.choice(("min", "max")) for _ in order]
        variables = list(m.variables.values())
        result = m.solve(prefer=[(variables[i], way) for i, way in zip(order, ways, strict=True)])  # type: ignore[misc]
        signs = [1 if way == "min" else -1 for way in ways]
        if not solutions:
            assert result.status is Status.INFEASIBLE
            continue
        best = min(solutions, key=lambda row: [sign * row[i] for i, sign in zip(order, signs, strict=True)])
        assert result.status is Status.OPTIMAL
        assert tuple(result.values.values()) == best, seed


def test_a_descent_that_gave_up_is_continued_where_tables_do_not_suit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = []
    early = descent.answered_early

    def noted(*given: Any) -> Any:
        found = early(*given)
        begun.append(found)
        return found

    monkeypatch.setattr(descent, "sweep", lambda plan, root: None)
    monkeypatch.setattr(solver, "answered_early", noted)
    m, solutions = drawn(1)
    m.settings = DEFAULT.with_fields(search={"nodes_of_descent": 2})
    a, b, c, d = m.variables.values()
    result = m.solve(prefer=[(d, "min"), (a, "min"), (c, "max"), (b, "max")])
    ((swept, run),) = begun
    assert swept is None
    assert run is not None
    assert result.statistics.nodes == run.node_count > 2
    assert tuple(result.values.values()) == min(solutions, key=lambda row: (row[3], row[0], -row[2], -row[1]))


def test_the_plan_says_so_and_optima_are_left_to_tables() -> None:
    m, _ = drawn(2)
    a = m.variables["a"]
    m.prefer((a, "max"))
    assert [line.split(":")[1].strip() for line in explain_methods(m)][:2] == ["descent", "tables"]
    m.minimize(m.variables["b"] + a)
    solved = Solver(m, options_of(learn="auto", has_goal=True))
    prepared = solved.prepare(m.goals, m.preferences)
    assert prepared.root is not None
    assert "descent" not in [choice.method for choice in solved.choices(prepared, prepared.root)]
