"""Tuners' search spaces: strings, lambdas and called functions against Python's own evaluation."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from drawn_spaces import PARAMS, allowed, python, same

from constrint import EmptySpaceError, LimitError, ModelError
from constrint.tuning.spaces import Space, from_json, from_tune_params

DATA = Path(__file__).parents[3] / "benchmarks" / "spaces" / "data"


@pytest.mark.parametrize(
    "text",
    [
        "a * c <= 32",
        "(c / a) % 2 == 0",
        "c // b > 1",
        "b == 0 or c % b == 0",
        "b != 0 and c / b > 1.5",
        "not (b and a % b)",
        "1 <= a * b < 20 != c",
        "a in (1, 2, 8) and c not in [4]",
        "s == 'row' or a > 2",
        "s != 'col'",
        "s in ('row', 'tile') and on",
        "on == True or f < 1",
        "a * f >= 2.25",
        "f // 0.5 == 2 or f % 1 == 0.25",
        "a if on else b",
        "max(a, b) <= 4 and min(a, c) > 1",
        "abs(b) <= 3 and gcd(a, c) == 4",
        "a ** 2 + b ** 2 <= c ** 2",
        "-b < a and +a < 8",
        "(a > 2) & (c > 4) | (b == 0)",
        "a + on > 4",
        "a / b == 1 or on",
        "on and a / b == 1",
        "(a - 1 / a) * 4 <= c",
        "lcm(a, c) == 16",
        "int(a) == 4 or bool(b)",
        "3 > 2",
        "f == 1 or f == 2.25",
        "a <= b <= c",
        "(a if on else c) > 4",
        "(a or c) > 4 and (b or a) < 3",
        "(b and a) == 2",
        "a * (c if b > 0 else 1) // (b if on else 2) >= 4",
        "(a if b else c // b) == 4",
        "not (c // b > 1 if on else a % b)",
        "max(a if on else b, 3) == 3",
        "a in (b, c if on else 1)",
        "1 < (a if on else b) < (c if b else a / b)",
        "((a > 2 or on) + (b > 0)) == 1",
        "-(a if on else -a) < 0",
        "max(f, 1.5, b) == f",
        "min(a / 2, f, c) >= 1",
        "abs(b * f - 1) <= 1.25",
        "max(1, 1.0, a / b) > abs(f - 2)",
        "gcd(max(f, 2) > 2, 1) == 1 or min(f, f) == 1",
    ],
)
def test_strings_mean_what_python_means(text: Any) -> None:
    assert same(from_tune_params(PARAMS, [text]), allowed(PARAMS, [python(text)]))


def expression(random: Random, depth: int) -> Any:
    if depth == 0:
        return random.choice(["a", "b", "c", "f", "a", "c", "2", "0", "-3", "1.5"])
    op = random.choice(["+", "-", "*", "/", "//", "%", "*", "+"])
    return f"({expression(random, depth - 1)} {op} {expression(random, random.randint(0, depth - 1))})"


def condition(random: Random, depth: int) -> Any:
    if depth == 0:
        op = random.choice(["<", "<=", "==", "!=", ">", ">="])
        return f"{expression(random, random.randint(0, 2))} {op} {expression(random, random.randint(0, 2))}"
    kind = random.choice(["and", "or", "or", "not", "if", "plain", "choice", "value"])
    if kind == "not":
        return f"(not {condition(random, depth - 1)})"
    if kind == "if":
        parts = [condition(random, depth - 1) for _ in range(3)]
        return f"({parts[0]} if {parts[1]} else {parts[2]})"
    if kind == "plain":
        return condition(random, 0)
    if kind == "choice":
        value = f"{expression(random, 1)} if {condition(random, 0)} else {expression(random, 1)}"
        return f"(({value}) > {expression(random, 1)})"
    if kind == "value":
        value = f"{expression(random, 0)} {random.choice(['and', 'or'])} {expression(random, 1)}"
        return f"(({value}) <= {expression(random, 0)})"
    return f"({condition(random, depth - 1)} {kind} {condition(random, depth - 1)})"


@pytest.mark.parametrize("block", range(8))
def test_random_restrictions_against_python(block: int) -> None:
    """400 spaces with one to three restrictions, with division by zero on every path."""
    params = {name: PARAMS[name] for name in "abcf"}
    for seed in range(50 * block, 50 * (block + 1)):
        random = Random(seed)
        texts = [condition(random, random.randint(0, 3)) for _ in range(random.randint(1, 3))]
        space = from_tune_params(params, texts)
        assert same(space, allowed(params, [python(text) for text in texts])), f"seed {seed}: {texts}"


def test_too_many_choices_are_worked_out_for_each_combination() -> None:
    many = " + ".join(["(a if on else b)"] * 12)
    space = from_tune_params(PARAMS, [f"{many} > 30"])
    assert same(space, allowed(PARAMS, [python(f"{many} > 30")]))
    assert space.notes == (f"'{many} > 30' was evaluated for each combination of on, a, b",)


def test_lambdas_are_traced() -> None:
    functions = [
        lambda p: p["a"] * p["c"] <= 32,
        lambda p: (p["c"] % p["a"] == 0) | (p["b"] > 2),
        lambda p: p["s"] != "col",
        lambda p: 2 * p["f"] - 1 > 0 if True else None,
    ]
    space = from_tune_params(PARAMS, functions)
    assert same(space, allowed(PARAMS, functions))
    assert space.notes == ()


def test_lambdas_with_named_arguments_are_traced() -> None:
    space = from_tune_params(PARAMS, [lambda a, c: a < c, lambda b: b >= 0])
    assert same(space, allowed(PARAMS, [lambda p: p["a"] < p["c"], lambda p: p["b"] >= 0]))
    assert space.notes == ()


def test_callables_that_cannot_be_traced_are_called_and_that_is_said() -> None:
    limit = {1: 16, 2: 12}

    def fits(a: Any, c: Any) -> Any:
        return c <= limit.get(a, 4) and a != 3

    space = from_tune_params(PARAMS, [fits, lambda p: 1 < p["a"] <= 4])
    assert same(space, allowed(PARAMS, [lambda p: fits(p["a"], p["c"]), lambda p: 1 < p["a"] <= 4]))
    assert "fits" in space.notes[0]
    assert "called for each combination of a, c" in space.notes[0]
    assert "called for each combination of a" in space.notes[1]


def test_calls_that_divide_by_zero_are_not_allowed_and_that_is_said() -> None:
    space = from_tune_params(PARAMS, [lambda b, c: bool(c % b == 0)])
    assert same(space, allowed(PARAMS, [lambda p: p["c"] % p["b"] == 0]))
    assert any("arithmetic error" in note for note in space.notes)


def test_strings_that_divide_by_zero_are_reported() -> None:
    space = from_tune_params(PARAMS, ["c % b == 0", "b == 0 or a % b == 0"])
    note = "'c % b == 0' is undefined for 4 of 16 combinations of values, such as b=0, c=1: those are"
    assert space.notes == (f"{note} not allowed",)


def test_a_part_is_only_undefined_where_those_before_it_hold() -> None:
    space = from_tune_params(PARAMS, ["b != 0 and c % b == 0"])
    assert same(space, allowed(PARAMS, [python("b != 0 and c % b == 0")]))
    assert space.notes == ()


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_real_spaces_have_their_known_sizes(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    space = from_json(path)
    assert space.size == data["valid"]
    assert space.cartesian == data["cartesian"]
    for config in space.sample(25, seed=7):
        assert all(python(text)(dict(config)) for text in data["restrictions"])
        assert space[space.index(config)] == config


@pytest.mark.parametrize("name", ["dedispersion", "atf_prl_4x4", "gemm"])
def test_real_spaces_are_listed_as_python_would(name: str) -> None:
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    table = from_json(data).to_numpy()
    assert len(np.unique(table, axis=0)) == len(table) == data["valid"]
    names = list(data["tune_params"])
    columns = {name: table[:, i].astype(np.int64) for i, name in enumerate(names)}
    for text in data["restrictions"]:
        rows = [dict(zip(names, row, strict=True)) for row in table[:: len(table) // 300].tolist()]
        assert all(python(text)(row) for row in rows)
    assert all(set(np.unique(columns[name])) <= set(data["tune_params"][name]) for name in names)


def test_values_that_are_no_numbers_compare_with_each_other() -> None:
    params: dict[str, Any] = {
        "s": ["row", "col", 3],
        "t": ["tile", "col", 3, None],
        "on": [True, False],
        "f": [0.5, 1],
    }
    for text in ["s == t", "s != t", "s == t or on", "not s == t", "on == f", "on != f or s == 3"]:
        assert same(from_tune_params(params, [text]), allowed(params, [python(text)])), text
    assert same(from_tune_params(params, [lambda p: p["s"] == p["t"]]), allowed(params, [python("s == t")]))


def test_values_come_back_as_they_were_given() -> None:
    space = from_tune_params({"f": [1, 0.5], "b": [True], "s": [("x", 2), ("y", 1)], "n": np.array([4, 2])})
    config = {"f": 1, "b": True, "s": ("y", 1), "n": 2}
    assert config in space
    found = space[space.index(config)]
    assert repr(found) == repr(config)
    assert space.to_numpy().dtype == object
    assert isinstance(space, Space)


def test_an_empty_space_says_why() -> None:
    space = from_tune_params(PARAMS, ["a < 100", "c > 100"])
    assert space.size == len(list(space)) == 0
    assert space.notes == ("no configuration is valid: 'c > 100' excludes all 1,440 combinations of values",)
    space = from_tune_params(PARAMS, ["a * c > 60", "a < 2", "b > 0"])
    assert "'a * c > 60' and 'a < 2' exclude all" in space.notes[-1]
    space = from_tune_params(PARAMS, ["a > 2", "b > 2", "a + b + f < 8", "c > 1"])
    assert "'a > 2' and 'b > 2' and 'a + b + f < 8' exclude all" in space.notes[-1]


@pytest.mark.parametrize(
    "listing",
    [
        lambda space: space.to_numpy(),
        lambda space: space.to_tuples(),
        lambda space: space.to_columns(),
        lambda space: space.to_pandas(),
        lambda space: next(space.iter_chunks()),
        lambda space: space.sample(3),
        lambda space: space.sample_numpy(3),
        lambda space: space.to_csv("never.csv"),
    ],
)
def test_an_empty_space_is_explained_not_listed(listing: Any) -> None:
    space = from_tune_params(PARAMS, ["a * b > 3", "b < 0"])
    with pytest.raises(EmptySpaceError, match="'a \\* b > 3' and 'b < 0' exclude all 1,440"):
        listing(space)


@pytest.mark.parametrize(
    ("params", "restriction", "message"),
    [
        (PARAMS, "aa < 3", "no parameter is named 'aa'; did you mean 'a'"),
        (PARAMS, "a <", "not a Python expression"),
        (PARAMS, "a.bit_length() < 3", "bit_length.. is not supported"),
        (PARAMS, "__import__('os')", "not supported"),
        (PARAMS, "s < 3", "the values of 's' are not numbers"),
        (PARAMS, "a is 3", "write `==`"),
        (PARAMS, "s & 1", "values of 's' are not numbers"),
        (PARAMS, lambda q: {}[3], "raised KeyError"),  # type: ignore[index]
        (PARAMS, lambda a, zz: a, "unknown: zz"),
        (PARAMS, 3, "a string or a callable"),
        ({"min": [1, 2]}, "min(min, 3) < 2", "a parameter and Python's own name"),
        ({"a": []}, "a", "'a' has no values"),
        ({"a": [1, 1]}, "a", "the value 1 twice"),
        ({"a": "12"}, "a", "must be a list"),
        ({"a b": [1]}, "a", "must be an identifier"),
        ({"lambda": [1]}, "lambda > 0", "not a Python expression"),
        ({"a": [1, True]}, "a", "the value True twice .1 equals it"),
        ({"a": [0.5, math.nan]}, "a", "the value nan"),
        ({"a": [0.5, 2**60 + 1]}, "a", "fractions beside 1152921504606846977"),
        ({"a": {1: 2}}, "a", "must be a list"),
        ({"a": np.eye(2)}, "a", "'a' has arrays as values"),
        (PARAMS, "s < f", "others of their kind; anything else can be given as a callable"),
        ({"math": [1], "a": [4]}, "math.gcd(a, 4) > 1", "'math' is a parameter"),
        (PARAMS, "(" * 5000 + "a" + ")" * 5000, "restriction '.*nested too deeply|not a Python expression"),
        (PARAMS, "a > 1\0", "not a Python expression"),
        ({"f": [0.5, 2.5]}, "gcd(f, 2) == 1", "restriction 'gcd.f, 2. == 1'"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*is.*literal:SyntaxWarning")
def test_bad_input_is_named(params: Any, restriction: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        from_tune_params(params, [restriction])


def test_a_space_beyond_its_memory_is_refused() -> None:
    params = {name: list(range(1, 200)) for name in "xyz"}
    with pytest.raises(LimitError, match="Give it more memory"):
        from_tune_params(params, ["(x * x + y * y + z * z) % 101 == x * y * z % 97"], memory_limit=20_000)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("a == 2**53 + 1", []),
        ("a in (2**53 + 1, 3)", []),
        ("b == a", [(2.0**53, 2**53)]),
        ("a < 10**400 and b == 7", [(1.5, 7), (2.0**53, 7)]),
        ("-(10**400) > a", []),
        ("2**53 + 1 != a and b == 2**53 + 1", [(1.5, 2**53 + 1), (2.0**53, 2**53 + 1)]),
    ],
)
def test_integers_and_floats_are_compared_exactly(text: Any, allowed: Any) -> None:
    """As in Python, where 2**53 + 1 is no float."""
    params: dict[str, Any] = {"a": [2.0**53, 1.5], "b": [7, 2**53, 2**53 + 1]}
    assert [tuple(row.values()) for row in from_tune_params(params, [text])] == allowed
    traced = from_tune_params(params, [eval(f"lambda a, b: {text}")])  # noqa: S307 - the text of this test
    assert [tuple(row.values()) for row in traced] == allowed


@pytest.mark.parametrize("text", ["10**400 / 7 > a", "10**400 // 1.5 > a", "2.5 % 10**400 > a"])
def test_floats_that_overflow_allow_nothing(text: str) -> None:
    params = {"a": [3, 2]}
    assert from_tune_params(params, [text]).size == 0
    assert from_tune_params(params, [eval(f"lambda a: {text}")]).size == 0  # noqa: S307 - an OverflowError


def test_powers_too_long_to_compute_are_refused() -> None:
    with pytest.raises(ModelError, match="more than a thousand digits"):
        from_tune_params({"a": [3]}, ["a ** 10**9 % 7 == 1"])


def test_what_strings_cannot_say_of_wide_integers_is_called() -> None:
    space = from_tune_params({"a": [-(2**63), 2**63]}, [lambda a: a / a == 1])
    assert space.size == 2
    assert "called" in space.notes[0]
    huge = 10**5000
    space = from_tune_params({"a": [1, 2]}, [lambda a: a < huge])
    assert space.to_tuples() == [(1,), (2,)]
    assert space.restrictions == (None,)  # Python writes no integer of so many digits
