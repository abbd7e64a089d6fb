"""Tables of rows against brute force and search: each operation on columns, and optima of whole models."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from constraint_checks import Instance, box_of, draw_instance
from differential_checks import wrong_answers
from random_models import draw_model

import constrint as ci
from constrint.enumeration import operation, operations, optimum
from constrint.enumeration.operation import Unsuitable
from constrint.enumeration.optimum import Optimum
from constrint.enumeration.row_table import RowTable, TableStructure
from constrint.preparing.prepared import Prepared
from constrint.propagators import REGISTRY
from constrint.settings import DEFAULT, EnumerationSettings, using

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "solver"))

from tiling_model import Shape, Words, tiling


@pytest.fixture(autouse=True)
def however_small() -> Iterator[None]:
    """Small models go through tables here, which search alone would answer."""
    with using(DEFAULT.with_fields(enumeration={"least_combinations": 64})):
        yield


KINDS = sorted(REGISTRY, key=lambda kind: kind.kind)
KIND_NAMES = [kind.__name__ for kind in KINDS]


def solutions_of(instance: Instance) -> set[tuple[int, ...]]:
    """All solutions of an instance, by one table."""
    numbers = range(len(instance.domains))
    structure = TableStructure(box_of(instance.domains), [instance.node], numbers, [], {})
    table = RowTable(structure, numbers)
    with np.errstate(all="ignore"):
        table.settle()
        while table.count and (v := table.next()) is not None:
            table.multiply(v, structure.values(v))
            table.settle()
    if not table.count:
        return set()
    columns = [np.broadcast_to(table.column(v), table.count).tolist() for v in numbers]
    # A variable that the constraint does not mention stands at one value only.
    ranges = [list(domain) if v in structure.settled else None for v, domain in enumerate(instance.domains)]
    return {
        point
        for row in zip(*columns, strict=True)
        for point in itertools.product(
            *[[value] if open_ is None else open_ for value, open_ in zip(row, ranges, strict=True)]
        )
    }


def goals_of(instance: Instance, rng: random.Random) -> list[tuple[int, str]]:
    count = len(instance.domains)
    return [
        (v, rng.choice(["min", "max"])) for v in rng.sample(range(count), rng.randint(min(1, count), count))
    ]


def best_of(instance: Instance, goals: list[tuple[int, str]]) -> tuple[int, ...] | None:
    keys = [[s[v] if d == "min" else -s[v] for v, d in goals] for s in instance.solutions()]
    return tuple(min(keys)) if keys else None


@pytest.mark.parametrize("kind", KINDS, ids=KIND_NAMES)
def test_every_constraint_over_columns_against_its_definition(kind: type[Any]) -> None:
    for seed in range(60):
        instance = draw_instance(kind, seed)
        try:
            found = solutions_of(instance)
        except Unsuitable:
            assert kind.__name__ == "Power"
            continue
        assert found == instance.solutions(), f"seed {seed}: {instance}"


@pytest.mark.parametrize("kind", KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("rows", [16, 8192])
def test_optima_of_every_constraint_against_brute_force(kind: type[Any], rows: int) -> None:
    rules = EnumerationSettings(most_rows=rows, lazy_rows=rows // 8)
    solved = 0
    for seed in range(40):
        instance = draw_instance(kind, seed)
        goals = goals_of(instance, random.Random(seed))
        numbers = list(range(len(instance.domains)))
        try:
            found = Optimum(box_of(instance.domains), [instance.node], numbers, goals, {}, 10**9, rules)
        except Unsuitable:
            continue
        solved += 1
        key = found.values and tuple([found.values[v] if d == "min" else -found.values[v] for v, d in goals])
        assert key == best_of(instance, goals), f"seed {seed}: {instance}"
        if found.values is not None:
            assert instance.node.holds([found.values[v] for v in numbers])
    assert solved > 20


@pytest.mark.parametrize("kind", KINDS, ids=KIND_NAMES)
def test_a_constraint_that_loses_a_row_is_noticed(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the checks: of every test's rows one is lost."""
    original = operations.Operation  # type: ignore[attr-defined]

    class Losing(original):  # type: ignore[misc, valid-type]
        def __init__(self, scope: Any, test: Any, outputs: Any, cost: int = 1) -> None:
            def lossy(at: Any) -> Any:
                mask = test(at)
                if isinstance(mask, np.ndarray) and mask.any():
                    mask = mask.copy()
                    mask[mask.argmax()] = False
                return mask

            super().__init__(scope, lossy, {}, cost)

    monkeypatch.setattr(operations, "Operation", Losing)
    monkeypatch.setattr(operation, "Operation", Losing)
    noticed = 0
    for seed in range(20):
        instance = draw_instance(kind, seed)
        try:
            noticed += solutions_of(instance) != instance.solutions()
        except Unsuitable:
            continue
    assert noticed > 0


@pytest.mark.parametrize("block", range(6))
def test_random_models_by_tables(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """300 models against brute force, tables for the smallest too, and in the smallest parts."""
    smallest = {"least_combinations": 0, "most_rows": 64, "lazy_rows": 8}
    used = []
    original = optimum.Optimum._explore
    monkeypatch.setattr(optimum.Optimum, "_explore", lambda *args: used.append(1) or original(*args))  # type: ignore[func-returns-value]
    for seed in range(50_000 + 50 * block, 50_050 + 50 * block):
        with using(DEFAULT.with_fields(enumeration=smallest)):
            assert wrong_answers(draw_model(seed), from_text=seed % 2 == 0) == [], f"seed {seed}"
    assert len(used) > 50


SHAPES = [Shape(12, 64, 16), Shape(3, 256, 16), Shape(1, 512, 32), Shape(2, 384, 7)]


def tiling_model(shape: Shape) -> tuple[ci.Model, list[Any]]:
    m = ci.Model()
    return m, tiling(shape, Words(m.int_var, m.add, ci.divides, ci.ceildiv, ci.min_))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_tilings_by_tables_and_by_search_are_the_same(shape: Shape) -> None:
    m, preferences = tiling_model(shape)
    assert len(m.variables) == len(preferences) == 28
    assert len(m.constraints) == 60
    m.settings = DEFAULT.with_fields(search={"nodes_of_descent": 0})  # tables answer
    result = m.solve(prefer=preferences)
    assert result.statistics.engine == "tables"
    searched = m.solve(prefer=preferences, engine="interpreted")
    assert searched.statistics.engine == "interpreted"
    assert result.values == searched.values
    m.settings = m.settings.with_fields(enumeration={"most_rows": 256})
    in_parts = m.solve(prefer=preferences)
    assert in_parts.statistics.nodes > 1
    assert in_parts.values == result.values


def test_too_much_work_goes_on_as_search() -> None:
    m, preferences = tiling_model(SHAPES[0])
    best = m.solve(prefer=preferences)
    m.settings = DEFAULT.with_fields(enumeration={"most_work": 1000})
    searched = m.solve(prefer=preferences)
    assert searched.statistics.engine != "tables"
    assert searched.values == best.values


def test_what_excludes_tables() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 1, 20), m.int_var("y", 1, 20)
    m.add(x * y <= 100)
    assert m.solve(maximize=x + 2 * y).statistics.engine == "tables"
    assert m.solve().statistics.engine != "tables"
    assert m.solve(maximize=x, engine="interpreted").statistics.engine == "interpreted"
    other = ci.Brancher(variables="input_order")
    assert m.solve(maximize=x, branching=other).statistics.engine != "tables"
    m.add(x**40 + y >= 2**40)
    assert m.solve(maximize=x).statistics.engine != "tables"


def test_an_empty_table_is_a_proof() -> None:
    m = ci.Model()
    x, y, z = (m.int_var(name, 0, 30) for name in "xyz")
    m.add(x * y + z == 300, x * z + y == 305)
    result = m.solve(minimize=x + y)
    assert result.status is ci.Status.INFEASIBLE
    assert result.statistics.engine == "tables"


def test_a_wrong_row_never_gets_out(monkeypatch: pytest.MonkeyPatch) -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.add(x + y >= 8)
    monkeypatch.setattr(Optimum, "_completed", lambda self, declared: dict.fromkeys(declared, 1))
    with pytest.raises(ci.InternalError, match="violates"):
        m.solve(minimize=x * y)


def test_equal_optima_give_the_least_values() -> None:
    m = ci.Model()
    x, y, z = (m.int_var(name, 0, 9) for name in "xyz")
    m.add(x + y + z >= 8, x * y <= 20)
    result = m.solve(minimize=ci.max_(x + y + z, 12))
    assert result.statistics.engine == "tables"
    assert (result["x"], result["y"], result["z"]) == (0, 0, 8)


def test_a_variable_without_constraints_takes_its_best_value() -> None:
    m = ci.Model()
    m.settings = m.settings.with_fields(search={"nodes_of_descent": 0})  # tables answer
    x, y, z = m.int_var("x", 0, 9), m.int_var("y", 3, 50), m.int_var("z", 0, 9)
    m.add(x * z <= 12)
    result = m.solve(prefer=[(y, "max"), (x, "max"), (y, "min"), (z, "max")])
    assert result.statistics.engine == "tables"
    assert (result["x"], result["y"], result["z"]) == (9, 50, 1)


def test_small_models_load_no_numpy() -> None:
    program = (
        "import sys, constrint as c; m = c.Model(); x = m.int_var('x', 1, 9); m.add(x * x <= 50); "
        "assert m.solve(maximize=x)['x'] == 7; assert m.solve()['x'] == 1; print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_part_of_one_row_whose_columns_are_all_used_up_is_multiplied_again() -> None:
    """The numbers of older rows, which no column was asked for any more, were kept."""
    model = ci.Model.from_text("a in ..50; b in 2..10002 step 2; a + b == 40; b >= a")
    b = model.variables["b"]
    result = model.solve(minimize=ci.ceildiv(b, b))
    assert (result.status, result.objective) == (ci.Status.OPTIMAL, 1)


def test_equations_that_define_each_other_leave_free_variables() -> None:
    model = ci.Model()
    x = [[model.bool_var(f"x{i}_{j}") for j in range(12)] for i in range(3)]
    model.add(*[sum(x[i][j] for i in range(3)) == 1 for j in range(12)])
    prepared = Prepared(model, [], [])
    root = prepared.root
    assert root is not None
    structure = TableStructure(root.box, root.propagators, list(prepared.variables.values()), [], {})
    assert len(structure.free()) == 24


def test_a_table_stops_before_rows_of_tasks_exceed_its_work() -> None:
    model = ci.Model()
    starts = model.int_vars("s", 3, 0, 9)
    model.add(ci.cumulative(starts, [3, 4, 5], [2, 2, 1], 3))
    prepared = Prepared(model, [], [])
    root = prepared.root
    assert root is not None
    numbers = list(prepared.variables.values())
    table = RowTable(TableStructure(root.box, root.propagators, numbers, [], {}), numbers)
    table.most = 1000

    def explore() -> None:
        while table.count and (v := table.next()) is not None:
            table.multiply(v, table.structure.values(v))
            table.settle()

    with pytest.raises(Unsuitable):
        explore()
    assert table.work <= 1000
