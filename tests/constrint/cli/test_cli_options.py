"""The command line's options of search, and the commands to start with."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner, Result

from constrint import Model
from constrint.cli.main import app
from constrint.cli.options import SearchArguments
from constrint.cli.starting import EXAMPLES, WAYS
from constrint.engine import cache
from constrint.preparing.branching import ValueSelector, VariableSelector

OPTIMUM = max(4 * x + 5 * y for x in range(21) for y in range(21) if 3 * x + 2 * y <= 41 and x + 3 * y <= 37)
BEST = "x in 0..20\ny in 0..20\n3*x + 2*y <= 41\nx + 3*y <= 37\nmaximize 4*x + 5*y\n"


def ask(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "best.constrint"
    path.write_text(BEST, "utf-8")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["--backend", "cp-sat"],
        ["--lns"],
        ["--learn"],
        ["--no-learn"],
        ["--restarts", "luby"],
        ["--restarts", "geometric", "--branching", "dom_w_deg"],
        ["--workers", "2"],
        ["--engine", "interpreted"],
        ["--seed", "7", "--branching", "random"],
        *(["--branching", name] for name in get_args(VariableSelector)),
        *(["--branching", f"first_fail,{name}"] for name in get_args(ValueSelector)),
    ],
)
def test_every_way_finds_the_optimum(model: Path, words: list[str]) -> None:
    found = json.loads(ask("solve", str(model), "--json", *words).stdout)
    assert (found["status"], found["objective"]) == ("optimal", OPTIMUM)


def test_options_reach_the_solver(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    solve = Model.solve

    def noted(self: Model, **given: Any) -> Any:
        seen.update(given)
        return solve(self)

    monkeypatch.setattr(Model, "solve", noted)
    ask("solve", str(model), "--lns", "--restarts", "luby", "--branching", "max,first_fail", "--seed", "3")
    assert (seen["lns"], seen["restarts"], seen["seed"]) == (True, "luby", 3)
    assert (seen["branching"].variables, seen["branching"].values) == ("first_fail", "max")
    assert not {"learn", "backend", "engine", "proof", "progress"} & set(seen)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--branching", "first"], "there is no selector 'first'; variables: auto, dom_deg"),
        (["--branching", "min,max"], "there is no selector 'max'"),
        (["--lns", "--all"], "--lns is about the search for one solution"),
        (["--backend", "cp-sat", "--count"], "--backend is about the search for one solution"),
        (["--proof", "p.txt"], "--proof needs --learn"),
        (["--backend", "cp-sat", "--lns"], "lns"),
        (["--restarts", "often"], "'often' is not one of 'luby', 'geometric'"),
        (["--time-limit", "-1"], "-1"),
        (["--all", "--count"], "exclude each other"),
    ],
)
def test_options_that_do_not_go_together_are_refused(model: Path, words: list[str], reason: str) -> None:
    assert reason in ask("solve", str(model), *words, code=2).output


def test_every_option_of_a_search_is_on_the_command_line() -> None:
    written = {option for line in app.commands["solve"].params for option in line.opts}
    assert {f"--{name}" for name in SearchArguments.__dataclass_fields__} < written


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_formatted_and_have_solutions(tmp_path: Path, example: str) -> None:
    path = tmp_path / "mine.constrint"
    assert "now: constrint solve" in ask("new", str(path.with_suffix("")), "--example", example).stdout
    ask("fmt", "--check", str(path))
    assert json.loads(ask("solve", "--json", str(path)).stdout)["status"] in ("optimal", "feasible")
    before = path.read_text("utf-8")
    assert "exists: give another name" in ask("new", str(path), code=2).output
    assert path.read_text("utf-8") == before


def test_examples_are_written_in_their_own_language_only(tmp_path: Path) -> None:
    assert "by convert" in ask("new", str(tmp_path / "mine.json"), code=2).output
    assert not (tmp_path / "mine.json").exists()


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    assert "cannot write" in ask("new", str(tmp_path / "none" / "mine"), code=2).output


def test_bench_agrees_in_every_way(model: Path) -> None:
    rows = json.loads(ask("bench", "--json", str(model)).stdout)
    assert [row["way"] for row in rows] == list(WAYS)
    assert {(row["status"], row["objective"]) for row in rows} == {("optimal", OPTIMUM)}
    assert len(ask("bench", str(model), "--way", "lns").stdout.splitlines()) == 1


def test_bench_says_what_a_way_lacks(tmp_path: Path) -> None:
    path = tmp_path / "plain.constrint"
    path.write_text("x in 0..3\n", "utf-8")
    (row,) = json.loads(ask("bench", "--json", "--way", "lns", str(path)).stdout)
    assert row["status"] == "refused"
    assert "minimize" in row["reason"]


def test_searches_are_compiled_ahead(tmp_path: Path) -> None:
    kept = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *command], env=kept, capture_output=True, text=True, check=True
        )

    compiling = ["-m", "constrint", "compile"]
    assert run(*compiling).stdout.count("compiled in") == len(cache.ABOUT)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "constrint").iterdir()}
    assert run(*compiling).stdout.count("was compiled before") == len(cache.ABOUT)
    search = "from constrint import Model; m = Model(); x = m.int_var('x', 0, 9); m.add(x != 0)\n"
    search += "print(m.solve(engine='compiled', learn=True).statistics.engine)"
    done = run("-c", search)
    assert done.stdout == "compiled\n"
    assert "compiling" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "constrint").iterdir()} == files


def test_compiling_ahead_says_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folders", list)
    assert "XDG_CACHE_HOME" in ask("compile", code=2).stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_ask_this_command(shell: str) -> None:
    assert "_CONSTRINT_COMPLETE" in ask("completion", shell).stdout


def test_completion_knows_commands_and_options() -> None:
    words = {"COMP_WORDS": "constrint solve --lea", "COMP_CWORD": "2", "_CONSTRINT_COMPLETE": "bash_complete"}
    script = "from constrint.cli.main import app; app(prog_name='constrint')"
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **words}, capture_output=True)
    assert done.stdout.decode().split() == ["plain,--learn"]


def test_the_page_of_commands_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[3] / "docs" / "constrint-commands.md").read_text("utf-8")
    (session,) = re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S)
    for step in session.split("$ constrint ")[1:]:
        command, _, expected = step.partition("\n")
        assert ask(*command.split()).output == expected


def test_the_page_of_commands_names_every_command_and_option_of_search() -> None:
    page = (Path(__file__).parents[3] / "docs" / "constrint-commands.md").read_text("utf-8")
    assert [name for name in app.commands if f"constrint {name}" not in page] == []
    assert [name for name in SearchArguments.__dataclass_fields__ if f"--{name}" not in page] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "--seed", "3", "--count"], "--seed has no meaning with --count"),
        (["solve", "--limit", "3"], "--limit needs --all"),
        (["solve", "--all", "--learn"], "--learn is about the search for one solution"),
        (["space", "--seed", "3"], "--seed is that of --sample"),
        (["space", "--seed", "3", "--list"], "--seed is that of --sample"),
        (["space", "--limit", "3"], "--limit needs --list"),
        (["space", "--picture-edges", "3"], "--picture-edges is about a page"),
        (["fmt", "--check", "--write"], "exclude each other"),
        (["explain", "--all", "--corrections"], "exclude each other"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    file = tmp_path / "m.constrint"
    file.write_text("x in 0..3\n")
    answer = CliRunner().invoke(app, [*arguments, str(file)])
    assert answer.exit_code == 2
    assert message in answer.output


def test_the_seed_is_that_of_all_solutions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from constrint.model import Model

    seeds = []
    original = Model.iter_solutions
    monkeypatch.setattr(
        Model,
        "iter_solutions",
        lambda *args, **named: seeds.append(named["seed"]) or original(*args, **named),  # type: ignore[func-returns-value]
    )
    file = tmp_path / "m.constrint"
    file.write_text("x in 0..3\n")
    assert CliRunner().invoke(app, ["solve", "--all", "--seed", "5", str(file)]).exit_code == 0
    assert seeds == [5]


def test_sets_in_json(tmp_path: Path) -> None:
    file = tmp_path / "m.fzn"
    file.write_text("var set of 1..2: s; solve satisfy;")
    for option in (["--all"], ["--sample", "4"], []):
        answer = CliRunner().invoke(app, ["solve", "--json", *option, str(file)])
        assert answer.exit_code == 0, answer.output
        json.loads(answer.stdout)


def test_minizinc_asks_for_some_of_all_solutions(tmp_path: Path) -> None:
    from constrint.cli.flatzinc import app as flatzinc

    file = tmp_path / "m.fzn"
    file.write_text("var 1..9: x :: output_var; solve satisfy;")
    answer = CliRunner().invoke(flatzinc, ["-a", "-n", "3", str(file)])
    assert answer.stdout.count("----------") == 3
