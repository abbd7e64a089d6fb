"""Cuts by rounding: no solution breaks one, and they close gaps."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from random_models import build, draw_model
from rounded_models import conflicts, knapsack, lots, network, stations
from test_relaxation import broken, led, points

from constrint import Model, sum_
from constrint.answers.search_arguments import options_of
from constrint.engine import cache
from constrint.modelling.objectives import as_goals
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.relaxation.column_bounds import ColumnBounds
from constrint.relaxation.lp_rows import LpRow, relaxed
from constrint.relaxation.program import OPTIMAL, RelaxationProgram
from constrint.relaxation.rounding import Rounding
from constrint.relaxation.sums.sum_state import NEXT, ROWS
from constrint.search.depth_first import DepthFirstRun
from constrint.settings import DEFAULT

ROUNDS = 6


def held(m: Model, cost: Any, draw: np.random.Generator) -> tuple[int, float]:
    """Cuts that were held against all solutions, and how much of the bound they gain."""
    prepared = Prepared(m, as_goals([(cost, "min")]), ())
    root = prepared.root
    if root is None or root.exact or max(map(abs, [*root.box.hi, *root.box.lo])) >= 1 << 31:
        return 0, 0.0
    relaxation = relaxed(root)
    if relaxation is None or not relaxation.is_about(prepared.goals[0][0]):
        return 0, 0.0
    solutions = points(prepared, relaxation)
    (column,) = relaxation.columns.of(prepared.goals[0][0]).terms
    program = RelaxationProgram(relaxation.rows, len(relaxation.columns.variable), column, 1)
    run = DepthFirstRun(SearchTask(prepared, root, options_of(engine="interpreted"), perf_counter()))
    lower, upper = ColumnBounds(relaxation.columns, run._state).read(run._state)
    finder = Rounding(relaxation, column)
    count, before, at = 0, None, 0.0
    for _ in range(ROUNDS):
        if program.solve(lower, upper) != OPTIMAL:
            break
        at = float(program.point[column])
        before = at if before is None else before
        # Any point will do for validity: some that are no optimum reach other sums.
        shaken = program.point + draw.uniform(-0.4, 0.4, len(lower)) * (upper > lower)
        found = finder.cuts(program.point) + finder.cuts(np.clip(shaken, lower, upper))
        for row in found:
            assert not any(broken(row, solution) for solution in solutions), row
        program.add(found)
        count += len(found)
    if solutions and before is not None:
        assert at <= min(int(point[column]) for point in solutions) + 1e-4
    return count, 0.0 if before is None else at - before


@pytest.mark.parametrize("kind", [lots, knapsack, network, stations, conflicts])
def test_no_solution_breaks_a_cut(kind: Any) -> None:
    draw = np.random.default_rng(1)
    results = [held(*kind(seed), draw) for seed in range(25)]  # type: ignore[call-arg]
    assert sum(count for count, _ in results) > 100
    assert sum(gain for _, gain in results) > 10


def test_no_solution_of_random_models_breaks_a_cut() -> None:
    draw = np.random.default_rng(2)
    count = 0
    for seed in range(11000, 11150):
        drawn = draw_model(seed)
        m = drawn.build()
        count += held(m, build(drawn.objective, {**m.variables, **m.lets}), draw)[0]
    assert count > 30


@pytest.mark.parametrize("kind", [lots, knapsack, network, stations, conflicts])
def test_optima_with_cuts(kind: Callable[..., Any]) -> None:
    for seed in range(25, 40):
        m, cost = kind(seed)
        wanted = m.solve(minimize=cost, learn=False, engine="interpreted").objective
        prepared = Prepared(m, as_goals([(cost, "min")]), ())
        if prepared.root is None:
            assert wanted is None
            continue
        run, value = led(prepared)
        if isinstance(run, str):
            continue
        factor, constant = prepared.scales.get(prepared.goals[0][0], (1, 0))
        assert (None if value is None else factor * value + constant) == wanted


def test_work_ends_a_round_and_the_next_one_goes_on() -> None:
    m, cost = lots(1)
    m.settings = DEFAULT.with_fields(relaxation={"work_of_rounding": 0, "work_of_row": 0})
    prepared = Prepared(m, as_goals([(cost, "min")]), ())
    assert prepared.root is not None
    finder = Rounding(relaxed(prepared.root), -1)  # type: ignore[arg-type]
    scalar = finder._state.scalar
    begun = set()
    for _ in range(scalar[ROWS]):
        before = finder.work
        finder.cuts(np.full(len(finder._state.value), 0.3))
        assert finder.work - before < 5000
        begun.add(scalar[NEXT])
    assert begun == set(range(scalar[ROWS]))


@dataclass
class Drawn:
    """What a search for cuts reads of a relaxation."""

    columns: Any
    rows: list[LpRow]
    rules: Any = DEFAULT.relaxation


def drawn_rows(draw: random.Random) -> Drawn:
    """Rows with numbers near the limits: switches, equations of flows, and others."""
    count = draw.randint(4, 12)
    widest = draw.choice((3, 1000, 1 << 20, 1 << 40))
    largest = draw.choice((2, 50, 1 << 19, 1 << 20, 1 << 30))
    high = [draw.choice((1, 1, draw.randint(1, widest))) for _ in range(count)]
    low = [0 if h == 1 else draw.choice((0, -draw.randint(0, widest))) for h in high]
    rows = []
    for _ in range(draw.randint(2, 15)):
        kind = draw.randint(0, 2)
        some = draw.sample(range(count), min(count, draw.randint(2, 6)))
        if kind == 0:
            rate = draw.choice((-1, 1)) * draw.randint(1, min(largest, widest))
            rows.append(LpRow({some[0]: draw.choice((-1, 1)), some[1]: rate}, None, 0))
        elif kind == 1:
            side = draw.randint(-widest, widest)
            rows.append(LpRow({x: draw.choice((-1, 1)) for x in some}, side, side))
        else:
            terms = {x: draw.choice((-1, 1)) * draw.randint(1, largest) for x in some}
            side = draw.randint(-largest, largest)
            rows.append(LpRow(terms, *draw.choice(((None, side), (side, None), (side, side)))))
    columns = SimpleNamespace(
        box=SimpleNamespace(lo=low, hi=high), variable=list(range(count)), value=[None] * count
    )
    return Drawn(columns, rows)


def test_machine_code_finds_the_cuts_that_exact_integers_find(filled: None) -> None:
    """Python's integers have no end, so equal cuts show that nothing overflows."""
    count = largest = 0
    for seed in range(1500):
        draw = random.Random(seed)
        rows = drawn_rows(draw)
        box = rows.columns.box
        plain, compiled = (Rounding(rows, -1) for _ in range(2))  # type: ignore[arg-type]
        with cache.LOADING:
            compiled.compile()
        for _ in range(3):
            point = np.array([draw.uniform(a, b) for a, b in zip(box.lo, box.hi, strict=True)])
            point = np.where(np.array([draw.random() < 0.5 for _ in point]), np.rint(point), point)
            found = plain.cuts(point)
            assert found == compiled.cuts(point), seed
            count += len(found)
            largest = max([largest, *(abs(a) for row in found for a in row.terms.values())])
    assert count > 500
    assert largest > 1 << 18


def gap_closed(m: Model, cost: Any) -> float:
    """The part of the gap between the first relaxation and the optimum that cuts close at the root."""
    best = m.solve(minimize=cost).objective
    assert isinstance(best, int)
    prepared = Prepared(m, as_goals([(cost, "min")]), ())
    assert prepared.root is not None
    relaxation = relaxed(prepared.root)
    assert relaxation is not None
    (column,) = relaxation.columns.of(prepared.goals[0][0]).terms
    program = RelaxationProgram(relaxation.rows, len(relaxation.columns.variable), column, 1)
    run = DepthFirstRun(SearchTask(prepared, prepared.root, options_of(engine="interpreted"), 0.0))
    bounds = ColumnBounds(relaxation.columns, run._state).read(run._state)
    finder = Rounding(relaxation, column)
    with cache.LOADING:
        finder.compile()
    assert program.solve(*bounds) == OPTIMAL
    first = last = float(program.point[column])
    for _ in range(20):
        program.add(finder.cuts(program.point))
        assert program.solve(*bounds) == OPTIMAL
        last = float(program.point[column])
    assert last <= best + 1e-6
    return (last - first) / (best - first) if best - first > 0.5 else 1.0


def test_sets_of_nodes_close_the_gap_of_flows(filled: None) -> None:
    """The class: arcs that are opened for flows to several nodes."""
    closed = []
    for seed in range(8):
        draw = random.Random(seed)
        m = Model()
        n = 12
        arcs = [(i, j) for i in range(n) for j in range(n) if i != j and draw.random() < 0.3]
        arcs = sorted({*arcs, *((i, i + 1) for i in range(n - 1))})
        ends = draw.sample(range(1, n), 4)
        opened = [m.bool_var(f"x{k}") for k in range(len(arcs))]
        flow = [m.int_var(f"f{k}", 0, 4) for k in range(len(arcs))]
        for f, x in zip(flow, opened, strict=True):
            m.add(f <= 4 * x)
        for v in range(1, n):
            enters = sum_(f for f, arc in zip(flow, arcs, strict=True) if arc[1] == v)
            m.add(
                enters - sum_(f for f, arc in zip(flow, arcs, strict=True) if arc[0] == v) == int(v in ends)
            )
        closed.append(gap_closed(m, sum_(draw.randint(5, 50) * x for x in opened)))
    assert sum(closed) / len(closed) > 0.95, closed


def test_odd_cycles_close_the_gap_of_covers(filled: None) -> None:
    """The class: covers of the edges of a graph, and sets without an edge, with weights and without."""
    closed = []
    for seed in range(12):
        draw = random.Random(seed)
        m = Model()
        x = [m.bool_var(f"x{i}") for i in range(35)]
        is_cover = seed % 2 == 0
        for i in range(35):
            for j in range(i):
                if draw.random() < 0.12:
                    m.add(x[i] + x[j] >= 1 if is_cover else x[i] + x[j] <= 1)
        cost = sum_((1 if seed % 3 else draw.randint(1, 20)) * v for v in x)
        closed.append(gap_closed(m, cost if is_cover else -cost))
    assert min(closed) < 1  # some have a gap that is left
    assert sum(closed) / len(closed) > 0.8, closed
