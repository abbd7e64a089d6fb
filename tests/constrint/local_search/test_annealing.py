"""Annealing: functions agree with the constraints, moves with computing anew, machine code with Python."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from constrint import Model, all_different, element, global_cardinality, max_, min_, sum_
from constrint.local_search.annealed_arrays import build, completed
from constrint.local_search.annealed_layout import BEST, HAS_BEST, VIOLATION, Annealed
from constrint.local_search.annealed_moves import anneal
from constrint.local_search.compiled_annealing import CompiledAnnealing
from constrint.local_search.invariants import Invariants
from constrint.preparing.prepared import Prepared
from oracles.lowered import hasty


def drawn(seed: int) -> Model:
    """A small model of constraints that have functions."""
    random = Random(seed)
    m = Model()
    x = m.int_vars("x", 4, 0, 3)
    b = m.bool_vars("b", 3)
    table = [random.randint(-3, 5) for _ in range(4)]
    if seed % 3 == 0:
        m.add(all_different(x))
    elif seed % 3 == 1:
        m.add(global_cardinality(x, {0: 1, 1: 2, 3: 1}))
    else:
        m.add(all_different([2 * x[0] + 1, x[1], x[2]]))
    m.add(b[0] == (x[0] + x[1] <= 3), b[1] == (x[2] == 2), b[2] | b[0] | (x[3] > x[1]))
    costs = [element(table, x[0]), abs(x[1] - x[2]), x[2] * x[3], max_(x[0], x[3]), min_(x[1], x[2])]
    costs += [element(x, x[3]), 3 * b[0] - 2 * b[2], (b[0] & b[1]) * 4]
    m.minimize(sum_(random.randint(-3, 3) * cost for cost in costs))
    return m


def functions_of(m: Model) -> tuple[Invariants, tuple[int, str]]:
    prepared = Prepared(m, list(m.goals), [])
    assert prepared.root is not None
    goal = prepared.goals[0]
    return Invariants(prepared.root, prepared.inputs, goal[0]), goal


def least_by_force(found: Invariants, goal: int) -> int:
    box = found.box
    domains = [[x for x in range(box.lo[v], box.hi[v] + 1)] for v in found.decided]
    costs = []
    for given in product(*domains):
        values = completed(found, dict(zip(found.decided, given, strict=True)))
        if found.holds(values):
            costs.append(values[goal])
    return min(costs)


@pytest.mark.parametrize("seed", range(24))
def test_annealing_finds_the_optimum_of_small_models(seed: int) -> None:
    found, goal = functions_of(drawn(seed))
    if found.refused == "nothing is left to decide":
        return
    assert found.refused is None
    state = build(found, seed, goal, {})
    for _ in range(40):
        anneal(state, 5_000)
    assert state.scalar[HAS_BEST]
    values = completed(found, dict(zip(found.decided, state.best, strict=True)))
    assert found.holds(values)
    assert state.scalar[BEST] == values[goal[0]] == least_by_force(found, goal[0])
    assert drawn(seed).solve(engine="interpreted").objective == values[goal[0]]


@pytest.mark.parametrize("seed", range(24))
def test_moves_keep_what_is_computed(seed: int) -> None:
    """Values after moves, and undone moves, are those computed anew; and so is the violation."""
    found, goal = functions_of(drawn(seed))
    if found.refused is not None:
        return
    state = build(found, seed, goal, {})
    compiled = CompiledAnnealing(Annealed(*map(list, state)))  # type: ignore[arg-type]
    for _ in range(30):
        anneal(state, 100)
        compiled.run(100)
        given = {v: state.cell[v] for v in found.decided}
        values = completed(found, given)
        assert state.cell[: len(values)] == values
        assert state.scalar[VIOLATION] == sum(f.excess(values[f.out]) for f in found.functions)
        assert (state.scalar[VIOLATION] == 0) or not found.holds(values)
        assert [list(map(int, cells)) for cells in compiled.state] == [list(cells) for cells in state]


def test_groups_exchange_their_values() -> None:
    found, goal = functions_of(drawn(1))
    assert found.exchanged and not any(f.width for f in found.functions)
    state = build(found, 3, goal, {})
    for _ in range(20):
        anneal(state, 200)
        assert sorted(state.cell[v] for v in found.exchanged[0]) == sorted(found.wanted[0])


@pytest.mark.parametrize("seed", range(12))
def test_a_portfolio_with_annealing_has_the_same_optimum(seed: int) -> None:
    m = drawn(seed)
    expected = m.solve().objective
    m.settings = hasty(least_turn=200)
    result = m.solve(engine="interpreted", seed=seed)
    assert result.objective == expected
    assert result.status.value == "optimal"
    assert m.solve(engine="interpreted", seed=seed).values == result.values
