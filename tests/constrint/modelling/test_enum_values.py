"""Enumerations as arguments of constraints: the same solutions as labels have in Python, by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import constrint as ci

PEOPLE, PLACES = ("ann", "bob", "eve"), ("N", "S", "E")
Build = Callable[[ci.Model, Any, Any, Any], Any]
Truth = Callable[[dict[str, str], str, int], bool]


def order(*labels: str) -> list[int]:
    return [PLACES.index(label) for label in labels]


def accepted(word: tuple[str, ...]) -> bool:
    state = "a"
    for letter in word:
        moves = {("a", "N"): "b", ("b", "S"): "a", ("a", "E"): "a"}
        if (state, letter) not in moves:
            return False
        state = moves[state, letter]
    return True


def precedes(word: list[str]) -> bool:
    return "S" not in word or ("N" in word and word.index("N") < word.index("S"))


ROWS: list[tuple[str, str, int]] = [("N", "S", 1), ("E", "S", 0), ("E", "E", 1)]
CASES: dict[str, tuple[Build, Truth]] = {
    "all_different": (lambda m, w, c, x: ci.all_different(w), lambda w, c, x: len({*w.values()}) == 3),
    "all_different, listed": (
        lambda m, w, c, x: ci.all_different(w["ann"], c),
        lambda w, c, x: w["ann"] != c,
    ),
    "all_different_except": (
        lambda m, w, c, x: ci.all_different_except(w, "N"),
        lambda w, c, x: len({*w.values()} - {"N"}) == sum(one != "N" for one in w.values()),
    ),
    "count": (lambda m, w, c, x: ci.count(w, "S") == x, lambda w, c, x: [*w.values()].count("S") == x),
    "count, variable": (
        lambda m, w, c, x: ci.count((w[p] for p in PEOPLE), c) == x,
        lambda w, c, x: [*w.values()].count(c) == x,
    ),
    "among": (
        lambda m, w, c, x: ci.among(w, ["N", "E"]) == x,
        lambda w, c, x: sum(one in "NE" for one in w.values()) == x,
    ),
    "nvalue": (lambda m, w, c, x: ci.nvalue(w) == x, lambda w, c, x: len({*w.values()}) == x),
    "global_cardinality": (
        lambda m, w, c, x: ci.global_cardinality(w, {"E": x, "N": 1}),
        lambda w, c, x: [*w.values()].count("E") == x and [*w.values()].count("N") == 1,
    ),
    "global_cardinality, closed": (
        lambda m, w, c, x: ci.global_cardinality(w, {"E": x, "S": 2}, closed=True),
        lambda w, c, x: sorted(w.values()) == sorted("E" * x + "SS"),
    ),
    "table": (
        lambda m, w, c, x: ci.table([w["ann"], c, x], ROWS),
        lambda w, c, x: (w["ann"], c, x) in ROWS,
    ),
    "table, gaps": (
        lambda m, w, c, x: ~ci.table([w["ann"], c, x], [("N", "*", 1), (None, "S", 0)]),
        lambda w, c, x: not ((w["ann"] == "N" and x == 1) or (c == "S" and x == 0)),
    ),
    "table of numpy": (
        lambda m, w, c, x: ci.table([w["ann"], c], np.array([["N", "S"], ["E", "N"]])),
        lambda w, c, x: (w["ann"], c) in [("N", "S"), ("E", "N")],
    ),
    "element by an enumeration": (
        lambda m, w, c, x: ci.element([2, 0, 1], c) == x,
        lambda w, c, x: {"N": 2, "S": 0, "E": 1}[c] == x,
    ),
    "element of enumerations": (
        lambda m, w, c, x: ci.element([w["ann"], w["bob"], "E", c], x) == "N",
        lambda w, c, x: [w["ann"], w["bob"], "E", c][x] == "N",
    ),
    "element of labels": (
        lambda m, w, c, x: ci.element(["E", "N", "N", "S"], x) == c,
        lambda w, c, x: ["E", "N", "N", "S"][x] == c,
    ),
    "element_2d": (
        lambda m, w, c, x: ci.element_2d([[0, 1, 2], [1, 2, 0], [2, 0, 1]], c, w["bob"]) == x,
        lambda w, c, x: (PLACES.index(c) + PLACES.index(w["bob"])) % 3 == x,
    ),
    "array by an expression": (
        lambda m, w, c, x: w[x] == c,
        lambda w, c, x: x < 3 and w[PEOPLE[x]] == c,
    ),
    "array by an enumeration": (
        lambda m, w, c, x: ci.array([3, 1, 2])[c] == x,
        lambda w, c, x: [3, 1, 2][PLACES.index(c)] == x,
    ),
    "map": (
        lambda m, w, c, x: c.map({"N": x, "S": 1, "E": 2 * x}) == 2,
        lambda w, c, x: {"N": x, "S": 1, "E": 2 * x}[c] == 2,
    ),
    "regular": (
        lambda m, w, c, x: ci.regular(w, [("a", "N", "b"), ("b", "S", "a"), ("a", "E", "a")], "a"),
        lambda w, c, x: accepted(tuple(w.values())),
    ),
    "cost_regular": (
        lambda m, w, c, x: ci.cost_regular(
            w, {("a", "N"): ("b", 1), ("b", "S"): ("a", 0), ("a", "E"): ("a", 0)}, "a", None, x
        ),
        lambda w, c, x: accepted(tuple(w.values())) and [*w.values()].count("N") == x,
    ),
    "lex_less": (
        lambda m, w, c, x: ci.lex_less([w["ann"], w["bob"]], [c, w["eve"]]),
        lambda w, c, x: order(w["ann"], w["bob"]) < order(c, w["eve"]),
    ),
    "increasing": (
        lambda m, w, c, x: ci.increasing(w),
        lambda w, c, x: order(*w.values()) == sorted(order(*w.values())),
    ),
    "value_precede": (
        lambda m, w, c, x: ci.value_precede(["N", "S"], w),
        lambda w, c, x: precedes([*w.values()]),
    ),
    "if_then_else": (
        lambda m, w, c, x: ci.if_then_else(x > 1, "N", w["bob"]) == c,
        lambda w, c, x: ("N" if x > 1 else w["bob"]) == c,
    ),
    "member": (lambda m, w, c, x: ci.member(c, ["E", "N"]), lambda w, c, x: c in ("E", "N")),
    "array == label": (
        lambda m, w, c, x: (w == "E").sum() == x,
        lambda w, c, x: [*w.values()].count("E") == x,
    ),
    "array != enumeration": (lambda m, w, c, x: w != c, lambda w, c, x: c not in w.values()),
    "label order": (lambda m, w, c, x: w < "E", lambda w, c, x: "E" not in w.values()),
    "bin_packing": (
        lambda m, w, c, x: ci.bin_packing(w, [1, 1, 2], [x, m.int_var("l", 0, 4), 4 - x - m.variables["l"]]),
        lambda w, c, x: sum({"ann": 1, "bob": 1, "eve": 2}[p] for p in PEOPLE if w[p] == "N") == x,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_labels_mean_what_they_mean_in_python(case: str) -> None:
    build, truth = CASES[case]
    m = ci.Model()
    w, c = m.enum_vars("where", PEOPLE, PLACES), m.enum_var("c", PLACES)
    x = m.int_var("x", 0, 3)
    m.add(build(m, w, c, x))
    found = {(*[one[f"where[{p}]"] for p in PEOPLE], one["c"], one["x"]) for one in m.iter_solutions()}
    assert found == {
        (*places, at, number)
        for places in itertools.product(PLACES, repeat=3)
        for at in PLACES
        for number in range(4)
        if truth(dict(zip(PEOPLE, places, strict=True)), at, number)
    }
    listed = m.solutions()
    assert {(*[one[f"where[{p}]"] for p in PEOPLE], one["c"], one["x"]) for one in listed} == found


def test_enumerations_with_other_lists_of_values_share_constraints() -> None:
    lists = [("N", "S"), ("S", "E", "N"), ("E", "W")]
    m = ci.Model()
    v = [m.enum_var(f"v{i}", one) for i, one in enumerate(lists)]
    m.add(ci.all_different(v), ci.count(v, "N") == 1)
    points = itertools.product(*lists)
    expected = {one for one in points if len({*one}) == 3 and one.count("N") == 1}
    assert {tuple(one.values.values()) for one in m.iter_solutions()} == expected


@pytest.mark.parametrize("tasks", [("t", "u", "v"), ("v", "t", "u")])
def test_inverse_and_circuit_by_labels(tasks: tuple[str, ...]) -> None:
    m = ci.Model()
    task, who = m.enum_vars("task", PEOPLE, tasks), m.enum_vars("who", ("t", "u", "v"), PEOPLE)
    m.add(ci.inverse(task, who))
    assert m.count() == 6
    for one in m.iter_solutions():
        assert all(one[who[one[task[person]]]] == person for person in PEOPLE)
    m = ci.Model()
    after = m.enum_vars("after", PEOPLE, PEOPLE[::-1])
    m.add(ci.circuit(after))
    assert m.count() == 2
    for one in m.iter_solutions():
        assert one[after[one[after[one[after["ann"]]]]]] == "ann"
        assert one[after["ann"]] != "ann"


WRONG: dict[str, tuple[Build, str]] = {
    "arithmetic": (lambda m, w, c, x: c + 1, r"'c' is an enumeration.*write \.map\(\{'N': 3"),
    "arithmetic, turned": (lambda m, w, c, x: x + c, "'c' is an enumeration.*index"),
    "a fraction": (lambda m, w, c, x: 0.5 * c, "'c' is an enumeration"),
    "sum": (lambda m, w, c, x: sum(w), "'where.ann.' is an enumeration"),
    "sum_": (lambda m, w, c, x: ci.sum_(w), "'where.ann.' is an enumeration"),
    "array.sum": (lambda m, w, c, x: w.sum(), "'where.ann.' is an enumeration"),
    "max_": (lambda m, w, c, x: ci.max_(w), "'where.ann.' is an enumeration"),
    "a goal": (lambda m, w, c, x: m.solve(minimize=c), "'c' is an enumeration"),
    "a start": (lambda m, w, c, x: ci.cumulative([c], [1], [1], 1), "'c' is an enumeration"),
    "a number": (lambda m, w, c, x: c == x, "'c' has values such as 'N', and `x` is a number"),
    "a number, turned": (lambda m, w, c, x: x == c, "'c' is an enumeration"),
    "a list of both": (lambda m, w, c, x: ci.all_different([c, x]), "`x` is a number"),
    "another label": (lambda m, w, c, x: c == "north", "'c' has no value 'north'; it has: 'N', 'S', 'E'"),
    "count": (lambda m, w, c, x: ci.count(w, "north"), "no value 'north'"),
    "table": (lambda m, w, c, x: ci.table([c, x], [("north", 1)]), "no value 'north'"),
    "regular": (lambda m, w, c, x: ci.regular(w, [("a", "north", "b")], "a"), "no value 'north'"),
    "order": (lambda m, w, c, x: ci.lex_less([c], [m.enum_var("d", ["SN"])]), "'c' and 'd' have other"),
    "few elements": (lambda m, w, c, x: ci.element([1, 2], c), "3 values, and selects one of 2 elements"),
    "a dict": (lambda m, w, c, x: ci.element({"N": 3}, c), r"write index\.map"),
    "another axis": (lambda m, w, c, x: w[c], "'c' has the value 'N', and the axis has no such label"),
    "a condition": (lambda m, w, c, x: bool(c), "'c' has no value while the model is built"),
    "inverse": (lambda m, w, c, x: ci.inverse(w, m.enum_vars("p", ["N", "S", "W"], PEOPLE)), "no such label"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_uses_without_meaning_are_refused(case: str) -> None:
    build, message = WRONG[case]
    m = ci.Model()
    w, c = m.enum_vars("where", PEOPLE, PLACES), m.enum_var("c", PLACES)
    x = m.int_var("x", 0, 3)
    with pytest.raises(ci.ModelError, match=message):
        build(m, w, c, x)


def test_constraints_show_labels() -> None:
    m = ci.Model()
    w, c, x = (
        m.enum_vars("where", PEOPLE, [*PLACES, "far off"]),
        m.enum_var("c", PLACES),
        m.int_var("x", 0, 3),
    )
    shown = {
        "c == N": c == "N",
        "where[ann] != 'far off'": w["ann"] != "far off",
        "c in {N, E}": c.is_in(["E", "N"]),
        "count([where[ann], where[bob], where[eve]], S) == x": ci.count(w, "S") == x,
        "table([c, x], [[N, 1], [E, 0]])": ci.table([c, x], [("E", 0), ("N", 1)]),
        "short_table([c, x], [[N, _]])": ci.table([c, x], [("N", None)]),
        "regular([c], [[0, S, 0]], 0, [0])": ci.regular([c], [("a", "S", "a")], "a"),
        "[where[ann], where[bob], where[eve]][x] == S": w[x] == "S",
        "[where[ann], S][x] == S": ci.element([w["ann"], "S"], x) == "S",
    }  # fmt: skip
    assert [*shown] == [str(one) for one in shown.values()]
    m.add(c == "N", c == "S", name="both")
    assert "both: c == N" in repr(m.conflicts()[0].constraints)
    assert "c in {N, S, E}" in str(m)
    assert "c == N" in m.to_text()


def test_enumerations_in_answers() -> None:
    m = ci.Model()
    w, c = m.enum_vars("where", PEOPLE, PLACES), m.enum_var("c", PLACES)
    m.add(ci.all_different(w), w["ann"] == c)
    m.hint({w: {"ann": "S"}, c: "S"})
    assert m.hints == {"where[ann]": 1, "c": 1}
    result = m.solve(assumptions=[w["bob"] == "N", c != "E"])
    assert result[w].tolist() == ["S", "N", "E"]
    assert w.values(result) == {"ann": "S", "bob": "N", "eve": "E"}
    assert result[w["bob"]] == result["where[bob]"] == "N"
    s = m.solutions()
    assert s.size == 6
    assert {tuple(one.values()) for one in s.project([w["bob"], c])} == {
        (b, a) for b in PLACES for a in PLACES if a != b
    }
    assert s.given(**{"where[ann]": "S", "c": {"S", "N"}}).size == 2
    assert set(s.to_pandas()["where[eve]"]) == set(PLACES)
    assert [one.values for one in m.iter_solutions(variables=w, limit=1)]
    handle = m.block({"where[ann]": "N", "where[bob]": "S", "where[eve]": "E", "c": "N"})
    assert m.count() == 5
    assert "c != N" in repr(handle)
    again = ci.Model.from_json(m.to_json())
    assert again.solve().values == m.solve().values


def test_enumerations_in_lets_groups_and_costs() -> None:
    m = ci.Model()
    w, c = m.enum_vars("where", PEOPLE, PLACES), m.enum_var("c", PLACES)
    who = m.enum_var("who", PEOPLE)
    home = m.let("home", w[who])
    m.let("far", ci.if_then_else(c == "E", "yes", "no"))
    m.add(home == "S", who == "bob", c > "S")
    result = m.solve(branching=ci.Brancher(groups=(ci.Group([*w, c], values="max"),)))
    assert (result["home"], result[home], result["far"], result["where[bob]"]) == ("S", "S", "yes", "S")
    assert result["where[ann]"] == "E"
    s = m.solutions()
    cost, best = s.minimum({w["ann"]: {"N": 3, "S": 1, "E": 2}, "where[eve]": {"N": 3, "S": 4, "E": 2}})
    assert (cost, best["where[ann]"], best["where[eve]"]) == (3, "S", "E")
    assert s.value_counts(w["ann"]) == dict.fromkeys(PLACES, 3)
    assert s.values_of(c) == ["E"]
    again = ci.Model.from_json(m.to_json()).solve()
    assert again["far"] in ("yes", 0)
