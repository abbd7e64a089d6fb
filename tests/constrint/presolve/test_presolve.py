"""Root reasoning: what number theory and linear algebra decide, without wrong conclusions."""

from __future__ import annotations

import itertools
import random
import time
from fractions import Fraction
from math import gcd
from typing import Any

import pytest

from constrint import Model, Result, Status, UnboundedError, max_
from constrint.engine.state_arrays import Box
from constrint.lowering.problem import Infeasible
from constrint.presolve.diophantine import Affine, System
from constrint.presolve.joint import joint_bounds
from constrint.presolve.simplex import InfeasibleProgram, Simplex
from constrint.propagators import LinearLe
from constrint.propagators.power import capped_power, logarithm, root
from constrint.settings import DEFAULT

LIMIT = 120.0  # seconds by the clock, of what takes 2 on a machine without other work


def solved(text: str, **options: Any) -> Result:
    return Model.from_text(text).solve(time_limit=LIMIT, **options)


@pytest.mark.parametrize(
    "text",
    [
        "x, y in 1..; x >= 2 * y; y >= 2 * x",
        "a, b in ..; a <= b; b + 1 <= a",
        "a, b in 0..10 ** 9; 2 * a <= 3 * b; 3 * b + 1 <= 2 * a",
        "a, b, c in ..; a + b <= c; c + 1 <= a - b; b >= 0",
        "x, y in ..; 6 * x + 10 * y == 7",
        "x, y in ..; x + y == 10; x - y == 5",
        "x, y, z in ..; 2 * x + 3 * y == 1 + 6 * z; x % 3 == 0; x + z == 2 * y + 1; z % 2 == y % 2",
        "x, y in 0..10 ** 9; x * x + y * y == 10 ** 18 + 7",
        "x, y in 0..10 ** 9; x * x - y * y == 10 ** 18 + 2",
        "x, y in 2..; x * y == 10 ** 18 + 9",
        "x, y in 0..10 ** 9; x * x + 3 * y * y == 3 * 10 ** 16 + 2",
        "x, y in ..; 5 * x * x + 2 * y * y == 10 ** 18 + 2",
        "x, y in 0..10 ** 9; 12 * x * x - 27 * y * y == 10 ** 14 + 7",
        "x, y, z in -10 ** 9..10 ** 9; x ** 3 + y ** 3 + z ** 3 == 10 ** 20 + 3",
        "x, y, z in ..; x ** 2 + y ** 2 + z ** 2 == 8 * (z + y * x * 0) + 7 - 8 * z + 8 * 10 ** 30",
        "x in ..; x % 6 == 1; x % 10 == 4",
    ],
)
def test_no_solution_is_proven_at_once(text: str) -> None:
    result = solved(text)
    assert result.status is Status.INFEASIBLE
    assert result.statistics.nodes <= 1


@pytest.mark.parametrize(
    "text",
    [
        "x, y, z, w in 0..; 12 * x + 15 * y + 20 * z + 28 * w == 10007",
        "x, y, z in ..; 6 * x + 10 * y + 15 * z == 1",
        "x, y in ..; 12345678901 * x + 98765432109 * y == 1",
        "x, y in 1..; 1000003 * x - 1000033 * y == 1",
        "x, y, z in 0..; 2 * x + 3 * y + 4 * z == 100; x + 2 * y + 7 * z == 61",
        "x, y in 0..10 ** 9; x * x + y * y == 300000021 ** 2 + 400000007 ** 2",
        "x, y in 0..10 ** 9; x * x + 3 * y * y == 10 ** 17 + 3",
        "x, y in ..; 6 * x * x + 35 * y * y == 6 * 123456789 ** 2 + 35 * 987654321 ** 2",
        "x, y in 0..10 ** 9; z in 0..15; x * x + 3 * y * y == 7 * 13 * 19 * 10 ** 12 + z; z != 0",
        "x, y in 2..; x * y == 1000000007 * 998244353",
        "x, y in ..; x * x - y * y == 1000003 * 999983",
        "x in ..; x % 3 == 1; x % 5 == 2; x % 7 == 3",
        "x, y in ..; x * y == x + y + 17 * x * x; x != 0",
    ],
)
def test_a_solution_is_found_at_once(text: str) -> None:
    began = time.process_time()
    result = solved(text)  # every solution is checked against the model before it is returned
    assert result.status is Status.OPTIMAL
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("x, y in 0..; minimize x + y; 3 * x + 5 * y >= 17", 4),
        ("x, y, z in ..; x + y <= 10; x - y <= 4; maximize x; z == z", 7),
        ("x, y in ..; x + 2 * y >= 3; 2 * x + y >= 4; minimize x + y", 3),
        ("x, y in 1..; x * y >= 30; minimize x + y", 11),
        ("x, y in ..; x + y == 7; minimize x * x + y * y", 25),
    ],
)
def test_optima_without_bounds(text: str, objective: int) -> None:
    result = solved(text)
    assert (result.status, result.objective) == (Status.OPTIMAL, objective)


@pytest.mark.parametrize("text", ["x in ..; minimize x", "x, y in 0..; x <= 2 * y; maximize x"])
def test_what_has_no_optimum_is_an_error(text: str) -> None:
    with pytest.raises(UnboundedError):
        solved(text)


@pytest.mark.parametrize("seed", range(60))
def test_equation_systems_against_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    count, size = rng.randint(2, 4), 5
    rows = [
        ([rng.choice([-6, -4, -3, 0, 2, 3, 4, 6, 9, 10]) for _ in range(count)], rng.randint(-9, 9))
        for _ in range(rng.randint(1, 3))
    ]
    steps = [rng.choice([1, 1, 2, 3]) for _ in range(count)]
    points = [
        p
        for p in itertools.product(*[range(-size, size + 1, s) for s in steps])
        if all(sum(a * x for a, x in zip(row, p, strict=True)) == bound for row, bound in rows)
    ]
    model = Model()
    xs = [model.int_var(f"x{i}", -size, size, step=s) for i, s in enumerate(steps)]
    for row, bound in rows:
        model.add(sum(a * x for a, x in zip(row, xs, strict=True)) == bound + 0 * xs[0])
    found = [tuple(r.values.values()) for r in model.iter_solutions()]
    assert sorted(found) == points


@pytest.mark.parametrize("seed", range(120))
def test_equations_of_powers_against_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    terms = [
        (rng.choice([-4, -3, -2, -1, 1, 2, 3, 5]), rng.choice([1, 2, 2, 3, 4]))
        for _ in range(rng.randint(1, 3))
    ]
    steps = [rng.choice([1, 1, 2, 3, 4]) for _ in terms]
    bound = rng.randint(-40, 80)
    model = Model()
    xs = [model.int_var(f"x{i}", -6, 7, step=step) for i, step in enumerate(steps)]
    model.add(sum(a * x**n for (a, n), x in zip(terms, xs, strict=True)) == bound + 0 * xs[0])
    expected = [
        p
        for p in itertools.product(*[range(-6, 8, step) for step in steps])
        if sum(a * x**n for (a, n), x in zip(terms, p, strict=True)) == bound
    ]
    assert sorted(tuple(r.values.values()) for r in model.iter_solutions()) == expected


@pytest.mark.parametrize("seed", range(80))
def test_parameters_give_exactly_the_integer_solutions(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 4)
    equations = [
        Affine({v: a for v in range(count) if (a := rng.randint(-7, 7))}, rng.randint(-6, 6))
        for _ in range(rng.randint(1, 3))
    ]
    equations = [equation for equation in equations if equation.terms]

    def holds(point: Any) -> bool:
        return all(sum(a * point[v] for v, a in e.terms.items()) + e.constant == 0 for e in equations)

    points = [p for p in itertools.product(range(-6, 7), repeat=count) if holds(p)]
    system = System([Affine(dict(e.terms), e.constant) for e in equations])
    try:
        system.solve(DEFAULT.presolve.steps_of_equations)
    except Infeasible:
        assert points == []
        return
    solution = system.solution()
    free = sorted(
        {p for affine in solution.values() for p in affine.terms} | set(range(count)) - set(solution)
    )
    for _ in range(20):
        values = {p: rng.randint(-50, 50) for p in free}
        point = [
            solution[v].constant + sum(a * values[p] for p, a in solution[v].terms.items())
            if v in solution
            else values[v]
            for v in range(count)
        ]
        assert holds(point)
    for v, affine in solution.items():
        modulus = gcd(*affine.terms.values())
        for point in points:  # type: ignore[assignment]
            difference = point[v] - affine.constant
            assert difference % modulus == 0 if modulus else difference == 0


@pytest.mark.parametrize("seed", range(60))
def test_joint_bounds_hold_and_contradictions_are_real(seed: int) -> None:
    rng = random.Random(seed)
    model = Model()
    count, size = rng.randint(2, 3), 6
    rows = [
        ([rng.randint(-4, 4) for _ in range(count)], rng.randint(-8, 12)) for _ in range(rng.randint(2, 5))
    ]
    points = [
        p
        for p in itertools.product(range(-size, size + 1), repeat=count)
        if all(sum(a * x for a, x in zip(row, p, strict=True)) <= bound for row, bound in rows)
    ]
    xs = [model.int_var(f"x{i}", -size, size) for i in range(count)]
    for row, bound in rows:
        model.add(sum(a * x for a, x in zip(row, xs, strict=True)) <= bound + 0 * xs[0])
    nodes = [
        LinearLe(tuple((a, v) for v, a in enumerate(row) if a), bound) for row, bound in rows if any(row)
    ]
    box = Box([-size] * count, [size] * count, [1] * count, [None] * count)
    try:
        bounds = joint_bounds(nodes, box.lo, box.hi, 1 << 60, range(count))
    except Infeasible:
        assert points == []
    else:
        for v, (low, high) in bounds.items():
            assert all(low <= p[v] <= high for p in points)  # type: ignore[operator]
    assert model.count(engine="interpreted") == len(points)


def test_simplex_on_rationals() -> None:
    simplex = Simplex(50)
    for v in (0, 1):
        simplex.variable(v, None, None)
    simplex.row(2, {0: 3, 1: 2}, None, 7)
    simplex.row(3, {0: 1, 1: -5}, None, 2)
    simplex.find_point()
    assert simplex.extreme(0, True) == Fraction(39, 17)
    assert simplex.extreme(1, True) is None
    assert simplex.extreme(0, False) is None
    simplex = Simplex(50)
    for v in (0, 1):
        simplex.variable(v, 1, None)
    simplex.row(2, {0: 1, 1: -2}, 0, None)
    simplex.row(3, {0: -2, 1: 1}, 0, None)
    with pytest.raises(InfeasibleProgram):
        simplex.find_point()


@pytest.mark.parametrize("block", range(6))
def test_open_models_against_their_solutions_near_zero(block: int) -> None:
    """What is called infeasible has no solution near 0, what is called optimal no better one there."""
    answered = 0
    for seed in range(5000 + 60 * block, 5036 + 60 * block):
        rng = random.Random(seed)
        model = Model()
        xs = [
            model.int_var(f"x{i}", rng.choice([None, None, 0, 1, -3]), rng.choice([None, None, 6]))
            for i in range(rng.randint(1, 3))
        ]

        def expr(rng: Any = rng, xs: Any = xs) -> Any:
            a, b, c = rng.choice(xs), rng.choice(xs), rng.randint(-3, 3)
            return [a * b, a * a, a + c * b, abs(a) - b, a // 3 + b, max_(a, b)][rng.randrange(6)]

        for _ in range(rng.randint(1, 4)):
            e, f, c = expr(), expr(), rng.randint(-9, 12)
            model.add(rng.choice([e <= c, e >= c, e == c, e + f <= c, e + 2 * f == c, e != c]))
        goal = expr()
        domains = [[v for v in range(-9, 10) if v in x.domain] for x in xs]
        points = [dict(zip(xs, p, strict=True)) for p in itertools.product(*domains)]
        near = [p for p in points if all(one.expr.evaluate(p) for one in model.constraints)]
        if near:
            assert model.solve(time_limit=LIMIT), f"seed {seed}"
        try:
            best = model.solve(minimize=goal, time_limit=LIMIT)
        except UnboundedError:
            continue
        answered += 1
        assert best.status is (Status.OPTIMAL if best else Status.INFEASIBLE), f"seed {seed}"
        assert not near or best.objective <= min(goal.evaluate(p) for p in near), f"seed {seed}"
    assert answered >= 15


@pytest.mark.parametrize(
    "n", [0, 1, 2, 7, 8, 9, 80, 81, 82, 2**31, 2**62 - 2, 2**62, 3**200, 3**200 - 1, 10**900]
)
def test_roots_logarithms_and_capped_powers_are_exact(n: int) -> None:
    for k in (1, 2, 3, 5, 17, 61, 200, 899):
        found = root(n, k, 10**1000, 2**4096)
        assert found**k <= n < (found + 1) ** k
    for base in (2, 3, 10, 2**31, 2**31 - 1, 2**61 + 1, 3**100):
        if n >= 1:
            found = logarithm(n, base)
            assert base**found <= n < base ** (found + 1)
        for exponent in (0, 1, 2, 3, 63, 64):
            assert capped_power(base, exponent, n + 1) == min(base**exponent, n + 1)


def test_an_open_exponent_of_many_thousands_is_bounded_without_steps() -> None:
    result = Model.from_text("x in 2..3; y in 30000..40000; z in 0..; z == x ** y").solve(time_limit=30)
    assert result.values["z"] == result.values["x"] ** result.values["y"]
    text = "x in 2..9; y in 0..40000; x ** y == p"
    found = Model.from_text(text, constants={"p": 7**4000}).solve(time_limit=30)
    assert (found["x"], found["y"]) == (7, 4000)
    assert not Model.from_text(text, constants={"p": 7**4000 + 1}).solve(time_limit=30)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("7 % x == 1", [2, 3, 6]),
        ("-7 // x == 3", [-2]),
        ("-7 // x == -3", [3]),
        ("100 // x in 3..5", list(range(17, 34))),
        ("7 // x == -1; x >= -9", [-9, -8, -7]),
        ("-7 % x == -1", [-6, -3, -2]),
    ],
)
def test_open_divisors_are_bounded_by_quotient_and_remainder(text: str, values: list[int]) -> None:
    model = Model.from_text(f"x in ..; {text}")
    assert sorted(result["x"] for result in model.iter_solutions(time_limit=LIMIT)) == values


def test_all_roots_of_a_sum_of_squares_are_counted() -> None:
    text = "x, y in -10 ** 9..10 ** 9; {} * x * x + {} * y * y == {}"
    for a, b, n, count in [(1, 3, 7 * 13 * 19 * 10**12, 48), (1, 1, 5**9 * 13**4, 200), (2, 2, 3, 0)]:
        assert Model.from_text(text.format(a, b, n)).count(time_limit=20) == count
