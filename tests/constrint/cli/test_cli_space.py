"""`constrint space`: answers, files, pictures, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import page_reader
import pandas as pd  # type: ignore[import-untyped]
import pytest
from click.testing import CliRunner, Result

from constrint.cli.main import app
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_json, from_tune_params

DATA = Path(__file__).parents[3] / "benchmarks" / "spaces" / "data"
MODEL = "x, y in 1..4\nb bool\nx < y; b == (x > 2)\n"
SPACE = from_tune_params(
    {"bx": [16, 32, 64], "f": [0.5, 2], "layout": ["row", "col"], "on": [True, False]},
    ["bx * f <= 64", "layout == 'row' or on"],
)


def run(*arguments: str, text: str = MODEL) -> Result:
    return CliRunner().invoke(app, ["space", *arguments], input=text)


def t1(space: Any = SPACE) -> str:
    return json.dumps(space.to_t1())


def test_a_summary() -> None:
    result = run("-")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "<stdin>: 6 solutions"
    assert "  x  1, 2, 3" in lines
    facts = json.loads(run("-", "--json").stdout)
    assert facts["count"] == 6
    assert facts["variables"] == {"x": 3, "y": 3, "b": 2}
    assert sorted(facts["order"]) == ["b", "x", "y"]


def test_a_search_space_of_either_form() -> None:
    plain = {"tune_params": SPACE.tune_params, "restrictions": list(SPACE.restrictions)}
    for text in (t1(), json.dumps(plain)):
        assert run("-", "--count", text=text).stdout == f"{SPACE.size}\n"
        assert f"of all {SPACE.cartesian} combinations" in run("-", text=text).stdout


def test_real_spaces_are_counted() -> None:
    for name in ("hotspot", "catbench_rise_mm"):
        path = DATA / f"{name}.json"
        answer = json.loads(run(str(path), "--count", "--json").stdout)
        assert answer == {"count": json.loads(path.read_text(encoding="utf-8"))["valid"]}


def test_lists_are_complete_and_in_order() -> None:
    assert run("-", "--list").stdout.splitlines() == run("-", "--list", "--limit", "9").stdout.splitlines()
    rows = [json.loads(line) for line in _objects(run("-", "--list", "--json", text=t1()).stdout)]
    assert rows == list(SPACE)
    answer = json.loads(run("-", "--list", "--limit", "2", "--json", text=t1()).stdout)
    assert answer["solutions"] == SPACE[:2]
    assert (answer["count"], answer["complete"]) == (SPACE.size, False)


def _objects(text: str) -> list[str]:
    return [json.dumps(row) for row in json.loads(text)["solutions"]]


def test_samples_are_repeatable() -> None:
    first = run("-", "--sample", "3", "--seed", "7").stdout
    assert first == run("-", "--sample", "3", "--seed", "7").stdout
    assert len(set(first.splitlines())) == 3
    assert set(first.splitlines()) <= set(run("-", "--list").stdout.splitlines())
    answer = json.loads(run("-", "--sample", "3", "--json", text=t1()).stdout)
    assert all(row in SPACE for row in answer["solutions"])


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (["bx=16"], {"bx": 16}),
        (["bx = 0x20", "f=2"], {"bx": 32, "f": 2}),
        (["layout=col"], {"layout": "col"}),
        (["layout='col'", "f=0.50"], {"layout": "col", "f": 0.5}),
        (["on=False"], {"on": False}),
        (["bx in 17..64"], {"bx": {32, 64}}),
        (["bx in {16, 0x40}", 'layout in {"col"}'], {"bx": {16, 64}, "layout": "col"}),
        (["f in 0.1..1.5"], {"f": {0.5}}),
        (["on in {False, True}"], {}),
    ],
)
def test_given_values(given: list[str], want: dict[str, int]) -> None:
    options = [part for one in given for part in ("--given", one)]
    assert run("-", "--count", *options, text=t1()).stdout == f"{SPACE.given(**want).size}\n"


def test_files_hold_all_solutions(tmp_path: Path) -> None:
    for suffix in ("parquet", "csv", "npz", "json"):
        path = tmp_path / f"space.{suffix}"
        result = run("-", "--out", str(path), "--json", text=t1())
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["written"] == [str(path)]
    listed = SPACE.to_pandas()
    assert pd.read_parquet(tmp_path / "space.parquet").equals(listed)
    assert pd.read_csv(tmp_path / "space.csv").astype(listed.dtypes).equals(listed)
    assert SolutionSet.load(tmp_path / "space.npz").size == SPACE.size
    assert from_json(tmp_path / "space.json") == SPACE
    path = tmp_path / "space.npy"
    assert run("-", "--out", str(path)).exit_code == 0
    assert np.load(path).shape == (6, 3)


def test_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "space.svg"
    result = run("-", "--picture", str(path))
    assert result.stdout.splitlines()[-1] == f"wrote {path}"
    assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_a_page_to_explore_and_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "space.html"
    assert run("-", "--picture", str(path)).exit_code == 0
    assert page_reader.size(page_reader.document(path)) == 6
    assert run("-", "--picture", str(path), "--given", "x in 2..3").exit_code == 0
    assert page_reader.size(page_reader.document(path)) == int(
        run("-", "--count", "--given", "x in 2..3").stdout
    )
    assert run("-", "--picture", str(path), "--picture-edges", "1").exit_code == 0
    assert "This page is static" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "text", "reason"),
    [
        ([], "x in 1..9\nlow: x <= 3\nhigh: x * x >= 16\n", "contradict"),
        ([], json.dumps({"tune_params": {"a": [1, 2]}, "restrictions": ["a > 2"]}), "'a > 2' excludes all 2"),
        (["--given", "x=9"], MODEL, "no solution has x=9; the values of x are 1, 2, 3"),
        (["--given", "x=3", "--given", "b=0"], MODEL, "no solution has b=0 together with x=3"),
    ],
)
def test_empty_sets_are_explained(arguments: Any, text: Any, reason: str) -> None:
    result = run("-", *arguments, text=text)
    assert result.exit_code == 1
    assert reason in result.stdout
    answer = run("-", "--count", "--json", *arguments, text=text)
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["status"] == "infeasible"


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (["--count", "--list"], MODEL, "exclude each other"),
        (["--limit", "3"], MODEL, "--limit needs --list"),
        (["--out", "space.txt"], MODEL, "must end in .parquet, .csv"),
        (["--picture", "space.png"], MODEL, "must end in .svg or .html"),
        (["--out", "none/space.csv"], MODEL, "there is no folder none"),
        (["--out", "space.json"], MODEL, "only a whole search space"),
        (["--given", "x"], MODEL, "write NAME=VALUE"),
        (["--given", "q=1"], MODEL, "no variable is named 'q'"),
        (["--given", "q in {1}"], MODEL, "no variable is named 'q'"),
        (["--given", "x in 3"], MODEL, "write NAME=VALUE, 'NAME in LOW..HIGH' or 'NAME in {A, B}'"),
        (["--given", "x in {1,,2}"], MODEL, "a value is missing between the commas"),
        (["--given", "x in low..3"], MODEL, "low is not a number"),
        (["--define", "n=3"], t1(), "use --given"),
        ([], "x in 1..", "no finite bounds"),
        ([], '{"tune_params": {"a": [1, 1]}}', "'a' has the value 1 twice"),
        ([], '{"tune_params": {"a": [1]}, "restrictions": ["a / b > 1"]}', "restriction 'a / b > 1'"),
        ([], '{"tune_params": {"a": [1}}', "<stdin>:1:25"),
        ([], '{"what": 1}', "format"),
    ],
)
def test_bad_input_has_exit_code_2_and_says_why(arguments: list[str], text: str, message: str) -> None:
    result = run("-", *arguments, text=text)
    assert result.exit_code == (3 if message == "no finite bounds" else 2), result.output
    assert message in result.output


def test_an_empty_space_tells_where_a_restriction_is_undefined() -> None:
    text = json.dumps({"tune_params": {"a": [1, 2]}, "restrictions": ["a / 0 > 1"]})
    result = run("-", text=text)
    assert result.exit_code == 1
    assert "'a / 0 > 1' is undefined for 2 of 2 combinations of values, such as a=1" in result.stdout
    assert "undefined" in json.loads(run("-", "--json", text=text).stdout)["notes"][0]


def test_a_set_that_cannot_be_built_is_undecided() -> None:
    hard = "x, y, z in 1..199\n(x * x + y * y + z * z) % 101 == x * y * z % 97\n"
    answer = run("-", "--count", "--memory", "1", "--json", text=hard)
    assert answer.exit_code == 3
    assert "memory" in json.loads(answer.stdout)["reason"]
    assert "`constrint solve --all` finds" in json.loads(answer.stdout)["reason"]
