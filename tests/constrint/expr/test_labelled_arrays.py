"""Arrays with labels: numpy's arrays whose indices may be names."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import pytest

import constrint as ci

PEOPLE, DAYS = ["ann", "bob", "eve"], ["mon", "tue"]


class Color(enum.Enum):
    RED = "r"
    GREEN = "g"


def names(part: Any) -> Any:
    return part.name if hasattr(part, "name") else [names(one) for one in part]


def test_elements_have_the_names_of_labels() -> None:
    m = ci.Model()
    assert names(m.int_vars("w", PEOPLE, 0, 3)) == ["w[ann]", "w[bob]", "w[eve]"]
    assert [one for row in names(m.bool_vars("b", (DAYS, 2))) for one in row] == [
        "b[mon,0]", "b[mon,1]", "b[tue,0]", "b[tue,1]",
    ]  # fmt: skip
    assert names(m.int_vars("c", Color, 0, 3)) == ["c[RED]", "c[GREEN]"]
    assert names(m.int_vars("d", dict.fromkeys(DAYS), 0, 3)) == ["d[mon]", "d[tue]"]
    assert m.int_vars("e", [2, 3], 0, 1).shape == (2, 3)
    assert names(m.int_vars("f", (["x"], ("y", "z")), 0, 1)) == [["f[x,y]", "f[x,z]"]]


def test_parts_by_labels_and_numbers() -> None:
    m = ci.Model()
    w, g = m.int_vars("w", PEOPLE, 0, 3), m.int_vars("g", (PEOPLE, DAYS, 2), 0, 1)
    assert w["bob"] is w[1] is w[-2]
    assert names(w[["eve", "ann"]]) == ["w[eve]", "w[ann]"]
    assert w[["eve", "ann"]]["ann"] is w[0]
    assert w[1:]["eve"] is w[2]
    assert g["ann", "tue", 1] is g["ann"]["tue"][1] is g[..., 1]["ann", "tue"] is g[0, 1, 1]
    assert g[:, "mon"]["eve", 0] is g[2, 0, 0]
    assert names(g["ann", ["tue", "mon"], 0]) == ["g[ann,tue,0]", "g[ann,mon,0]"]
    assert g.T[1, "tue", "bob"] is g[1, 1, 1]


def test_operators_and_sums_keep_labels() -> None:
    m = ci.Model()
    w, v = m.int_vars("w", PEOPLE, 0, 3), m.int_vars("v", PEOPLE, 0, 3)
    g = m.int_vars("g", (PEOPLE, DAYS), 0, 1)
    assert str((2 * w + v)["bob"]) == "2 * w[bob] + v[bob]"
    assert str((w <= [1, 2, 3])["eve"]) == "w[eve] <= 3"
    assert str((~(w > v))["ann"]) == "not w[ann] > v[ann]"
    assert str(g.sum(axis=0)["tue"]) == "g[ann,tue] + g[bob,tue] + g[eve,tue]"
    assert str(g.sum(axis=-1)["bob"]) == "g[bob,mon] + g[bob,tue]"
    assert str(w.is_in([1, 2])["ann"]) == "w[ann] in 1..2"
    with pytest.raises(ci.ModelError, match="two arrays with other labels"):
        w + m.int_vars("u", PEOPLE[::-1], 0, 3)


def test_an_enumeration_selects_by_its_value() -> None:
    m = ci.Model()
    w = m.int_vars("w", PEOPLE, 0, 3)
    g = m.int_vars("g", (DAYS, PEOPLE), 0, 1)
    who = m.enum_var("who", ["eve", "ann"])
    m.add(w == [0, 1, 2], w[who] == 2)
    assert m.solve()[who] == "eve"
    m.add(g["tue", who] == 1, g[:, who].sum() == 1)
    for one in m.iter_solutions():
        assert (one["g[tue,eve]"], one["g[mon,eve]"]) == (1, 0)
    assert m.count() == 2**4


def test_values_by_label() -> None:
    m = ci.Model()
    w, g = m.int_vars("w", PEOPLE, 0, 3), m.int_vars("g", (DAYS, 2), 1, 1)
    m.add(w == [3, 0, 1])
    result = m.solve()
    assert w.values(result) == {"ann": 3, "bob": 0, "eve": 1}
    assert g.values(result) == {"mon": [1, 1], "tue": [1, 1]}
    assert result[w].tolist() == [3, 0, 1]
    m.hint({w: {"bob": 2}, g: {"tue": [1, 1]}})
    assert m.hints == {"w[bob]": 2, "g[tue,0]": 1, "g[tue,1]": 1}


WRONG: dict[str, tuple[Callable[[ci.Model, Any], object], str]] = {
    "unknown": (lambda m, w: w["joe"], "the array has no label 'joe'; it has: 'ann', 'bob', 'eve'"),
    "no labels": (lambda m, w: m.int_vars("x", (PEOPLE, 2), 0, 1)["ann", "mon"], "axis 1 .* has no labels"),
    "slice": (lambda m, w: w["ann":"bob"], "a slice has numbers, not 'ann'"),
    "set": (lambda m, w: m.int_vars("x", {"a", "b"}, 0, 1), "the set .* has none: give a list"),
    "numbers": (lambda m, w: m.int_vars("x", ["a", 3], 0, 1), "not numbers such as 3"),
    "twice": (lambda m, w: m.bool_vars("x", ["a", "a"]), "'a' twice"),
    "one text": (lambda m, w: m.bool_vars("x", ["None", None]), "the text 'None' twice"),
    "a string": (lambda m, w: m.bool_vars("x", "ann"), r"a shape is a length or labels.*\['ann'\]"),
    "a generator": (lambda m, w: m.bool_vars("x", (one for one in PEOPLE)), r"write list\(…\)"),
    "several names": (lambda m, w: m.int_vars(PEOPLE, 0, 3), "an array has one name"),  # type: ignore[call-overload]
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes(case: str) -> None:
    build, message = WRONG[case]
    m = ci.Model()
    with pytest.raises(ci.ModelError, match=message):
        build(m, m.int_vars("w", PEOPLE, 0, 3))
