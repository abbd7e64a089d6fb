"""Searches: limits, hand-over, statistics, unbounded variables, and results."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from typing import Any

import pytest
from shared_models import endless

import constrint as ci
from constrint import IntExpr
from constrint.preparing.options import Engine
from constrint.search import depth_first as running
from constrint.search import sliced as stepper
from constrint.settings import DEFAULT


def queens(n: int) -> ci.Model:
    model = ci.Model()
    rows = [model.int_var(f"q{i}", 1, n) for i in range(n)]
    model.add(ci.all_different(rows))
    model.add(ci.all_different([row + i for i, row in enumerate(rows)]))
    model.add(ci.all_different([row - i for i, row in enumerate(rows)]))
    return model


def test_the_example_of_the_design() -> None:
    m = ci.Model("tiling")
    bm = m.int_var("bm", 16, 256, step=16)
    bn = m.int_var("bn", values=[16, 32, 64, 128])
    k = m.int_var("k", 1, None)
    big = m.bool_var("big")
    m.add(bm * bn <= 16384, name="accumulators")
    m.add(ci.divides(32, bm * bn), k == bm * bn // 32)
    m.add(big == (bm >= 64), big.implies(bn >= 32) | (k == 8))
    area = m.let("area", bm * bn)
    assert m.solve()
    best = m.solve(maximize=area)
    assert best.status is ci.Status.OPTIMAL
    assert best.objective == best["area"] == best[bm] * best["bn"] == 16384
    assert set(best.values) == {"bm", "bn", "k", "big", "area"}
    preferred = m.solve(prefer=[(bm, "max"), (bn, "min")], time_limit=2.0, seed=1)
    assert (preferred["bm"], preferred["bn"]) == (256, 32)
    assert m.count() == len(list(m.iter_solutions())) == 43
    assert len(list(m.iter_solutions(limit=10))) == 10


def test_goals_of_the_model_are_used() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.add(x + y <= 9)
    m.maximize(x + 2 * y)
    m.minimize(x)
    assert (m.solve()["x"], m.solve()["y"]) == (0, 9)
    assert m.solve().objective == (18, 0)
    assert m.solve(minimize=y).objective == 0


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_engines_count_queens(engine: Engine) -> None:
    assert queens(7).count(engine=engine) == 40


@pytest.mark.parametrize("selector", ["first_fail", "input_order"])
@pytest.mark.parametrize("values", ["auto", "min", "max", "lower_half", "upper_half", "random"])
def test_every_way_to_branch_finds_the_same(selector: Any, values: Any) -> None:
    model = queens(6)
    branching = ci.Brancher(selector, values)
    found = {tuple(r.values.values()) for r in model.iter_solutions(branching=branching, seed=3)}
    assert len(found) == 4
    assert model.solve(maximize=model.variables["q0"], branching=branching).objective == 5


def test_engines_walk_the_same_tree() -> None:
    walks = []
    for engine in ("interpreted", "compiled"):
        model = queens(8)
        result = model.solve(
            maximize=model.variables["q0"] * 3 - model.variables["q3"],
            branching=ci.Brancher("first_fail", "random"),
            seed=5,
            engine=engine,
        )
        s = result.statistics
        assert s.engine == engine
        walks.append((result.values, s.nodes, s.failures, s.propagations, s.solutions))
    assert walks[0] == walks[1]


def test_hand_over_goes_on_where_it_stood(monkeypatch: pytest.MonkeyPatch) -> None:
    model = queens(8)
    whole = [tuple(r.values.values()) for r in model.iter_solutions(engine="interpreted")]
    model.settings = DEFAULT.with_fields(search={"slice": (5, 20_000)})
    for slices in (1, 7, 40):
        calls = iter(range(10**9))
        monkeypatch.setattr(
            running.DepthFirstRun,
            "_is_long",
            lambda run, calls=calls, slices=slices: run.engine == "interpreted" and next(calls) >= slices,
        )
        results = list(model.iter_solutions(engine="auto"))
        assert [tuple(r.values.values()) for r in results] == whole, "the order of the search must not change"
        assert results[-1].statistics.engine == "compiled"


def test_arrays_grow_in_both_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    grown = []
    session = importlib.import_module("constrint.engine.compiled").CompiledSearch
    for engine, module, name in (("interpreted", stepper, "grow"), ("compiled", session, "grow")):
        original = getattr(module, name)

        def noted(state: Any, *more: Any, original: Any = original, engine: Any = engine) -> Any:
            grown.append(engine)
            return original(state, *more)

        monkeypatch.setattr(module, name, noted)
        model = ci.Model()
        xs = [model.int_var(f"x{i}", 0, 1) for i in range(150)]
        model.add(ci.sum_(xs) >= 1)
        assert model.solve(engine=engine)  # type: ignore[call-overload]
    assert set(grown) == {"interpreted", "compiled"}


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_time_limit_keeps_the_best_so_far(engine: Engine, filled: None) -> None:
    model, goal = endless()
    result = model.solve(maximize=goal, time_limit=0.3, engine=engine, learn=False)  # a relaxation proves it
    assert result.status is ci.Status.FEASIBLE
    assert result.objective == result[goal] > 0


def test_time_limit_without_an_answer() -> None:
    model, _ = endless()
    with pytest.raises(ci.LimitError, match="time limit"):
        model.count(time_limit=0.3)
    x, y = model.int_var("x", 0, 10**9), model.int_var("y", 0, 10**9)
    model.add(x * x + 3 * y * y * y == 10**18 + 21)
    result = model.solve(time_limit=0.3)
    assert result.status is ci.Status.UNKNOWN
    assert not result
    with pytest.raises(ci.ModelError, match="unknown"):
        result["x"]


def test_ctrl_c_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    model, goal = endless()
    original = running.DepthFirstRun.next
    calls = iter(range(10**9))

    def interrupted(run: Any, **options: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return original(run, **options)

    monkeypatch.setattr(running.DepthFirstRun, "next", interrupted)
    result = model.solve(maximize=goal, learn=False)
    assert result.status is ci.Status.FEASIBLE
    assert result.statistics.solutions == 3


def test_depth_is_an_error_that_says_what_to_do() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    deep: IntExpr = x
    for _ in range(5000):
        deep = abs(deep - 1)
    m.add(deep >= 0)
    with pytest.raises(ci.ModelError, match=r"nested too deeply: .* 10,000 calls .*m\.int_var"):
        m.solve()


def test_a_wrong_solution_never_gets_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model = queens(5)
    monkeypatch.setattr(running, "read", lambda prepared, state: dict.fromkeys(prepared.variables, 1))
    goal = model.variables["q0"]
    answers = [
        model.solve,
        lambda: model.count(engine="interpreted"),
        lambda: model.solve(maximize=goal, engine="interpreted"),
    ]
    for answer in answers:
        with pytest.raises(ci.InternalError, match="violates"):
            answer()  # type: ignore[operator]


def test_unbounded_variables() -> None:
    m = ci.Model()
    k, n = m.int_var("k", 1, None), m.int_var("n")
    m.add(k * k == 144, n + k == 5)
    assert (m.solve()["k"], m.solve()["n"]) == (12, -7)
    free = m.int_var("free", None, 3)
    assert m.solve()["free"] <= 3
    for answer in (m.count, lambda: list(m.iter_solutions()), lambda: m.solve(minimize=free)):
        with pytest.raises(ci.UnboundedError, match="'free' has no finite bounds"):
            answer()
    m.add(free >= -1)
    assert m.count() == 5


@pytest.mark.parametrize("high", [None, 10**9])
def test_contradictions_in_cycles_end_at_once(high: int | None) -> None:
    m = ci.Model()
    a, b, c = (m.int_var(name, 0, high) for name in "abc")
    m.add(a + 1 <= b, b <= c, c <= a)
    began = time.process_time()
    assert m.solve().status is ci.Status.INFEASIBLE
    assert time.process_time() - began < 5


def test_creeping_unbounded_variables_raise_instead_of_hanging() -> None:
    m = ci.Model()
    a, b = m.int_var("a", 1, None), m.int_var("b", 1, None)
    m.add(a == b * b, b == a * a + 1)
    with pytest.raises(ci.UnboundedError):
        m.solve(time_limit=20)


def test_numbers_beyond_every_bound_of_64_bits() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 10**9)
    m.add(x**40 > 10**358, x % 10**8 == 7)
    result = m.solve(minimize=x)
    assert result["x"] == 10**9 - 10**8 + 7
    assert result.statistics.arithmetic == "exact"
    y = m.int_var("y", 10**400, 10**400 + 3)
    m.add(y % 4 == 3)
    assert m.solve()["y"] == 10**400 + 3


def test_domains_with_strides_sets_and_wide_holes() -> None:
    m = ci.Model()
    a = m.int_var("a", values=[1, 10**6, 2 * 10**6, 5])
    b = m.int_var("b", 0, 10**7, step=7)
    m.add(b != 14, b <= 21, a * b >= 7 * 10**6, ~a.is_in([2 * 10**6]))
    assert {(r["a"], r["b"]) for r in m.iter_solutions()} == {(10**6, 7), (10**6, 21)}


def test_small_models_need_no_heavy_import_and_little_time() -> None:
    code = (
        "import sys, time; began = time.process_time()\n"
        "from constrint import Model\n"
        "m = Model(); x = m.int_var('x', 1, 9); y = m.int_var('y', 1, 9); m.add(x * y == 35, x < y)\n"
        "assert m.solve().values == {'x': 5, 'y': 7}\n"
        "heavy = {'numba', 'numpy', 'lark', 'sympy', 'rich', 'msgspec', 'click'} & set(sys.modules)\n"
        "print(heavy or 'light', time.process_time() - began < 5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["light", "True"]
