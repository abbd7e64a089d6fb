"""Regression tests: the smallest case of each fixed bug, as text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from constrint import LimitError, Model, ModelError, Status, UnboundedError, all_different, element

LIMIT = 20.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The root of what stands for "no bound" was taken for a bound.
        ("x in 0..; y in ..; y == x ** 300; x - 3 == 17", {"x": 20, "y": 20**300}),
        ("x, z in 0..; y in ..; y == x ** 300; x - z == 17; z == 3", {"x": 20, "z": 3, "y": 20**300}),
        ("x, z in 0..; y in ..; y == x ** 300; x + z == 40; x - z == 0", {"x": 20, "z": 20, "y": 20**300}),
        # A lower bound beyond what stands for "no bound" was a contradiction.
        (
            "x, y, z, w in 1..; z == x * y; w == z ** 20; x == 2 ** 40; y == 2 ** 35",
            {"x": 2**40, "y": 2**35, "z": 2**75, "w": 2**1500},
        ),
        # Halving intervals for the root of a long number took minutes.
        ("x in 2 ** 13000..; x <= 2 ** 13000; y in 0..9; y * x * x == 9 * 2 ** 13000 * 2 ** 13000", {"y": 9}),
    ],
)
def test_solutions_that_were_missed(text: str, expected: dict[str, int]) -> None:
    result = Model.from_text(text).solve(time_limit=LIMIT)
    assert result.status is Status.OPTIMAL
    assert {name: result.values[name] for name in expected} == expected


@pytest.mark.parametrize(
    "text",
    [
        "x, y in 1..; x * y == x + y + 17 * x * x - 3 * y * y * x * x",
        "x, y in 1..; x == y * y; y == x * x + 1",
    ],
)
def test_what_cannot_be_decided_is_not_called_infeasible(text: str) -> None:
    with pytest.raises(UnboundedError):
        Model.from_text(text).solve(time_limit=LIMIT)


@pytest.mark.parametrize("text", ["a, b in ..; a <= b; b + 1 <= a", "a, b, c in 0..; a < b; b < c; c < a"])
def test_chains_without_bounds_are_infeasible_at_once(text: str) -> None:
    result = Model.from_text(text).solve(time_limit=LIMIT)
    assert result.status is Status.INFEASIBLE
    assert result.statistics.nodes <= 1


@pytest.mark.parametrize(
    "text",
    [
        # Search for a better value than 0 did not end.
        "x in ..; y in 0..; abs(y) - y <= 9; minimize abs(x) - x",
        "x in 0..6; y in -3..; x * x <= 8; minimize abs(y) - y",
    ],
)
def test_bounds_that_creep_without_an_end_are_an_error(text: str) -> None:
    with pytest.raises(UnboundedError):
        Model.from_text(text).solve()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The one argument was dropped, and with it that it must be defined.
        ("x in 0..3; all_different(6 // x)", 3),
        ("x in 0..3; all_different(1 // 0)", 0),
        ("x in 0..3; not all_different(6 // x)", 1),
        # The plan dropped a value that is in no bounds.
        ("x in 0..3; 6 // x in ..", 3),
        ("x in 0..3; 6 // x not in ..", 1),
        ("x in 0..3; 6 // x in .. or x == 7", 3),
    ],
)
def test_parts_that_decide_nothing_must_be_defined(text: str, expected: int) -> None:
    _check_all(Model.from_text(text), expected)


@pytest.mark.parametrize("wrap", [lambda part: part, lambda part: [part]])
def test_all_different_of_one_must_be_defined(wrap: Callable[..., Any]) -> None:
    model = Model()
    x, y = model.int_var("x", 0, 3), model.int_var("y", -1, 1)
    model.add(all_different(wrap(x // y)))
    _check_all(model, 8)


def _check_all(model: Model, expected: int) -> None:
    """Each way to go through all solutions finds so many."""
    assert model.count() == expected
    assert len(list(model.iter_solutions(time_limit=LIMIT))) == expected
    assert len(list(model.solutions())) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # numpy's lcm of Python integers divides by zero where both are 0.
        ("x, y in -3..3; lcm(y * 10**20, x) != 4", 49),
        # What an undefined part is taken for did not fit its type.
        ("y in -5..2; z in 2147483648..2147483648; (y + 6 + abs(y)) - z // (2147483648 % z) != 1", 0),
        # numpy's scalars did not take Python's integers.
        ("x in 0..1; y in -1..0 step 2; [-8, -7, -4, 2][y + y] // abs(2**1024) != -x", 0),
        ("x in 0..1; y in -(2**100)..-(2**100); (y ** y) * (12 + y) >= x", 0),
        # A corner of a product was numpy's, and the next product wrapped around or raised.
        (
            "x in 2**63 - 2..2**63 + 1; y in -1..3 step 2; z in -6..1; "
            "7 > min(ceildiv(x, y), -y) >= ceildiv(y, x) * (z + 1 - 2**1024)",
            64,
        ),
    ],
)
def test_counts_of_great_numbers(text: str, expected: int) -> None:
    _check_all(Model.from_text(text), expected)


def test_quotient_by_a_sum_that_was_narrowed_later() -> None:
    # The variable of the sum still had 0 among its bounds.
    model = Model.from_text("y in -4..0 step 4; ceildiv(ceildiv(y, y), abs(y)) <= 5")
    assert [dict(solution.values) for solution in model.iter_solutions(time_limit=LIMIT)] == [{"y": -4}]


@pytest.mark.parametrize("constraint", ["x ** 3000000000 > y", "x ** (x ** 40) > y"])
def test_powers_that_are_too_long_are_refused_at_once(constraint: str) -> None:
    model = Model.from_text(f"x in 1..3; y in -4..5; {constraint}")
    started = process_time()
    with pytest.raises(ModelError, match="bound its powers"):
        model.solve(time_limit=LIMIT)
    assert process_time() - started < 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, x: m.int_var("z", 0.5, 3), "'z': lo must be an integer, not 0.5"),
        (lambda m, x: m.int_var("z", "0", 3), "lo must be an integer, not '0': write an int, such as 0"),
        (lambda m, x: m.int_var("z", 0, 3, step=1.5), "step must be an integer, not 1.5"),
        (lambda m, x: m.int_var("z", 0, 3, step=None), "step must be an integer, not None"),
        (lambda m, x: m.int_var("z", values="abc"), "the values must be a list of integers"),
        (lambda m, x: x.is_in([0.5]), "each of values must be an integer"),
        (lambda m, x: m.solve(time_limit="a"), "time_limit must be seconds or None, not 'a'"),
        (lambda m, x: m.count(time_limit="a"), "time_limit must be seconds or None, not 'a'"),
        (lambda m, x: m.solutions(memory_limit="a"), "memory_limit must be bytes or None"),
        (lambda m, x: m.solve(seed="a"), "seed must be an integer"),
        (lambda m, x: m.iter_solutions(limit=-1), "limit must not be negative"),
        (lambda m, x: m.pareto([x]), "a goal is a pair"),
        (lambda m, x: element([], x), "element needs at least one value"),
    ],
)
def test_wrong_arguments_say_what_to_write(call: Callable[..., Any], message: str) -> None:
    model = Model()
    x = model.int_var("x", 0, 3)
    with pytest.raises(ModelError, match=message):
        call(model, x)


def test_a_list_of_expressions_is_a_lexicographic_goal() -> None:
    model = Model()
    x, y = model.int_var("x", 0, 3), model.int_var("y", 0, 3)
    model.add(x + y >= 2)
    assert model.solve(minimize=[x, y]).values == {"x": 0, "y": 2}
    assert model.solve(maximize=[(x, "min"), y]).values == {"x": 0, "y": 3}


def test_an_answer_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    model = tmp_path / "a.constrint"
    model.write_text("x in 0..3\n")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from constrint.cli.main import main; main()", "solve", str(model)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 4
    assert done.stderr.decode().splitlines() == ["error: cannot write the answer: no space left on device"]


def test_cheap_constraints_whose_bounds_creep_do_not_starve_the_others() -> None:
    text = "z in 1000000001..1000000002; w in -3..0; 1000000000 divides 3 * w - lcm(10, z)"
    solutions = Model.from_text(text).iter_solutions(time_limit=LIMIT)
    assert list(solutions) == []
    assert solutions.complete


@pytest.mark.parametrize("form", ["{}", "not {}", "{} <-> y == 2"])
def test_a_transition_given_twice_counts_once(form: str) -> None:
    rows = [[0, 2, 2], [1, 3, 0], [2, 0, 1], [2, 2, 0], [1, 0, 2]]
    counts = []
    for transitions in (rows, [*rows, rows[0], rows[0]]):
        relation = f"regular([x, y, z], {transitions}, 0, [1, 2])"
        model = Model.from_text(f"x in 0..3; y in 0..3; z in 0..3; {form.format(relation)}")
        assert model.count() == len(list(model.iter_solutions()))
        counts.append(model.count())
    assert counts[0] == counts[1]


def test_conditions_of_wide_variables_that_are_left_are_not_compared() -> None:
    """`==` of two of them built a condition, whose truth was asked for."""
    text = "a, c in 1..2000000; a > c; a not in {5, 7}; c * c != 36"
    with pytest.raises(LimitError, match="cannot be built"):
        Model.from_text(text).solutions(time_limit=LIMIT)


def test_a_term_that_cancels_may_stand_first_in_a_sum() -> None:
    """The known part of the sum had another sign in one layer than in the next: a KeyError."""
    text = "y in {-3, 0, 5}; z in 1..2; u bool; v in -9..1; "
    text += "truncmod(if_then_else(v >= 0, 3 ** v, 1), -1) <= min(y, u) - [0, 1, 4][z]"
    model = Model.from_text(text)
    assert model.count() == len(list(model.iter_solutions())) > 0
