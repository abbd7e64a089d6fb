"""Mistakes that new users make: each is an error that says what was meant, or it works."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

# ruff: noqa: E501 - a mistake and its message stand on one line
import numpy as np
import pytest

import constrint as ci
from constrint import Model, ModelError, UnboundedError


@pytest.fixture
def m() -> Any:
    model = Model()
    model.int_var("x", 0, 9)
    model.int_var("y", 0, 9)
    model.bool_var("b")
    return model


def foreign(name: str = "x") -> Any:
    return Model().int_var(name, 0, 9)


MISTAKES = {
    "a list of names": (lambda m, x, y, b: m.int_vars(["p", "q"], 2, 0, 3), "an array has one name"),
    "Booleans by a list": (lambda m, x, y, b: m.bool_vars(["p", "q"], 2), "an array has one name"),
    "no name": (lambda m, x, y, b: m.int_vars(3, 0, 9), "the name comes first, as in int_vars"),
    "no shape": (lambda m, x, y, b: m.int_vars("z", 0, 9), "the shape comes before the bounds"),
    "a shape of floats": (lambda m, x, y, b: m.int_vars("z", (2, 1.5), 0, 9), "lengths of an array are integers"),
    "the name last": (lambda m, x, y, b: m.int_var(0, 9, "z"), "the name comes first, as in int_var"),
    "swapped bounds": (lambda m, x, y, b: m.int_var("z", 5, 1), "lo is 5 and hi is 1, so there is no value"),
    "swapped bounds of arrays": (lambda m, x, y, b: m.int_vars("z", 2, 5, 1), "lo is 5 and hi is 1"),
    "values as bounds": (lambda m, x, y, b: m.int_var("z", [1, 2, 4]), "or values=[1, 2, 4] for a set"),
    "a range as bounds": (lambda m, x, y, b: m.int_var("z", range(3)), "or values=range(0, 3)"),
    "a pair as bounds": (lambda m, x, y, b: m.int_var("z", (0, 3)), "write int_var('z', lo, hi)"),
    "float bounds": (lambda m, x, y, b: m.int_var("z", 0, 2.5), "hi must be an integer, not 2.5"),
    "an expression as bound": (lambda m, x, y, b: m.int_var("z", 0, x), "hi must be an integer, not an expression"),
    "& of a number": (lambda m, x, y, b: m.add(x == 1 & (x == 2)), "with brackets"),
    "& before comparison": (lambda m, x, y, b: m.add(x > 1 & y < 3), "write `(x > 1) & (y < 3)`"),
    "| before comparison": (lambda m, x, y, b: m.add((x == 1) | y == 2), "`y` is a number"),
    "& behind comparison": (lambda m, x, y, b: m.add((x == 1) & y), "`y` is a number"),
    "& with 1": (lambda m, x, y, b: m.add((x == 1) & 1), "`1` is a number"),
    "~ of a number": (lambda m, x, y, b: m.add(~x), "a constraint must be a condition, not a number"),
    "bits": (lambda m, x, y, b: m.add(x & 3), "a constraint must be a condition, not a number"),
    "truth": (lambda m, x, y, b: bool(x == 1), "no truth value"),
    "if": (lambda m, x, y, b: 1 if x == 1 else 2, "Instead of `1 if x == 1 else 2` write `if_then_else(x == 1, 1, 2)`"),
    "in": (lambda m, x, y, b: x in [1, 2], "Instead of `x in [1, 2]` write `x.is_in([1, 2])`"),
    "chain": (lambda m, x, y, b: m.add(0 <= x <= 5), "write `(0 <= x) & (x <= 5)`"),
    "and": (lambda m, x, y, b: m.add(x > 1 and y < 2), "write `(x > 1) & (y < 2)`"),
    "or": (lambda m, x, y, b: m.add(x > 1 or y < 2), "write `(x > 1) | (y < 2)`"),
    "not": (lambda m, x, y, b: m.add(not x > 1), "Instead of `not x > 1` write `~(x > 1)`"),
    "not in": (lambda m, x, y, b: x not in [1, 2], "write `~x.is_in([1, 2])`"),
    "lists": (lambda m, x, y, b: m.add([x, y] == [1, 2]), "write `array([x, y]) == [1, 2]`"),
    "other lists": (lambda m, x, y, b: m.add([x, y] != [1, 2]), "write `any_of(array([x, y]) != [1, 2])`"),
    "a number in a list": (lambda m, x, y, b: 1 in [x, y], "write `any_of(one == 1 for one in [x, y])`"),
    "max": (lambda m, x, y, b: max(x, y), "Instead of `max(x, y)` write `max_(x, y)`"),
    "min of an array": (lambda m, x, y, b: min(m.int_vars("q", 3, 0, 1)), "write `min_(m.int_vars('q', 3, 0, 1))`"),
    "sorted": (lambda m, x, y, b: sorted([x, y]), "After solving, sort `result[…]`"),
    "any": (lambda m, x, y, b: any([x > 1, y > 1]), "write `any_of([x > 1, y > 1])`"),
    "all": (lambda m, x, y, b: all([x > 1, y > 1]), "write `all_of([x > 1, y > 1])`"),
    "False": (lambda m, x, y, b: m.add(x > 1, [1 == 2]), "condition 2 is False"),  # type: ignore[comparison-overlap]
    "None": (lambda m, x, y, b: m.add(None), "not None"),
    "1": (lambda m, x, y, b: m.add(1), "must be a condition, not int"),
    "a number": (lambda m, x, y, b: m.add(x), "not a number: compare the expression"),
    "a name behind": (lambda m, x, y, b: m.add(x <= 1, "few"), "a name is given as name='few'"),
    "an index of a list": (lambda m, x, y, b: [1, 2, 3][x], "write `element(values, x)`"),
    "a range": (lambda m, x, y, b: range(x), "`x` has no value while the model is being built"),
    "int": (lambda m, x, y, b: int(x), "`result[x]` is its value"),
    "float": (lambda m, x, y, b: float(x + 1), "`x + 1` has no value"),
    "round": (lambda m, x, y, b: round(x), "has no value"),
    "element, turned": (lambda m, x, y, b: ci.element(x, [1, 2]), "element takes the list first: write element([…], x)"),  # type: ignore[call-overload]
    "table, turned": (lambda m, x, y, b: ci.table(x, [(1, 2)]), "a list of expressions is needed here"),
    "division": (lambda m, x, y, b: x / 2, "`x // 2` rounds down"),
    "implication": (lambda m, x, y, b: (x > 1) >> (y > 1), "write `a.implies(b)`"),
    "a shift by less than 0": (lambda m, x, y, b: x << -1, "the count is at least 0"),
    "a shift of a condition": (lambda m, x, y, b: b >> 1, "write `(b) + 0` for 0 or 1"),
    "selectors": (lambda m, x, y, b: m.solve(branching="first"), "variables: auto, dom_deg"),
    "a string": (lambda m, x, y, b: x == "a", "'a' is not an integer expression"),
    "a condition by a number": (lambda m, x, y, b: b.implies(x), "a number is not a condition"),
    "minimise by name": (lambda m, x, y, b: m.solve(minimize="x"), "'x' is not an integer expression"),
    "a direction": (lambda m, x, y, b: m.pareto([(x, "maximize")]), 'is "max" or "min"'),
    "a negative limit": (lambda m, x, y, b: list(m.iter_solutions(limit=-1)), "limit must not be negative"),
    "a result as a status": (lambda m, x, y, b: m.solve() == ci.Status.OPTIMAL, "write `result.status == Status.OPTIMAL`"),
    "a status as a result": (lambda m, x, y, b: ci.Status.OPTIMAL != m.solve(), "write `result.status == Status.OPTIMAL`"),  # noqa: SIM300
    "a result among statuses": (lambda m, x, y, b: m.solve() in (ci.Status.OPTIMAL, ci.Status.FEASIBLE), "`if result:`"),
    "a result as a word": (lambda m, x, y, b: m.solve() == "optimal", "a result never equals 'optimal'"),
    "a result as True": (lambda m, x, y, b: m.solve() == True, "`if result:` for any solution"),  # noqa: E712
    "a result as an objective": (lambda m, x, y, b: m.solve(minimize=x) == 0, "`result.objective`"),
    "a result as values": (lambda m, x, y, b: m.solve() == [0, 0, 0], "`result[x]` for a value"),
    "a status as a word": (lambda m, x, y, b: m.solve().status == "optimal", "as in `status == Status.OPTIMAL`"),
    "a status as a number": (lambda m, x, y, b: m.solve().status != 4, "a status never equals 4"),
    "a set as its size": (lambda m, x, y, b: m.solutions() == 200, "write `solutions.size` for the number"),
    "a set as a list": (lambda m, x, y, b: m.solutions() == [{"x": 0}], "`list(solutions)` for a list"),
    "foreign, solved": (lambda m, x, y, b: (m.add(foreign() <= 3), m.solve()), "'x' belongs to another model"),
    "foreign, counted": (lambda m, x, y, b: (m.add(foreign() <= 3), m.count()), "'x' belongs to another model"),
    "foreign, set": (lambda m, x, y, b: (m.add(foreign() <= 3), m.solutions()), "'x' belongs to another"),
    "foreign, listed": (lambda m, x, y, b: (m.add(foreign() <= 3), list(m.iter_solutions())), "'x' belongs"),
    "foreign, planned": (lambda m, x, y, b: (m.add(foreign() <= 3), m.plan()), "'x' belongs"),
    "foreign, explained": (lambda m, x, y, b: (m.add(foreign() <= 3), m.explain()), "'x' belongs"),
    "foreign, as text": (lambda m, x, y, b: (m.add(foreign() <= 3), m.to_text()), "'x' belongs"),
    "foreign, as JSON": (lambda m, x, y, b: (m.add(foreign() <= 3), m.to_json()), "another model"),
    "foreign goal": (lambda m, x, y, b: m.solve(minimize=foreign("q") + x), "'q' belongs to another model"),
    "foreign goal kept": (lambda m, x, y, b: (m.minimize(foreign("q")), m.solve()), "'q' belongs"),
    "foreign let": (lambda m, x, y, b: (m.let("s", foreign("q") + 1), m.solve()), "'q' belongs"),
    "foreign assumption": (lambda m, x, y, b: m.solve(assumptions=[foreign("q") > 1]), "'q' belongs"),
    "foreign front": (lambda m, x, y, b: m.pareto([(foreign(), "max")]), "'x' belongs to another model"),
    "foreign preference": (lambda m, x, y, b: m.solve(prefer=[(foreign("q"), "max")]), "'q' belongs"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_a_mistake_is_an_error_that_says_what_was_meant(m: Model, mistake: str) -> None:
    make, advice = MISTAKES[mistake]
    with pytest.raises(ModelError) as caught:
        make(m, *m.variables.values())  # type: ignore[no-untyped-call]
    assert advice in str(caught.value)


CALLS: dict[Any, Callable[..., Any]] = {
    "solve": lambda m, limit: m.solve(time_limit=limit),
    "count": lambda m, limit: m.count(time_limit=limit),
    "iter_solutions": lambda m, limit: m.iter_solutions(time_limit=limit),
    "solutions": lambda m, limit: m.solutions(time_limit=limit),
    "pareto": lambda m, limit: m.pareto([(m.variables["x"], "max")], time_limit=limit),
    "explain": lambda m, limit: m.explain(time_limit=limit),
    "plan": lambda m, limit: m.plan(time_limit=limit),
    "from_text": lambda m, limit: Model.from_text("x in 1..2", time_limit=limit),
    "from_json": lambda m, limit: Model.from_json(m.to_json(), time_limit=limit),
}


@pytest.mark.parametrize("call", list(CALLS))
@pytest.mark.parametrize("limit", [-1, -0.001, float("nan"), float("-inf"), True, "5"])
def test_a_time_limit_is_a_number_of_seconds(m: Model, call: Any, limit: int) -> None:
    with pytest.raises(ModelError, match="time_limit must"):
        CALLS[call](m, limit)
    CALLS[call](m, 60)


def test_a_memory_limit_is_positive(m: Model) -> None:
    for limit in (0, -1):
        with pytest.raises(ModelError, match="memory_limit must be positive"):
            m.solutions(memory_limit=limit)


def test_answers_that_are_alike_are_equal(m: Model) -> None:
    r = m.solve()
    assert r == m.solve()
    assert r == {"x": 0, "y": 0, "b": 0}  # type: ignore[comparison-overlap]
    assert r != {"x": 1, "y": 0, "b": 0}  # type: ignore[comparison-overlap]
    assert r != m.solve(maximize=m.variables["x"])
    assert r != None  # noqa: E711
    assert r.status in {ci.Status.OPTIMAL}
    assert r.status not in (ci.Status.FEASIBLE, None)


def test_what_works(m: Model) -> None:
    x, y, b = m.variables.values()
    assert str(sum([x, y, b])) == "x + y + b"
    assert str(sum(v > 1 for v in (x, y))) == "(x > 1) + (y > 1)"
    assert str(ci.all_different([*[x, y], x + 1])) == "all_different(x, y, x + 1)"
    assert str(ci.sum_([x, y, np.array([1, 2])])) == "x + y + 3"
    assert [str(part) for part in divmod(x, 3)] == ["x // 3", "x % 3"]
    assert str(pow(x, 2, 5)) == "x ** 2 % 5"
    assert str(np.int64(3) * x + np.int32(1)) == "3 * x + 1"
    assert str((x == 1) & True) == "x == 1 and true"
    assert m.int_var("empty", values=[]).domain.is_empty
    m.remove(*m.constraints)
    same = m
    m += x + y == 3
    m += [x >= 1, y >= 1]
    assert m is same
    assert len(m.constraints) == 3


def test_solutions_of_an_unbounded_model_are_listed_as_solve_finds_them() -> None:
    m = Model()
    u, v = m.int_var("u"), m.int_var("v")
    m.add(u**2 == v, u >= 2)
    assert m.solve()[v] == m.solve()[u] ** 2
    found = [(r["u"], r["v"]) for r in m.iter_solutions(limit=5)]
    assert len(set(found)) == 5
    assert all(a >= 2 and a * a == b for a, b in found)
    with pytest.raises(UnboundedError):
        m.count()
    p = Model()
    w, z = p.int_var("w", 0, None), p.int_var("z", 0, None)
    p.add(w**3 == z**2 + 2)
    solutions = p.iter_solutions(time_limit=60)
    assert (next(solutions)["w"], p.solve(time_limit=60)["w"]) == (3, 3)
    with pytest.raises(UnboundedError):
        next(solutions)
    assert not solutions.complete


def test_comparisons_of_plain_numbers_that_hold_add_nothing(m: Model) -> None:
    x = m.variables["x"]
    before = len(m.constraints)
    m.add(True, sum([]) <= 3, [np.bool_(True), x <= 3], name="few")
    assert len(m.constraints) == before + 1
    m += True
    assert len(m.constraints) == before + 1


def test_statements_ask_for_truth_values(m: Model) -> None:
    x = m.variables["x"]
    with pytest.raises(ModelError, match=r"Instead of `if x > 1: …` write `\(x > 1\).implies\(…\)`"):  # noqa: PT012
        if x > 1:
            pass
    with pytest.raises(ModelError, match=r"Instead of `while x > 1: …` write"):  # noqa: PT012
        while x > 1:
            pass
    with pytest.raises(ModelError, match=r"write `\(x > 1\) & \(x < 3\) & \(x < 9\)`"):
        m.add(
            x > 1
            and x < 3
            and x < 9,
        )  # fmt: skip
    with pytest.raises(ModelError, match="instead of `and`, `or`, `not` write"):
        exec("bool(x > 1)", {"x": x})  # noqa: S102 # no source: all that may be meant


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NewIntVar", r"In constrint: m\.int_var\(name, lo, hi\)"),
        ("new_bool_var", r"In constrint: m\.bool_var\(name\)"),
        ("AddAllDifferent", "all_different"),
        ("Add", "Did you mean 'add'"),
        ("Minimize", "Did you mean 'minimize'"),
        ("int_varr", "Did you mean 'int_var'"),
        ("qqqqqq", "no attribute 'qqqqqq'$"),
    ],
)
def test_names_of_other_solvers_are_answered(m: Model, name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=said):
        getattr(m, name)
    assert not hasattr(m, name)


@pytest.mark.parametrize(
    ("of", "name", "said"),
    [
        ("result", "value", r"In constrint: result\[x\]$"),
        ("result", "ObjectiveValue", r"In constrint: result\.objective$"),
        ("result", "statu", r"Did you mean 'status'\?$"),
        ("result", "_repr_png_", "no attribute '_repr_png_'$"),
        ("handle", "OnlyEnforceIf", r"In constrint: m\.add\(b\.implies\(condition\)\)$"),
        ("handle", "enabld", r"Did you mean 'enabled'\?$"),
        ("module", "CpModel", r"In constrint: constrint\.Model\(\)$"),
        ("module", "AllDifferent", r"In constrint: all_different\(xs\)$"),
        ("module", "sum", r"In constrint: sum_\(xs\)$"),
        ("module", "Cumulative", r"Did you mean 'cumulative'\?$"),
        ("module", "qqqqqq", "no attribute 'qqqqqq'$"),
    ],
)
def test_names_that_other_solvers_have_elsewhere(m: Model, of: str, name: str, said: str) -> None:
    handle = m.add(m.int_var("another", 0, 9) >= 3)
    asked = {"result": m.solve(), "handle": handle, "module": ci}[of]
    with pytest.raises(AttributeError, match=said):
        getattr(asked, name)
    assert not hasattr(asked, name)
    if of == "result":
        assert copy.deepcopy(asked) == copy.copy(asked) == asked


@pytest.mark.parametrize("call", ["solve", "count", "solutions", "iter_solutions", "pareto", "explain"])
def test_misspelt_keywords_are_answered(m: Model, call: str) -> None:
    with pytest.raises(TypeError, match="Did you mean 'time_limit'"):
        getattr(m, call)(timelimit=3)


def test_british_spelling_is_answered(m: Model) -> None:
    with pytest.raises(TypeError, match="Did you mean 'minimize'"):
        m.solve(minimise=m.variables["x"])  # type: ignore[call-overload]


def test_selectors_are_named_as_on_the_command_line(m: Model) -> None:
    assert m.solve(branching="first_fail, max").status == m.solve().status
