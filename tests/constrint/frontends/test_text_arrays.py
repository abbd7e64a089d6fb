"""Arrays, comprehensions, functions, enumerations and lists of the text language."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from constrint import LimitExceeded, Limits, Model, ModelError, ParseError


def solutions(text: str, names: list[str], **options: Any) -> set[tuple[int, ...]]:
    model = Model.from_text(text, **options)
    return {tuple(found.values[name] for name in names) for found in model.iter_solutions()}


def holds(text: str) -> bool:
    """Whether a condition without variables holds."""
    return Model.from_text(text).constraints[-1].expr.evaluate({})


def value(text: str) -> int:
    return Model.from_text(f"v := {text}").lets["v"].evaluate({})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sum(i * i for i in 1..4)", 30),
        ("sum(i for i in 1..9 if i % 2 == 0 if i > 4)", 14),
        ("sum(i * j for i in 1..3 for j in i..3)", 1 + 2 + 3 + 4 + 6 + 9),
        ("sum(i for i in 1..0)", 0),
        ("sum()", 0),
        ("product(i for i in 1..5)", 120),
        ("product()", 1),
        ("sum([1, 2, 3])", 6),
        ("sum(1, 2, 3)", 6),
        ("sum(1..4)", 10),
        ("max(i % 5 for i in 3..9)", 4),
        ("min([3, 1, 2])", 1),
        ("gcd(i * 6 for i in 2..3)", 6),
        ("sum(a * b for a, b in [[1, 2], [3, 4]])", 14),
        ("sum(i == 2 for i in [1, 2, 2])", 2),
        ("len({1, 2, 2})", 2),
        ("sum(sum(j for j in 0..1 for i in i..i) for i in 0..1)", 2),
        ("len([i for i in 1..3 for j in 1..3])", 9),
        ("len(1..10)", 10),
        ("sum({i // 2 for i in 1..5})", 3),
        ("[i * i for i in 0..4][3]", 9),
        ("[[1, 2], [3, 4]][1, 0]", 3),
        ("[[1, 2], [3, 4]][1][0]", 3),
        ("[1..3, 7][3]", 7),
        ("sum(max(j for j in 1..i) for i in 1..4)", 10),
        ("nvalue([i % 3 for i in 1..9])", 3),
        ("count([i % 3 for i in 1..9], 0)", 3),
        ("sum(sum(row) for row in [[1, 2], [3]])", 6),
    ],
)
def test_values(text: str, expected: int) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("forall(i > 0 for i in 1..4)", True),
        ("not forall(i > 1 for i in 1..4)", True),
        ("exists(i > 3 for i in 1..4)", True),
        ("exists(i > 4 for i in 1..4)", False),
        ("exists()", False),
        ("b := forall(false for i in {}); b", True),
        ("forall(1 < 2, 2 < 3)", True),
        ("exists([1 > 2, 2 < 3])", True),
        ("all_different(i * i for i in -2..1)", False),
        ("all_different([i * i for i in 0..3])", True),
        ("all_different([1, 2, 3], bounds)", True),
        ("3 in {i * i for i in 1..4}", False),
        ("4 in {i * i for i in 1..4}", True),
        ("4 in [i * i for i in 1..4]", True),
        ("s := 1..; 3 in s", True),
        ("forall(i in s for i in 1..2) and true; s := 1..2", None),
        ("table([1, 2], [[i, i + 1] for i in 1..3])", True),
        ("table([2, 2], [[i, i + 1] for i in 1..3])", False),
        ("x[i in 1..3] := i * i; x[2] == 4 and x[3] == 9", True),
        ("x[i in 1..3, j in {2, 5}] := i * j; sum(x) == 42 and x[2, 5] == 10", True),
        ("x[1..3] := [4, 5, 6]; x[1] == 4", True),
        ("x[1..3] := [4, 5, 6]; sum(x[2..3]) == 11 and sum(x[{1, 3}]) == 10 and sum(x[..]) == 15", True),
        ("x[-1..1] := [4, 5, 6]; x[-1] == 4", True),
        ("x[1..2, 1..2] := [[1, 2], [3, 4]]; sum(x[2, ..]) == 7 and sum(x[.., 2]) == 6", True),
        ("x[1..2, 1..2] := [[1, 2], [3, 4]]; sum(x[2]) == 7 and x[2][1] == 3 and len(x) == 2", True),
        ("x[1..2, 1..2] := [[1, 2], [3, 4]]; sum(sum(row) * 10 for row in x) == 100", True),
        ("f(a, b) := a * b; f(2, 3) == 6", True),
        ("f(a) := a + 1; g(a) := f(f(a)); g(1) == 3", True),
        ("f(s) := sum(i for i in s); f([1, 2]) == 3 and f(1..3) == 6", True),
        ("f(n) := [i for i in 1..n]; sum(f(4)) == 10 and f(4)[2] == 3", True),
        ("f() := 7; f() == 7", True),
        ("enum c := {red, green}; green == 1 and sum(i == red for i in c) == 1 and len(c) == 2", True),
        ("enum c := {red, green}; x[c] := [5, 6]; x[green] == 6", True),
        ("n := 2; n == 2 and sum(n for n in 4..5) == 9", True),
        ("n := 2; f(a) := a + n; sum(f(n) for n in 4..5) == 13", True),
    ],
)
def test_conditions(text: str, expected: bool) -> None:
    if expected is None:
        with pytest.raises(ParseError):
            holds(text)
    else:
        assert holds(text) is expected


def test_latin_square() -> None:
    text = """
        n := 3
        x[1..n, 1..n] in 1..n
        rows: forall(all_different(x[i, ..]) for i in 1..n)
        forall(all_different(x[i, j] for i in 1..n) for j in 1..n)
    """
    model = Model.from_text(text)
    assert model.count() == 12
    assert list(model.variables)[:4] == ["x[1,1]", "x[1,2]", "x[1,3]", "x[2,1]"]
    assert [one.name for one in model.constraints] == [
        "rows[1]",
        "rows[2]",
        "rows[3]",
        "j = 1",
        "j = 2",
        "j = 3",
    ]


def test_declarations() -> None:
    model = Model.from_text(
        "x[i in 1..3] in 0..i; b[{2, 5}] bool; y[1..2], z in 4..5; enum e := {p, q}; w[e, 0..1] in e"
    )
    assert [(v.domain.lo, v.domain.hi) for v in model.variables.values()][:3] == [(0, 1), (0, 2), (0, 3)]
    assert [*model.variables][3:] == [
        "b[2]", "b[5]", "y[1]", "y[2]", "z", "w[p,0]", "w[p,1]", "w[q,0]", "w[q,1]",
    ]  # fmt: skip
    again = Model.from_text(model.to_text())
    assert again.to_text() == model.to_text()
    assert again.count() == model.count() == 2 * 3 * 4 * 4 * 8 * 16


def test_definitions_have_values_in_answers() -> None:
    found = Model.from_text(
        "x[1..3] in 1..3; d[i in 1..2] := x[i + 1] - x[i]; x[1] == 1; d[1] == 2; d[2] == -1"
    ).solve()
    assert (found.values["d[1]"], found.values["d[2]"]) == (2, -1)


# ---------------------------------------------------------------- variable indices


def element_cases() -> Any:
    """Arrays, how they are indexed, and what Python's dictionaries say."""
    shapes = {
        "0..2": range(3),
        "1..3": range(1, 4),
        "-1..1": range(-1, 2),
        "{1, 2, 5}": [1, 2, 5],
        "{0, 20000}": [0, 20000],
        "2..6 step 2": [2, 4, 6],
    }
    return shapes.items()


@pytest.mark.parametrize(("written", "members"), element_cases())
@pytest.mark.parametrize("is_constant", [False, True])
def test_variable_index_in_one_axis(written: str, members: range, is_constant: bool) -> None:
    values = {member: 10 + 3 * place for place, member in enumerate(members)}
    fixed = "\n".join(f"x[{member}] == {value}" for member, value in values.items())
    head = (
        f"x[{written}] in 0..50\n{fixed}" if not is_constant else f"x[{written}] := {list(values.values())}"
    )
    near = sorted({-2, 0, 1, 2, 3, 4, 5, 6, 7, *members, 19999, 20000})
    indices = "{" + ", ".join(map(str, near)) + "}"
    found = solutions(f"{head}\ni in {indices}\ny in -60..60\ny == x[i]", ["i", "y"])
    assert found == set(values.items())
    found = solutions(f"{head}\ni in {indices}\ny in -60..60\nnot (x[i] >= 0)\ny == 0", ["i"])
    assert found == {(index,) for index in near if index not in values}


@pytest.mark.parametrize("axes", [("1..2", "0..2"), ("{1, 4}", "1..3"), ("-1..0", "{3, 7, 8}")])
def test_variable_indices_in_two_axes(axes: tuple[str, ...]) -> None:
    members = [sorted(Model.from_text(f"a in {axis}").variables["a"].domain) for axis in axes]
    values = {place: 5 + number for number, place in enumerate(itertools.product(*members))}
    lists = [[values[i, j] for j in members[1]] for i in members[0]]
    near = range(-2, 10)
    for head in (
        f"x[{axes[0]}, {axes[1]}] := {lists}",
        f"x[{axes[0]}, {axes[1]}] in 0..50\n"
        + "\n".join(f"x[{i}, {j}] == {v}" for (i, j), v in values.items()),
    ):
        found = solutions(f"{head}\ni, j in -2..9\nx[i, j] > 0", ["i", "j"])
        assert found == set(values)
        found = solutions(f"{head}\ni, j in -2..9\ny in 0..50\ny == x[i, j]", ["i", "j", "y"])
        assert found == {(*place, value) for place, value in values.items()}
        found = solutions(f"{head}\ni, j in -2..9\nx[i, j] > 0 or i == -2", ["i", "j"])
        assert found == set(values) | {(-2, j) for j in near}
        one = members[0][1]
        found = solutions(f"{head}\nj in -2..9\ny in 0..50\ny == x[{one}, j]", ["j", "y"])
        assert found == {(j, values[one, j]) for j in members[1]}


def test_constant_index_outside_is_undefined() -> None:
    assert holds("x[1..3] := [4, 5, 6]; not (x[4] == 6)")
    assert holds("x[1..3] := [4, 5, 6]; forall(i == 1 or x[i - 1] < x[i] for i in 1..3)")
    assert not holds("x[1..2, 1..3] := [[1, 2, 3], [4, 5, 6]]; x[1, 4] == 4")
    assert holds("x[1..3] := [4, 5, 6]; if_then_else(1 < 2, 3, x[0]) == 3")
    assert Model.from_text("x[1..3] in 4..6; i in 0..9; x[0] == 4 or i == 2").count() == 27


def test_conditions_by_variable_index() -> None:
    found = solutions("b[1..3] bool; i in 0..5; b[1] == false; b[2]; not b[3]; b[i]", ["i"])
    assert found == {(2,)}


def test_entries_of_named_lists_are_taken_alone_by_a_constant() -> None:
    assert solutions("x in 0..1; d := [x, 1 // x]; d[0] == 0", ["x"]) == {(0,)}
    assert solutions("x in 0..1; [x, 1 // x][0] == 0", ["x"]) == set()


# ---------------------------------------------------------------- mistakes

MISTAKES = [
    ("sum(i for i in 1..)", 16, "finite set", "1..9"),
    ("sum(i for i in 9)", 16, "'9' is a number", "1..9"),
    (
        "sum(i for i in 1..3 if x[i] > 1) == 2",
        24,
        "'x[1]' is a variable; a filter must be a constant",
        "before 'for'",
    ),
    ("sum(y for i in 1..3) == 2", 5, "'y' is not declared, where i = 1", "declare it first"),
    ("sum(y for i in 1..0) == 0", 5, "'y' is not declared", ""),
    ("sum(a for a, b in [1, 2]) == 2", 11, "2 names for a number", "for j in"),
    ("sum(a for a, b in [[1, 2, 3]]) == 2", 11, "2 names for a sequence of 3", ""),
    ("sum(i for i in 1..3, j in 1..2) == 0", 20, "',' cannot stand here", "for"),
    ("x == 3", 1, "'x' is an array, not a number", "sum(x)"),
    ("x[1, 2] == 3", 6, "2 indices for 'x', which has 1", ""),
    ("x[1..4] in 2..3", 1, "'x[1..4]' is an array", ""),
    ("y[1..] in 0..3", 3, "needs both bounds", "1..9"),
    ("y[1..10 ** 30] in 0..3", 3, "too long for an array", ""),
    ("y[3] in 0..3", 3, "'3' is a number, not an index set", "1..3"),
    ("x[1..2] bool", 1, "'x' is declared already", ""),
    ("y[1..2] := [1, 2, 3]", 12, "y needs 2 values, not 3", ""),
    ("y[1..2, 1..2] := [1, 2, 3, 4]", 18, "y needs 2 × 2 values, not 4", ""),
    ("y[i in 1..2, 1..2] := i", 1, "either every index has a name or none", "i in …"),
    ("f(a) := a + zz", 13, "'zz' is not declared", ""),
    ("f(a) := f(a - 1) + 1", 9, "'f' calls itself", "comprehension"),
    ("f(a) := g(a); g(a) := f(a)", 9, "no function 'g'", ""),
    ("f(a, a) := a", 1, "each parameter needs a name of its own", ""),
    ("f(1) := 3", 3, "a parameter is a name", "f(a, b)"),
    ("max(a) := a", 1, "'max' is a function of the language", ""),
    ("f(a) := a == 1; f(1, 2)", 17, "f takes 1 argument (a), not 2", ""),
    ("f(a) := a[1]; f(3) == 1", 9, "'a' is not a sequence, where a = 3, called from <text>:2:15", ""),
    ("enum c := {red, 3}", 17, "a member of an enumeration is a name", "red"),
    ("enum c := {red, x}", 17, "'x' is declared already", ""),
    ("enum c", 6, "enumeration 'c' has no members", ":="),
    ("param n", 7, "parameter 'n' has no value", "-D n=5"),
    ("param n := x[1]", 12, "'x[1]' is a variable; a parameter is a constant", ""),
    ("param n in 1..3 := 5", 7, "5 is not a value of n", ""),
    ('include "other.constrint"', 9, "no file", "--include"),
    ("forall(i for i in 1..3)", 8, "a number, not a constraint, where i = 1", "== 0"),
    ("exists(i for i in 1..3)", 8, "has numbers, not conditions", "!= 0"),
    ("summ(i for i in 1..3) == 1", 1, "no function 'summ'", "'sum'"),
    ("min(i for i in 1..0) == 1", 1, "min of no values", "at least 1"),
    ("for i in 1..3: x[i] > 1", 1, "a loop stands in a function", "forall(… for i in 1..9)"),
    ("late(1) == 2; late(a) := a", 1, "no function 'late'", ""),
]


@pytest.mark.parametrize(("text", "column", "message", "hint"), MISTAKES)
def test_a_mistake_is_named_with_its_place(text: str, column: int, message: str, hint: str) -> None:
    with pytest.raises(ParseError) as caught:
        Model.from_text("x[1..3] in 1..4\n" + text)
    error = caught.value
    assert message in error.message
    assert hint in error.hint
    assert (error.line, error.column) == (2, column)


DOUBLING = "; ".join([f"f{i}(a) := f{i - 1}(f{i - 1}(a))" for i in range(1, 60)])
DEEP = "g(a) := f(f(f(f(a)))); h(a) := g(g(g(g(a)))); k(a) := h(h(h(h(a))))"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("forall(i > 0 for i in 1..10 ** 12)", "nodes"),
        ("forall(i > 0 for i in 1..10 ** 4 for j in 1..10 ** 4)", "nodes"),
        ("forall(i > 0 for i in 1..10 ** 4 for j in 1..10 ** 4 if false)", "nodes"),
        ("x[1..10 ** 12] in 0..1", "variables"),
        ("x[1..10 ** 6, 1..10 ** 6] bool", "variables"),
        ("x[i in 1..10 ** 6, j in 1..10 ** 6] := 0", "values"),
        ("x := [i for i in 1..10 ** 9]", "nodes"),
        (f"f0(a) := a + a; {DOUBLING}; f59(1) == 1", "nodes"),
        (f"x bool; f(a) := a * a + 1; {DEEP}; k(k(k(k(x)))) == 1", "depth"),
        ("s := [1, 2]; " + "forall(" * 30 + "true" + " for i in s)" * 30, "nodes"),
    ],
)  # fmt: skip
def test_limits_hold_through_expansion(text: str, name: str) -> None:
    limits = Limits(nodes=20_000)
    with pytest.raises(LimitExceeded) as caught:
        Model.from_text(text, limits=limits)
    assert caught.value.name == name
    assert caught.value.where.startswith("<text>:1:")


def test_time_limit_holds_through_expansion() -> None:
    with pytest.raises(Exception, match="time limit"):
        Model.from_text(
            "forall(i > 0 for i in 1..10 ** 12 if false)", limits=Limits(nodes=None), time_limit=0.05
        )


def test_reserved_words_stay_names_in_backquotes() -> None:
    assert solutions("`for`, `if`, `param` in 1..1; `for` + `if` == 2", ["for", "if"]) == {(1, 1)}


def test_elements_of_models_without_arrays_are_found_by_name() -> None:
    model = Model.from_text("`x[1]` in 1..3; `x[a,2]` in 1..3; x[1] == 2; x[a, 2] == 3")
    assert model.solve().values == {"x[1]": 2, "x[a,2]": 3}


def test_two_meanings_of_one_name_are_refused() -> None:
    with pytest.raises((ParseError, ModelError), match="declared already"):
        Model.from_text("`x[1]` in 1..3; x[1..3] in 1..3")
