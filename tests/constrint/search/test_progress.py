"""Large neighbourhoods, and what callers are told while a search goes on."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console
from shared_models import pigeons

import constrint as ci
from constrint.cli.main import app
from constrint.modelling.result import Statistics
from constrint.preparing.options import Engine, Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.search.call import WorkTotal
from constrint.search.depth_first import DepthFirstRun
from constrint.search.progress import Progress, bound_of, shown
from constrint.search.solver import Solver
from constrint.settings import DEFAULT


def knapsack(n: int) -> tuple[ci.Model, ci.IntExpr]:
    draw = random.Random(n)
    m = ci.Model()
    xs = [m.int_var(f"x{i}", 0, 3) for i in range(n)]
    for _ in range(5):
        m.add(ci.sum_(draw.randint(5, 50) * x for x in xs) <= 40 * n)
    return m, ci.sum_(draw.randint(5, 50) * x for x in xs)


def test_the_same_seed_gives_the_same_neighbourhoods() -> None:
    m, goal = knapsack(30)
    m.settings = DEFAULT.with_fields(neighbourhoods={"failures_of_whole": 3})

    def path(seed: int, engine: Engine) -> list[int]:
        improved: list[int] = []

        def until(result: ci.Result) -> bool:
            improved.append(result.objective)
            return len(improved) < 12

        m.solve(maximize=goal, lns=True, seed=seed, engine=engine, on_solution=until)
        return improved

    assert path(1, "interpreted") == path(1, "interpreted") == path(1, "compiled")
    assert path(1, "interpreted") != path(2, "interpreted")


def test_large_neighbourhoods_prove_only_by_searching_everything() -> None:
    m, goal = knapsack(7)
    assert (
        m.solve(maximize=goal, lns=True, engine="interpreted").objective == m.solve(maximize=goal).objective
    )
    m, goal = pigeons()
    assert m.solve(maximize=goal, lns=True).status is ci.Status.INFEASIBLE


def test_on_solution_ends_the_search() -> None:
    m, goal = knapsack(20)
    seen = []

    def third(result: Any) -> bool:
        seen.append(result)
        return len(seen) < 3

    r = m.solve(maximize=goal, engine="interpreted", on_solution=third)
    assert r.status is ci.Status.FEASIBLE
    assert r.objective == seen[-1].objective
    assert [s.status for s in seen] == [ci.Status.FEASIBLE] * 3
    assert seen[2].objective > seen[1].objective > seen[0].objective
    assert seen[2].statistics.nodes >= seen[0].statistics.nodes > 0
    with pytest.raises(ZeroDivisionError):
        m.solve(maximize=goal, on_solution=lambda result: 1 // 0)  # type: ignore[arg-type, return-value]
    seen.clear()
    assert m.solve(on_solution=seen.append)
    assert len(seen) == 1


def test_progress_is_shown_on_terminals_only() -> None:
    m, goal = knapsack(8)
    for is_terminal in (True, False):
        options, work = Options(engine="interpreted"), WorkTotal()
        out = io.StringIO()
        with shown(options, work, Console(file=out, force_terminal=is_terminal, width=200), 0.0) as watched:
            best = Solver(m, watched, work).best([(goal, "max")], []).objective
        assert ("nodes/s" in out.getvalue()) == is_terminal
        assert (f"best {best:,}" in out.getvalue()) == is_terminal
    assert m.solve(maximize=goal, progress=True).objective == best


def test_bound_and_gap_of_progress() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 50)
    m.add(x * x <= 1000)
    progress = Progress(WorkTotal(), lambda result: False)
    goal = 100 - 2 * x
    prepared = Prepared(m, [(goal, "min")], ())
    assert prepared.root is not None
    progress.on_solution(ci.Result(ci.Status.FEASIBLE, {}, 60))
    run = DepthFirstRun(
        SearchTask(prepared, prepared.root, Options(engine="interpreted"), 0.0, prepared.goals[0])
    )
    progress._bound = bound_of(run, 0)
    text = progress.text(run.statistics(), 2.0)
    assert "best 60 · bound 38 · gap 36.7%" in text


def test_numbers_that_python_does_not_write_are_told_by_their_magnitude() -> None:
    huge = 1 << 20_000
    progress = Progress(WorkTotal(), lambda result: False)
    progress.on_solution(ci.Result(ci.Status.FEASIBLE, {}, huge))
    progress._bound = -huge * huge
    assert "best 2^20000 and more · bound -2^40000 and more · 1 solution" in progress.text(Statistics(), 2.0)
    m = ci.Model()
    x = m.int_var("x", huge, huge + 5)
    m.add(x * x != huge)
    assert "may be 2^40000 and more from 0" in str(m.plan())
    result = m.solve(minimize=x, progress=True)
    assert result.objective == huge


def test_solutions_near_zero_are_told_too() -> None:
    m = ci.Model()
    a = m.int_var("a", None, None)
    m.add(a * a >= 10)
    seen = []
    r = m.solve(on_solution=lambda result: seen.append(result[a]))
    assert seen == [r[a]]


def test_progress_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "small.constrint"
    file.write_text("x in 0..9\nx * x <= 50\nmaximize x\n")
    answer = CliRunner().invoke(app, ["solve", str(file), "--progress"])
    assert answer.exit_code == 0
    assert "x = 7" in answer.output
    assert "nodes/s" not in answer.output, "this is no terminal"
