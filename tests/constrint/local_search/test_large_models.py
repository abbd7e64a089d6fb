"""Large models: memory grows as they do, the clock is looked at often enough, and scores are bounded."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest

from constrint import Model, all_different, global_cardinality, sum_
from constrint.answers.search_arguments import options_of
from constrint.local_search import moves
from constrint.local_search.compiled_jumps import CompiledJumps
from constrint.local_search.jump_arrays import SAFE_SCORE, build, values
from constrint.local_search.layout import HEAVIEST, UNLIMITED, VIOLATED, WORK, Jumps
from constrint.local_search.separable_rows import SeparableRows
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.presolve import Root
from constrint.search.feasibility_jump import FeasibilityJumpRun, feasibility_jump_run
from constrint.settings import DEFAULT
from constrint.support.deadline import Deadline, Stopped, until


def root_of(model: Model) -> Root:
    root = Prepared(model, [], [], may_postpone=True).root
    assert root is not None
    return root


def long_sum(count: int) -> Model:
    """One long row of variables that occur once, and a few others."""
    m = Model()
    x = m.int_vars("x", count, -2, 9)
    y = m.int_vars("y", 5, 0, 5)
    m.add(sum_(x[::2]) - sum_(x[1::2]) + 2 * y[0] == 3 * count + 1, all_different(y))
    return m


def test_variables_taken_out_of_a_long_row_share_the_rest_of_it() -> None:
    rows = SeparableRows(root_of(long_sum(400)))
    (slacks,) = rows.slacks
    assert len(slacks.taken) > 390
    assert any(row.functions is slacks.others for row in rows.rows)


@pytest.mark.parametrize("seed", range(6))
def test_variables_taken_out_get_values_with_which_their_row_holds(seed: int) -> None:
    root = root_of(long_sum(30))
    rows = SeparableRows(root)
    assert rows.slacks
    state = build(rows, seed, {v: (7 * v + seed) % 11 - 2 for v in range(len(root.box.lo))})
    assert moves.jump(state, 100_000) == 0
    found = values(rows, state)
    assert all(lo <= x <= hi for lo, x, hi in zip(root.box.lo, found, root.box.hi, strict=True))
    assert all(node.holds(found) for node in root.propagators)


@pytest.mark.parametrize("kind", ["counts", "differences"])
def test_constraints_of_too_many_entries_are_not_begun(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    m = Model()
    x = m.int_vars("x", 60, 0, 59)
    m.add(
        global_cardinality(x, dict(enumerate(m.int_vars("c", 60, 0, 9))))
        if kind == "counts"
        else all_different(x)
    )
    m.settings = DEFAULT.with_fields(local_search={"most_entries": 3_000})
    root = root_of(m)
    monkeypatch.setattr(SeparableRows, "_equals", None)  # it would be called for each entry
    rows = SeparableRows(root)
    assert not rows.is_small
    assert rows.left_out == len(root.propagators)


def hub(count: int, most: int) -> Model:
    """A variable in very many rows."""
    m = Model()
    h = m.int_var("h", values=[i for i in range(most) if i % 5 != 3])
    x = m.int_vars("x", count, 0, 500)
    m.add(*(2 * x[i] + x[(7 * i + 3) % count] + i % 7 <= h + 30 for i in range(count)))
    m.add(*(x[i] + 2 * x[i + 1] - h >= 1 + 13 * i % 20 for i in range(count - 1)))
    return m


@pytest.mark.parametrize("most", [100, 5_000])
def test_steps_are_short_however_many_rows_a_variable_is_in(most: int) -> None:
    m = hub(400, most)
    m.settings = DEFAULT.with_fields(local_search={"work_of_step": 2_000})
    rows = SeparableRows(root_of(m))
    state = build(rows, 1, {})
    most_rows = max(b - a for a, b in zip(state.first, state.first[1:], strict=False))
    assert most_rows > 700
    for _ in range(60):
        before = state.scalar[WORK]
        moves.jump(state, 1)
        assert state.scalar[WORK] - before < 2 * 2_000 + 10 * most_rows
        for v, x in enumerate(state.value):
            assert state.holes[v] < 0 or state.inside[state.holes[v] + x - state.least[v]] == 1


def test_looking_for_a_value_is_work() -> None:
    """Where no row wants another value of a wide variable, too."""
    m = Model()
    x, y = m.int_var("x", 0, 1000), m.int_vars("y", 200, 0, 1000)
    m.add(*(x <= 2 * one for one in y), *(3 * y[i] + y[i + 1] != 5 for i in range(199)), y[0] + y[1] >= 9)
    state = build(SeparableRows(root_of(m)), 1, {})
    v = max(range(len(state.value)), key=lambda v: state.first[v + 1] - state.first[v])
    state.scalar[WORK] = 0
    moves.best_of_wide(state, v)
    assert state.scalar[WORK] >= 200


def test_building_ends_at_the_deadline() -> None:
    rows = SeparableRows(root_of(hub(50, 100)))
    with until(Deadline(-1.0)), pytest.raises(Stopped):
        build(rows, 0, {})


def test_scores_fit_into_64_bits() -> None:
    m = Model()
    x = m.int_vars("x", 3, 0, 1 << 20)
    m.add(*(900 * x[0] + i * x[1] - x[2] >= (1 << 28) + i for i in range(700)), x[0] != x[1])
    rows = SeparableRows(root_of(m))
    assert rows.left_out == 0
    state = build(rows, 0, {})
    heaviest = state.scalar[HEAVIEST]
    assert heaviest < DEFAULT.local_search.heavy
    state.weight[:] = [heaviest] * len(state.weight)
    for v in range(len(state.value)):
        moves.best_of(state, v)
        for x_v in (state.least[v], state.most[v]):
            assert abs(moves.score(state, v, x_v)) <= SAFE_SCORE < UNLIMITED


def test_domains_beyond_64_bits_have_no_notes_of_holes() -> None:
    m = Model()
    x, y = m.int_var("x", -(2**63), 2**63 - 1), m.int_vars("y", 3, 0, 9)
    m.add(x != 5, y[0] + y[1] == y[2] + 1, 2 * y[0] != y[1])
    rows = SeparableRows(root_of(m))
    state = build(rows, 0, {})
    assert CompiledJumps(Jumps(*map(list, state))).run(1_000) == moves.jump(state, 1_000) == 0  # type: ignore[arg-type]


def run_of(model: Model, **options: Any) -> FeasibilityJumpRun:
    prepared = Prepared(model, [], [], may_postpone=True)
    assert prepared.root is not None
    run = feasibility_jump_run(SearchTask(prepared, prepared.root, options_of(**options), perf_counter()))
    assert not isinstance(run, str)
    return run


def test_what_is_over_frees_its_memory() -> None:
    run = run_of(hub(40, 5_000), engine="interpreted")
    run.allowed = 3
    run._slice()
    steps = run.statistics().nodes
    assert run._moves.state.scalar[VIOLATED] > 0
    assert steps > 0
    for _ in range(2):
        run.demand_better(0)
        assert run.statistics().nodes == steps
    assert not hasattr(run, "_moves")
