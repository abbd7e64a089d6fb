"""The text language: the models that texts build, and the text of every model."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from random_models import draw_model

from constrint import IntVar, Model, ModelError, ParseError

EXAMPLE = """
# tiling.constrint: a newline or ';' ends a constraint
bm in 16..256 step 16
bn in {16, 32, 64, 128}
k in 1..                        # no upper bound
big bool
accumulators: bm * bn <= 16384
32 divides bm * bn; k == bm * bn // 32
big -> bn >= 32 or k == 8
t in -8..24; not (t * t == 4) and abs(t - 3) != max(t, 2)
maximize bm * bn
"""


def holding(model: Model) -> list[tuple[int, ...]]:
    """The solutions by enumeration, through the definition of every expression."""
    found = []
    variables = list(model.variables.values())
    for values in itertools.product(*[variable.domain for variable in variables]):
        assignment = dict(zip(variables, values, strict=True))
        if all(constraint.expr.evaluate(assignment) for constraint in model.constraints):
            found.append(values)
    return found


def test_the_example_of_the_manual() -> None:
    model = Model.from_text(EXAMPLE, filename="tiling.constrint")
    assert model.name == "tiling"
    assert {name: str(variable.domain) for name, variable in model.variables.items()} == {
        "bm": "16..256 step 16",
        "bn": "{16, 32, 64, 128}",
        "k": "1..",
        "big": "0..1",
        "t": "-8..24",
    }
    assert [constraint.name for constraint in model.constraints] == ["accumulators", None, None, None, None]
    assert model.goals[0][1] == "max"
    place = model.constraints[2].position
    assert place is not None
    assert (place.file, place.line, place.column) == ("tiling.constrint", 8, 21)
    assert place is not None
    assert place.text == "k == bm * bn // 32"


@pytest.mark.parametrize(
    ("declaration", "domain"),
    [
        ("x in 1..5", "1..5"),
        ("x in 1..", "1.."),
        ("x in ..5", "..5"),
        ("x in ..", ".."),
        ("x in -8..-3", "-8..-3"),
        ("x in 0..100 step 7", "0..98 step 7"),
        ("x in ..100 step 5", "..100 step 5"),
        ("x in {3, 1, 3}", "1..3 step 2"),
        ("x in {1, 4..6, 20..30 step 5}", "{1, 4, 5, 6, 20, 25, 30}"),
        ("x in {}", "{}"),
        ("x in 5..1", "{}"),
        ("x in tiles", "{8, 16, 64}"),
        ("x in [5, 6, 9]", "{5, 6, 9}"),
        ("x in 2 * n..2 ** 3 * n", "8..32"),
        ("m := n + 1; x in 0..m", "0..5"),
        ("small := {1, 2, 7}; x in small", "{1, 2, 7}"),
        ("cost := [3, 5, 9]; x in 0..cost[1]", "0..5"),
        ("x in 10 ** 30..", f"{10**30}.."),
    ],
)
def test_domains(declaration: Any, domain: str) -> None:
    offered = {"n": 4, "tiles": [8, 64, 16]}
    words = re.findall(r"\w+", declaration)
    model = Model.from_text(declaration, constants={name: offered[name] for name in offered if name in words})  # type: ignore[misc]
    assert str(model.variables["x"].domain) == domain


def test_one_declaration_for_several_variables() -> None:
    model = Model.from_text("x, y, `z z` in 1..3; p, q bool")
    assert list(model.variables) == ["x", "y", "z z", "p", "q"]
    assert str(model.variables["z z"].domain) == "1..3"


def test_the_first_mention_declares_and_the_second_constrains() -> None:
    model = Model.from_text("x in 1..9; x in {2, 4, 11}; x not in {4}")
    assert str(model.variables["x"].domain) == "1..9"
    assert holding(model) == [(2,)]


def test_membership_of_a_constant_is_a_check() -> None:
    assert holding(Model.from_text("x in 1..2; n in 1..8", constants={"n": 9})) == []
    assert holding(Model.from_text("x in 1..2; n in 1..8", constants={"n": 8})) == [(1,), (2,)]


def test_sequences_are_indexed_from_zero_and_strictly() -> None:
    model = Model.from_text("k in -3..5; cost[k] >= 5", constants={"cost": (3, 5, 7)})
    assert holding(model) == [(1,), (2,)]


def test_named_expressions_are_no_variables() -> None:
    model = Model.from_text("warps in 1..4; threads := 32 * warps; threads >= 64; double := 2 * threads")
    assert list(model.variables) == ["warps"]
    assert list(model.lets) == ["threads", "double"]
    assert holding(model) == [(2,), (3,), (4,)]


def test_goals_are_lexicographic_in_the_order_of_the_text() -> None:
    model = Model.from_text("x, y in 1..9; maximize x * y; minimize x; prefer x max, -y + 1 min")
    assert [direction for _, direction in model.goals] == ["max", "min"]
    assert [direction for _, direction in model.preferences] == ["max", "min"]
    assert isinstance(model.goals[1][0], IntVar)


def test_lines_go_on_inside_brackets_and_after_a_backslash() -> None:
    model = Model.from_text("x in {1,\n  2, # two\n\n 3}\n(x +\n 1) == \\\n 3\n")
    assert holding(model) == [(2,)]
    assert model.constraints[0].position.line == 5  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing", ";;\n;", "\ufeff# mark", "\r\n# windows\r\n"])
def test_empty_texts(text: str) -> None:
    model = Model.from_text(text)
    assert not model.variables
    assert not model.constraints


def test_windows_line_ends_and_tabs() -> None:
    model = Model.from_text("x in 1..4\r\n\tx\t>= 3\r\n")
    assert holding(model) == [(3,), (4,)]
    assert model.constraints[0].position.line == 2  # type: ignore[union-attr]


def test_conditions_count_as_numbers() -> None:
    assert holding(Model.from_text("x in 0..3; b bool; 2 * (x > 1) + b == 3")) == [(2, 1), (3, 1)]


def test_numbers_beyond_machine_words() -> None:
    model = Model.from_text(f"x in 0..1; x + 2 ** 100 == {2**100 + 1}")
    assert holding(model) == [(1,)]


def test_unknown_dialects_are_named() -> None:
    with pytest.raises(ModelError, match="no dialect 'minizinc'"):
        Model.from_text("", dialect="minizinc")


@pytest.mark.parametrize("value", [1j, "64", None, [1, None]])
def test_constants_must_be_numbers(value: Any) -> None:
    with pytest.raises(ModelError, match="'n' must be a number or a sequence of numbers"):
        Model.from_text("", constants={"n": value})


def test_from_file(tmp_path: Path) -> None:
    path = tmp_path / "small.constrint"
    path.write_text("x in 1..tiles[1]\nx > 3\n", encoding="utf-8")
    model = Model.from_file(path, constants={"tiles": [2, 5]})
    assert model.name == "small"
    assert holding(model) == [(4,), (5,)]
    path.write_text("x in 1..2\nx = 1\n", encoding="utf-8")
    with pytest.raises(ParseError, match=r"small\.constrint:2:3"):
        Model.from_file(path)


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize(
    "text",
    [
        "x in 1..4\ny in {1, 3, 4}\nb bool\n",
        "x in ..\nx in 1..5\nx not in {3}\n",
        "x in 1..4\n-x - 2 * x + 3 <= -(x // 2) + ceildiv(x, 3)\n",
        "x in 1..4\n(x % 4) * x == 2 * (x % 4) + x // 2 // 2\n",
        "x in 1..4\n2 * x * x == (x + 1) * (x - 1) * x\n",
        "x in 1..4\n(-x) ** 2 + x ** -x == (x + 1) ** x - 2\n",
        "b bool\nc bool\n(b -> c) -> (b <-> c) and not (b or c)\n",
        "b bool\nc bool\nb -> c -> b <-> c <-> b\n",
        "b bool\nx in 1..3\n+b == (x > 2) and x in {1, 3} and 2 divides x + 1\n",
        "x in 0..2\n[3, -5, 7][x] > min(x, 2) + max(1, abs(x - 3), gcd(x, 4), lcm(2, x))\n",
        "x in 1..3\ns := x * x\nt := s + 1\ns <= t\nmaximize s\nminimize x\nprefer x max, s + x min\n",
        "`a b` in 1..3\n`in` bool\nmin in 1..2\n`my label`: `a b` == min\n",
        "true\nfalse\n0 == 0\n",
    ],
)
def test_canonical_text_is_kept(text: str) -> None:
    assert Model.from_text(text).to_text() == text


def test_every_node_of_the_python_interface_can_be_written() -> None:
    text = Model.from_text(EXAMPLE).to_text()
    assert Model.from_text(text).to_text() == text
    assert "accumulators: bm * bn <= 16384" in text


@pytest.mark.parametrize("block", range(4))
def test_random_models_survive_the_round_trip(block: int) -> None:
    """Text, operators and brute force agree, and writing what was read changes nothing."""
    for seed in range(100 * block, 100 * block + 100):
        drawn = draw_model(seed, max_assignments=60)
        read, built = Model.from_text(drawn.text()), drawn.build()
        expected = sorted(tuple(solution.values()) for solution in drawn.solutions())
        for model in (read, built):
            text = model.to_text()
            again = Model.from_text(text)
            assert again.to_text() == text
            assert sorted(holding(model)) == expected, drawn.text()
            assert sorted(holding(again)) == expected, text


def test_names_that_cannot_be_written_are_refused() -> None:
    model = Model()
    model.int_var("back`quote", 0, 1)
    with pytest.raises(ModelError, match="cannot be written"):
        model.to_text()


def test_a_text_read_again_takes_the_new_constants_and_complains_again() -> None:
    text = "x in 0..n; x >= 2"
    assert [Model.from_text(text, constants={"n": n}).count() for n in (5, 3, 5)] == [4, 2, 4]
    for _ in range(2):
        with pytest.raises(ParseError, match="1:11"):
            Model.from_text("x in 0..9 9")
