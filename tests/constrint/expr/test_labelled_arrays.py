"""Arrays with labels: numpy's arrays whose indices may be names."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
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


def test_a_range_from_0_is_a_length() -> None:
    m = ci.Model()
    assert names(m.int_vars("x", range(3), 0, 1)) == ["x[0]", "x[1]", "x[2]"]
    assert names(m.int_vars("y", np.arange(2), 0, 1)) == ["y[0]", "y[1]"]
    assert m.bool_vars("b", (range(2), PEOPLE, 4)).shape == (2, 3, 4)
    assert m.enum_vars("e", range(2), DAYS).shape == (2,)


WRONG: dict[str, tuple[Callable[[ci.Model, Any], object], str]] = {
    "unknown": (lambda m, w: w["joe"], "the array has no label 'joe'; it has: 'ann', 'bob', 'eve'"),
    "no labels": (lambda m, w: m.int_vars("x", (PEOPLE, 2), 0, 1)["ann", "mon"], "axis 1 .* has no labels"),
    "slice": (lambda m, w: w["ann":"bob"], "a slice has numbers, not 'ann'"),
    "set": (lambda m, w: m.int_vars("x", {"a", "b"}, 0, 1), "the set .* has none: give a list"),
    "a range from 3": (
        lambda m, w: m.int_vars("x", range(3, 6), 0, 1),
        r"count from 0.* length, 3, or .* in range\(3, 6\)}",
    ),
    "a range of odd numbers": (
        lambda m, w: m.bool_vars("x", (2, range(1, 6, 2))),
        r"range\(1, 6, 2\) does not index 'x'",
    ),
    "a numpy array": (lambda m, w: m.int_vars("x", np.array([3, 4]), 0, 1), r"\[3, 4\] does not index 'x'"),
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


# ------------------------------------------------------------ labels of pandas

SERIES = {"ann": 1, "bob": 2, "eve": 3}
BESIDE: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda w, s: w + s,
    "+, turned": lambda w, s: s + w,
    "-": lambda w, s: s - w,
    "*": lambda w, s: w * s,
    "//": lambda w, s: w // s,
    "%": lambda w, s: w % s,
    "**": lambda w, s: w**s,
    "<<": lambda w, s: w << s,
    "&": lambda w, s: w & s,
    "<=": lambda w, s: w <= s,
    "<=, turned": lambda w, s: s <= w,
    "==": lambda w, s: w == s,
    "implies": lambda w, s: (w > 1).implies(s == 2),
    "@": lambda w, s: w @ s,
    "np.dot": lambda w, s: np.dot(w, s),
    "np.add": lambda w, s: np.add(w, s),
    "np.maximum": lambda w, s: np.maximum(s, w),
    "np.where": lambda w, s: np.where(w > 1, w, s),
    "np.where, the condition": lambda w, s: np.where(w > 1, s, 0),
    "np.clip": lambda w, s: np.clip(w, 0, s),
    "array": lambda w, s: ci.array(s)["eve"] + w[0],
    "bin_packing": lambda w, s: ci.bin_packing(w, s, [3, 3, 3, 3]),
    "knapsack": lambda w, s: ci.knapsack(w, s, s, 3, 3),
    "no_overlap": lambda w, s: ci.no_overlap(w, s),
    "cumulative": lambda w, s: ci.cumulative(w, [1, 1, 1], s, 3),
    "lex_less": lambda w, s: ci.lex_less(w, s),
}


@pytest.mark.parametrize("form", BESIDE)
@pytest.mark.parametrize("order", list(itertools.permutations(SERIES)))
def test_a_series_goes_by_the_labels_of_an_array(form: str, order: tuple[str, ...]) -> None:
    pd = pytest.importorskip("pandas")
    w = ci.Model().int_vars("w", list(SERIES), 0, 3)
    turned = pd.Series({name: SERIES[name] for name in order})
    assert repr(BESIDE[form](w, turned)) == repr(BESIDE[form](w, pd.Series(SERIES)))


@pytest.mark.parametrize("form", [form for form in BESIDE if form != "array"])
def test_rows_in_another_order_than_their_numbers_are_refused(form: str) -> None:
    pd = pytest.importorskip("pandas")
    w = ci.Model().int_vars("w", 3, 0, 3)
    sorted_by_value = pd.Series([3, 1, 2]).sort_values()
    with pytest.raises(ci.ModelError, match=r"write series.to_numpy\(\) to take them by their places"):
        BESIDE[form](w, sorted_by_value)
    BESIDE[form](w, pd.Series([1, 2, 3], index=[4, 7, 9]))


def test_products_that_pandas_makes() -> None:
    pd = pytest.importorskip("pandas")
    w, g = ci.Model().int_vars("w", PEOPLE, 0, 3), ci.Model().int_vars("g", (PEOPLE, DAYS), 0, 3)
    series = pd.Series(SERIES)
    turned = series[::-1]
    assert repr(series @ w) == repr(w @ series)
    assert repr(list(series @ g)) == repr(list(g.T @ turned))
    products: list[Callable[[], object]] = [
        lambda: turned @ w,
        lambda: turned.dot(g),
        lambda: pd.DataFrame([turned]) @ w,
    ]
    for product in products:
        with pytest.raises(ci.ModelError, match=r"write array\(series\) @ x"):
            product()


def test_labels_of_a_frame() -> None:
    pd = pytest.importorskip("pandas")
    m = ci.Model()
    g = m.int_vars("g", (PEOPLE, DAYS), 0, 9)
    frame = pd.DataFrame({"mon": [1, 2, 3], "tue": [4, 5, 6]}, index=PEOPLE)
    wanted = repr(g * frame)
    assert repr(g * frame.loc[["eve", "ann", "bob"], ["tue", "mon"]]) == wanted
    assert repr(frame.iloc[::-1] * g) == wanted
    assert repr(g * frame.loc["bob"].iloc[::-1]) == repr(g * [2, 5])
    assert repr(g @ pd.Series({"tue": 2, "mon": 1})) == repr(g @ [1, 2])
    with pytest.raises(ci.ModelError, match="two arrays with other labels"):
        g + m.int_vars("d", DAYS[::-1], 0, 3)
    rows = pd.DataFrame({"eve": [3], "bob": [2], "ann": [1]})
    w, x, y = m.int_vars("w", PEOPLE, 0, 9), m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    assert repr(ci.table(w, rows)) == repr(ci.table(w, [(1, 2, 3)]))
    assert repr(ci.table([x, y], pd.DataFrame({"y": [1], "x": [2]}))) == repr(ci.table([x, y], [(2, 1)]))
    assert repr(ci.table([x, y], pd.DataFrame({"p": [1], "q": [2]}))) == repr(ci.table([x, y], [(1, 2)]))


def test_an_enumeration_selects_from_a_series_by_its_label() -> None:
    pd = pytest.importorskip("pandas")
    m = ci.Model()
    who = m.enum_var("who", PEOPLE)
    day = m.enum_var("day", DAYS)
    costs = pd.Series({"eve": 3, "ann": 1, "bob": 2})
    frame = pd.DataFrame({"tue": [4, 5, 6], "mon": [1, 2, 3]}, index=["eve", "bob", "ann"])
    m.add(who == "ann", day == "tue")
    r = m.solve()
    assert r[ci.element(costs, who)] == r[ci.array(costs)[who]] == 1
    assert r[ci.element_2d(frame, who, day)] == r[ci.array(frame)[who, day]] == 6


def test_a_series_of_other_labels_is_refused() -> None:
    pd = pytest.importorskip("pandas")
    m = ci.Model()
    w = m.int_vars("w", PEOPLE, 0, 3)
    with pytest.raises(ci.ModelError, match="the array has the labels 'ann', 'bob', 'eve', and the series"):
        w * pd.Series([1, 2, 3], index=["ann", "bob", "joe"])
    with pytest.raises(ci.ModelError, match="go by places"):
        w * pd.Series([1, 2, 3], index=["ann", "bob", "ann"])
    c = m.int_vars("c", Color, 0, 3)
    assert repr(c * pd.Series({"GREEN": 2, "RED": 1})) == repr(c * [1, 2])
    m.hint({w: pd.Series({"eve": 3, "ann": 1, "bob": 2})})
    assert m.hints == {"w[ann]": 1, "w[bob]": 2, "w[eve]": 3}
