"""Names of other solvers, and arguments in their order, are answered with constrint's form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import constrint
from constrint import Model, ModelError, ParseError
from constrint.support.arguments import OTHER_NAMES
from constrint.support.other_names import unknown_in_expression

m = Model()
x, y = m.int_var("x", 0, 3), m.int_var("y", 0, 3)
b = m.bool_var("b")
z = m.int_vars("z", 3, 0, 2)
color = m.enum_var("color", ["red", "green"])
EXPRESSIONS: list[Any] = [x, b, x + y, x <= 3, z, color, 0.5 * x, b & (x == 1), constrint.count(z, 1)]


@pytest.mark.parametrize("name", OTHER_NAMES.split())
def test_each_name_is_answered_or_has_a_meaning(name: str) -> None:
    answered = 0
    for one in EXPRESSIONS:
        if hasattr(one, name):
            continue
        with pytest.raises(AttributeError) as caught:
            getattr(one, name)
        assert str(caught.value) == unknown_in_expression(type(one).__name__, name)
        assert name not in dir(one)
        answered += 1
    assert answered


@pytest.mark.parametrize("name", ["shape", "nonsense", "__array_interface__"])
def test_other_attributes_are_missing_as_usual(name: str) -> None:
    assert not hasattr(x + y, name)
    assert not hasattr(x, name)


@pytest.mark.parametrize("name", [name for name in dir(constrint) if name[0].islower()])
def test_functions_of_the_package_asked_of_a_model(name: str) -> None:
    if hasattr(m, name):
        return
    with pytest.raises(AttributeError, match=r"In constrint: (m\.add\()?\w+\("):
        getattr(m, name)


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "count": (lambda: constrint.count(3, [x, y]), "count takes the list first: write count([…], 3)"),  # type: ignore[arg-type]
    "count of an array": (lambda: constrint.count(x, z), "count takes the list first"),  # type: ignore[arg-type]
    "count of an enumeration": (lambda: constrint.count(color, [color]), "count takes the list first"),  # type: ignore[arg-type]
    "count of several": (lambda: constrint.count(z, [1, 2]), "among(values, [1, 2])"),  # type: ignore[arg-type]
    "element": (lambda: constrint.element(x, [1, 2]), "element takes the list first: write element([…], x)"),  # type: ignore[call-overload]
    "arcs": (lambda: constrint.circuit([(0, 1), (1, 0)]), "arcs with literals, not (0, 1)"),  # type: ignore[arg-type]
    "an arc": (lambda: constrint.circuit([(0, 1, b), (1, 0)]), "arcs with literals, not (1, 0)"),  # type: ignore[arg-type]
    "transitions": (lambda: constrint.regular(z, 1, 2), "transitions are a list of (state, value, next"),  # type: ignore[arg-type]
    "gcc": (lambda: constrint.global_cardinality(z, [0, 1], [1]), "has 2 values, but 1 counts"),
    "gcc twice": (lambda: constrint.global_cardinality(z, [0, 0], [1, 1]), "has a value twice"),
    "gcc both": (lambda: constrint.global_cardinality(z, {0: 1}, [1]), "or two lists, not both"),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_in_the_form_of_others(name: str) -> None:
    call, message = CALLS[name]
    with pytest.raises(ModelError) as caught:
        call()
    assert message in str(caught.value)


def test_global_cardinality_takes_two_lists() -> None:
    model = Model()
    xs, many = model.int_vars("x", 3, 0, 2), model.int_var("many", 0, 3)
    model.add(constrint.global_cardinality(xs, [0, 2], [1, many]), many == 2)
    assert model.count() == 3


TEXTS = {
    "enum c := red, green": "enum colour := {red, green}",
    "enum c = {red, green}": "enum colour := {red, green}",
    "enum c {red, green}": "enum colour := {red, green}",
    "x in 0:3": "a range is written x in 0..3",
    "x in (0, 3)": "a set x in {0, 3}",
    "max x": "did you mean 'maximize'",
    "x in 0..3; y in 0..3; count(3, [x, y]) == 1": "count takes the list first",
    "x in 0..3; y in 0..3; count(x, [x, y]) == 1": "write count([x, y], x)",
    "x in 0..3; y in 0..3; circuit([[0, 1], [1, 0]])": "takes the successor of each node",
    "x in 0..3; element([1, 2], x) == 2": "an element of a list is written [3, 5, 7][k]",
    "x in 0..3; at_most(1, [x], 2)": "a count is compared",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_in_the_form_of_others(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        Model.from_text(text)
    assert TEXTS[text] in str(caught.value)


RANGES = {
    "x in b..c": ["b", "c"],
    "x in {a, b..c}": ["a", "b", "c"],
    "w[b..c] in 0..0; x in letter; x in b..c": ["b", "c"],
    "x in letter; exists(x == i for i in b..c)": ["b", "c"],
    "x in letter; x in [b..c]": ["b", "c"],
    "later := {b..c}; x in later": ["b", "c"],
}


@pytest.mark.parametrize("text", RANGES)
def test_ranges_of_members_of_enumerations(text: str) -> None:
    model = Model.from_text(f"enum letter := {{a, b, c, d}}\n{text}")
    assert sorted(result["x"] for result in model.iter_solutions()) == RANGES[text]


def test_arrays_over_some_members_have_their_words() -> None:
    text = "enum letter := {a, b, c, d}\nsome := {b, d}\nx[b..c] in 0..1\ny[some] in 0..1\n"
    text += "x[b] + y[d] == 2\nsum(x[i] for i in b..c) == 1\nforall(y[i] == 1 for i in some)"
    model = Model.from_text(text)
    result = model.solve()
    assert result.values == {"x[b]": 1, "x[c]": 0, "y[b]": 1, "y[d]": 1}
    with pytest.raises(ParseError, match=r"the indices are \{a, b\}"):
        Model.from_text("enum c := {a, b}\nenum d := {e, f}\nx[a..b] in 0..1\nx[e] == 1")


KEYWORDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "lb": (lambda model: model.int_var("a", lb=0, ub=3), "int_var() got .* 'lb'. Did you mean 'lo'"),
    "upper": (lambda model: model.int_vars("a", 3, 0, upper=3), "Did you mean 'hi'"),
    "domain": (lambda model: model.int_var("a", domain=[1, 2]), "Did you mean 'values'"),
    "duration": (lambda model: model.interval("a", duration=3), "interval() .* Did you mean 'size'"),
    "is_optional": (lambda model: model.interval("a", size=3, is_optional=True), "Did you mean 'optional'"),
    "length": (lambda model: model.bool_vars("a", length=3), "Did you mean 'shape'"),
    "options": (lambda model: model.enum_var("a", options=["x", "y"]), "Did you mean 'values'"),
    "max_time_in_seconds": (lambda model: model.solve(max_time_in_seconds=3), "Did you mean 'time_limit'"),
    "num_workers": (lambda model: model.solve(num_workers=3), "Did you mean 'workers'"),
    "minimise": (lambda model: model.solve(minimise=3), "Did you mean 'minimize'"),
    "penalty": (lambda model: model.soften("a", penalty=3), "Did you mean 'weight'"),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords_of_others(name: str) -> None:
    call, message = KEYWORDS[name]
    pattern = message.replace("()", r"\(\)")
    with pytest.raises(TypeError, match=pattern):
        call(Model())


def test_labels_that_are_numbers_get_a_dictionary() -> None:
    with pytest.raises(ModelError, match=r"a dictionary, \{i: m\.int_var"):
        Model().int_vars("cut", (2, [30, 49, 52]), 0, 6)
    assert Model().int_vars("cut", [2, 3], 0, 6).shape == (2, 3)


def test_arguments_without_their_names() -> None:
    model: Any = Model()
    xs = model.int_vars("x", 2, 0, 3)
    with pytest.raises(TypeError, match=r"solutions\(\) takes 0 arguments without a name.*time_limit="):
        model.solutions([xs[0]])
    with pytest.raises(TypeError, match=r"a function of the package: m\.add\(count\("):
        model.count(xs, 1)
    with pytest.raises(TypeError, match=r"int_var\(\) takes 3 arguments without a name, not 4: .*step="):
        model.int_var("y", 0, 9, 3)
