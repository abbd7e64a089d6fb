"""sympy relations as models, and models as sympy relations."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sympy as sp
from random_models import draw_model
from sympy.core.add import Add
from sympy.core.relational import Relational

from constrint import Model, ModelError, Status, element, gcd_, if_then_else, lcm_, sum_, table

LIMIT = 20.0
x, y, z = sp.symbols("x y z", integer=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
b, c = sp.symbols("b c")
gcd = sp.Function("gcd")


def solutions(model: Model, most: int = 4) -> set[tuple[int, ...]]:
    """All solutions with integers from -most to most."""
    for name, variable in model.variables.items():
        if not hasattr(variable, "implies"):
            model.add(variable >= -most, variable <= most, name=f"box {name}")
    names = list(model.variables)
    return {tuple(r[name] for name in names) for r in model.iter_solutions(time_limit=LIMIT)}


def by_sympy(relation: sp.Basic, symbols: list[sp.Symbol], most: int = 4) -> set[tuple[int, ...]]:
    """The same by substitution, as sympy itself evaluates."""
    found = set()
    for values in itertools.product(range(-most, most + 1), repeat=len(symbols)):
        if relation.subs(dict(zip(symbols, values, strict=True))) == sp.true:
            found.add(values)
    return found


@pytest.mark.parametrize(
    "relation",
    [
        sp.Eq(x + 2 * y, 3),
        sp.Ne(x, y),
        sp.Lt(x, y) & sp.Gt(x**2, 3),
        (x <= 2) | (y >= 3),
        sp.Eq(sp.Mod(x, 3), 1),
        sp.Eq(sp.Mod(-x, 3), y),
        sp.Eq(sp.Mod(x, -3), y),
        sp.Eq(sp.floor(x / 2), y),
        sp.Eq(sp.ceiling(x / 2), y),
        sp.Eq(sp.floor((x + y) / 3 + sp.Rational(1, 2)), x - 1),
        sp.Eq(sp.ceiling((2 * x + 1) / 3), y),
        sp.Eq(x / 2, y),
        sp.Le(x / 2 + y / 3, sp.Rational(5, 7)),
        sp.Gt(x * (x + 1) / 2, y),
        sp.Eq(sp.Abs(x) + sp.Abs(y), 3),
        sp.Eq(sp.Min(x, y, 2), sp.Max(x - y, 1)),
        sp.Eq(sp.sign(x), y),
        sp.Xor(x > 0, y > 0, x > y),
        sp.Implies(x > 0, sp.Eq(y, x)),
        sp.Equivalent(x > 0, y > 1, x + y > 2),
        sp.ITE(x > 0, y > 1, y < -1),
        ~sp.And(x > 0, y > 0),
        sp.Nand(x > 0, y > 0),
        sp.Nor(x > 0, y > 0),
        sp.Eq(sp.Piecewise((x, x > y), (y + 1, x < 0), (7, True)), 2),
        sp.Eq(2 ** sp.Abs(x), y**2),
        sp.Contains(x, sp.FiniteSet(1, 3, y)),
        sp.Contains(x, sp.Range(-3, 4, 2)) & sp.Contains(y, sp.Range(1, sp.oo)),
        sp.Contains(x, sp.Interval.open(-2, 2)) & sp.Contains(y, sp.Interval(sp.Rational(1, 2), 9)),
        sp.Contains(x, sp.Union(sp.Range(0, 2), sp.FiniteSet(-4))) & sp.Eq(y, x),
        sp.Contains(x, sp.S.Naturals) & sp.Contains(y, sp.S.Naturals0),
        sp.Eq((x > 0), (y > 0)),
        sp.Ne((x > 0), (y > 0)),
    ],
    ids=str,
)
def test_relations_mean_what_sympy_says(relation: Relational) -> None:
    model = Model.from_sympy([relation])
    symbols = [sp.Symbol(name, integer=True) for name in model.variables]
    expected = by_sympy(relation, symbols)
    assert solutions(model) == expected
    assert expected


def test_conditions_are_truth_values() -> None:
    model = Model.from_sympy([b | c, sp.Implies(b, x > 2), sp.Contains(x, sp.Range(0, 4))])
    found = {(r["b"], r["c"], r["x"]) for r in model.iter_solutions()}
    assert found == {
        (b, c, x) for b in (0, 1) for c in (0, 1) for x in range(4) if b + c and (not b or x > 2)
    }
    assert Model.from_sympy(b).solve()["b"] == 1


def test_gcd_is_an_undefined_function_of_that_name() -> None:
    model = Model.from_sympy([sp.Eq(gcd(x, 12), 4), sp.Contains(x, sp.Range(1, 20))])
    assert sorted(r["x"] for r in model.iter_solutions()) == [4, 8, 16]


def test_assumptions_of_symbols_are_bounds() -> None:
    p, even = sp.Symbol("p", integer=True, positive=True), sp.Symbol("even", even=True)
    odd, other = sp.Symbol("odd", odd=True, negative=True), sp.Symbol("other", integer=True, nonzero=True)
    model = Model.from_sympy([p + n <= 3, even + odd < other + 3])
    found = solutions(model, 2)
    names = list(model.variables)
    assert {s[names.index("p")] for s in found} == {1, 2}
    assert {s[names.index("n")] for s in found} == {0, 1, 2}
    assert {s[names.index("even")] for s in found} == {-2, 0, 2}
    assert {s[names.index("odd")] for s in found} == {-1}
    assert {s[names.index("other")] for s in found} == {-2, -1, 1, 2}


def test_indexed_symbols_are_variables() -> None:
    a = sp.IndexedBase("a", integer=True)
    model = Model.from_sympy([sp.Eq(a[0] + a[1], 3), a[0] >= 0, a[1] >= 1])
    assert list(model.variables) == ["a[0]", "a[1]"]
    assert model.count() == 3


# ------------------------------------------------------------ what sympy has computed already


def test_early_evaluation_is_understood() -> None:
    assert Model.from_sympy([sp.Eq(x, x)]).solve().status is Status.OPTIMAL
    assert Model.from_sympy([sp.Eq(x, x + 1)]).solve().status is Status.INFEASIBLE
    assert Model.from_sympy([n >= 0, sp.Eq(sp.Mod(2 * x, 2), 0)]).solve()
    assert not Model.from_sympy([sp.Lt(3, 2)]).solve()
    assert Model.from_sympy([]).solve()


@pytest.mark.parametrize("relation", [x == y, x == x, x != y, True, False])
def test_python_truth_values_are_refused_with_a_hint(relation: bool) -> None:
    with pytest.raises(ModelError, match=r"Write Eq\(a, b\) or Ne\(a, b\)"):
        Model.from_sympy([sp.Gt(x, 1), relation])
    with pytest.raises(ModelError, match="relation 1 is Python's"):
        Model.from_sympy(relation)


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (x + 1, "relation 1 is the expression x \\+ 1, not a relation"),
        ("x > 1", "relation 1 is str, not a relation"),
        (sp.Eq(x / y, 2), "multiply both sides"),
        (sp.Eq(sp.sqrt(x + 2), y), "no integer|not a relation of integers"),
        (sp.Eq(x, sp.Float(1.5) * y), "floating-point"),
        (sp.sin(x) > 0, "sin.* has no meaning"),
        (sp.Eq(sp.Mod(x / 2, 3), 1), "not an integer expression"),
        (sp.Symbol("f", integer=False, real=True) > x, "'f' is noninteger"),
        (sp.Gt(sp.IndexedBase("a", integer=True)[x], 1), "an index that is not a number"),
        (sp.Symbol("p", prime=True) > 4, "'p' is prime"),
        (sp.Eq(sp.Symbol("x"), x + 1), "two symbols 'x'"),
        (sp.Contains(x, sp.ImageSet(sp.Lambda(y, y**2), sp.S.Integers)), "is not a set"),
        (sp.Eq(x, sp.oo, evaluate=False), "has no meaning"),
    ],
)
def test_what_no_model_can_have_is_named(relation: Add | str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Model.from_sympy([relation])


def test_a_piecewise_without_a_value_is_no_solution() -> None:
    model = Model.from_sympy([sp.Eq(sp.Piecewise((x, x > 2), (4, x < -2)), 4)])
    assert solutions(model) == {(-4,), (-3,), (4,)}


def test_conflicts_show_the_relations() -> None:
    model = Model.from_sympy([sp.Eq(x, 2 * y), sp.Lt(x, 100), sp.Eq(sp.Mod(x, 2), 1)])
    text = str(model.explain())
    assert "<sympy>:1:1: Eq(x, 2*y)" in text
    assert "<sympy>:3:1: Eq(Mod(x, 2), 1)" in text
    assert "100" not in text


# ------------------------------------------------------------ there and back


def test_random_models_survive() -> None:
    with_solutions = 0
    for seed in range(60):
        drawn = draw_model(seed, max_depth=2, max_assignments=60)
        again = Model.from_sympy(drawn.build().to_sympy())
        assert list(again.variables) == list(drawn.domains)
        found = {tuple(r.values.values()) for r in again.iter_solutions(time_limit=LIMIT)}
        expected = {tuple(solution.values()) for solution in drawn.solutions()}
        assert found == expected, drawn.text()
        with_solutions += bool(expected)
    assert with_solutions > 20


def test_every_kind_of_node_survives() -> None:
    m = Model()
    i, j = m.int_var("i", -4, 9), m.int_var("j", values=[1, 2, 7])
    t, free = m.bool_var("t"), m.int_var("free")
    m.add(table([i, j], [(0, 1), (1, 2), (4, 7)]), element([5, 6, 7, 8], i) > 4)
    m.add(if_then_else(t, i, j) <= 6, gcd_(i, 6) != lcm_(j, 6), free.is_in([1, 2, 9]), free != i)
    m.let("defined", 12 // i)
    again = Model.from_sympy(m.to_sympy())
    assert {tuple(r[v] for v in ("i", "j", "t", "free")) for r in again.iter_solutions(time_limit=LIMIT)} == {
        tuple(r[v] for v in ("i", "j", "t", "free")) for r in m.iter_solutions(time_limit=LIMIT)
    }
    assert m.count() > 3


def test_the_relations_look_like_the_model() -> None:
    m = Model.from_text("i in 0..9; j in 1..; i // j + i % 4 >= 2; j in {2, 5} or i == 3")
    assert [str(relation) for relation in m.to_sympy()] == [
        "Contains(i, Range(0, 10, 1))",
        "Contains(j, Range(1, oo, 1))",
        "Mod(i, 4) + floor(i/j) >= 2",
        "Eq(i, 3) | Contains(j, Range(2, 8, 3))",
    ]


def test_undefined_terms_mean_the_same_when_read_again() -> None:
    m = Model.from_text(
        "x in -2..2; k in -1..3; x % x == x % x; 2 ** k >= 0; 6 // (x - x + 1) > 0; 0 // x == 0"
    )
    again = Model.from_sympy(m.to_sympy())
    assert {(r["x"], r["k"]) for r in again.iter_solutions()} == {
        (x, k) for x in (-2, -1, 1, 2) for k in range(4)
    }
    impossible = Model.from_text("x in 1..3; x // (x - x) >= 0 or x > 2")
    assert [r["x"] for r in Model.from_sympy(impossible.to_sympy()).iter_solutions()] == [3]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("x == 0 or y % x == 1", "Eq(x, 0) | (Ne(x, 0) & Eq(Mod(y, x), 1))"),
        ("not (y % x == 1)", "~(Ne(x, 0) & Eq(Mod(y, x), 1))"),
    ],
)
def test_relations_are_written_with_what_their_terms_need(text: str, relation: str) -> None:
    m = Model.from_text(f"x, y in -2..4; {text}")
    written = m.to_sympy()
    assert str(written[-1]) == relation
    assert Model.from_sympy(written).count() == m.count()


@pytest.mark.parametrize("depth", [4, 60, 600])
@pytest.mark.parametrize("kind", ["number", "condition"])
def test_shared_parts_are_written_or_refused_in_bounded_time(kind: Any, depth: int) -> None:
    """sympy goes through a shared part each time it stands, so that deep sharing would never end."""
    m = Model()
    x, y = m.int_var("x", 0, 3), m.int_var("y", 0, 3)
    e = x + 1 if kind == "number" else x >= 1
    for _ in range(depth):
        e = abs(e - y) + e % 3 if kind == "number" else (e & (y >= 1)) | (~e & (x >= 2))
    m.add(e >= 2 if kind == "number" else e)  # type: ignore[arg-type]
    if depth == 4:
        assert Model.from_sympy(m.to_sympy()).count() == m.count()
        return
    with pytest.raises(ModelError, match="name inner parts"):
        m.to_sympy()


def test_a_long_sum_shares_nothing() -> None:
    m = Model()
    xs = m.int_vars("x", 9000, 0, 1)
    m.add(sum_(xs) <= 3)
    assert len(m.to_sympy()) == 9001
