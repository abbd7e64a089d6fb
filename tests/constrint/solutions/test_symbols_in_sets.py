"""Enumerations, set variables and arrays in sets of solutions, as in results."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from constrint import Model, ModelError
from constrint.cli.main import app
from constrint.solutions.solutionset import SolutionSet


def model(colours: Any = ("r", "g", "b"), members: Any = ("u", "v"), order: str = "csx") -> Any:
    m = Model()
    made = {}
    for kind in order:
        if kind == "c":
            made["c"] = m.enum_var("c", colours)
        elif kind == "s":
            made["s"] = m.set_var("s", members)
        else:
            made["x"] = m.int_vars("x", 2, 0, 3)
    m.add(made["s"].contains(members[0]).implies(made["c"] != "g"), made["x"][0] < made["x"][1])  # type: ignore[attr-defined, index]
    m.add((made["c"] == "r").implies(made["x"][0] == 0))  # type: ignore[index]
    return m, made["c"], made["s"], made["x"]


def rows_of(results: Any) -> list[str]:
    return sorted(map(repr, (sorted(dict(row).items(), key=str) for row in results)))


def test_rows_are_those_of_results() -> None:
    m, *_ = model()
    found, results = m.solutions(), list(m.iter_solutions())
    assert found.names == ("c", "s", "x[0]", "x[1]")
    assert found.size == len(results) == m.count()
    assert rows_of(found) == rows_of(results) == rows_of(found[i] for i in range(found.size))
    assert rows_of(found.sample(found.size, seed=1)) == rows_of(results)
    assert sorted(map(str, found.to_tuples())) == sorted(str(tuple(r.to_dict().values())) for r in results)
    assert all(result in found for result in results)
    assert m.solve() in found
    assert {found.index(result) for result in results} == set(range(found.size))
    assert {**found[0], "c": "purple"} not in found
    assert {**found[0], "s": {"u", "zz"}} not in found
    assert rows_of(found[2:5]) == rows_of([found[2], found[3], found[4]])


def test_rows_are_blocked_and_hinted() -> None:
    m, c, s, _ = model()
    found = m.solutions()
    for row in (found[0], found[found.size - 1]):
        other = m.copy()
        other.block(row)
        assert other.count() == found.size - 1
        assert m.solve(hint=row).to_dict() == row
    other = m.copy()
    other.block({"c": "g", "s": {"v"}}, variables=[c, s])
    assert other.count() == found.size - found.given(c="g", s={"v"}).size
    with pytest.raises(ModelError, match="'c' has no value 'purple'"):
        other.block({"c": "purple"}, variables=["c"])
    result = m.solve()
    assert c in result
    assert s in result
    assert (result.get(c), result.get(s), result.get("zz")) == (result["c"], result["s"], None)
    assert model()[1] not in result
    assert result.get(s | {"w"}) == result[s] | {"w"}
    assert model()[2] - {"u"} not in result


def test_arrays_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    m, *_ = model()
    found = m.solutions()
    frame, other = found.to_pandas(), m.iter_solutions().to_pandas()
    assert list(frame.columns) == list(other.columns)
    assert isinstance(frame, pandas.DataFrame)
    assert rows_of(frame.to_dict("records")) == rows_of(other.to_dict("records"))
    assert rows_of(dict(zip(found.names, row, strict=True)) for row in found.to_numpy()) == rows_of(found)
    chunks = np.concatenate(list(found.iter_chunks(4)))
    assert rows_of(dict(zip(found.names, row, strict=True)) for row in chunks) == rows_of(found)
    by_threads = found.to_numpy(workers=2)
    assert rows_of(dict(zip(found.names, row, strict=True)) for row in by_threads) == rows_of(found)
    assert found.dtype.kind == "O"
    assert found.column_type("s").kind == "O"
    assert found.column_type("x[0]") == np.int8


def test_given_takes_the_values() -> None:
    m, _c, _s, _x = model()
    found, rows = m.solutions(), [result.to_dict() for result in m.iter_solutions()]
    for value in "rgb":
        assert found.given(c=value).size == sum(row["c"] == value for row in rows)
    assert found.given(c={"r", "b"}).size == sum(row["c"] in "rb" for row in rows)
    for value in (set(), {"u"}, ["v"], frozenset("uv")):
        assert found.given(s=value).size == sum(row["s"] == set(value) for row in rows)
    assert found.given(**{"s[u]": 1}).size == sum("u" in row["s"] for row in rows)
    assert found.given(**{"x[0]": 2}).size == sum(row["x[0]"] == 2 for row in rows)
    assert found.given(**{"x[0]": 99}).size == 0
    assert found.given(**{"x[0]": range(-5, 2)}).size == sum(row["x[0]"] < 2 for row in rows)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("c", "purple", "'purple' is not a value of 'c', which has: 'r', 'g', 'b'"),
        ("c", 0, "0 is not a value of 'c'"),
        ("c", {"r", "purple"}, "'purple' is not a value of 'c'"),
        ("s", {"zz"}, "'zz' can be no member of 's'; its possible members: 'u', 'v'"),
        ("s", "uv", "'s' is a set"),
        ("s", 1, "'s' is a set"),
        ("x[0]", "2", "'2' is not a value of 'x\\[0\\]', which is a number"),
        ("x[0]", {"2"}, "'2' is not a value"),
        ("x[0]", 2.5, "2.5 is not a value"),
        ("y", 2, "no variable is named 'y'"),
    ],
)
def test_given_refuses_what_can_be_no_value(name: str, value: int | str, message: str) -> None:
    found = model()[0].solutions()
    with pytest.raises(ModelError, match=message):
        found.given(**{name: value})


def test_projections_take_variables() -> None:
    m, c, s, x = model()
    found, rows = m.solutions(), [result.to_dict() for result in m.iter_solutions()]
    assert rows_of(found.project([c])) == rows_of({"c": one} for one in sorted({row["c"] for row in rows}))
    assert rows_of(found.project([s, c])) == rows_of(
        {"s": one, "c": two} for one, two in {(row["s"], row["c"]) for row in rows}
    )
    assert found.project([x]).names == ("x[0]", "x[1]")
    assert found.project([x[1], s]).names == ("x[1]", "s")
    assert found.project(["s[v]", "c"]).names == ("s[v]", "c")
    assert found.project(found.names) == found
    with pytest.raises(ModelError, match="each name once"):
        found.project([s, "s[u]"])
    with pytest.raises(ModelError, match="names no variable"):
        found.project([3])


def test_values_and_counts() -> None:
    m, c, s, x = model()
    found, rows = m.solutions(), [result.to_dict() for result in m.iter_solutions()]
    for key, name in ((c, "c"), (s, "s"), (x[0], "x[0]"), ("s", "s")):
        assert set(found.values_of(key)) == {row[name] for row in rows}
        counts = found.value_counts(key)
        assert counts == {
            value: sum(row[name] == value for row in rows) for value in {row[name] for row in rows}
        }
    cost, best = found.minimum(c.map({"r": 5, "g": 3, "b": 9}) + x[1])
    assert (cost, best["c"], best["s"] <= {"v"}) == (4, "g", True)
    assert found.maximum({"x[0]": 1})[0] == 2
    assert found.minimum({"c": {"r": 5, "g": 3, "b": 9}})[0] == 3
    for row in found.neighbours(found[0]):
        assert row in found


@pytest.mark.parametrize("order", ["csx", "xsc", "scx"])
def test_sets_of_models_with_another_order_of_names(order: str) -> None:
    one, other = model()[0].solutions(), model(order=order)[0].solutions()
    assert one == other
    assert other == one
    assert (one - other).size == (other - one).size == 0
    assert one == one & other == one | other
    assert one != other.given(c="r")
    part = one.given(c="g")
    assert (other - part).size == one.size - part.size
    assert rows_of(other & part) == rows_of(part)
    empty = part - part
    assert rows_of(empty | other) == rows_of(one)


def test_enumerations_whose_values_have_another_order() -> None:
    """The numbers of the values differ: sets compare what they stand for."""
    for ones, twos in (((10, 5, 7), (7, 10, 5)), (("a", "b"), ("b", "a")), ((1, 2), (2, 3))):
        sets = []
        for values in (ones, twos):
            m = Model()
            c = m.enum_var("c", values)
            m.add(c != values[0])
            sets.append(m.solutions())
        left, right = ({row["c"] for row in found} for found in sets)
        assert (left, right) == (set(ones[1:]), set(twos[1:]))
        assert {row["c"] for row in sets[0] & sets[1]} == left & right
        assert {row["c"] for row in sets[0] | sets[1]} == left | right
        assert {row["c"] for row in sets[0] - sets[1]} == left - right
        assert (sets[0] == sets[1]) is (left == right)


def test_other_names_differ() -> None:
    m = Model()
    m.int_var("y", 0, 3)
    assert (m.solutions() == model()[0].solutions()) is False


@pytest.mark.parametrize("values", [(1000, 5), (2**70, 1), (0.5, 1.5), ((1, 2), "a", None)])
def test_types_are_those_of_the_values(values: tuple[int, ...]) -> None:
    m = Model()
    m.enum_var("c", values)
    found = m.solutions()
    assert [row["c"] for row in found] == list(values)
    assert found.to_columns()["c"].tolist() == list(values)
    assert found.to_numpy()[:, 0].tolist() == list(values)


def test_files(tmp_path: Path) -> None:
    m, *_ = model()
    found = m.solutions()
    found.save(tmp_path / "s.npz")
    loaded = SolutionSet.load(tmp_path / "s.npz")
    assert loaded == found
    assert rows_of(loaded) == rows_of(found)
    assert loaded.given(s={"u"}).size == found.given(s={"u"}).size
    found.to_csv(tmp_path / "s.csv")
    with (tmp_path / "s.csv").open() as file:
        listed = list(csv.DictReader(file))
    assert {row["s"] for row in listed} == {"{}", "{u}", "{v}", "{u, v}"}
    assert {row["c"] for row in listed} == set("rgb")
    parquet = pytest.importorskip("pyarrow.parquet")
    found.to_parquet(tmp_path / "s.parquet")
    table = parquet.read_table(tmp_path / "s.parquet").to_pylist()
    assert rows_of({**row, "s": frozenset(row["s"])} for row in table) == rows_of(found)
    found.picture(tmp_path / "s.html", variables=["s", "c"])
    found.picture(tmp_path / "s.svg")


@pytest.mark.parametrize("members", [[], ["u"]])
def test_sets_with_few_members(members: list[str]) -> None:
    m = Model()
    m.set_var("s", members)
    found = m.solutions()
    assert rows_of(found) == rows_of(m.iter_solutions())
    assert found.to_tuples() == [(row["s"],) for row in found]
    assert m.solve() in found
    assert found.values_of("s") == [row["s"] for row in found]


def test_no_solution() -> None:
    m, c, *_ = model()
    m.add(c == "r", c != "r")
    found = m.solutions()
    assert (found.size, found.names) == (0, ("c", "s", "x[0]", "x[1]"))
    assert list(found) == []
    assert found.values_of("s") == []
    assert found.to_columns()["s"].tolist() == []


def test_the_command_line(tmp_path: Path) -> None:
    m = Model()
    m.set_var("s", [1, 2, 3])
    m.int_var("x", 0, 2)
    file = tmp_path / "m.json"
    file.write_text(m.to_json())
    for arguments in (["space", "--list"], ["space", "--sample", "5"], ["space"], ["solve", "--all"]):
        answer = CliRunner().invoke(app, [*arguments, "--json", str(file)])
        assert answer.exit_code == 0, answer.output
        json.loads(answer.stdout)
    one = CliRunner().invoke(app, ["space", "--count", "--given", "s={1, 3}", str(file)])
    assert one.stdout.strip() == "3", one.output
    none = CliRunner().invoke(app, ["space", "--count", "--given", "s={1, 7}", str(file)])
    assert none.exit_code == 1


def test_several_sets() -> None:
    m = Model()
    one, two = m.set_var("one", range(3)), m.set_var("two", range(3))
    m.add(one <= two, one.cardinality == 1)
    found = m.solutions()
    assert {(row["one"], row["two"]) for row in found} == {
        (a, b)
        for a, b in product(map(frozenset, ({0}, {1}, {2})), (frozenset(x) for x in subsets(range(3))))
        if a <= b
    }


def subsets(values: range) -> list[list[int]]:
    listed = list(values)
    return [[x for i, x in enumerate(listed) if n >> i & 1] for n in range(1 << len(listed))]
