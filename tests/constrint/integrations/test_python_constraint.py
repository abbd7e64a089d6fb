"""python-constraint's API: the same programs give the same solutions in the real package."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from itertools import product
from types import ModuleType
from typing import Any

import constraint as real
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrint import ModelError
from constrint.integrations import python_constraint as ours
from constrint.integrations.python_constraint.constraint_base import Constraint
from constrint.tuning.spaces import from_tune_params


def solutions(package: ModuleType, build: Callable[..., Any]) -> list[list[tuple[str, int]]]:
    problem = package.Problem()
    build(package, problem)
    return sorted((sorted(solution.items(), key=repr) for solution in problem.getSolutions()), key=repr)


def abc(problem: Any, domain: range = range(6)) -> None:
    problem.addVariables(["a", "b", "c"], list(domain))


PROGRAMS = {
    "function": lambda p, m: (abc(m), m.addConstraint(lambda a, b: a * 2 == b, ["a", "b"])),  # type: ignore[func-returns-value]
    "function with and": lambda p, m: (
        abc(m, range(1, 7)),  # type: ignore[func-returns-value]
        m.addConstraint(lambda a, b: b > a and b % a == 0, "ab"),
    ),
    "function with if": lambda p, m: (abc(m), m.addConstraint(lambda a, b: a > 3 if b < 2 else a == b, "ab")),  # type: ignore[func-returns-value]
    "type is looked at": lambda p, m: (
        abc(m),  # type: ignore[func-returns-value]
        m.addConstraint(lambda a: a > 3 if isinstance(a, int) else a < 1, "a"),
    ),
    "different": lambda p, m: (abc(m), m.addConstraint(p.AllDifferentConstraint())),  # type: ignore[func-returns-value]
    "equal": lambda p, m: (abc(m), m.addConstraint(p.AllEqualConstraint(), ["a", "c"])),  # type: ignore[func-returns-value]
    "sums": lambda p, m: (
        abc(m),  # type: ignore[func-returns-value]
        m.addConstraint(p.MaxSumConstraint(7)),
        m.addConstraint(p.MinSumConstraint(3)),
        m.addConstraint(p.ExactSumConstraint(9, [1, 2, 3])),
    ),
    "products": lambda p, m: (
        abc(m, range(1, 7)),  # type: ignore[func-returns-value]
        m.addConstraint(p.MaxProdConstraint(30)),
        m.addConstraint(p.MinProdConstraint(6), ["a", "b"]),
    ),
    "exact product": lambda p, m: (abc(m), m.addConstraint(p.ExactProdConstraint(12))),  # type: ignore[func-returns-value]
    "float bound": lambda p, m: (abc(m), m.addConstraint(p.MaxSumConstraint(6.5))),  # type: ignore[func-returns-value]
    "sets": lambda p, m: (
        abc(m),  # type: ignore[func-returns-value]
        m.addConstraint(p.InSetConstraint([1, 2, 3]), ["a"]),
        m.addConstraint(p.NotInSetConstraint([0, 5]), ["b"]),
        m.addConstraint(p.SomeInSetConstraint([2, 3], 2, True)),
        m.addConstraint(p.SomeNotInSetConstraint([3], 2)),
    ),
    "variable sums": lambda p, m: (
        abc(m),  # type: ignore[func-returns-value]
        m.addConstraint(p.VariableExactSumConstraint("c", ["a", "b"]), ["a", "b", "c"]),
    ),
    "variable products": lambda p, m: (
        abc(m, range(1, 7)),  # type: ignore[func-returns-value]
        m.addConstraint(p.VariableMinProdConstraint("c", ["a", "b"]), ["a", "b", "c"]),
    ),
    "strings as values": lambda p, m: (
        m.addVariables(["x", "y"], ["red", "green", "blue"]),
        m.addVariable("z", [1, 2]),
        m.addConstraint(p.AllDifferentConstraint(), ["x", "y"]),
        m.addConstraint(lambda x, z: (x == "red") == (z == 1), ["x", "z"]),
    ),
    "floats as values": lambda p, m: (
        m.addVariables(["x", "y"], [0.5, 1.0, 1.5]),
        m.addConstraint(lambda x, y: x + y > 2, ["x", "y"]),
        m.addConstraint(p.MaxSumConstraint(2.5)),
    ),
    "any hashable name": lambda p, m: (
        m.addVariables([(0, 1), 7], [1, 2, 3]),
        m.addConstraint(lambda u, v: u < v, [(0, 1), 7]),
    ),
    "restriction": lambda p, m: (abc(m), m.addConstraint("a + b * 2 <= 7"), m.addConstraint("a < b < c")),  # type: ignore[func-returns-value]
    "early or": lambda p, m: (abc(m), m.addConstraint("a == 0 or b % a == 0", ["a", "b"])),  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_the_same_solutions(name: str) -> None:
    assert solutions(ours, PROGRAMS[name]) == solutions(real, PROGRAMS[name])


def test_queens() -> None:
    problem = ours.Problem(ours.OptimizedBacktrackingSolver())
    columns = range(6)
    problem.addVariables(columns, range(6))
    for first in columns:
        for second in range(first):
            problem.addConstraint(
                lambda a, b, gap=first - second: a != b and abs(a - b) != gap, (first, second)
            )
    assert len(problem.getSolutions()) == 4
    solution = problem.getSolution()
    assert solution in problem.getSolutions()
    rows, places, size = problem.getSolutionsAsListDict(order=[5, 4, 3, 2, 1, 0])
    assert size == 4
    assert all(places[row] == i for i, row in enumerate(rows))
    assert {row[::-1] for row in rows} == {tuple(s[c] for c in columns) for s in problem.getSolutions()}
    problem.reset()
    assert problem.getSolutions() == list(problem.getSolutionIter()) == []
    assert problem.getSolution() is None
    assert problem.getSolutionsAsListDict() == ([], {}, 0)


VALUES = [
    [-4, -1, 0, 3],
    [1, 2, 5],
    [2, 1, 4],
    [0, 6],
    ["a", "b"],
    [0.5, 2.0, 3],
    [True, False],
    ["a", 2, 0.2],
]
TEXTS = ["x0 != 'a' or x1 == 2", "x1 == 0.2 or x0", "x0 in (1, 2, 'b')", "x0 == x1 or x0 == 0 or x1 == 0"]


def constraints_over(package: ModuleType, draw: Callable[..., Any], count: int, positive: bool) -> Any:
    """A constraint of python-constraint's classes over that many numbers, drawn."""
    bound = draw(st.integers(-5, 9))
    factors = draw(
        st.none() | st.lists(st.sampled_from([-2, -1, 0, 1, 2, 0.5]), min_size=count, max_size=count + 1)
    )
    products = ["MaxProd", "MinProd", "ExactProd"] if positive else []
    kind = draw(st.sampled_from(["MaxSum", "MinSum", "ExactSum", "Set", "All", *products]))
    if kind == "Set":
        name = draw(st.sampled_from(["InSet", "NotInSet", "SomeInSet", "SomeNotInSet"]))
        some = {"n": draw(st.integers(1, count)), "exact": draw(st.booleans())} if "Some" in name else {}
        return getattr(package, f"{name}Constraint")({0, 2, "a", 3}, **some)
    if kind == "All":
        return getattr(package, draw(st.sampled_from(["AllDifferentConstraint", "AllEqualConstraint"])))()
    given_factors = [factors] if factors is not None and kind.endswith("Sum") else []
    return getattr(package, f"{kind}Constraint")(bound, *given_factors)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_drawn_problems_have_python_constraints_solutions(data: st.DataObject) -> None:
    domains = data.draw(st.lists(st.sampled_from(VALUES), min_size=2, max_size=3))
    numbers = all(not isinstance(value, str) for domain in domains for value in domain)  # type: ignore[attr-defined]
    # With values below 1 python-constraint loses solutions of products.
    positive = numbers and all(value >= 1 for domain in domains for value in domain)  # type: ignore[attr-defined]
    names = [f"x{i}" for i in range(len(domains))]
    texts = data.draw(st.lists(st.sampled_from(TEXTS), max_size=2))
    if not texts and not numbers:
        texts = TEXTS[:1]
    drawn: list[Any] = []

    def draw(strategy: Any) -> Any:  # the same for both packages
        if len(drawn) == place[0]:
            drawn.append(data.draw(strategy))
        place[0] += 1
        return drawn[place[0] - 1]

    found = []
    for package in (real, ours):
        place = [0]
        problem = package.Problem(package.BacktrackingSolver())
        for name, domain in zip(names, domains, strict=True):
            problem.addVariable(name, domain)
        problem.addConstraint(texts)
        if numbers:
            problem.addConstraint(constraints_over(package, draw, len(names), positive), names)
        found.append({tuple(s[name] for name in names) for s in problem.getSolutions()})
    assert found[0] == found[1]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(-4, 6), min_size=1, max_size=5, unique=True), min_size=2, max_size=3),
    st.sampled_from(["x0 * x1 <= 6", "x0 - x1 in (1, 2, -3)", "x1 == 0 or x0 // x1 != 1", "not x0 > x1"]),
    st.integers(-5, 8),
)
def test_random_problems(domains: list[list[int]], text: str, bound: int) -> None:
    found = []
    for package in (real, ours):
        problem = package.Problem()
        for i, domain in enumerate(domains):
            problem.addVariable(f"x{i}", domain)
        names = [f"x{i}" for i in range(len(domains))]
        parsed = eval(f"lambda x0, x1: {text}")  # noqa: S307 - a text of this file
        problem.addConstraint(parsed if package is real else text, ["x0", "x1"])
        problem.addConstraint(package.MaxSumConstraint(bound), names)
        found.append({tuple(sorted(s.items())) for s in problem.getSolutions()})
    assert found[0] == found[1]


def test_an_own_constraint_class_is_called() -> None:
    class Even(ours.Constraint):
        def __call__(self, variables: Any, domains: Any, assignments: Any, *_: Any) -> Any:
            return sum(assignments[v] for v in variables) % 2 == 0

    problem = ours.Problem()
    problem.addVariables("ab", [1, 2, 3])
    problem.addConstraint(Even())
    assert len(problem.getSolutions()) == 5


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda m: m.addVariable("a", [1]), "duplicated"),
        (lambda m: m.addVariable("z", []), "empty"),
        (lambda m: m.addConstraint(3), "function, a string"),
        (lambda m: m.addConstraint("a <"), "not a Python expression"),
        (lambda m: (m.addConstraint("a < q"), m.getSolution()), "'q'"),
        (lambda m: (m.addConstraint("a @ b < 3"), m.getSolution()), "a @ b is not supported"),
        (lambda m: (m.addConstraint(lambda a: a, ["zz"]), m.getSolution()), "not a variable"),
    ],
)
def test_mistakes_are_named(act: Callable[..., Any], message: str) -> None:
    problem = ours.Problem()
    abc(problem)
    with pytest.raises(ModelError, match=message):
        act(problem)


def test_a_function_that_can_only_be_called_has_a_limit() -> None:
    problem = ours.Problem()
    problem.addVariables(range(4), range(100))
    problem.addConstraint(lambda a, b, c, d: a < b and c < d)
    with pytest.raises(ModelError, match="too many"):
        problem.getSolution()


def _pairs_allowed(
    constraint: Callable[..., Any] | Constraint | str, first: range | list[int], second: Any
) -> Any:
    problem = ours.Problem()
    problem.addVariable("a", first)
    problem.addVariable("b", second)
    problem.addConstraint(constraint, None if isinstance(constraint, str) else ["a", "b"])
    return {(s["a"], s["b"]) for s in problem.getSolutions()}


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: (a in {770}) or (a * b == 6),  # seldom true, and only for a value that is looked up
        lambda a, b: {770: 1}.get(a, 0) + b <= 1,
        lambda a, b: ~(a == 770) + 0 * b,
        lambda a, b: str(a) == "770" or b == 1,
        lambda a, b: 2 ** (b - 1) + 0 * a < 1,
        lambda a, b: (a > b) & (b > 1),
        lambda a, b: a & b,
        lambda a, b: a == 2.5 or b == 1,
        lambda a, b: (a > 700) * -1 + (b == 2) < 0,
    ],
)
def test_a_traced_function_keeps_its_meaning(function: Callable[..., Any]) -> None:
    first, second = range(0, 1000, 10), range(4)
    assert _pairs_allowed(function, first, second) == {
        (a, b) for a in first for b in second if function(a, b)
    }


@pytest.mark.parametrize(
    "text",
    [
        "(a or b) > 2",
        "(a and b) == 3",
        "not (0 < a <= 10 // a)",
        "a < b < 3 != a",
        "a % b if b else a == 1",
        "(a < b) < b",
        "(a > b) & (b > 1) | (a == 2)",
        "True & (a > b)",
        "(a > b) + (b > 0) == 1",
        "a // (b > 0) == 2 or -a + +b < 0",
        "a in (1, 4 // b)",
        "a not in [b, 4 % b, 3]",
        "a == 1 if b > 0 else 4 // b > -2",
        "a > 1 and 4 // b > 1 or b == 1",
        "abs(a - 3) + min(a, b, 2) > max(a, b)",
    ],
)
def test_strings_mean_what_python_means(text: str) -> None:
    values = range(-2, 5)
    function = eval(f"lambda a, b: {text}")  # noqa: S307 - a text of this file
    expected = set()
    for pair in product(values, repeat=2):
        with suppress(ZeroDivisionError):  # not allowed
            if function(*pair):
                expected.add(pair)
    assert _pairs_allowed(text, values, values) == expected
    space = from_tune_params({"a": values, "b": values}, [text])
    assert set(space.to_tuples()) == expected


def test_a_power_that_may_be_a_fraction_is_pythons() -> None:
    assert _pairs_allowed("a ** b < 1", [2], [-1, 1]) == {(2, -1)}


def test_equal_numbers_of_different_types_are_equal() -> None:
    first, second = [2, 3], [Fraction(2), Fraction(5, 2), Decimal(3), np.int64(7)]
    found = _pairs_allowed(ours.AllDifferentConstraint(), first, second)
    assert found == {(a, b) for a in first for b in second if a != b}
    assert _pairs_allowed(ours.AllEqualConstraint(), first, second) == {(2, 2), (3, 3)}


def test_values_without_a_hash_are_compared() -> None:
    problem = ours.Problem()
    problem.addVariable("a", [[1], "[1]"])
    problem.addVariable("b", [[1.0], [2]])
    problem.addConstraint(ours.AllEqualConstraint())
    assert problem.getSolutions() == [{"a": [1], "b": [1.0]}]


def test_bounds_may_be_infinite() -> None:
    assert len(_pairs_allowed(ours.MaxSumConstraint(float("inf")), [1, 2], [3])) == 2
    assert not _pairs_allowed(ours.MinProdConstraint(float("inf")), [1, 2], [3])


@pytest.mark.parametrize("name", [name for name in dir(real) if name.endswith("Solver")])
def test_solvers_take_the_arguments_of_python_constraint(name: str) -> None:
    own, others = (signature(getattr(package, name)).parameters for package in (ours, real))
    assert [(one.name, one.default) for one in own.values()] == [
        (one.name, one.default) for one in others.values()
    ]
    with pytest.raises(TypeError):
        getattr(ours, name)(forwardchek=False)
