"""The choice of a method: every row of the table, and the method that actually runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from constrint import Brancher, Model, Restarts
from constrint.answers.plan import explain_methods
from constrint.answers.search_arguments import options_of
from constrint.cli.flatzinc import app as flatzinc
from constrint.cli.main import app
from constrint.search.choose import Choice
from constrint.search.solver import Solver
from constrint.settings import DEFAULT, using


def tiling() -> Model:
    m = Model("tiling")
    a, b, c = (m.int_var(name, 1, 64) for name in "abc")
    m.add(a * b <= 512, b * c <= 512, (a * c) % 8 == 0)
    return m


def choices(m: Model, **how: Any) -> list[Choice]:
    solver = Solver(m, options_of(has_goal=bool(m.goals), **how))
    prepared = solver.prepare(m.goals, m.preferences)
    assert prepared.root is not None
    return solver.choices(prepared, prepared.root)


def methods(m: Model, **how: Any) -> list[str]:
    return [choice.method for choice in choices(m, **how)]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"learn": "auto"}, "portfolio"),
        ({"learn": True}, "learning"),
        ({"learn": False}, "branching"),
        ({"learn": "auto", "branching": Brancher("first_fail")}, "portfolio"),
        ({"learn": "auto", "branching": lambda domains: None}, "branching"),
        ({"learn": "auto", "restarts": "luby"}, "branching"),
        ({"learn": False, "workers": 2}, "shared search"),
    ],
)
def test_the_last_method_is_that_of_the_options(how: dict[str, bool | str], expected: str) -> None:
    assert methods(tiling(), **how)[-1] == expected


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"learn": False}, "learn=False"),
        ({"learn": "auto", "branching": lambda domains: None}, "branching= is a function of the caller's"),
        ({"learn": "auto", "restarts": "luby"}, "restarts= asks for 'luby' restarts"),
        ({"learn": False, "restarts": "geometric"}, "learn=False; restarts= asks"),
        ({"learn": False, "workers": 2}, "searches side by side do not suit: learn=False"),
        ({"learn": "auto", "workers": 2, "engine": "interpreted"}, 'engine="interpreted" is given'),
    ],
)
def test_the_conditions_of_a_portfolio_that_fail_are_named(
    how: dict[str, bool | Callable[..., Any] | str], said: str
) -> None:
    """All that fail, and no other."""
    reason = choices(tiling(), **how)[-1].reason
    assert said in reason
    assert "int64" not in reason
    assert "fixpoint" not in reason


def test_conditions_of_the_model_are_named_with_numbers_and_settings() -> None:
    m = tiling()
    m.minimize(m.variables["a"])
    assert "lns=True" in choices(m, learn="auto", lns=True)[-1].reason
    m = tiling()
    m.prefer((m.variables["a"], "max"))
    assert choices(m, learn="auto")[-1].reason == "no portfolio: values are preferred"
    m = Model()
    x, y = m.int_var("x", 0, 1 << 50), m.int_var("y", 0, 1 << 50)
    m.add(x + 1 <= y)
    assert "1,125,899,906,842,624 from 0, not less than 1,099,511,627,776 (search.farthest)" in (
        choices(m, learn="auto")[-1].reason
    )
    m = Model()
    x = m.int_var("x", 0, 10**30)
    m.add(x * x == 10**40)
    assert "numbers need more than int64" in choices(m, learn="auto")[-1].reason


def test_tables_come_first_for_an_optimum_of_many_combinations() -> None:
    m = tiling()
    assert "tables" not in methods(m, learn="auto")
    m.maximize(sum(m.variables.values()))
    assert methods(m, learn="auto")[0] == "tables"
    assert "tables" not in methods(m, learn=True)


def test_numbers_beyond_int64_are_left_to_branching() -> None:
    m = Model()
    x = m.int_var("x", 0, 10**30)
    m.add(x * x == 10**40)
    assert methods(m, learn=True)[-1] == "branching"
    assert m.solve(learn=True).statistics.method == "branching"


def test_what_is_said_is_what_runs() -> None:
    m = tiling()
    assert m.solve(learn=True).statistics.method == "learning"
    assert m.solve(learn=False).statistics.method == "branching"


def test_the_plan_and_the_command_say_it(tmp_path: Path) -> None:
    m = tiling()
    m.maximize(m.variables["a"])
    assert str(m.plan()).startswith("solve 1: tables")
    assert any("portfolio" in line for line in explain_methods(m))
    file = tmp_path / "tiling.constrint"
    file.write_text(m.to_text(), encoding="utf-8")
    said = CliRunner().invoke(app, ["check", "--explain", str(file)])
    assert said.exit_code == 0
    assert "solve 1: tables" in said.stdout
    assert "solve" not in CliRunner().invoke(app, ["check", str(file)]).stdout


def test_the_command_says_what_took_no_part(tmp_path: Path) -> None:
    file = tmp_path / "queens.constrint"
    file.write_text("x in 1..9\ny in 1..9\nx * x + y * y * y == 3 * x * y + 1\nmaximize x\n")
    said = CliRunner().invoke(app, ["solve", "--explain", "--no-learn", "--restarts", "luby", str(file)])
    assert said.exit_code == 0
    assert "# method: branching" in said.stdout
    assert "# took no part: portfolio: learn=False; restarts= asks" in said.stdout
    said = CliRunner().invoke(app, ["solve", "--json", "--restarts", "luby", str(file)])
    assert "luby" in json.loads(said.stdout)["statistics"]["absent"]["portfolio"]
    assert "took no part" not in CliRunner().invoke(app, ["solve", "--restarts", "luby", str(file)]).stdout
    said = CliRunner().invoke(app, ["solve", "--explain", "--all", str(file)])
    assert said.exit_code == 2
    assert "--explain" in said.stderr


def test_a_restart_annotation_leaves_the_portfolio(tmp_path: Path) -> None:
    file = tmp_path / "model.fzn"
    file.write_text(
        "var 1..9: x :: output_var;\nvar 1..9: y :: output_var;\n"
        "constraint int_lin_le([3, -5], [x, y], -4);\nconstraint int_times(x, y, y);\n"
        "solve :: restart_luby(50) minimize y;\n"
    )
    said = CliRunner().invoke(flatzinc, ["-s", str(file)]).stdout
    assert "y = 2;" in said
    assert "took no part: portfolio" not in said
    m = Model()
    m.minimize(m.int_var("y", 0, 9))
    assert methods(m, restarts=Restarts("luby", 50, alone=False), learn="auto")[-1] == "portfolio"


def test_an_infeasible_root_is_said() -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    m.add(2 * x == 7)
    assert explain_methods(m) == ["solve: presolve proves that there is no solution"]


def chained(n: int) -> Model:
    """Chains of ten differences, posted from their ends: each constraint is run several times."""
    m = Model()
    for k in range(n // 10):
        xs = m.int_vars(f"x{k}", 11, 0, 100)
        for i in reversed(range(10)):
            m.add(xs[i] + 2 <= xs[i + 1])
    return m


def test_propagation_at_the_root_has_time_in_proportion_to_the_model() -> None:
    """Whatever the size: an unfinished root has no portfolio, so that large models would have none."""
    for n in (20, 200):
        given = {"propagations": 10, "most_postponed": 0}
        with using(DEFAULT.with_fields(presolve={**given, "propagations_of_constraint": 1})):
            choice = choices(chained(n), learn="auto")[-1]
            assert choice.method == "branching"
            assert choice.reason == (
                f"no portfolio: {max(10, n):,} propagations of {n:,} constraints reach no fixpoint at the "
                "root (presolve.propagations, presolve.propagations_of_constraint)"
            )
        with using(DEFAULT.with_fields(presolve=given)):
            assert methods(chained(n), learn="auto")[-1] == "portfolio"
