"""Callables as restrictions: traced only if tracing is equivalent to calling."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest

from constrint import ModelError
from constrint.tuning.spaces import from_tune_params

PARAMS: dict[str, Any] = {
    "a": [1, 2, 3, 10, 12],
    "b": [0, 1, 2],
    "x": [None, 1, 2],
    "s": ["row", "col"],
    "on": [True, False],
}
FIRST = {name: values[0] for name, values in PARAMS.items()}


def allowed(function: Any, by_name: Any) -> Any:
    """What the function itself allows; an arithmetic error does not."""
    found = []
    for values in itertools.product(*PARAMS.values()):
        config = dict(zip(PARAMS, values, strict=True))
        try:
            if function(**{name: config[name] for name in by_name}) if by_name else function(dict(config)):
                found.append(config)
        except ArithmeticError:
            continue
    return sorted(map(repr, found))


class Limit:
    factor = 2

    def __call__(self, a: Any, b: int) -> Any:
        return a * self.factor > b + 3


def divides_or_zero(p: Any) -> Any:
    try:
        return p["a"] % p["b"] == 0
    except ZeroDivisionError:
        return True


def any_error(p: Any) -> Any:
    try:
        return bool(p["a"] > 2)
    except Exception:
        return True


def matched(p: Any) -> Any:
    match p["a"]:
        case int():
            return p["a"] > 2
    return False


def a_sequence(p: Any) -> Any:
    match p["s"]:
        case [*_]:
            return True
    return p["a"] > 2


def helper(value: Any) -> bool:
    return value is None


kind = type
TRACED: dict[str, Any] = {
    "arithmetic": lambda p: p["a"] * 2 - p["b"] // 2 > 3,
    "conditions": lambda p: (p["a"] > 2) | ((p["b"] == 0) & (p["a"] != 1)),
    "strings": lambda p: p["s"] == "row",
    "powers": lambda p: 2 ** p["b"] == p["a"],
    "remainders": lambda p: p["a"] % p["b"] == 0,
    "quotients": lambda p: p["a"] / p["b"] > 3,
    "signs": lambda p: abs(-p["a"] + p["b"]) >= +p["b"],
    "sums": lambda p: sum([p["a"], p["b"]]) > 4,
    "attributes": lambda p: p.a > 2,
    "defaults": lambda p: p.get("zz", 7) > p["a"],
    "constants": lambda p: True,
    "truth": lambda p: p["a"] - 1,
    "counts of conditions": lambda p: (p["a"] > 2) + (p["b"] > 0) == 2,
    "reductions": lambda p: functools.reduce(operator.mul, [p["a"], p["b"], 2]) < 9,
}
CALLED = {
    "identity": lambda p: p["x"] is None,
    "no identity": lambda p: p["x"] is not None,
    "identity in a helper": lambda p: helper(p["x"]),
    "identity by a function": lambda p: operator.is_(p["x"], None),
    "types": lambda p: type(p["x"]) is int,
    "types by another name": lambda p: kind(p["x"]).__name__ == "int",
    "instances": lambda p: isinstance(p["x"], int) & True,
    "attributes of values": lambda p: hasattr(p["x"], "bit_length"),
    "attributes or else": lambda p: getattr(p["a"], "bit_length", lambda: 0)() > 2,
    "text": lambda p: f"{p['a']}" == "1",
    "repr": lambda p: "1" in repr(p["a"]),
    "formats": lambda p: "%s" % p["s"] == "row",  # noqa: UP031 - what is tested
    "hashes": lambda p: {1: 2}.get(p["a"], 5) > 3,
    "members": lambda p: p["a"] in [1, 2],
    "branches": lambda p: p["a"] > 2 if p["on"] else p["b"] > 1,
    "chains": lambda p: 1 < p["a"] < 11,
    "roots": lambda p: math.sqrt(p["a"]) < 2,
    "rounding": lambda p: round(p["a"] / 3) == 1,
    "bits": lambda p: (p["a"] & 1) == 1,
    "exclusive": lambda p: (p["a"] > 2) ^ (p["b"] > 1),
    "all of them": lambda p: sum(v for v in p.values() if isinstance(v, int)) > 9,
    "all as a dict": lambda p: {**p, "zz": 1}["a"] in [2, 3] and dict(p)["b"] in (0, 1),
    "all as items": lambda p: any(k == "a" and v == 3 for k, v in p.items()),
    "a copy": lambda p: p.copy()["b"] == 1 or len(p) > 5,
    "all compared": lambda p: p != FIRST,
    "all as text": lambda p: str(p) != str(FIRST),
    "one taken out": lambda p: p.pop("ab"[0]) in (3, 10),
    "the last taken out": lambda p: p.popitem()[1] in (False, None),
    "nothing": lambda p: None,
    "numpy's integers": lambda p: p["a"] * np.int64(3) > 7,
    "numpy's divisions by zero": lambda p: np.float64(3) / p["b"] > 2,
    "numpy's short floats": lambda p: p["a"] / 10 == np.float32(0.1),
    "numpy's reductions": lambda p: np.add.reduce([p["a"], p["b"]]) / p["b"] > 1,
    "numpy's functions": lambda p: np.multiply(p["a"], p["b"]) // p["b"] > 1,
    "numpy's arrays": lambda p: np.array([p["a"], p["b"]])[0] / p["b"] > 1,
    "numpy": lambda p: np.prod([p["a"], p["b"]]) > 3,
    "handlers": divides_or_zero,
    "handlers of anything": any_error,
    "matching": matched,
    "matching sequences": a_sequence,
}


@pytest.mark.parametrize("name", TRACED)
def test_what_is_traced_allows_what_a_call_allows(name: Any) -> None:
    space = from_tune_params(PARAMS, [TRACED[name]])
    function = TRACED[name] if name != "attributes" else lambda p: p["a"] > 2
    assert sorted(map(repr, space)) == allowed(function, ())
    assert space.restrictions[0] is not None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CALLED)
def test_what_looks_at_values_is_called(name: str) -> None:
    function = CALLED[name]
    space = from_tune_params(PARAMS, [function])
    assert sorted(map(repr, space)) == allowed(function, ())
    assert space.restrictions == (None,)
    assert "could not be traced and was called" in space.notes[0]


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (Limit(), ("a", "b")),
        (functools.partial(lambda a, b: a > b, b=1), ("a",)),
        (lambda a, b=2: a > b, ("a",)),
        (lambda x: x is None, ("x",)),
    ],
)
def test_callables_of_all_kinds(function: Any, names: list[str]) -> None:
    space = from_tune_params(PARAMS, [function])
    assert sorted(map(repr, space)) == allowed(function, names)


def test_a_parameter_that_is_read_for_rare_values_only_is_never_guessed() -> None:
    def reads(p: Any) -> Any:
        name = "".join(["o", "n"])
        return bool(p.get(name, True)) if p["c"] == 777 else True

    with pytest.raises(ModelError, match="reads 'on' for some values only: give it named arguments"):
        from_tune_params({"c": range(1000), "on": [True, False]}, [reads])


def test_values_that_have_no_hash_reach_the_callable() -> None:
    space = from_tune_params({"v": [[1, 2], [3]], "n": [1, 2]}, [lambda v, n: len(v) == n])
    assert space.to_tuples() == [([1, 2], 2), ([3], 1)]
