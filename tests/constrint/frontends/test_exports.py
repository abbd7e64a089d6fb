"""Drawn models written for other programs and read back, or solved there: the same solutions.

`CONSTRINT_EXPORTS=N` draws N models of each kind (default 40).
"""

from __future__ import annotations

import os
import random
import re
from typing import Any

import cpmpy
import global_models
import pytest
from ortools.sat.python import cp_model
from random_models import draw_model

from constrint import Model, ModelError, all_different, divides, max_
from constrint.frontends.flatzinc.writer import _KEYWORDS, identifiers

COUNT = int(os.environ.get("CONSTRINT_EXPORTS", "40"))
BLOCKS = range(0, COUNT, 10)


def drawn(seed: int) -> tuple[Model, set[tuple[int, ...]]]:
    """A model that is drawn, of arithmetic or of global constraints, and its solutions."""
    if seed % 2:
        plain = draw_model(seed, max_assignments=100)
        m = plain.build()
        return m, {tuple(int(one[name]) for name in m.variables) for one in plain.solutions()}
    names = sorted(global_models.DRAWN)
    m = global_models.draw_model(names[seed // 2 % len(names)], seed)
    return m, {tuple(int(x) for x in one) for one in global_models.expected(m)}


def by_text(dialect: str) -> Any:
    def solved(m: Any) -> Any:
        again = Model.from_text(m.to_text(dialect=dialect), dialect=dialect)
        ids = identifiers(m.variables, _KEYWORDS if dialect == "flatzinc" else None)
        return {tuple(r[name] for name in ids) for r in again.iter_solutions()}

    return solved


class Collect(cp_model.CpSolverSolutionCallback):
    def __init__(self, count: Any) -> None:
        super().__init__()
        self.count, self.found = count, set()  # type: ignore[var-annotated]

    def on_solution_callback(self) -> None:
        self.found.add(tuple(list(self.response_proto.solution)[: self.count]))


def by_cp_sat(m: Any) -> Any:
    again = cp_model.CpModel()
    assert again.proto.parse_text_format(m.to_text(dialect="cp-sat"))
    assert [v.name for v in again.proto.variables][: len(m.variables)] == list(m.variables)
    solver, collect = cp_model.CpSolver(), Collect(len(m.variables))
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    assert solver.solve(again, collect) in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return collect.found


def by_cpmpy(m: Any) -> Any:
    again, variables = m.to_cpmpy()
    used = list(variables.values())
    again += [cpmpy.sum(used) <= 10**6]
    found = set()
    again.solveAll(solver="ortools", display=lambda: found.add(tuple(int(v.value()) for v in used)))
    return found


def by_python_constraint(m: Any) -> Any:
    problem = m.to_python_constraint()
    return {tuple(one[name] for name in m.variables) for one in problem.getSolutions()}


WAYS = {
    "flatzinc": by_text("flatzinc"),
    "xcsp3": by_text("xcsp3"),
    "json": by_text("json"),
    "cp-sat": by_cp_sat,
    "cpmpy": by_cpmpy,
    "python-constraint": by_python_constraint,
}


@pytest.mark.fuzz
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("block", BLOCKS)
def test_the_same_solutions(way: str, block: int) -> None:
    written = 0
    for seed in range(block, block + 10):
        m, expected = drawn(seed)
        try:
            found = WAYS[way](m)
        except ModelError as error:
            if not re.search("too many for a table|no such bounds|sums up to", str(error)):
                raise
            continue
        written += 1
        assert found == expected, f"seed {seed}"
    assert written >= 7


@pytest.mark.parametrize("way", ["flatzinc", "xcsp3", "cp-sat", "cpmpy"])
@pytest.mark.parametrize("seed", range(8))
def test_the_same_optimum(way: str, seed: int) -> None:
    rng = random.Random(seed)
    m = Model()
    x, y = m.int_var("x y", -4, 9), m.int_var("var", 1, 60, step=7)
    b = m.bool_var("b")
    m.add(all_different(x, y, 3), divides(x, y) | b, max_(x, -x) + y <= 40)
    goal = x * y - rng.randint(1, 5) * y + rng.randint(-3, 3) * b
    (m.maximize if seed % 2 else m.minimize)(goal)
    best = m.solve().objective
    if way == "cpmpy":
        again, _ = m.to_cpmpy()
        assert again.solve(solver="ortools")
        assert again.objective_value() == best
    elif way == "cp-sat":
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        assert solver.solve(m.to_cp_sat()) == cp_model.OPTIMAL
        assert solver.objective_value == best
    else:
        assert Model.from_text(m.to_text(dialect=way), dialect=way).solve().objective == best


@pytest.mark.parametrize("way", WAYS)
def test_models_without_solutions_stay_so(way: str) -> None:
    for build in (lambda m, x: m.add(x > 3), lambda m, x: m.add(x == 1, x == 2, x // 0 == x)):
        m = Model()
        build(m, m.int_var("x", 0, 2))  # type: ignore[no-untyped-call]
        m.bool_var("b")
        assert WAYS[way](m) == set()


@pytest.mark.parametrize("way", ["flatzinc", "json"])
def test_unbounded_variables_and_long_strides(way: str) -> None:
    m = Model()
    x, y, z = m.int_var("x", 5, None), m.int_var("y", None, 7, step=3), m.int_var("z", 0, 10**9, step=1000)
    m.add(x + y == 8, z == 1000 * x + 4000, x <= 20)
    assert WAYS[way](m) == {
        (7, 1, 11000),
        (10, -2, 14000),
        (13, -5, 17000),
        (16, -8, 20000),
        (19, -11, 23000),
    }


@pytest.mark.parametrize("dialect", ["flatzinc", "xcsp3", "lp", "mps"])
def test_soft_constraints_become_the_goal(dialect: str) -> None:
    m = Model()
    x, b = m.int_var("x", 0, 9), m.bool_var("b")
    m.add(x <= 3 + 4 * b)
    m.add(~b, name="no b", weight=2)
    m.add(b, name="b", weight=3)
    assert m.solve().violation == 2
    assert Model.from_text(m.to_text(dialect=dialect), dialect=dialect).solve().objective == 2
    m.maximize(x)
    with pytest.raises(ModelError, match="soft constraints"):
        m.to_text(dialect=dialect)


@pytest.mark.parametrize("way", ["flatzinc", "xcsp3", "cp-sat", "cpmpy", "python-constraint"])
def test_what_they_lack_is_refused_by_name(way: str) -> None:
    m = Model()
    x = m.int_var("x", 0, 9)
    m.maximize(x, -x)
    with pytest.raises(ModelError, match=r"one goal|no goals"):
        WAYS[way](m)
    m = Model()
    x = m.int_var("x", 0, None)
    m.add(x % 2 == 0)
    if way != "flatzinc":
        with pytest.raises(ModelError, match=r"x.* bound"):
            WAYS[way](m)
