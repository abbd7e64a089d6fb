"""Assumptions, scopes, blocking clauses, Pareto fronts, and answers cut short by limits or Ctrl-C."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from random_models import draw_model

from constrint import Model, ModelError, Status, all_different, sum_
from constrint.search.depth_first import DepthFirstRun

LIMIT = 20.0


def box() -> tuple[Model, dict[Any, Any]]:
    m = Model("box")
    names = {name: m.int_var(name, 0, 9) for name in "xyz"}
    m.add(names["x"] + names["y"] + names["z"] == 12)
    return m, names


def found(model: Model) -> set[tuple[int, ...]]:
    return {tuple(result.values.values()) for result in model.iter_solutions(time_limit=LIMIT)}


# ------------------------------------------------------------ assumptions


def test_assumptions_hold_until_they_are_retracted() -> None:
    m, v = box()
    first, second = m.assume(v["x"] == 3, v["y"] == 4)
    assert m.solve(time_limit=LIMIT).values == {"x": 3, "y": 4, "z": 5}
    m.retract(second)
    assert first in m.constraints
    assert m.count(time_limit=LIMIT) == 10
    m.retract()
    assert m.count(time_limit=LIMIT) == 73
    with pytest.raises(ModelError, match="no longer"):
        m.retract(first)


def test_retract_without_arguments_leaves_constraints_alone() -> None:
    m, _ = box()
    m.retract()
    assert len(m.constraints) == 1


def test_assumptions_of_a_call_are_forgotten() -> None:
    m, v = box()
    assert m.solve(assumptions=[v["x"] == 9], maximize=v["y"], time_limit=LIMIT)["y"] == 3
    assert len(m.constraints) == 1
    assert m.solve(maximize=v["y"], time_limit=LIMIT)["y"] == 9


def test_an_infeasible_answer_names_the_guilty_assumptions_only() -> None:
    m, v = box()
    guilty = [v["x"] <= 1, v["z"] == 0]
    innocent = [v["y"] >= 2, v["x"] >= 0]
    result = m.solve(assumptions=[*innocent, *guilty], time_limit=LIMIT)
    assert result.status is Status.INFEASIBLE
    assert not result
    assert [constraint.expr for constraint in result.conflict.constraints] == guilty  # type: ignore[union-attr]
    assert result.conflict is not None
    assert result.conflict.minimal
    assert 'assumed: v["x"] <= 1' in str(result.conflict)
    assert m.solve(assumptions=innocent, time_limit=LIMIT).conflict is None


def test_nobody_is_guilty_where_the_model_is_infeasible_without_assumptions() -> None:
    m, v = box()
    m.add(v["x"] > 9)
    result = m.solve(assumptions=[v["y"] == 1], time_limit=LIMIT)
    assert result.conflict is not None
    assert result.conflict.constraints == ()


def test_assumptions_of_random_models_are_blamed_minimally() -> None:
    blamed = 0
    for seed in range(1000):
        drawn = draw_model(seed, max_assignments=60)
        if len(drawn.domains) < 2:
            continue
        model = drawn.build()
        assumptions = [variable == variable.domain.lo for variable in model.variables.values()]
        result = model.solve(assumptions=assumptions, time_limit=LIMIT)  # type: ignore[arg-type]
        solutions = drawn.solutions()
        lowest = {name: values[0] for name, values in drawn.domains.items()}
        assert bool(result) == (lowest in solutions)
        if result:
            continue
        guilty = [constraint.expr.children[0].name for constraint in result.conflict.constraints]  # type: ignore[union-attr]
        left = [s for s in solutions if all(s[name] == lowest[name] for name in guilty)]
        assert left == []
        for innocent in guilty:
            others = [name for name in guilty if name != innocent]
            assert [s for s in solutions if all(s[name] == lowest[name] for name in others)]
        blamed += len(guilty) > 1
    assert blamed > 3


def test_explain_names_assumptions_and_constraints() -> None:
    m, v = box()
    m.add(v["x"] == 9, name="high")
    m.assume(v["y"] == 9, name="also high")
    text = str(m.explain(time_limit=LIMIT))
    assert 'high: v["x"] == 9' in text
    assert 'assumed: also high: v["y"] == 9' in text
    m.retract()
    assert m.explain(time_limit=LIMIT) is None
    assert m.explain(assumptions=[v["z"] == 7], time_limit=LIMIT) is not None


def test_a_python_truth_value_is_no_assumption() -> None:
    m, _ = box()
    with pytest.raises(ModelError, match="Python truth value"):
        m.assume(True)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="Python truth value"):
        m.solve(assumptions=[1 == 2])  # type: ignore[comparison-overlap, list-item]


# ------------------------------------------------------------ scopes


def test_a_scope_takes_everything_back() -> None:
    m, v = box()
    with m.scope() as inner:
        assert inner is m
        w = m.int_var("w", 0, 3)
        m.let("twice", 2 * w)
        m.add(w > v["x"])
        m.maximize(w)
        m.prefer((v["x"], "max"))
        assert m.solve(time_limit=LIMIT)["twice"] == 6
    assert list(m.variables) == ["x", "y", "z"]
    assert not m.lets
    assert len(m.constraints) == 1
    assert not m.goals
    assert not m.preferences
    m.int_var("w", 0, 1)  # the name is free again


def test_scopes_nest_and_close_on_errors() -> None:
    m, v = box()
    m.push()
    m.add(v["x"] == 1)
    with pytest.raises(ModelError, match="condition 1 is False"), m.scope():  # noqa: PT012 - the block is the point
        m.push()  # left open, and closed with the block
        m.add(v["y"] == 9)
        m.add(False)
    assert len(m.constraints) == 2
    m.pop()
    assert len(m.constraints) == 1
    with pytest.raises(ModelError, match="no open scope"):
        m.pop()


def test_what_was_retracted_in_a_scope_comes_back() -> None:
    m, v = box()
    (assumption,) = m.assume(v["x"] == 1)
    with m.scope():
        m.retract(assumption)
        assert m.count(time_limit=LIMIT) == 73
    assert m.constraints[-1] is assumption


def test_a_copy_is_independent() -> None:
    m, v = box()
    copy = m.copy()
    copy.add(v["x"] == 1)
    copy.int_var("w", 0, 1)
    assert len(m.constraints) == 1
    assert "w" not in m.variables
    assert copy.solve(time_limit=LIMIT)[v["x"]] == 1


# ------------------------------------------------------------ blocking


def test_blocking_every_solution_lists_them_all() -> None:
    m, _ = box()
    everything = found(m)
    blocked = set()
    while result := m.solve(time_limit=LIMIT):
        blocked.add(tuple(result.values.values()))
        m.block(result)
    assert blocked == everything
    assert len(blocked) == 73


def test_blocking_some_variables_lists_their_projections() -> None:
    m, v = box()
    big = m.bool_var("big")
    m.add(big == (v["x"] >= 5))
    seen = []
    while result := m.solve(time_limit=LIMIT):
        seen.append(result["big"])
        m.block(result, [big])
    assert sorted(seen) == [0, 1]


def test_a_blocking_clause_can_be_retracted() -> None:
    m, _ = box()
    blocked = m.block({"x": 3, "y": 4, "z": 5})
    assert (3, 4, 5) not in found(m)
    m.retract(blocked)
    assert (3, 4, 5) in found(m)


def test_the_model_may_change_while_solutions_are_taken() -> None:
    m, v = box()
    solutions = []
    for result in m.iter_solutions(time_limit=LIMIT):
        m.block(result)
        m.add(v["x"] < 0)
        solutions.append(tuple(result.values.values()))
    assert len(solutions) == 73


@pytest.mark.parametrize(
    ("solution", "variables", "message"),
    [
        ({"x": 1, "q": 2}, None, "'q'"),
        ({"x": 1}, ["y"], "no value for y"),
        ({"x": 1}, ["half"], "is not a variable"),
    ],
)
def test_what_cannot_be_blocked_is_named(
    solution: dict[str, int], variables: list[str] | None, message: str
) -> None:
    m, v = box()
    m.let("half", v["x"] // 2)
    with pytest.raises(ModelError, match=message):
        m.block(solution, variables)
    with pytest.raises(ModelError, match="infeasible"):
        m.block(m.solve(assumptions=[v["x"] == 99]))


def test_an_iterator_knows_whether_it_was_complete() -> None:
    m, _ = box()
    everything = m.iter_solutions()
    next(everything)
    assert not everything.complete
    assert everything.to_numpy().shape == (72, 3)
    assert everything.complete
    for some in (m.iter_solutions(limit=5), m.iter_solutions(time_limit=0.0)):
        assert len(some.to_pandas()) <= 5
        assert not some.complete
    m.add(m.variables["x"] > 99)
    nothing = m.iter_solutions()
    assert list(nothing) == []
    assert nothing.complete


# ------------------------------------------------------------ Pareto


def dominates(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return a != b and all(left >= right for left, right in zip(a, b, strict=True))


@pytest.mark.parametrize("engine", ["auto", "interpreted"])
@pytest.mark.parametrize("goals", [1, 2, 3])
def test_fronts_of_random_models(goals: int, engine: Any) -> None:
    """By listing all solutions, and one by one."""
    sizes = []
    for seed in range(40):
        drawn = draw_model(seed, max_assignments=60)
        model = drawn.build()
        variables = list(model.variables.values())
        exprs = [*variables, sum_(variables), *[-x * x for x in variables]][:goals]
        ways = [("max", "min")[(seed >> i) & 1] for i in range(len(exprs))]
        names = list(model.variables)
        points = set()
        for solution in drawn.solutions():
            assignment = {variables[i]: solution[name] for i, name in enumerate(names)}
            values = [expr.evaluate(assignment) for expr in exprs]
            points.add(
                tuple(int(v) if way == "max" else -int(v) for v, way in zip(values, ways, strict=True))
            )
        best = {p for p in points if not any(dominates(q, p) for q in points)}
        front = model.pareto(list(zip(exprs, ways, strict=True)), time_limit=LIMIT, engine=engine)  # type: ignore[arg-type]
        signed = [
            tuple(v if way == "max" else -v for v, way in zip(objective, ways, strict=True))
            for objective in front.objectives
        ]
        assert front.complete
        assert len(signed) == len(set(signed))
        assert set(signed) == best
        assert signed == sorted(signed, reverse=True)
        sizes.append(len(signed))
    assert goals == 1 or max(sizes) > 2


def test_a_front_is_a_sequence_of_results_with_exports() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 5), m.int_var("y", 0, 5)
    m.add(x * y <= 6, x + y <= 7)
    front = m.pareto([(x, "max"), (y, "max")])
    assert front.objectives == [(5, 1), (3, 2), (2, 3), (1, 5)]
    assert repr(front) == "Front(4 optima of max x, max y: (5, 1), (3, 2), (2, 3), (1, 5))"
    assert [result["x"] for result in front[1:]] == [3, 2, 1]
    assert front[0].status is Status.OPTIMAL
    assert front.to_dicts()[0] == {"x": 5, "y": 1}
    assert front.to_numpy().tolist() == [[5, 1], [3, 2], [2, 3], [1, 5]]
    assert list(front.to_pandas()["y"]) == [1, 2, 3, 5]


def test_a_front_is_cut_by_limits() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 50), m.int_var("y", 0, 50)
    m.add(x + y <= 50)
    front = m.pareto([(x, "max"), (y, "max")], limit=3)
    assert not front.complete
    assert front.objectives == [(50, 0), (49, 1), (48, 2)]
    assert not m.pareto([(x, "max"), (y, "max")], time_limit=0.0).complete
    with pytest.raises(ModelError, match="at least one goal"):
        m.pareto([])


# ------------------------------------------------------------ Ctrl-C


def interrupted_after(monkeypatch: pytest.MonkeyPatch, solutions: int) -> None:
    """Every run is interrupted when it looks for one more solution than these."""
    original = DepthFirstRun.next
    counter = itertools.count()

    def limited(self: Any, *args: Any, **keywords: Any) -> Any:
        if next(counter) >= solutions:
            raise KeyboardInterrupt
        return original(self, *args, **keywords)

    monkeypatch.setattr(DepthFirstRun, "next", limited)


def puzzle() -> tuple[Model, list[Any]]:
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 6) for i in range(5)]
    m.add(all_different(xs))
    return m, xs


def test_ctrl_c_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    m, xs = puzzle()
    interrupted_after(monkeypatch, 1)
    result = m.solve(maximize=(xs[0] * xs[1] * 7 + xs[2] * xs[3] * 5) % 61, engine="interpreted")
    assert result.status is Status.FEASIBLE
    assert len(set(result.values.values())) == 5


def test_ctrl_c_keeps_the_front_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    m, xs = puzzle()
    whole = m.pareto([(xs[0], "max"), (xs[1], "max")])
    runs = []
    original = DepthFirstRun.next

    def limited(self: Any, *args: Any, **keywords: Any) -> Any:
        runs.append(self)
        if len(runs) > 4:
            raise KeyboardInterrupt
        return original(self, *args, **keywords)

    monkeypatch.setattr(DepthFirstRun, "next", limited)
    front = m.pareto([(xs[0], "max"), (xs[1], "max")], engine="interpreted")
    assert whole.complete
    assert not front.complete
    assert front.objectives == whole.objectives[: len(front)]


def test_ctrl_c_before_any_solution_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    m, xs = puzzle()
    interrupted_after(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        m.solve()
    with pytest.raises(KeyboardInterrupt):
        m.pareto([(xs[0], "max")], engine="interpreted")
