"""The `constrint` command: answers, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from constrint.cli.main import app

SMALL = "x, y in 1..4\nb bool\nx < y; b == (x > 2)\n"
BEST = "x, y in 1..4\ns := x + y\nx * y <= 9\nmaximize s\nprefer x min\n"
IMPOSSIBLE = "x in 1..9\nfine: x >= 2\nlow: x <= 3\nhigh: x * x >= 16\n"
HARD = (
    "x, y, z in 1..10 ** 9\nx ** 3 + y ** 3 == z ** 3 + 1 and x * y * z % 1000003 == 17 and x > 9 * 10 ** 8\n"
)


def run(*arguments: str, text: str = SMALL) -> Result:
    return CliRunner().invoke(app, [*arguments, "-"], input=text)


def test_solve_prints_the_solution() -> None:
    result = run("solve")
    assert result.exit_code == 0
    values = dict(line.replace(" ", "").split("=") for line in result.output.splitlines())
    assert values.keys() == {"x", "y", "b"}
    assert int(values["x"]) < int(values["y"])


def test_solve_as_json() -> None:
    result = run("solve", "--json", text=BEST.replace("prefer x min\n", ""))
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert answer["status"] == "optimal"
    assert answer["objective"] == 6
    assert answer["values"]["s"] == answer["values"]["x"] + answer["values"]["y"] == 6
    assert answer["statistics"]["seconds"] > 0


def test_all_solutions() -> None:
    result = run("solve", "--all")
    assert len(result.output.splitlines()) == len(set(result.output.splitlines())) == 6
    assert "x=3 y=4 b=1" in result.output.splitlines()


def test_all_solutions_as_json() -> None:
    answer = json.loads(run("solve", "--all", "--json").stdout)
    assert answer["count"] == len(answer["solutions"]) == 6
    assert answer["complete"] is True
    assert {"x": 3, "y": 4, "b": 1} in answer["solutions"]


def test_limited_solutions_are_not_called_complete() -> None:
    answer = json.loads(run("solve", "--all", "--limit", "2", "--json").stdout)
    assert answer["count"] == len(answer["solutions"]) == 2
    assert answer["complete"] is False


def test_count() -> None:
    assert run("solve", "--count").output == "6\n"
    assert json.loads(run("solve", "--count", "--json").stdout) == {"count": 6, "complete": True}


def test_samples_are_solutions_and_repeatable() -> None:
    text = "x, y in 1..30; x < y; x * y % 7 == 3\n"
    every = set(run("solve", "--all", text=text).output.splitlines())
    sample = run("solve", "--sample", "5", "--seed", "3", text=text).output.splitlines()
    assert len(set(sample)) == 5
    assert set(sample) <= every
    assert run("solve", "--sample", "5", "--seed", "3", text=text).output.splitlines() == sample
    assert run("solve", "--sample", "5", "--seed", "4", text=text).output.splitlines() != sample
    assert len(run("solve", "--sample", "500", text=text).output.splitlines()) == len(every)
    answer = json.loads(run("solve", "--sample", "5", "--json", text=text).stdout)
    assert (len(answer["solutions"]), answer["count"]) == (5, len(every))


@pytest.mark.parametrize(
    "arguments", [["solve"], ["solve", "--all"], ["solve", "--count"], ["solve", "--sample", "2"]]
)
def test_infeasible_models_exit_1_with_the_reason(arguments: list[str]) -> None:
    result = run(*arguments, text=IMPOSSIBLE)
    assert result.exit_code == 1
    assert "these 2 constraints contradict each other" in result.output
    assert "<stdin>:3:6: low: x <= 3" in result.output
    assert "<stdin>:4:7: high: x * x >= 16" in result.output
    assert "fine" not in result.output


def test_infeasible_as_json_names_the_conflict() -> None:
    result = run("solve", "--json", text=IMPOSSIBLE)
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["status"] == "infeasible"
    assert [(part["name"], part["line"]) for part in answer["conflict"]["constraints"]] == [
        ("low", 3),
        ("high", 4),
    ]
    assert answer["conflict"]["minimal"] is True


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x in 5..1", "no value for x"),
        ("x in 1..4; x // 0 == x", "this constraint cannot hold"),
        ("3 == 4", "this constraint cannot hold"),
        ("x in 1..5; y in 1..3; x ** 2 == 7", "this constraint cannot hold"),
    ],
)
def test_other_reasons(text: str, reason: str) -> None:
    result = run("solve", text=text)
    assert result.exit_code == 1
    assert reason in result.output


def test_explain() -> None:
    result = run("explain", text=IMPOSSIBLE)
    assert result.exit_code == 1
    assert "low: x <= 3" in result.output
    result = run("explain")
    assert result.exit_code == 0
    assert "no conflict" in result.output
    assert json.loads(run("explain", "--json").stdout) == {"status": "feasible", "conflict": None}


def test_check() -> None:
    result = run("check")
    assert result.exit_code == 0
    assert result.output == "<stdin>: 3 variables, 0 definitions, 2 constraints, 0 goals\n"
    assert json.loads(run("check", "--json", text=BEST).stdout) == {
        "file": "<stdin>",
        "valid": True,
        "variables": 2,
        "definitions": 1,
        "constraints": 1,
        "goals": 2,
    }


@pytest.mark.parametrize("command", ["solve", "check", "explain", "fmt"])
def test_bad_text_exits_2_with_its_place(command: str) -> None:
    result = run(command, text="x in 1..4\nx = 3\n")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("<stdin>:2:3: unexpected character '='")
    assert "hint: an equation is written ==" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "missing.constrint"], "cannot read missing.constrint: no such file"),
        (["solve", "."], "cannot read .: is a directory"),
        (["solve", "--all", "--count", "-"], "exclude each other"),
        (["solve", "--limit", "3", "-"], "--limit needs --all"),
        (["solve", "--limit", "0", "--all", "-"], "0 is not in the range"),
        (["solve", "--dialect", "prolog", "-"], "no dialect 'prolog'"),
        (["solve", "-D", "n", "-"], "write NAME=VALUE"),
        (["solve", "-D", "n=x", "-"], "write NAME=VALUE"),
        (["nonsense"], "No such command"),
        (["solve"], "Missing argument"),
    ],
)
def test_bad_use_exits_2(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, arguments, input=SMALL)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message.lower() in " ".join(
        result.stderr.lower().replace("greater than or equal to 1", "").split()
    ) or ("limit" in message or "range" in message)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.constrint"
    path.write_bytes(b"x in 1..4\nx == \xff\n")
    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == 2
    assert "binary.constrint:2: this is not UTF-8 text" in result.stderr


def test_a_search_without_bounds_is_bad_input() -> None:
    result = run("solve", "--all", text="x, y in ..\nx * y == x + y + 17 * x * x\n")
    assert result.exit_code == 2
    assert "no finite bounds" in result.stderr


def test_a_time_limit_without_an_answer_exits_3() -> None:
    result = run("solve", "--time-limit", "0.05", text=HARD)
    assert result.exit_code == 3
    assert result.output.startswith("unknown")
    said = json.loads(run("solve", "--json", "--time-limit", "0.05", text=HARD).stdout)
    assert said["status"] == "unknown"
    assert isinstance(said["statistics"]["absent"], dict)


def test_constants_from_the_command_line() -> None:
    text = "x in tiles; x <= n\n"
    assert run("solve", "--all", "-D", "tiles=2,0x4,8", "-D", "n=5", text=text).output == "x=2\nx=4\n"
    assert run("solve", "--count", "-D", "tiles=7,", "-D", "n=9", text=text).output == "1\n"


# ---------------------------------------------------------------- fmt


def test_fmt_writes_to_standard_output(tmp_path: Path) -> None:
    path = tmp_path / "a.constrint"
    path.write_text("x   in 1..4 #c\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["fmt", str(path)])
    assert (result.exit_code, result.output) == (0, "x in 1..4  # c\n")
    assert path.read_text(encoding="utf-8") == "x   in 1..4 #c\n"


def test_fmt_write_and_check(tmp_path: Path) -> None:
    path = tmp_path / "a.constrint"
    path.write_text("x   in 1..4\n", encoding="utf-8")
    path.chmod(0o640)
    checked = CliRunner().invoke(app, ["fmt", "--check", str(path)])
    assert checked.exit_code == 1
    assert "would change" in checked.output
    assert CliRunner().invoke(app, ["fmt", "--write", str(path)]).exit_code == 0
    assert path.read_text(encoding="utf-8") == "x in 1..4\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["a.constrint"]
    assert CliRunner().invoke(app, ["fmt", "--check", str(path)]).exit_code == 0


def test_assumptions_of_a_call() -> None:
    text = "x, y in 1..9; twice := 2 * x; cap: x + y <= 10"
    assert run("solve", "-A", "twice == 18", text=text).output == "x     = 9\ny     = 1\ntwice = 18\n"
    result = run("explain", "--assume", "x == w", "-A", "y > 4", "-A", "x > 1", "-D", "w=9", text=text)
    assert result.exit_code == 1
    assert result.output == (
        "infeasible: these 3 constraints contradict each other:\n"
        "  <stdin>:1:36: cap: x + y <= 10\n"
        "  --assume:1:1: assumed: x == w\n"
        "  --assume:1:1: assumed: y > 4\n"
    )
    conflict = json.loads(run("solve", "--json", "-A", "x > 9", text=text).stdout)["conflict"]
    assert [(guilty["text"], guilty["assumed"]) for guilty in conflict["constraints"]] == [("x > 9", True)]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("z == 1", "--assume:1:1: 'z' is not declared"),
        ("z in 1..3", "--assume:1:1: 'z' is not declared"),
        ("x + 1", "'x + 1' is a number, not a condition"),
        ("x := 1", "one condition is needed here"),
        ("x == 1; y == 1", "one condition is needed here"),
        ("x ==", "the constraint ends too early"),
    ],
)
def test_what_cannot_be_assumed(condition: str, message: str) -> None:
    result = run("solve", "--assume", condition, text="x, y in 1..9")
    assert result.exit_code == 2
    assert message in result.stderr


def test_samples_of_huge_sets_take_no_time() -> None:
    text = "\n".join(f"x{i} in 1..1000" for i in range(12)) + "\nfirst := x0 + x1\nx0 != x1"
    answer = json.loads(run("solve", "--sample", "3", "--json", text=text).stdout)
    assert answer["count"] == 10**36 - 10**33
    assert answer["complete"]
    assert all(
        row["first"] == row["x0"] + row["x1"] and row["x0"] != row["x1"] for row in answer["solutions"]
    )


def test_counts_of_huge_sets_keep_to_the_time_limit() -> None:
    text = "\n".join(f"x{i} in 1..1000" for i in range(12))
    assert run("solve", "--count", "--time-limit", "5", text=text).output == f"{10**36}\n"


def test_check_explains_flatzinc_by_its_annotations() -> None:
    flat = "var 0..9: x;\nvar 0..9: y;\nconstraint int_lin_le([1,1],[x,y],8);\nsolve :: {} maximize x;\n"
    shown = ("check", "--explain", "--dialect", "flatzinc")
    text = run(*shown, text=flat.format("int_search([x,y], most_odd, indomain_min, complete)")).output
    assert "annotation: 2 variables by most_odd, indomain_min (as dom_deg, min)" in text
    assert "luby" in run(*shown, text=flat.format("restart_luby(50)")).output
    assert "annotation" not in run(*shown, text=flat.format("")).output
