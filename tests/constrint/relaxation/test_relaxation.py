"""Linear relaxations: rows hold in every solution, bounds are proven whatever the multipliers are."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from goals import towards
from random_models import build, draw_model

from constrint import Model, all_different, circuit, element, global_cardinality, inverse, sum_, table
from constrint.answers.search_arguments import options_of
from constrint.modelling.objectives import as_goals
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.relaxation.column_bounds import ColumnBounds
from constrint.relaxation.cuts import cuts
from constrint.relaxation.lp_rows import LpRow, Relaxation, relaxed
from constrint.relaxation.program import OPTIMAL, RelaxationProgram
from constrint.search.depth_first import DepthFirstRun
from constrint.search.relaxed import relaxed_run

MOST_SOLUTIONS = 300
UNKNOWN = -(10**15)  # the value of a column that no variable stands for


def points(prepared: Prepared, relaxation: Relaxation) -> list[np.ndarray]:
    """The values of all columns in solutions; a row of a table is UNKNOWN."""
    assert prepared.root is not None
    run = DepthFirstRun(SearchTask(prepared, prepared.root, options_of(engine="interpreted"), perf_counter()))
    columns = relaxation.columns
    bounds = ColumnBounds(columns, run._state)
    found: list[Any] = []
    while len(found) < MOST_SOLUTIONS and run.next().found is not None:
        lower, upper = bounds.read(run._state)
        free = np.array([v < 0 for v in columns.variable], bool)
        if (lower == upper)[~free].all():
            found.append(np.where(free, UNKNOWN, lower))
    return found


def broken(row: LpRow, point: np.ndarray) -> bool:
    """Whether a point breaks a row; rows with free columns are taken at what suits them best."""
    least = most = 0
    for column, a in row.terms.items():
        x = int(point[column])
        ends = (0, a) if x == UNKNOWN else (a * x, a * x)
        least, most = least + min(ends), most + max(ends)
    return (row.low is not None and most < row.low) or (row.high is not None and least > row.high)


def permuted(kind: int) -> tuple[Model, Any]:
    """Models of the constraints that are stated over members of domains."""
    m = Model()
    n = 4
    x = m.int_vars("x", n, 0, n - 1)
    costs = [[(3 * i + 5 * j + i * j) % 7 for j in range(n)] for i in range(n)]
    cost = sum_(element(costs[i], x[i]) for i in range(n))
    if kind == 0:
        m.add(circuit(x))
    elif kind == 1:
        m.add(all_different(x), x[0] + x[1] != 3, (x[2] == 1) | (x[3] <= 1))
    elif kind == 2:
        y = m.int_vars("y", n, 0, n - 1)
        m.add(inverse(x, y), y[0] > x[0])
    elif kind == 3:
        counts = {v: m.int_var(f"n{v}", 0, 2) for v in range(3)}
        m.add(global_cardinality(x, counts))
        cost = cost + counts[0] * 3
    elif kind == 4:
        m.add(table([x[0], x[1], x[2]], [(0, 1, 2), (1, 1, 0), (3, 0, 0), (2, 2, 2), (0, 3, 1)]))
    else:
        b = m.bool_vars("b", n)
        m.add(*[(2 * x[i] - x[i - 1] <= 1) == b[i] for i in range(n)], sum_(b) >= 2)
        m.add(all_different(x, consistency="bounds"))
    return m, cost


def checked(prepared: Prepared) -> int:
    """Rows that were held against all solutions of a prepared model; raises where one is broken."""
    assert prepared.root is not None
    relaxation = relaxed(prepared.root)
    assert relaxation is not None
    found = points(prepared, relaxation)
    for row in relaxation.rows:
        assert not any(broken(row, point) for point in found), row
    return len(relaxation.rows) * len(found)


@pytest.mark.parametrize("block", range(3))
def test_every_solution_of_random_models_satisfies_all_rows(block: int) -> None:
    held = 0
    for seed in range(7000 + 70 * block, 7000 + 70 * (block + 1)):
        drawn = draw_model(seed)
        m = drawn.build()
        prepared = Prepared(m, as_goals([(build(drawn.objective, {**m.variables, **m.lets}), "min")]), ())
        if prepared.root is not None and not prepared.root.exact and max(prepared.root.box.hi) < 1 << 40:
            held += checked(prepared)
    assert held > 1000


@pytest.mark.parametrize("kind", range(6))
def test_every_solution_of_permutations_and_counts_satisfies_all_rows(kind: int) -> None:
    m, cost = permuted(kind)
    assert checked(Prepared(m, as_goals([(cost, "min")]), ())) > 50


def test_subtours_are_cut_off_and_tours_are_not() -> None:
    m = Model()
    n = 6
    x = m.int_vars("x", n, 0, n - 1)
    m.add(circuit(x))
    prepared = Prepared(m, as_goals([(sum_(x[i] * i for i in range(n)), "min")]), ())
    assert prepared.root is not None
    relaxation = relaxed(prepared.root)
    assert relaxation is not None
    columns = relaxation.columns
    halves = {0: 1, 1: 2, 2: 0, 3: 4, 4: 5, 5: 3}
    point = np.array(
        [
            float(halves.get(next(i for i, y in enumerate(x) if prepared.variables[y] == v)) == value)
            if value is not None and v in prepared.variables.values()
            else 0.0
            for v, value in zip(columns.variable, columns.value, strict=True)
        ]
    )
    assert relaxation is not None
    found = cuts(relaxation, point)
    assert found
    assert relaxation is not None
    tours = points(prepared, relaxation)
    assert len(tours) == 120
    for row in found:
        assert broken(row, point)
        assert not any(broken(row, tour) for tour in tours)


def test_a_bound_holds_for_any_multipliers() -> None:
    m, cost = permuted(1)
    for direction, best in (("min", min), ("max", max)):
        prepared = Prepared(m, as_goals([(cost, direction)]), ())  # type: ignore[list-item]
        assert prepared.root is not None
        relaxation = relaxed(prepared.root)
        v = prepared.goals[0][0]
        assert relaxation is not None
        (column,) = relaxation.columns.of(v).terms
        sign = 1 if direction == "min" else -1
        assert relaxation is not None
        program = RelaxationProgram(relaxation.rows, len(relaxation.columns.variable), column, sign)
        assert prepared.root is not None
        run = DepthFirstRun(
            SearchTask(prepared, prepared.root, options_of(engine="interpreted"), perf_counter())
        )
        assert relaxation is not None
        lower, upper = ColumnBounds(relaxation.columns, run._state).read(run._state)
        assert program.solve(lower, upper) == OPTIMAL
        optimum = sign * int(best(point[column] for point in points(prepared, relaxation)))
        proven = program.bound(lower, upper)
        assert proven is not None
        assert optimum - 20 < -(-proven.least // proven.scale) <= optimum  # it is no empty bound
        draw = np.random.default_rng(1)
        assert relaxation is not None
        known = points(prepared, relaxation)[:5]
        exact = program.dual.copy()
        for _ in range(200):
            program.dual = exact + draw.normal(size=len(exact)) * draw.choice([1e-6, 0.1, 3.0])
            proof = program.bound(lower, upper)
            assert proof is not None
            assert -(-proof.least // proof.scale) <= optimum
            for point in known:
                assert proof is not None
                ends = np.where(proof.reduced > 0, lower, upper)
                assert proof is not None
                rest = int((proof.reduced * (point - ends)).sum())
                assert proof is not None
                assert proof.scale * sign * int(point[column]) >= proof.least + rest


def led(prepared: Prepared) -> tuple[Any, Any]:
    """The search led by a relaxation, at its end, and the best value of its goal."""
    options = options_of(engine="interpreted", has_goal=True)
    assert prepared.root is not None
    run = relaxed_run(SearchTask(prepared, prepared.root, options, perf_counter(), prepared.goals[0]))
    value = None
    while not isinstance(run, str) and run.next().found is not None:
        value = run.value(prepared.goals[0][0])
    return run, value


@pytest.mark.parametrize("block", range(4))
def test_optima_of_random_models_by_the_relaxation_alone(block: int) -> None:
    used = 0
    for seed in range(9000 + 150 * block, 9000 + 150 * (block + 1)):
        drawn = draw_model(seed)
        m = drawn.build()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        worth = [x for s in drawn.solutions() if (x := drawn.value(drawn.objective, s)) is not None]
        for direction, best in (("min", min), ("max", max)):
            prepared = Prepared(m, as_goals([(goal, direction)]), ())  # type: ignore[list-item]
            root = prepared.root
            if root is None or root.exact or not root.stable or max(map(abs, root.box.hi)) >= 1 << 31:
                continue
            run, value = led(prepared)
            if isinstance(run, str):
                continue
            used += 1
            factor, constant = prepared.scales.get(prepared.goals[0][0], (1, 0))
            found = None if value is None else factor * value + constant
            assert found == best(worth, default=None), f"seed {seed}\n{drawn.text()}"
            if run.bound is not None and value is not None:
                assert run is not None
                assert (run.bound - value) * (1 if prepared.goals[0][1] == "min" else -1) <= 1
    assert used > 40


@pytest.mark.parametrize("kind", range(6))
def test_optima_of_permutations_and_counts(kind: int) -> None:
    m, cost = permuted(kind)
    for direction in ("minimize", "maximize"):
        wanted = m.solve(**towards(direction, cost), learn=False, engine="interpreted").objective
        prepared = Prepared(m, as_goals([(cost, "min" if direction == "minimize" else "max")]), ())
        run, value = led(prepared)
        assert not isinstance(run, str)
        factor, constant = prepared.scales.get(prepared.goals[0][0], (1, 0))
        assert factor * value + constant == wanted


@pytest.mark.parametrize("first", ["highspy", "ortools"])
def test_highs_and_or_tools_share_a_process_in_either_order(first: str) -> None:
    begin, then = ("default", "cp-sat") if first == "highspy" else ("cp-sat", "default")
    code = f"""
from constrint import Model, all_different, element, sum_
from constrint.settings import DEFAULT
def costs(backend):
    m = Model()
    m.settings = DEFAULT.with_fields(search={{"nodes_before_dual": 1}})
    x = m.int_vars("x", 9, 0, 8)
    m.add(all_different(x))
    how = {{"backend": backend}} if backend == "cp-sat" else {{"engine": "interpreted"}}
    rows = [[(7 * i + 11 * j * j + i * j * j) % 23 for j in range(9)] for i in range(9)]
    total = sum_(element(row, v) for row, v in zip(rows, x))
    return m.solve(minimize=total, **how).objective
print(costs("{begin}"), costs("{then}"))
import sys
assert "highspy" in sys.modules and "ortools" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    one, other = done.stdout.split()
    assert one == other
