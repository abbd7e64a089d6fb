"""Enumerations of the text language: their words in answers, and errors for uses without meaning."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from constrint import Model, ParseError
from constrint.cli.main import app

HEAD = """enum place := {N, S, E}
enum person := {ann, bob}
where[person] in place
"""
TEXT = (
    HEAD
    + """near := [[N, S], [S, E]]
p in person
c in {N, E}
cap[place] := [1, 1, 0]
best := where[p]
full: forall(count(where, q) <= cap[q] for q in place)
table([where[ann], c], [[N, E], [S, N], [S, E]])
if_else: if_then_else(c == N, where[bob], E) != S
"""
)


def truth(where: tuple[str, str], p: str, c: str) -> bool:
    cap = {"N": 1, "S": 1, "E": 0}
    return (
        all(where.count(q) <= cap[q] for q in cap)
        and (where[0], c) in [("N", "E"), ("S", "N"), ("S", "E")]
        and (where[1] if c == "N" else "E") != "S"
    )


def test_answers_have_words() -> None:
    model = Model.from_text(TEXT)
    found = {tuple(one.values.values()) for one in model.iter_solutions()}
    expected = {
        (a, b, p, c, a if p == "ann" else b)
        for a, b in itertools.product("NSE", repeat=2)
        for p in ("ann", "bob")
        for c in "NE"
        if truth((a, b), p, c)
    }
    assert found == expected
    assert {tuple(one.values()) for one in model.solutions()} == {one[:-1] for one in expected}
    assert str(model.symbols["c"]) == "c in {'N', 'S', 'E'}"
    assert model.solutions().given(c="E").size == sum(one[3] == "E" for one in expected)
    assert set(model.solutions().to_pandas()["p"]) == {"ann", "bob"}


def test_models_that_are_written_and_read_again_are_equal() -> None:
    words = Model.from_text(TEXT)
    numbers = Model.from_text(words.to_text())
    assert list(numbers.symbols) == list(words.symbols)
    listed = {tuple(one.numbers.values()) for one in words.iter_solutions()}
    assert {tuple(one.numbers.values()) for one in numbers.iter_solutions()} == listed
    again = Model.from_json(words.to_json())
    assert {tuple(one.values.values()) for one in again.iter_solutions()} == {
        tuple(one.values.values()) for one in words.iter_solutions()
    }


def run(*arguments: str) -> str:
    return CliRunner().invoke(app, list(arguments)).output


def test_commands_print_words(tmp_path: Path) -> None:
    path = tmp_path / "places.constrint"
    path.write_text(TEXT)
    file = str(path)
    assert run("solve", file, "--assume", "c == E", "--assume", "p == bob").splitlines()[1:] == [
        "where[bob] = S",
        "p          = bob",
        "c          = E",
        "best       = S",
    ]
    values = json.loads(run("solve", "--json", file, "--assume", "c == N"))["values"]
    assert values["where[ann]"] == "S"
    assert "where[ann]=S where[bob]=N p=ann c=E" in run("solve", "--all", file)
    assert "where[ann]  N, S" in run("space", file)
    assert run("space", "--count", "--given", "where[ann]=N", file).strip() == "2"
    assert run("space", "--count", "--given", "c in {E}", file).strip() == "4"
    assert "where[ann]" in run("solve", "--sample", "2", file)
    page = tmp_path / "page.html"
    run("space", file, "--picture", str(page))
    assert '"N"' in page.read_text(encoding="utf-8")


def test_conflicts_name_words() -> None:
    model = Model.from_text(HEAD + "cap: forall(count(where, q) <= 0 for q in place)")
    names = {one.name for one in model.conflicts()[0].constraints}
    assert names == {"cap[N]", "cap[S]", "cap[E]"}
    model = Model.from_text(HEAD + "forall(where[a] != q for a in person for q in place)")
    assert "a = ann, q = N" in {one.name for one in model.constraints}
    model = Model.from_text(
        HEAD + "pairs := [[ann, N], [bob, S]]\napart: forall(where[a] != q for a, q in pairs)"
    )
    assert [one.name for one in model.constraints] == ["apart[ann,N]", "apart[bob,S]"]


WRONG = [
    ("where[ann] == bob", "{N, S, E} and {ann, bob} are other enumerations"),
    ("where[ann] in {ann, bob}", "are other enumerations"),
    ("where[ann] == where[N]", "'N' is one of {N, S, E}, and the indices are {ann, bob}"),
    ("p in person; p == N", "are other enumerations"),
    ("c in place; where[c] == N", "the indices are {ann, bob}"),
    ("count(where, bob) == 1", "are other enumerations"),
    ("p in person; all_different([where[ann], p])", "are other enumerations"),
    ("table([where[ann]], [[ann]])", "are other enumerations"),
    ("regular(where, [[0, N, 0], [0, bob, 0]], 0, [0])", "are other enumerations"),
    ("if_then_else(where[ann] == N, N, bob) == N", "are other enumerations"),
    ("where[ann] + 1 == 2", "'where[ann]' is one of {N, S, E}, and a number is needed here"),
    ("2 * S == 2", "'S' is one of {N, S, E}, and a number"),
    ("-where[ann] < 0", "a number is needed here"),
    ("where[ann] ** 2 == 1", "a number is needed here"),
    ("sum(q for q in place) == 3", "'N' is one of {N, S, E}"),
    ("max(where) == 1", "a number is needed here"),
    ("abs(where[bob]) == 1", "a number is needed here"),
    ("minimize where[bob] + where[ann]", "a number is needed here"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_uses_without_meaning_are_refused(line: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        Model.from_text(HEAD + line, filename="m.constrint")
    assert message in str(caught.value)
    assert str(caught.value).startswith("m.constrint:4:")


def test_words_from_data_and_parameters() -> None:
    text = "enum item\nparam home[item] in item\nx in item\nx == home[b]\ny in 0..9\ny == len(item)"
    model = Model.from_text(text, constants={"item": ["a", "b"], "home": {"a": "b", "b": "a"}})
    assert model.solve().values == {"x": "a", "y": 2}
