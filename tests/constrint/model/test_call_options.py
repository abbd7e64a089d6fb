"""Every option of every call that solves: wrong values are refused, and backends take or refuse each by name.

The options are listed from the signatures, so a new one fails here until its row is written.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from constrint import IntVar, Model, ModelError, Status
from constrint.preparing.branching import Brancher

CALLS = ("solve", "iter_solutions", "count", "solutions", "pareto", "explain", "plan")
WRONG = {
    "minimize": "x",
    "maximize": "x",
    "prefer": [("x", "most")],
    "goals": [("x", "most")],
    "assumptions": [True],
    "time_limit": "soon",
    "memory_limit": "much",
    "limit": -1,
    "seed": "lucky",
    "branching": "first",
    "restarts": "never",
    "lns": 2,
    "learn": "perhaps",
    "proof": 5,
    "on_solution": "print",
    "progress": "much",
    "log": "log.txt",
    "engine": "steam",
    "backend": "gurobi",
    "workers": 0,
    "executor": "two",
    "hint": {"none": 1},
    "variables": ["none"],
}
"""A value of each option that every call which has it must refuse."""
CP_SAT_TAKES = {
    "hint",
    "minimize",
    "maximize",
    "prefer",
    "assumptions",
    "time_limit",
    "seed",
    "on_solution",
    "progress",
    "log",
    "backend",
    "workers",
}
CP_SAT_REFUSES = {
    "branching": [Brancher("dom_w_deg"), lambda domains: None],
    "restarts": ["luby"],
    "lns": [True],
    "learn": [True, False, 1],
    "proof": ["proof.txt"],
    "engine": ["interpreted", "compiled"],
    "executor": [object()],
}


def options_of(call: str) -> list[str]:
    parameters = inspect.signature(getattr(Model, call)).parameters
    return [name for name in parameters if name != "self"]


def small() -> tuple[Model, IntVar, IntVar]:
    m = Model()
    x, y = m.int_var("x", 0, 6), m.int_var("y", 0, 6)
    m.add(x + y <= 8)
    return m, x, y


def asked(m: Any, call: str, **options: Any) -> Any:
    needed = {"goals": [(m.variables["x"], "max")]} if call == "pareto" else {}
    found = getattr(m, call)(**needed | options)
    return list(found) if call == "iter_solutions" else found


@pytest.mark.parametrize(("call", "option"), [(call, one) for call in CALLS for one in options_of(call)])
def test_wrong_values_are_refused(call: str, option: str) -> None:
    m, *_ = small()
    asked(m, call)
    with pytest.raises(ModelError):
        asked(m, call, **{option: WRONG[option]})
    if call == "solve" and option not in ("backend",):
        with pytest.raises(ModelError):
            asked(m, call, backend="cp-sat", **{option: WRONG[option]})


def test_each_option_of_solve_is_taken_or_refused_by_cp_sat() -> None:
    assert set(options_of("solve")) == CP_SAT_TAKES | set(CP_SAT_REFUSES)
    assert not CP_SAT_TAKES & set(CP_SAT_REFUSES)


@pytest.mark.parametrize("option", CP_SAT_REFUSES)
def test_cp_sat_refuses_by_name(option: Any) -> None:
    m, *_ = small()
    for value in CP_SAT_REFUSES[option]:  # type: ignore[attr-defined]
        with pytest.raises(ModelError, match=f'{option}= does not go with backend="cp-sat"'):
            m.solve(backend="cp-sat", **{option: value})


def test_cp_sat_takes_the_goals_in_their_order() -> None:
    m, x, y = small()
    assert m.solve(backend="cp-sat", maximize=[x, y]).values == {"x": 6, "y": 2}
    assert m.solve(backend="cp-sat", minimize=-y, seed=3, workers=2).objective == -6
    assert m.solve(backend="cp-sat", prefer=[(y, "max"), (x, "max")]).values == {"x": 2, "y": 6}


def test_cp_sat_names_the_guilty_assumptions() -> None:
    m, x, y = small()
    result = m.solve(backend="cp-sat", assumptions=[x == 5, y == 5, x >= 1])
    assert result.status is Status.INFEASIBLE
    assert [str(one.position.text) for one in result.conflict.constraints] == ["x == 5", "y == 5"]  # type: ignore[union-attr]


@pytest.mark.parametrize("workers", [1, 2])
def test_cp_sat_shows_each_better_solution(workers: int) -> None:
    m, x, y = small()
    seen = []
    result = m.solve(backend="cp-sat", workers=workers, maximize=[x, y], on_solution=lambda r: seen.append(r))
    keys = [one.objective for one in seen]
    assert keys == sorted(set(keys))
    assert keys[-1] == result.objective == (6, 2)
    assert all(one["x"] + one["y"] <= 8 for one in seen)


def test_cp_sat_ends_where_the_caller_wants() -> None:
    m, x, y = small()
    seen = []
    result = m.solve(backend="cp-sat", maximize=x * y - x, on_solution=lambda r: bool(seen.append(r)))  # type: ignore[call-overload, func-returns-value]
    assert len(seen) == 1
    assert (result.status, result.values) == (Status.FEASIBLE, seen[0].values)
    assert m.solve(backend="cp-sat", on_solution=lambda r: False).status is Status.OPTIMAL


def test_what_the_callers_function_raises_is_raised() -> None:
    m, x, _ = small()

    def refuse(result: Any) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        m.solve(backend="cp-sat", maximize=x, on_solution=refuse)
    assert m.solve(backend="cp-sat", maximize=x).objective == 6


def test_cp_sat_takes_a_hint_that_cannot_hold() -> None:
    m, x, y = small()
    assert m.solve(backend="cp-sat", maximize=x, hint={x: 99, y: -1}).objective == 6


def test_cp_sat_gives_the_bound() -> None:
    m, x, y = small()
    result = m.solve(backend="cp-sat", maximize=3 * x + 2 * y + 1)
    assert (result.objective, result.bound, result.gap) == (23, 23, 0.0)
    result = m.solve(backend="cp-sat", minimize=5 - 2 * x)
    assert (result.objective, result.bound) == (-7, -7)


def test_cp_sat_shows_progress_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    m, x, _ = small()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    lines = []
    from constrint.backends import cp_sat_watch

    kept = cp_sat_watch.Watch._text
    monkeypatch.setattr(cp_sat_watch.Watch, "_text", lambda self, r: lines.append(kept(self, r)) or lines[-1])  # type: ignore[func-returns-value]
    assert m.solve(backend="cp-sat", maximize=x, progress=True).objective == 6
    assert "best 6 · " in lines[-1]
    capsys.readouterr()
