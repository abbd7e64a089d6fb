"""Search spaces of tuners: T1, and plain `tune_params`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from constrint.tuning.spaces import Space, from_json
from fuzz.harness import NAME, Format

VALUES = (
    "[1, 2, 4]", "[True, False]", "[true, false]", "range(1, 9)", "range(999999)", "range(10**12)",
    "[2**i for i in range(6)]", "['a', 'b']", "[0.5, 1.5]", "list(range(4))", "[i*j for i in [1]]", "[]", "[",
    "(1, 2)", "{1, 2}", "[1, 'a']", "[9**9**9]", "[1/0]", "sorted([3, 1])", "[1] + [2]", "[(-8)**0.5]",
    "__import__('os')", "[1e999]", "[None]", "['\\ud800']", "nan", "[b'x']", "[1j]", "[...]", "range(0)",
    "range(1, 2, 0)", "[" * 300 + "]" * 300,
)  # fmt: skip
EXPRESSIONS = (
    "a * b <= 6", "a % b == 0", "a / b > 1", "a // (b - 1) > 0", "a in (1, 2)", "f < 1", "a ** b < 9",
    "not a",
    "a if b else f", "9**9**9 > a", "min(a, b) == 1", "gcd(a, b) == 1", "a == 'x'", "a", "a and b or f", "(a",
    "lambda: 1", "a.b", "a[0]", "[x for x in a]", "a < b < f", "a & b", "a & (b - 1) == 0", "1" * 5000,
    "a == 1_000",
    "a ** 10 ** 9 > 0", "abs(f) > 0", "(" * 600 + "a" + ")" * 600, "-" * 600 + "a", "a\0", "\ud800", "f'{a}'",
    "a := 1", "*a", "a is b", "int(f) == 0", "a * 1e999 > 1", "a % 0 == 0", "math.gcd(a, 2) == 2", "",
)  # fmt: skip
WORDS = (
    *[json.dumps(each) for each in VALUES + EXPRESSIONS], '"Name"', '"Type"', '"Values"', '"Conditions"',
    '"Parameters"', '"Expression"', '"TuningParameters"', '"ConfigurationSpace"', '"tune_params"',
    '"restrictions"', "null", "true", "1e999", "NaN", "-Infinity", "[1, 2]", "{}", "[]", "[[", "]]", '"int"',
    '"uint"', '"float"', '"bool"', '"string"', '"a"', '"\\ud800"', "9" * 5000, '"a": 1, "a": 2,', "\ud800",
)  # fmt: skip


def read(data: bytes) -> Space:
    """A space, from a file."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, NAME)
        place.write_bytes(data)
        return from_json(place)


def use(space: Space) -> None:
    """What the command shows of a space."""
    if space.size:
        space.sample(2, seed=1)
        space[space.size - 1]
    space.facts()
    json.dumps(space.to_t1() if len(str(space.tune_params)) < 10_000 else {}, ensure_ascii=False).encode()


def grammar() -> Any:
    """Documents that are nearly right."""
    from hypothesis import strategies as st

    odd: Any = st.sampled_from([None, 1.5, "", {}, [], "a", -1, 10**30, True, [[]], [1, "a"], {"a": 1}])
    kinds = st.sampled_from(["int", "int", "float", "bool", "string", "uint", None, "x"]) | odd
    values = st.sampled_from(VALUES) | st.lists(st.integers(-2, 70), min_size=1, max_size=5) | odd
    expressions = st.sampled_from(EXPRESSIONS) | odd
    parameters = st.builds(
        lambda name, kind, given: {"Name": name, "Type": kind, "Values": given},
        st.sampled_from(["a", "b", "f", "lambda", "a b"]) | odd, kinds, values,
    )  # fmt: skip
    good = [
        {"Name": "a", "Type": "int", "Values": "[1, 2, 4]"},
        {"Name": "b", "Type": "int", "Values": "range(1, 5)"},
        {"Name": "f", "Type": "float", "Values": "[0.5, 1.5]"},
    ]
    well = st.lists(st.sampled_from(EXPRESSIONS[:24]), max_size=3).map(
        lambda texts: [{"Expression": text, "Parameters": ["a", "b"]} for text in texts]
    )
    conditions = st.builds(
        lambda text, names: {"Expression": text, "Parameters": names},
        expressions, st.sampled_from([["a", "b"], [], None, ["nothing"]]) | odd,
    )  # fmt: skip
    t1 = st.builds(
        lambda listed, held: {"ConfigurationSpace": {"TuningParameters": listed, "Conditions": held}},
        st.one_of(st.just(good), st.just(good), st.lists(parameters, max_size=3), odd),
        well | well | st.lists(conditions, max_size=3) | odd,
    )
    plain = st.builds(
        lambda params, held: {"tune_params": params, "restrictions": held},
        st.dictionaries(
            st.sampled_from(["a", "b", "f", "if", ""]), st.lists(st.integers(0, 9), max_size=4) | odd
        ),
        st.lists(expressions, max_size=3) | odd,
    )
    return (t1 | t1 | plain | odd).map(json.dumps)


FORMAT = Format("t1", read, use, grammar, WORDS, path_like=True)
