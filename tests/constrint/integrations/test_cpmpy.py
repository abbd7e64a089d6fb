"""constrint as a CPMpy solver, compared with CPMpy's OR-Tools and with enumeration."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import cpmpy as cp
import numpy as np
import pytest
from cpmpy.expressions.core import Expression
from cpmpy.expressions.globalfunctions import GlobalFunction
from cpmpy.model import Model
from cpmpy.solvers.solver_interface import ExitStatus
from cpmpy.tools.explain.mus import mus, quickxplain

import constrint.integrations.cpmpy as backend

RELATIONS = ["==", "!=", "<=", "<", ">=", ">"]


def test_is_found_by_name_once() -> None:
    backend.register()
    names = [name for name, _ in cp.SolverLookup.base_solvers()]
    assert names.count("constrint") == 1
    assert cp.SolverLookup.lookup("constrint") is backend.CPM_constrint
    assert names[0] == "ortools"


def _number(rng: random.Random, xs: list[Any], bs: list[Any], depth: int) -> Expression | int:
    kind = rng.randrange(16 if depth else 3)
    if kind == 0:
        return rng.randint(-3, 5)
    if kind in (1, 2):
        return rng.choice([*xs, *xs, *bs])
    parts = [_number(rng, xs, bs, depth - 1) for _ in range(3)]
    variables = [rng.choice(xs) for _ in range(3)]
    makers = [
        lambda: parts[0] + parts[1],
        lambda: parts[0] - parts[1],
        lambda: 2 * parts[0] + 3 * parts[1] - parts[2],
        lambda: parts[0] * parts[1],
        lambda: variables[0] // variables[1],
        lambda: variables[0] % variables[1],
        lambda: variables[0] ** 2,
        lambda: abs(variables[0] - parts[1]),
        lambda: cp.max([variables[0], parts[1], parts[2]]),
        lambda: cp.min([variables[0], parts[1], parts[2]]),
        lambda: cp.Element([variables[0], variables[1], 4], variables[2] + parts[2]),
        lambda: cp.Count(variables, parts[0]),
        lambda: cp.NValue(variables),
    ]
    return makers[kind - 3]()  # type: ignore[no-untyped-call]


def _condition(rng: random.Random, xs: list[Any], bs: list[Any], depth: int) -> Expression:
    kind = rng.randrange(25) if depth else 0
    if kind < 6:
        left, right = _number(rng, xs, bs, depth), rng.choice(xs)
        return {"==": left == right, "!=": left != right, "<=": left <= right, "<": left < right,
                ">=": left >= right, ">": left > right}[rng.choice(RELATIONS)]  # fmt: skip
    parts = [_condition(rng, xs, bs, depth - 1) for _ in range(2)]
    variables = [rng.choice(xs) for _ in range(3)]
    lengths = [rng.randint(0, 2) for _ in range(3)]
    makers = [
        lambda: cp.all(parts),
        lambda: cp.any(parts),
        lambda: parts[0].implies(parts[1]),
        lambda: ~parts[0],
        lambda: parts[0] == parts[1],
        lambda: parts[0] != bs[0],
        lambda: cp.Xor([*parts, bs[0]]),
        lambda: cp.AllDifferent(variables),
        lambda: cp.Table(variables, [[1, 2, 0], [0, 0, 1], [2, 1, 3]]),
        lambda: cp.NoOverlap(variables, lengths),
        lambda: cp.Cumulative(variables, lengths, None, [1, 2, 1], 2),
        lambda: cp.LexLess(variables[:2], variables[1:]),
        lambda: cp.Increasing(variables),
        lambda: cp.Circuit(variables),
        lambda: cp.AllDifferentExceptN(variables, [0, 2]),
        lambda: cp.ShortTable(variables, [[1, "*", 0], ["*", 0, 1], [2, 1, "*"]]),
        lambda: cp.NoOverlapOptional(variables, lengths, None, [bs[0], ~bs[0], variables[0] > 0]),
        lambda: cp.CumulativeOptional(
            variables, lengths, None, [1, 2, 1], 2, [bs[0], variables[1] != 0, variables[0] > 0]
        ),
        lambda: cp.Regular(
            variables, [("a", 0, "b"), ("a", 1, "a"), ("b", 1, "b"), ("b", 2, "a")], "a", ["b"]
        ),
    ]
    return makers[kind - 6]()


def _random(seed: int) -> tuple[Model, list[Expression], GlobalFunction | int]:
    rng = random.Random(seed)
    xs = [cp.intvar(rng.randint(-2, 0), rng.randint(1, 3)) for _ in range(3)]
    bs = [cp.boolvar() for _ in range(1)]
    constraints = [_condition(rng, xs, bs, 2) for _ in range(rng.randint(1, 3))]
    return cp.Model(constraints), xs + bs, _number(rng, xs, bs, 1)


def _solutions(model: cp.Model, variables: list[Any], solver: str) -> set[tuple[int, ...]]:
    found = set()
    model += [v == v for v in variables]  # so that each is a variable of the model
    count = model.solveAll(solver=solver, display=lambda: found.add(tuple(int(v.value()) for v in variables)))
    assert count == len(found)
    return found


@pytest.mark.parametrize("seed", range(150))
def test_same_solutions_as_or_tools(seed: int) -> None:
    model, variables, _ = _random(seed)
    anchored = cp.Model([*model.constraints, [cp.sum(variables) <= 10_000]])
    assert _solutions(anchored, variables, "constrint") == _solutions(anchored, variables, "ortools")


@pytest.mark.parametrize("seed", range(1000, 1060))
def test_undefined_terms_mean_what_cpmpy_says(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partial functions lowered here mean the same as those that CPMpy makes total for OR-Tools."""
    monkeypatch.setattr("constrint.integrations.cpmpy.no_partial_functions", list)
    model, variables, _ = _random(seed)
    anchored = cp.Model([*model.constraints, [cp.sum(variables) <= 10_000]])
    assert _solutions(anchored, variables, "constrint") == _solutions(anchored, variables, "ortools")


@pytest.mark.parametrize("seed", range(150, 230))
def test_same_optimum_as_or_tools(seed: int) -> None:
    model, _, goal = _random(seed)
    if isinstance(goal, int):
        return
    answers = []
    for solver in ("constrint", "ortools"):
        asked = cp.Model(model.constraints)
        (asked.minimize if seed % 2 else asked.maximize)(goal)
        found = asked.solve(solver=solver)
        answers.append((found, asked.objective_value() if found else None, asked.status().exitstatus))
    assert answers[0] == answers[1]


def test_every_assignment_agrees_with_cpmpy_itself() -> None:
    x, y = cp.intvar(-3, 3), cp.intvar(-2, 2)
    condition = ((x // y == 1) | (x % y == 2)).implies(x > y)
    expected = set()
    for a, b in product(range(-3, 4), range(-2, 3)):
        x._value, y._value = a, b
        if condition.value():
            expected.add((a, b))
    assert _solutions(cp.Model(condition), [x, y], "constrint") == expected


def test_statuses() -> None:
    x = cp.intvar(0, 5)
    solver = cp.SolverLookup.get("constrint", cp.Model(x > 2))
    assert solver.solve()
    assert solver.status().exitstatus is ExitStatus.FEASIBLE
    assert x.value() in (3, 4, 5)
    solver += x > 7
    assert not solver.solve()
    assert solver.status().exitstatus is ExitStatus.UNSATISFIABLE
    assert x.value() is None
    assert solver.solveAll() == 0
    assert solver.status().exitstatus is ExitStatus.UNSATISFIABLE


def test_all_of_the_best_and_a_limit() -> None:
    x = cp.intvar(0, 3, shape=2)
    model = cp.Model(cp.sum(x) <= 4, maximize=cp.sum(x))
    assert model.solveAll(solver="constrint") == 3
    assert model.objective_value() == 4
    solver = cp.SolverLookup.get("constrint", cp.Model(cp.sum(x) == 3))
    assert solver.solveAll(solution_limit=2) == 2
    assert solver.status().exitstatus is ExitStatus.FEASIBLE


def test_assumptions_and_their_core() -> None:
    a, b, c = cp.boolvar(shape=3)
    solver = cp.SolverLookup.get("constrint", cp.Model(a.implies(~b)))
    assert solver.solve(assumptions=[a, c])
    assert not solver.solve(assumptions=[a, b, c])
    assert set(solver.get_core()) == {a, b}
    assert solver.solve()
    with pytest.raises(ValueError, match="assumptions"):
        solver.get_core()


_SHAPES = {
    "list": lambda flags: flags,
    "array": cp.cpm_array,
    "two-dimensional array": lambda flags: cp.cpm_array(flags[:4]).reshape(2, 2),
    "array without dimensions": lambda flags: cp.cpm_array(flags[:1]).reshape(()),
    "nested lists": lambda flags: [flags[:1], [flags[1:2], [flags[2:]]]],
    "list of arrays": lambda flags: [cp.cpm_array(flags[:2]), cp.cpm_array(flags[2:])],
    "tuples and sets": lambda flags: (flags[0], frozenset(flags[1:])),
    "generator": lambda flags: (flag for flag in flags),
    "negations": lambda flags: [~flags[0], flags[1:]],
    "true values": lambda flags: [True, flags, cp.BoolVal(True), np.bool_(True)],
    "one variable": lambda flags: flags[0],
    "twice": lambda flags: [flags, flags],
    "nothing": lambda _: [],
    "nothing, nested": lambda _: [[], cp.cpm_array([])],
}


@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_assumptions_of_every_shape(shape: str, seed: int) -> None:
    rng = random.Random(seed)
    flags, x = list(cp.boolvar(shape=6)), cp.intvar(0, 3, shape=2)
    model = cp.Model([flag.implies(_condition(rng, list(x), flags, 1)) for flag in flags])
    model += cp.sum(x) >= 6 if seed else cp.sum(x) >= 7  # the second has no solution without assumptions
    solver = cp.SolverLookup.get("constrint", model)
    assumed = _flat(_SHAPES[shape](flags))
    expected = cp.Model([*model.constraints, *assumed]).solve(solver="ortools")
    assert solver.solve(assumptions=_SHAPES[shape](flags)) == expected
    if expected:
        assert all(bool(one.value()) for one in assumed if hasattr(one, "value"))
        return
    core = solver.get_core()
    assert {str(one) for one in core} <= {str(one) for one in assumed}
    assert not cp.Model([*model.constraints, *core]).solve(solver="ortools")
    assert (core == []) == (not cp.Model(model.constraints).solve(solver="ortools"))


def _flat(parts: Any) -> list[Expression]:
    if isinstance(parts, np.ndarray):
        return list(parts.flat)
    if isinstance(parts, cp.expressions.core.Expression | bool | np.bool_):
        return [parts]
    return [one for part in parts for one in _flat(part)]


@pytest.mark.parametrize("wrong", ["text", ["text"], 2, [cp.intvar(0, 3)], [cp.boolvar() + 1]])
def test_assumptions_that_are_no_conditions_are_refused(wrong: list[str] | str) -> None:
    solver = cp.SolverLookup.get("constrint", cp.Model(cp.boolvar()))
    with pytest.raises(TypeError, match="assumptions must be Boolean"):
        solver.solve(assumptions=wrong)


def test_better_solutions_are_displayed() -> None:
    x = cp.intvar(0, 9)
    seen = []
    model = cp.Model(x * x <= 50, maximize=x)
    assert model.solve(solver="constrint", display=lambda: seen.append(x.value()))
    assert seen[-1] == 7 == model.objective_value()
    assert seen == sorted(seen)


@pytest.mark.parametrize("call", ["solve", "solveAll"])
@pytest.mark.parametrize("seconds", [0, -1])
def test_a_time_limit_that_is_none_is_refused(call: str, seconds: int) -> None:
    model = cp.Model(cp.intvar(0, 3) > 1)
    with pytest.raises(ValueError, match="more than 0 seconds"):
        getattr(cp.SolverLookup.get("constrint", model), call)(time_limit=seconds)


@pytest.mark.parametrize("seed", range(15))
def test_cpmpys_own_explanations_are_minimal(seed: int) -> None:
    rng = random.Random(seed)
    x = cp.intvar(0, 4, shape=3)
    soft = [_condition(rng, list(x), list(cp.boolvar(shape=2)), 1) for _ in range(7)]
    hard = [cp.sum(x) <= 6]
    if cp.Model(soft + hard).solve(solver="ortools"):
        soft += [x[0] + x[1] > 5, x[0] < 2, x[1] < 3]
    for explain in (mus, quickxplain):
        core = explain(soft, hard, solver="constrint")
        assert not cp.Model(core + hard).solve(solver="ortools")
        for one in range(len(core)):
            assert cp.Model(core[:one] + core[one + 1 :] + hard).solve(solver="ortools")


def test_tasks_without_duration_overlap_with_none() -> None:
    start = cp.intvar(0, 2, shape=2)
    model = cp.Model(cp.NoOverlap(list(start), [3, 0]))
    assert model.solveAll(solver="constrint") == model.solveAll(solver="ortools") == 9
