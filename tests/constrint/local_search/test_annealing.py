"""Annealing: functions agree with the constraints, moves with computing anew, machine code with Python."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest
from lowered import hasty

from constrint import Model, all_different, element, global_cardinality, max_, min_, no_overlap, sum_, table
from constrint.local_search.annealed_arrays import build, completed
from constrint.local_search.annealed_functions import AnnealedFunction, AnnealedTerm
from constrint.local_search.annealed_layout import (
    ARGUMENT,
    BEST,
    COUNTED,
    FACTOR,
    HAS_BEST,
    HIT,
    MOVES,
    PENDING,
    SUM,
    TEMPERATURE,
    TRAIL,
    UNIT,
    VIOLATION,
    Annealed,
)
from constrint.local_search.annealed_moves import anneal, move, step, undo
from constrint.local_search.compiled_annealing import CompiledAnnealing
from constrint.local_search.invariants import Invariants, unsuited
from constrint.preparing.prepared import Prepared
from constrint.settings import DEFAULT


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
    domains = [list(range(box.lo[v], box.hi[v] + 1)) for v in found.decided]
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


def wide_drawn(seed: int) -> Model:
    """A model of some forms, drawn from all that functions are made of; few have solutions."""
    random = Random(seed)
    m = Model()
    x = list(m.int_vars("x", 6, random.randint(-3, 0), random.randint(2, 5)))
    x += [m.int_var(f"h{i}", values=sorted(random.sample(range(-4, 9), 4))) for i in range(2)]
    b = list(m.bool_vars("b", 4))

    def some(count: int) -> list[Any]:
        return random.sample(x, count)

    def number() -> int:
        return random.randint(-3, 5)

    def view(v: Any) -> Any:
        return random.choice([1, 1, 2, -1, 3]) * v + number()

    def condition() -> Any:
        one, other = some(2)
        forms = [one == number(), one <= other, one != other, one + 2 * other == number(), random.choice(b)]
        return random.choice(forms)

    def costs() -> Any:
        one, other, third = some(3)
        at = m.int_var(f"at{len(m.variables)}", 0, 3)
        forms = [
            *(one * other, abs(one - third), max_(some(3)), min_(some(3)), element(some(4), at)),
            *(element([number() for _ in range(4)], at), 5 * condition(), condition() & condition()),
            *(condition() | condition() | condition(), ~condition(), one * one, sum_(some(4))),
        ]
        return random.choice(forms)

    def added() -> Any:
        rows = [tuple(number() for _ in range(2)) for _ in range(9)]
        forms = [
            *(all_different([view(v) for v in some(random.randint(2, 5))]), sum_(some(3)) != number()),
            *(all_different(some(4)), condition() | condition(), sum_(some(4)) <= 4, sum_(some(3)) == 2),
            *(global_cardinality(some(6), {0: 1, 1: some(1)[0], 2: 1}), table(some(2), rows)),
            *(random.choice(b) == condition(), abs(some(1)[0]) <= 3, costs() <= 9, costs() == 2),
        ]
        return random.choice(forms)

    for _ in range(random.randint(1, 6)):
        m.add(added())
    scale = random.choice([1, 1, 10**3, 10**7])
    m.minimize(sum_(scale * random.randint(-3, 3) * costs() for _ in range(random.randint(1, 5))))
    return m


def wide_functions() -> Iterator[tuple[int, Invariants, tuple[int, str]]]:
    """Functions of those models that have them."""
    for seed in range(400):
        m = wide_drawn(seed)
        prepared = Prepared(m, list(m.goals), [])
        if prepared.root is not None:
            goal = prepared.goals[0]
            found = Invariants(prepared.root, prepared.inputs, goal[0])
            if found.refused is None:
                yield seed, found, goal


def disagreements(state: Annealed, found: Invariants) -> list[str]:
    """What is not as if computed anew: values, totals, counters, violation; or left over from a move."""
    values = completed(found, {v: state.cell[v] for v in found.decided})
    anew = list(values)
    anew += [function.total(values) for function in found.functions]
    wrong = [f"cell {i}" for i, x in enumerate(anew) if state.cell[i] != x]
    at = len(anew)
    for function in (function for function in found.functions if function.width):
        seen = [term.a * values[term.v] + term.b for term in function.terms]
        counts = [seen.count(function.least + i) for i in range(function.width)]
        wrong += [f"counters at {at}"] if state.cell[at : at + function.width] != counts else []
        at += function.width
    violation = sum(function.excess(values[function.out]) for function in found.functions)
    wrong += ["violation"] if state.scalar[VIOLATION] != violation else []
    wrong += ["holds"] if violation == 0 and not found.holds(values) else []
    wrong += ["left over"] if any(state.scalar[i] for i in (PENDING, TRAIL)) or any(state.is_due) else []
    return wrong


def test_each_move_and_each_undone_move_keeps_what_is_computed() -> None:
    """Of all forms, in both ways that a move can end; machine code moves alike."""
    forms, ends = set[tuple[int, int, bool]](), dict.fromkeys(("undone", "taken", "none"), 0)
    for seed, found, goal in wide_functions():
        state = build(found, seed, goal, {})
        assert not disagreements(state, found), seed
        forms |= {kinds for function in found.functions for kinds in _forms(function)}
        for i in range(60):
            state.scalar[TEMPERATURE] = UNIT * (i % 3) * 4
            before = list(state.cell)
            move(state)
            ends["none" if state.cell == before else "taken"] += 1
            assert not disagreements(state, found), (seed, i)
            before, violation = list(state.cell), state.scalar[VIOLATION]
            if step(state):
                undo(state)
                state.scalar[VIOLATION] = violation
                ends["undone"] += 1
            assert state.cell == before
            assert not disagreements(state, found), (seed, i)
        if seed % 5 == 0:
            compiled = CompiledAnnealing(Annealed(*map(list, state)))  # type: ignore[arg-type]
            assert [anneal(state, 3_000) for _ in range(3)] == [compiled.run(3_000) for _ in range(3)]
            assert cells_of(compiled.state) == cells_of(state)
    assert min(ends.values()) > 1000
    assert len({kind for kind, _, _ in forms}) == 9
    assert {term for _, term, _ in forms} == {FACTOR, HIT, COUNTED, ARGUMENT}


def cells_of(state: Annealed) -> list[list[int]]:
    arrays: list[Any] = list(state)
    return [list(map(int, cells)) for cells in arrays]


def _forms(function: AnnealedFunction) -> set[tuple[int, int, bool]]:
    return {(function.kind, term.kind, function.is_opposite) for term in function.terms}


def test_three_equal_values_are_three_pairs() -> None:
    """A count of equal values is of pairs, both in moves and anew."""
    function = AnnealedFunction(SUM, [AnnealedTerm(v, COUNTED) for v in range(4)], width=9)
    assert [function.total([1, 1, 1, x]) for x in (0, 1)] == [3, 6]


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
        assert cells_of(compiled.state) == cells_of(state)


def test_large_models_and_kinds_without_a_form_are_told() -> None:
    """A model is refused before its functions are made, and with the limit's name."""
    m = drawn(2)
    assert reason_against(m) is None
    m.settings = DEFAULT.with_fields(local_search={"most_annealed": 5})
    reason = reason_against(m)
    assert reason is not None
    assert reason.endswith("more than 5 variables in all (local_search.most_annealed)")
    m = Model()
    x = m.int_vars("x", 5, 0, 9)
    m.add(no_overlap(x, [2, 3, 1, 2, 1]))
    m.minimize(sum_(i * v for i, v in enumerate(x)))
    assert reason_against(m) == "a constraint of the kind NoOverlap has no form in it"


def reason_against(m: Model) -> str | None:
    prepared = Prepared(m, list(m.goals), [])
    assert prepared.root is not None
    return unsuited(prepared.root)


@pytest.mark.parametrize("seed", range(6))
def test_a_solution_at_the_start_is_told_at_once(seed: int) -> None:
    """Without an objective, and where nothing is violated from the beginning."""
    m = Model()
    x = [m.int_var(f"x{i}", values=[-4, -1, 3, 8]) for i in range(4)]
    m.add(sum_(x) <= 32)
    prepared = Prepared(m, [], [])
    assert prepared.root is not None
    found = Invariants(prepared.root, prepared.inputs, None)
    state = build(found, seed, None, {})
    assert anneal(state, 1_000_000) == 1
    assert state.scalar[HAS_BEST]
    assert state.scalar[MOVES] == 0


def test_groups_exchange_their_values() -> None:
    found, goal = functions_of(drawn(1))
    assert found.exchanged
    assert not any(f.width for f in found.functions)
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
