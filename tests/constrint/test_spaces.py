"""Tuners' search spaces: strings, lambdas and calls against Python's own evaluation of the restrictions."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from random import Random

import numpy as np
import pytest

from constrint import LimitError, ModelError
from constrint.spaces import Space, from_json, from_tune_params, to_t1

DATA = Path(__file__).parents[2] / "benchmarks" / "spaces" / "data"
PARAMS = {
    "a": [1, 2, 3, 4, 8],
    "b": [-3, 0, 2, 5],
    "c": [16, 4, 1, 12],
    "f": [0.5, 1, 2.25],
    "s": ["row", "col", "tile"],
    "on": [False, True],
}


def allowed(params, functions):
    """Configurations that all functions of a dict allow; an arithmetic error does not."""
    found = []
    for values in itertools.product(*params.values()):
        config = dict(zip(params, values, strict=True))
        try:
            if all(function(config) for function in functions):
                found.append(config)
        except ArithmeticError:
            continue
    return found


def same(space, configs):
    return sorted(map(repr, space)) == sorted(map(repr, configs))


def python(text):
    """The restriction as Python itself understands it."""
    code = compile(text, "<restriction>", "eval")
    return lambda config: eval(code, {"gcd": math.gcd, "lcm": math.lcm}, config)  # noqa: S307 - the oracle


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
    ],
)
def test_strings_mean_what_python_means(text):
    assert same(from_tune_params(PARAMS, [text]), allowed(PARAMS, [python(text)]))


def expression(random, depth):
    if depth == 0:
        return random.choice(["a", "b", "c", "f", "a", "c", "2", "0", "-3", "1.5"])
    op = random.choice(["+", "-", "*", "/", "//", "%", "*", "+"])
    return f"({expression(random, depth - 1)} {op} {expression(random, random.randint(0, depth - 1))})"


def condition(random, depth):
    if depth == 0:
        op = random.choice(["<", "<=", "==", "!=", ">", ">="])
        return f"{expression(random, random.randint(0, 2))} {op} {expression(random, random.randint(0, 2))}"
    kind = random.choice(["and", "or", "or", "not", "if", "plain"])
    if kind == "not":
        return f"(not {condition(random, depth - 1)})"
    if kind == "if":
        parts = [condition(random, depth - 1) for _ in range(3)]
        return f"({parts[0]} if {parts[1]} else {parts[2]})"
    if kind == "plain":
        return condition(random, 0)
    return f"({condition(random, depth - 1)} {kind} {condition(random, depth - 1)})"


@pytest.mark.parametrize("block", range(8))
def test_random_restrictions_against_python(block):
    """400 spaces with one to three restrictions, with division by zero on every path."""
    params = {name: PARAMS[name] for name in "abcf"}
    for seed in range(50 * block, 50 * (block + 1)):
        random = Random(seed)
        texts = [condition(random, random.randint(0, 3)) for _ in range(random.randint(1, 3))]
        space = from_tune_params(params, texts)
        assert same(space, allowed(params, [python(text) for text in texts])), f"seed {seed}: {texts}"


def test_lambdas_are_traced():
    functions = [
        lambda p: p["a"] * p["c"] <= 32,
        lambda p: (p["c"] % p["a"] == 0) | (p["b"] > 2),
        lambda p: p["s"] != "col",
        lambda p: 2 * p["f"] - 1 > 0 if True else None,
    ]
    space = from_tune_params(PARAMS, functions)
    assert same(space, allowed(PARAMS, functions))
    assert space.notes == ()


def test_lambdas_with_named_arguments_are_traced():
    space = from_tune_params(PARAMS, [lambda a, c: a < c, lambda b: b >= 0])
    assert same(space, allowed(PARAMS, [lambda p: p["a"] < p["c"], lambda p: p["b"] >= 0]))
    assert space.notes == ()


def test_callables_that_cannot_be_traced_are_called_and_that_is_said():
    limit = {1: 16, 2: 12}

    def fits(a, c):
        return c <= limit.get(a, 4) and a != 3

    space = from_tune_params(PARAMS, [fits, lambda p: 1 < p["a"] <= 4])
    assert same(space, allowed(PARAMS, [lambda p: fits(p["a"], p["c"]), lambda p: 1 < p["a"] <= 4]))
    assert "fits" in space.notes[0]
    assert "called for each combination of a, c" in space.notes[0]
    assert "called for each combination of a" in space.notes[1]


def test_calls_that_divide_by_zero_are_not_allowed_and_that_is_said():
    space = from_tune_params(PARAMS, [lambda b, c: bool(c % b == 0)])
    assert same(space, allowed(PARAMS, [lambda p: p["c"] % p["b"] == 0]))
    assert any("arithmetic error" in note for note in space.notes)


def test_strings_that_divide_by_zero_are_reported():
    space = from_tune_params(PARAMS, ["c % b == 0", "b == 0 or a % b == 0"])
    assert space.notes == ("'c % b == 0' is undefined for some values: those are not allowed",)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_real_spaces_have_their_known_sizes(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    space = from_json(path)
    assert space.size == data["valid"]
    assert space.cartesian == data["cartesian"]
    for config in space.sample(25, seed=7):
        assert all(python(text)(dict(config)) for text in data["restrictions"])
        assert space[space.index(config)] == config


@pytest.mark.parametrize("name", ["dedispersion", "atf_prl_4x4", "gemm"])
def test_real_spaces_are_listed_as_python_would(name):
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    table = from_json(data).to_numpy()
    assert len(np.unique(table, axis=0)) == len(table) == data["valid"]
    names = list(data["tune_params"])
    columns = {name: table[:, i].astype(np.int64) for i, name in enumerate(names)}
    for text in data["restrictions"]:
        rows = [dict(zip(names, row, strict=True)) for row in table[:: len(table) // 300].tolist()]
        assert all(python(text)(row) for row in rows)
    assert all(set(np.unique(columns[name])) <= set(data["tune_params"][name]) for name in names)


def test_t1_in_and_out():
    texts = ["a * c <= 32", "a < c or b > 0"]
    params = {name: PARAMS[name] for name in "abc"}
    described = json.loads(json.dumps(to_t1(params, texts)))
    assert described["ConfigurationSpace"]["Conditions"][0]["Parameters"] == ["a", "c"]
    assert same(from_json(described), allowed(params, [python(text) for text in texts]))


def test_values_come_back_as_they_were_given():
    space = from_tune_params({"f": [1, 0.5], "b": [True], "s": [("x", 2), ("y", 1)], "n": np.array([4, 2])})
    config = {"f": 1, "b": True, "s": ("y", 1), "n": 2}
    assert config in space
    found = space[space.index(config)]
    assert repr(found) == repr(config)
    assert space.to_numpy().dtype == object
    assert isinstance(space, Space)


def test_an_empty_space_says_why():
    space = from_tune_params(PARAMS, ["a < 100", "c > 100"])
    assert space.size == 0
    assert space.to_numpy().shape == (0, 6)
    assert "'c > 100' alone exclude all" in space.notes[-1]
    space = from_tune_params(PARAMS, ["a * c > 60", "a < 2", "b > 0"])
    assert "'a * c > 60' and 'a < 2' alone exclude all" in space.notes[-1]


@pytest.mark.parametrize(
    ("params", "restriction", "message"),
    [
        (PARAMS, "aa < 3", "no parameter is named 'aa'; did you mean 'a'"),
        (PARAMS, "a <", "no Python expression"),
        (PARAMS, "a.bit_length() < 3", "bit_length.. is not understood"),
        (PARAMS, "__import__('os')", "not understood"),
        (PARAMS, "s < 3", "the values of 's' are no numbers"),
        (PARAMS, "a is 3", "write `==`"),
        (PARAMS, "a & 1", "work on conditions only"),
        (PARAMS, lambda q: {}[3], "raised KeyError"),
        (PARAMS, lambda a, zz: a, "unknown: zz"),
        (PARAMS, 3, "a string or a callable"),
        ({"min": [1, 2]}, "min(min, 3) < 2", "a parameter and Python's function"),
        ({"a": []}, "a", "'a' has no values"),
        ({"a": [1, 1]}, "a", "the value 1 twice"),
        ({"a": "12"}, "a", "must be a list"),
        ({"a b": [1]}, "a", "must be an identifier"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*is.*literal:SyntaxWarning")
def test_bad_input_is_named(params, restriction, message):
    with pytest.raises(ModelError, match=message):
        from_tune_params(params, [restriction])


def test_a_space_beyond_its_memory_is_refused():
    params = {name: list(range(1, 200)) for name in "xyz"}
    with pytest.raises(LimitError, match="Give it more memory"):
        from_tune_params(params, ["(x * x + y * y + z * z) % 101 == x * y * z % 97"], memory_limit=20_000)
