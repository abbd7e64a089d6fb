"""Models, results, fronts and conflicts as text and in notebooks; results as mappings."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import constrint as ci
from constrint import BoolVar, IntVar, Model, ModelError


def tiling() -> tuple[Model, IntVar, IntVar, BoolVar]:
    m = Model("tiling")
    x, y, b = m.int_var("x", 0, 9), m.int_var("y", values=[1, 2, 4]), m.bool_var("b")
    m.let("area", x * y)
    m.add(x + y <= 7, name="few")
    m.add(b.implies(x >= 3))
    m.add(x != 5, name="lucky")
    m.disable("lucky")
    m.maximize(x * y)
    return m, x, y, b


def test_a_model_is_printed_line_by_line() -> None:
    m, *_ = tiling()
    assert str(m).splitlines() == [
        "Model('tiling': 3 variables, 2 constraints)",
        "  x in 0..9",
        "  y in {1, 2, 4}",
        "  b bool",
        "  area := x * y",
        "  few: x + y <= 7",
        "  b -> x >= 3",
        "  off: lucky: x != 5",
        "  maximize x * y",
    ]
    assert str(m.constraints) == "[few: x + y <= 7, b -> x >= 3]"
    html = m._repr_html_()
    for text in ("few: x + y &lt;= 7", "b -&gt; x &gt;= 3", "off", "lucky: x != 5", "maximize"):
        assert text in html


def test_a_large_model_is_printed_in_part() -> None:
    m = Model()
    x = m.int_vars("x", 5000, 0, 9)
    m.add(x <= 3, sum(x) <= 9)
    text = str(m)
    assert len(text) < 5_000
    assert "… 4,950 more" in text
    assert len(m._repr_html_()) < 30_000
    r = m.solve(time_limit=60)
    assert len(repr(r)) < 2_000
    assert "… 4970 more" in repr(r)
    assert len(r._repr_html_()) < 10_000


def test_a_result_is_a_mapping() -> None:
    m, x, y, b = tiling()
    r = m.solve()
    assert isinstance(r, Mapping)
    assert (list(r), len(r), set(r.keys())) == (["x", "y", "b", "area"], 4, {"x", "y", "b", "area"})
    assert dict(r) == dict(r.items()) == r.to_dict() == r.values == {**r}
    assert list(r.values()) == list(r.values.values()) == [r[name] for name in r]
    assert "x" in r
    assert x in r
    assert x * y + b in r
    assert "z" not in r
    assert 3 not in r
    assert (r.get("z"), r.get("z", 7), r.get(x + 1)) == (None, 7, r["x"] + 1)
    assert r.objective == r["area"] == r[x * y] == 12
    assert pickle.loads(pickle.dumps(r)).values == r.values  # noqa: S301


def test_what_is_no_value_is_an_error_that_names_it() -> None:
    m, x, _, _ = tiling()
    r = m.solve()
    foreign, again = Model().int_var("foreign", 0, 1), Model().int_var("x", 0, 9)
    with pytest.raises(ModelError, match="no value for 'foreign': it is a variable of another model"):
        r[foreign]
    with pytest.raises(ModelError, match="no value for 'foreign'"):
        r[x + 2 * foreign]
    with pytest.raises(ModelError, match="'x' is a variable of another model with the same name"):
        r[again]
    assert foreign not in r
    assert again not in r
    late = m.int_var("late", 0, 1)
    with pytest.raises(ModelError, match="or was declared later"):
        r[late]
    with pytest.raises(ModelError, match="no variable or let is named 'z'; there are: x, y, b, area"):
        r["z"]
    with pytest.raises(ModelError, match="3 names no value"):
        r[3]  # type: ignore[call-overload]
    none = m.solve(assumptions=[x > 9])
    assert (len(none), list(none), "x" in none, x in none) == (0, [], False, False)
    with pytest.raises(ModelError, match="there are no values: the status is infeasible"):
        none[x]


def test_a_result_is_short() -> None:
    m, x, _, _ = tiling()
    assert repr(m.solve()) == "Result(optimal, objective=12, values={'x': 3, 'y': 4, 'b': 0, 'area': 12})"
    assert repr(m.solve(maximize=[x, x])).startswith("Result(optimal, objective=(6, 6), values={'x': 6")
    m.add(x > 9, name="more")
    assert repr(m.solve()) == "Result(infeasible)"
    assert repr(m.explain()) == str(m.explain())
    assert "more: x > 9" in repr(m.explain())


def test_a_result_shows_arrays_as_grids() -> None:
    m = Model()
    g, v, n = m.int_vars("g", (2, 3), 4, 4), m.int_vars("v", 2, 5, 5), m.int_var("n", 1, 1)
    m.add(g >= 0, v >= 0, n >= 0)
    html = m.solve()._repr_html_()
    assert "<p>g</p><table><tr><td>4</td><td>4</td><td>4</td></tr><tr>" in html
    assert "<p>v</p><table><tr><td>5</td><td>5</td></tr></table>" in html
    assert "<td>n</td><td>1</td>" in html


def test_a_front_is_a_table() -> None:
    m, x, y, _ = tiling()
    front = m.pareto([(x, "max"), (y, "max")])
    assert repr(front) == "Front(3 optima of max x, max y: (6, 1), (5, 2), (3, 4))"
    assert "<th>max x</th><th>max y</th><th>x</th>" in front._repr_html_()
    assert "<td>5</td><td>2</td>" in front._repr_html_()


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda x, y, b: x + 2 * y <= 3, r"x + 2 y \le 3"),
        (lambda x, y, b: (x + 1) // y == x**2, r"\left\lfloor \frac{x + 1}{y} \right\rfloor = {x}^{2}"),
        (lambda x, y, b: (x + 1) * (y - 1) >= 0, r"\left(x + 1\right) \cdot \left(y - 1\right) \ge 0"),
        (lambda x, y, b: x % 3 != abs(y), r"x \bmod 3 \neq \left|y\right|"),
        (lambda x, y, b: b & (x > 1) | ~b, r"\mathit{big\_one} \land x > 1 \lor \lnot \mathit{big\_one}"),
        (lambda x, y, b: x.is_in([1, 3, 5]), r"x \in \{1, 3, 5\}"),
        (lambda x, y, b: ~x.is_in([1, 2, 4]), r"x \notin \{1, 2, 4\}"),
        (lambda x, y, b: x.is_in(range(5)), r"x \in \{0 \ldots 4\}"),
        (lambda x, y, b: ci.table([x, y], [(1, 2)]), r"(x, y) \in \{(1, 2)\}"),
        (lambda x, y, b: ci.all_different(x, y), r"\operatorname{all\_different}(x, y)"),
        (
            lambda x, y, b: ci.if_then_else(b, 1, x),
            r"\begin{cases}1 & \text{if } \mathit{big\_one} \\ x & \text{otherwise}\end{cases}",
        ),
        (lambda x, y, b: x - 3 * (x * y), r"x - 3 x \cdot y"),
        (lambda x, y, b: 3 * (x % y), r"3 \left(x \bmod y\right)"),
        (lambda x, y, b: ci.all_of([]), r"\top"),
    ],
)  # fmt: skip
def test_expressions_in_notebooks(build: Callable[..., Any], text: str) -> None:
    m = Model()
    shown = build(m.int_var("x", 0, 9), m.int_var("y", 1, 9), m.bool_var("big_one"))._repr_latex_()
    assert shown == f"${text}$"


def test_names_of_elements_are_indexed_in_latex() -> None:
    m = Model()
    x = m.int_vars("x", (2, 2), 0, 9)
    assert (x[0, 1] + m.int_var("k3", 0, 1))._repr_latex_() == "$x_{0,1} + k_{3}$"
    assert m.int_var("50% & more", 0, 1)._repr_latex_() == r"$\mathit{50\% \& more}$"
    assert len(sum(m.int_vars("z", 5000, 0, 9))._repr_latex_()) < 200  # type: ignore[attr-defined]


def test_every_function_has_latex() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 1, 9)
    for function in ci.expr.FUNCTIONS.values():
        operands = (
            [x > 1, x, y][: function.fewest]
            if function.conditions
            else [x, y, x, y][: max(function.fewest, 1)]
        )
        if function.name not in ("element", "selection"):
            assert len(function.of(tuple(operands))._repr_latex_()) > 3
    assert ci.element([1, 2], x)._repr_latex_() == "$[1, 2]_{x}$"


def test_intervals_and_solutions_on_demand_have_a_display() -> None:
    m = ci.Model()
    task = m.interval("task", size=2, end=(0, 9), optional=True, breaks=[(3, 5)])
    assert "Interval('task', start=task.start, size=2" in repr(task)
    assert "presence=task.present, breaks=[(3, 5)])" in repr(task)
    html = task._repr_html_()
    assert "interval task" in html
    assert "3 to 5" in html
    found = m.iter_solutions(limit=2)
    assert repr(found) == "Solutions(0 given; `next`, `for` and `list` find more)"
    next(found)
    assert "1 given" in found._repr_html_()
    small = ci.Model()
    small.int_var("x", 0, 2)
    every = small.iter_solutions()
    assert len(list(every)) == 3
    assert repr(every) == "Solutions(3 given; these are all)"
    color = m.enum_var("color", ["red", "a<b"])
    assert repr(color) == "color in {'red', 'a<b'}"
    assert "a&lt;b" in color._repr_html_()
