"""Parameters, data files and included files of the text language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from constrint import LimitExceeded, Limits, Model, ModelError, ParseError
from constrint.errors import ConstrintError
from constrint.frontends.text.parameters import GivenNames
from constrint.frontends.text.text import read_model

KNAPSACK = """
enum item
param weight[item] in 0..99
param capacity := 5
take[item] bool
sum(weight[i] * take[i] for i in item) <= capacity
maximize sum(take)
"""
ITEMS = {"item": ["tent", "stove", "rope"], "weight": {"tent": 3, "stove": 2, "rope": 4}}


def from_file(value: str) -> GivenNames:
    given = GivenNames({"n": value})
    given.origins["n"] = "data.json"
    return given


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def solved(folder: Path, text: str, *data: Path, **options: Any) -> dict[str, int]:
    (folder / "model.constrint").write_text(text, encoding="utf-8")
    return dict(Model.from_file(folder / "model.constrint", data=data, **options).solve().values)


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


BEST = {"take[tent]": 1, "take[stove]": 1, "take[rope]": 0}


def test_json_yaml_and_csv_say_the_same(folder: Path) -> None:
    as_json = written(folder, "d.json", json.dumps(ITEMS))
    lines = "item: [tent, stove, rope]\nweight:\n  tent: 3  # kg\n  stove: 2\n  rope: 4\n"
    as_yaml = written(folder, "d.yaml", lines)
    as_csv = written(folder, "items.csv", "item,weight\ntent,3\nstove,2\nrope,4\n")
    for data in (as_json, as_yaml, as_csv):
        found = solved(folder, KNAPSACK, data)
        assert {name: found[name] for name in BEST} == BEST
        assert solved(folder, KNAPSACK, data, constants={"capacity": 2})["take[stove]"] == 1
    assert solved(folder, KNAPSACK, constants={**ITEMS, "weight": [3, 2, 4]})["take[tent]"] == 1


def test_tables(folder: Path) -> None:
    edges = written(folder, "edges.csv", "0,1\n1, 2\n")
    text = "param edges; c[0..2] in 0..1; c[0] == 0; forall(c[a] != c[b] for a, b in edges)"
    assert solved(folder, text, edges) == {"c[0]": 0, "c[1]": 1, "c[2]": 0}
    text = "param edges; x in 0..1; y in 0..2; table([x, y], edges); x == 1"
    assert solved(folder, text, edges) == {"x": 1, "y": 2}
    words = written(folder, "pairs.csv", "from,to,cost\nred,blue,3\nblue,red,4\n")
    text = "enum e := {red, blue}; param pairs; x in 0..9; x == sum(c * (a < b) for a, b, c in pairs)"
    assert solved(folder, text, words)["x"] == 3


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("param n; x in n..n", 4, 4),
        ("param n; x in n", [3, 4], 3),
        ("param n; x in {len(n)}", [[1], [2, 3], [4]], 3),
        ("param n[1..2, 0..1]; x in {n[2, 0]}", [[1, 2], [3, 4]], 3),
        ("param n[1..2, 0..1]; x in {n[2, 0]}", {"1": [1, 2], "2": {"0": 5, "1": 6}}, 5),
        ("enum c := {red, blue}; param n; x in {n}", "blue", "blue"),
        ("enum c := {red, blue}; param n in c; x in {n[1]}", ["red", "blue"], "blue"),
        ("param n; x in 0..5; n -> x == 4; not n -> x == 5", True, 4),
        ("param n := 3; x in {n}", 8, 8),
    ],
)
def test_values(text: str, value: int | list[int], expected: int) -> None:
    assert Model.from_text(text, constants={"n": value}).solve().values["x"] == expected


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        ("param n", "blue", "'n' in data.json has 'blue', which no enumeration has"),
        ("enum c := {red, blue}; param n", "blu", "did you mean 'blue'"),
        ("param n", {"a": 1}, "declare its index set"),
        ("param n[1..3]", [1, 2], "has 2 values for the 3 of 1..3"),
        ("param n[1..2]", {"1": 3}, "lacks '2'"),
        ("param n[1..2]", {"1": 3, "2": 4, "7": 5}, "has '7', which is not in 1..2"),
        ("param n[1..2]", [[1], [2]], "nested more deeply"),
        ("param n[1..2, 1..2]", [1, 2], "is not a list over 1..2"),
        ("param n in 1..3", 4, "4 is not a value of n"),
        ("param n[1..2] in 1..3", [3, 4], "4 is not a value of n"),
        ("param n[1..2]", [None, 2], "None, which is not a number"),
        ("enum n", [1, 2], "cannot be a name"),
        ("enum n", ["a", "b,c"], "cannot be a name"),
        ("enum n", 3, "is not a list of names"),
        ("enum n", ["a", "a"], "'a' is declared already"),
    ],
)
def test_mistakes_in_values(text: str, value: str, message: str) -> None:
    with pytest.raises(ParseError, match="<text>:1:") as caught:
        read_model(text, constants=from_file(value))
    assert message in str(caught.value)


def test_a_mistake_in_a_constant_is_not_put_on_the_file_that_it_overrides(folder: Path) -> None:
    (folder / "d.json").write_text('{"n": [1, 2]}')
    (folder / "m.constrint").write_text("param n[1..2]; x in 0..n[1]")
    assert Model.from_file(folder / "m.constrint", data=folder / "d.json").count() == 2
    with pytest.raises(ParseError, match="the value of 'n' is not a list over"):
        Model.from_file(folder / "m.constrint", data=folder / "d.json", constants={"n": 3})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "d.json",
            '{"weigth": 3}',
            "d.json: the model has no parameter 'weigth'\nhint: did you mean 'weight'",
        ),
        ("d.json", '{"weight": NaN}', "NaN is not a decimal number"),
        ("d.json", '{"weight": null}', "'weight' has None"),
        ("d.json", "[1]", "holds names with values"),
        ("d.json", '{"weight": 1', "d.json:1:13: this is not JSON"),
        ("d.json", '{"weight": 1, "weight": 2}', "occurs twice"),
        ("d.yaml", "weight: [1", "this is not YAML"),
        ("d.yaml", "weight: 1\nweight: 2", "d.yaml:2:1: the name 'weight' occurs twice"),
        ("d.yaml", "weight: .nan", "d.yaml:1:9: .nan is not a number"),
        ("d.yaml", "weight: 010", "in decimal digits"),
        ("d.yaml", "weight: &a [*a]", "d.yaml:1:13: the alias 'a' stands before the end"),
        ("d.yaml", "weight: !!python/object:os.system 1", "is not a number"),
        ("d.csv", "1,2\n3\n", "d.csv:2:1: this row has 1 cells"),
        ("d.csv", 'a\n"b', "this is not CSV"),
        ("d.txt", "", "a data file ends in .json"),
    ],
)
def test_mistakes_in_files(folder: Path, name: str, content: str, message: str) -> None:
    with pytest.raises((ModelError, ParseError)) as caught:
        solved(folder, "param weight := 3; x in 1..2", written(folder, name, content))
    assert message in str(caught.value)


def test_files_contradict_each_other_and_missing_ones_are_named(folder: Path) -> None:
    one, two = (written(folder, name, '{"n": 3}') for name in ("a.json", "b.json"))
    with pytest.raises(ModelError, match=r"b\.json: 'n' has a value in .*a\.json already"):
        solved(folder, "param n", one, two)
    with pytest.raises(ModelError, match=r"cannot read .*c\.json: no such file"):
        solved(folder, "param n", folder / "c.json")


def test_limits_hold_in_data(folder: Path) -> None:
    lines = ["a0: &a0 [1, 1]", *[f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40)]]
    bomb = written(folder, "bomb.yaml", "\n".join(lines))
    with pytest.raises(LimitExceeded, match="values"):
        solved(folder, "param a0", bomb, limits=Limits(values=10_000))
    deep = written(folder, "deep.yaml", "n: " + "[" * 5000 + "]" * 5000)
    with pytest.raises(LimitExceeded, match="nested"):
        solved(folder, "param n", deep)
    long = written(folder, "long.csv", "1\n" * 3000)
    with pytest.raises(LimitExceeded, match="values"):
        solved(folder, "param long", long, limits=Limits(values=1000))


# ---------------------------------------------------------------- included files


def test_includes(folder: Path) -> None:
    (folder / "parts").mkdir()
    written(folder, "parts/sizes.constrint", 'include "base.constrint"\nm := n + 1\n')
    written(folder, "parts/base.constrint", "n := 3\nf(a) := a + n\n")
    text = 'include "parts/sizes.constrint"\ninclude "parts/base.constrint"\nx in {f(m)}\n'
    assert solved(folder, text)["x"] == 7


def test_errors_name_the_included_file(folder: Path) -> None:
    written(folder, "base.constrint", "n := 3\ny == 2\n")
    with pytest.raises(ParseError, match=r"base\.constrint:2:1: 'y' is not declared"):
        solved(folder, 'include "base.constrint"\n')
    written(folder, "base.constrint", "f(a) := a[2]\n")
    with pytest.raises(ParseError, match=r"base\.constrint:1:9: .*called from .*model\.constrint:2:1"):
        solved(folder, 'include "base.constrint"\nf(3) == 2\n')


def test_circles_and_escapes_are_refused(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    written(folder, "secret.constrint", "n := 3\n")
    written(inner, "a.constrint", 'include "b.constrint"\n')
    written(inner, "b.constrint", 'include "a.constrint"\n')
    (inner / "link.constrint").symlink_to(folder / "secret.constrint")
    (inner / "self.constrint").write_text('include "self.constrint"', encoding="utf-8")
    for name, message in [
        ("a.constrint", "in a circle"),
        ("self.constrint", "in a circle"),
        ("../secret.constrint", "outside the folder of the model"),
        ("link.constrint", "outside the folder of the model"),
        (str(folder / "secret.constrint"), "not a relative path"),
        ("none.constrint", "there is no file 'none.constrint'"),
        (".", "is no file"),
        ("", "not a relative path"),
    ]:
        with pytest.raises(ParseError) as caught:
            solved(inner, f'x in 1..2\ninclude "{name}"\n')
        assert message in str(caught.value)
    found = solved(inner, 'include "../secret.constrint"\nx in {n}', include=[folder])
    assert found["x"] == 3
    assert Model.from_text('include "secret.constrint"\nx in {n}', include=[folder]).solve().values["x"] == 3


def test_limits_hold_over_included_files(folder: Path) -> None:
    written(folder, "long.constrint", "# " + "x" * 3000)
    with pytest.raises(LimitExceeded, match="bytes"):
        solved(folder, 'include "long.constrint"\n', limits=Limits(bytes=2000))
    for i in range(60):
        written(folder, f"f{i}.constrint", f'include "f{i + 1}.constrint"\n')
    written(folder, "f60.constrint", "x in 1..2")
    with pytest.raises(LimitExceeded, match="nested"):
        solved(folder, 'include "f0.constrint"\n', limits=Limits(depth=20))
    assert solved(folder, 'include "f0.constrint"\n')["x"] in (1, 2)


def test_data_go_with_texts_only(folder: Path) -> None:
    path = written(folder, "m.json", Model.from_text("x in 1..2").to_json())
    with pytest.raises(ConstrintError, match="takes no constants and no data"):
        Model.from_file(path, data=written(folder, "d.json", '{"n": 3}'))


@pytest.mark.parametrize("dialect", ["constrint", "flashrnn"])
def test_constants_that_nothing_uses_are_refused(folder: Path, dialect: str) -> None:
    text = "capacity <= 3" if dialect == "flashrnn" else "param capacity := 3; x in 0..capacity"
    with pytest.raises(ModelError, match=r"no parameter 'capcity'\nhint: did you mean 'capacity'\?"):
        Model.from_text(text, constants={"capcity": 10}, dialect=dialect)
    text_of = {"flashrnn": "x <= 3 # zz", "constrint": "x in 0..3 # zz"}
    with pytest.raises(ModelError, match="no parameter 'zz'\nhint: remove it"):
        Model.from_text(text_of[dialect], constants={"zz": 10}, dialect=dialect)
    (folder / "m.constrint").write_text(text)
    with pytest.raises(ModelError, match="no parameter 'capcity'"):
        Model.from_file(folder / "m.constrint", constants={"capcity": 10}, dialect=dialect)


def test_constants_that_only_an_included_file_or_a_function_uses(folder: Path) -> None:
    (folder / "inner.constrint").write_text("f(a) := a + n\ny in 0..m")
    (folder / "m.constrint").write_text('include "inner.constrint"\nx in 0..3')
    model = Model.from_file(folder / "m.constrint", constants={"n": 1, "m": 2})
    assert model.count() == 12


def test_the_command_line_refuses_constants_that_nothing_uses(folder: Path) -> None:
    from click.testing import CliRunner

    from constrint.cli.main import app

    (folder / "m.constrint").write_text("param capacity := 3; x in 0..capacity")
    file = str(folder / "m.constrint")
    for command in ("solve", "check"):
        answer = CliRunner().invoke(app, [command, "-D", "capcity=10", file])
        assert answer.exit_code == 2
        assert "did you mean 'capacity'?" in answer.output
    used = CliRunner().invoke(app, ["solve", "-D", "most=1", "--assume", "x >= most", file])
    assert used.exit_code == 0
