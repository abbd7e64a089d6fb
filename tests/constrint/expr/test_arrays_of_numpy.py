"""Arrays of expressions behave as numpy's: every operation, on solved values, over drawn arrays."""

# mypy: disable-error-code="operator"
from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import constrint as ci
from constrint import ExprArray, ModelError

SHAPES = [(), (1,), (3,), (4,), (2, 3), (3, 1), (1, 3), (3, 3), (2, 1, 3), (2, 3, 2), (0,), (0, 3)]


class Solved:
    """Arrays of variables with their values, which one solution gives."""

    def __init__(self, seed: Any) -> None:
        self.random = random.Random(seed)
        self.model = ci.Model()
        self.assignment = {}  # type: ignore[var-annotated]

    def value(self, expr: Any) -> Any:
        """What an expression or array of expressions is worth."""
        if isinstance(expr, tuple | list):
            return [self.value(one) for one in expr]
        if isinstance(expr, ci.ExprArray):
            flat = [int(one.evaluate(self.assignment)) for one in expr.flat]
            return np.array(flat, dtype=np.int64).reshape(expr.shape)
        if isinstance(expr, ci.IntExpr):
            return int(expr.evaluate(self.assignment))
        return expr

    def numbers(self, shape: tuple[int, ...], low: int = -5, high: int = 5) -> ExprArray:
        name = f"x{len(self.model.variables)}"
        x = self.model.int_vars(name, shape, low, high)
        for one in x.flat:
            self.assignment[one] = self.random.randint(low, high)
        return x

    def truths(self, shape: tuple[int, ...]) -> ExprArray:
        b = self.model.bool_vars(f"b{len(self.model.variables)}", shape)
        for one in b.flat:
            self.assignment[one] = self.random.randint(0, 1)
        return b

    def number(self, low: int = -5, high: int = 5) -> Any:
        return self.numbers((1,), low, high)[0]

    def partner(self, shape: tuple[int, ...], **bounds: Any) -> Any:
        """An operand whose shape can be broadcast with a shape: an array, numpy's array, a number, a list."""
        kind = self.random.choice(["array", "array", "numpy", "expression", "int", "scalar", "list"])
        low, high = bounds.get("low", -5), bounds.get("high", 5)
        if kind == "expression":
            return self.number(low, high)
        if kind == "int":
            return self.random.randint(low, high)
        if kind == "scalar":
            return np.int64(self.random.randint(low, high))
        other = tuple(self.random.choice([length, 1]) for length in shape)[self.random.choice([0, 0, 1]) :]
        if self.random.random() < 0.2:
            other = (2, *other) if len(other) == len(shape) else other
        if kind == "array":
            return self.numbers(other, low, high)
        drawn = np.array([self.random.randint(low, high) for _ in range(int(np.prod(other)))], dtype=np.int64)
        return drawn.reshape(other) if kind == "numpy" or 0 in other else drawn.reshape(other).tolist()


def check(solved: Solved, expr: ExprArray, expected: NDArray[np.int64] | np.int64, what: Any) -> None:
    """Compare with numpy: values, shape, and that what numpy gives as a number is an expression."""
    found = solved.value(expr)
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected), what
        for one, other in zip(expr, expected, strict=True):
            check(solved, one, other, what)
        return
    assert np.shape(found) == np.shape(expected), what
    assert np.array_equal(found, np.asarray(expected).astype(np.int64)), what
    if isinstance(expected, np.ndarray) and np.ndim(expected):
        assert isinstance(expr, ci.ExprArray), what


BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "gcd": np.gcd,
    "lcm": np.lcm,
    "np.add": np.add,
    "np.less": np.less,
    "bits &": operator.and_,
    "bits |": operator.or_,
    "bits ^": np.bitwise_xor,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
POSITIVE = {
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "fmod": np.fmod,
    "divmod": np.divmod,
    "<<": operator.lshift,
    ">>": np.right_shift,
}
LOGICAL: dict[Any, Callable[..., Any]] = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "np &": np.bitwise_and,
}


def as_numpy(value: NDArray[np.int64] | np.int64 | int) -> NDArray[np.int64] | np.int64 | int:
    return np.asarray(value) if isinstance(value, list) else value


@pytest.mark.parametrize("name", [*BINARY, *POSITIVE])
def test_binary_operations(name: Any) -> None:
    for seed in range(40):
        solved = Solved(seed)
        shape = solved.random.choice(SHAPES)
        x = solved.numbers(shape)
        y = solved.partner(shape, low=1, high=3) if name in POSITIVE else solved.partner(shape)
        function = BINARY.get(name) or POSITIVE[name]
        mine, theirs = (x, y), (solved.value(x), as_numpy(solved.value(y)))
        if seed % 2 and name not in POSITIVE:
            mine, theirs = mine[::-1], theirs[::-1]
        if isinstance(mine[0], list) and isinstance(function, np.ufunc):
            mine = (np.array(mine[0]), mine[1])
        check(solved, function(*mine), function(*theirs), f"{name} {shape} {y}")


@pytest.mark.parametrize("name", list(LOGICAL))
def test_logical_operations(name: Any) -> None:
    for seed in range(30):
        solved = Solved(seed)
        shape = solved.random.choice(SHAPES)
        x = solved.truths(shape)
        other = solved.random.choice(
            [solved.truths(shape), solved.truths(())[()], True, solved.numbers(shape) > 1]
        )
        other = np.array(solved.random.random() < 0.5) if seed % 5 == 0 else other
        pair = (x, other) if seed % 2 else (other, x)
        theirs = [np.asarray(solved.value(one)).astype(bool) for one in pair]
        check(solved, LOGICAL[name](*pair), LOGICAL[name](*theirs), f"{name} {shape}")


UNARY = {
    "-": operator.neg,
    "+": operator.pos,
    "abs": abs,
    "np.abs": np.abs,
    "square": np.square,
    "sign": np.sign,
    "not": np.logical_not,
    "T": lambda x: x.T,
    "ravel": lambda x: x.ravel(),
    "flatten": lambda x: x.flatten(),
    "np.ravel": np.ravel,
    "np.transpose": np.transpose,
    "squeeze": np.squeeze,
    "flip": np.flip,
    "tolist": lambda x: np.array(x.tolist()) if not isinstance(x, ci.ExprArray) else ci.array(x.tolist()),
    "cumsum": lambda x: x.cumsum(),
    "np.sum": np.sum,
    "sum": lambda x: x.sum(),
    "prod": lambda x: x.prod(),
    "any": lambda x: x.any(),
    "all": lambda x: np.all(x),
    "reshape": lambda x: x.reshape(-1),
    "np.reshape": lambda x: np.reshape(x, (x.size, 1)),
    "expand": lambda x: np.expand_dims(x, 0),
    "repeat": lambda x: np.repeat(x, 2),
    "tile": lambda x: np.tile(x, (2, 1)),
    "atleast": np.atleast_2d,
    "clip": lambda x: np.clip(x, -1, 2),
    "where": lambda x: np.where(x > 1, x, 0),
    "count": lambda x: np.count_nonzero(x),
    "isin": lambda x: np.isin(x, [1, 2]),
    "shape": np.shape,
    "ndim": np.ndim,
    "size": np.size,
    "newaxis": lambda x: x[None, ...],
    "outer": lambda x: np.multiply.outer(x, [1, 2]),
    "whole": lambda x: x[...],
    "sum all": lambda x: x.sum(axis=None, keepdims=True),
}
SHAPED = {  # for arrays of these numbers of axes
    "split": (1, 3, lambda x: np.array_split(x, 2)),
    "sum axis": (1, 3, lambda x: x.sum(axis=0)),
    "sum last": (1, 3, lambda x: np.sum(x, axis=-1)),
    "keepdims": (1, 3, lambda x: np.sum(x, axis=0, keepdims=True)),
    "prod axis": (1, 3, lambda x: x.prod(axis=0)),
    "any axis": (1, 3, lambda x: x.any(axis=-1)),
    "all axis": (1, 3, lambda x: np.all(x, axis=0)),
    "cumsum axis": (1, 3, lambda x: np.cumsum(x, axis=0)),
    "diff": (1, 3, np.diff),
    "roll": (1, 3, lambda x: np.roll(x, 1)),
    "concatenate": (1, 3, lambda x: np.concatenate([x, x + 1])),
    "with constants": (1, 3, lambda x: np.concatenate([x, np.ones(x.shape, dtype=np.int64)])),
    "append": (1, 3, lambda x: np.append(x, 7)),
    "stack": (0, 3, lambda x: np.stack([x, x * 2])),
    "hstack": (1, 3, lambda x: np.hstack([x, x])),
    "vstack": (1, 3, lambda x: np.vstack([x, -x])),
    "fliplr": (2, 3, np.fliplr),
    "rot90": (2, 3, np.rot90),
    "swapaxes": (2, 3, lambda x: np.swapaxes(x, 0, 1)),
    "moveaxis": (2, 3, lambda x: np.moveaxis(x, 0, -1)),
    "transpose": (2, 2, lambda x: x.transpose(1, 0)),
    "two axes": (3, 3, lambda x: x.sum(axis=(0, 2))),
    "diagonal": (2, 2, lambda x: x.diagonal()),
    "np.diagonal": (2, 2, lambda x: np.diagonal(x, offset=1)),
    "trace": (2, 2, np.trace),
    "tril": (2, 2, np.tril),
    "triu": (2, 2, lambda x: np.triu(x, 1)),
    "diag": (1, 2, np.diag),
    "gram": (2, 2, lambda x: x @ x.T),
    "by vector": (2, 2, lambda x: x @ np.arange(x.shape[1])),
    "from left": (2, 2, lambda x: np.arange(x.shape[0]) @ x),
    "dot": (1, 1, lambda x: x.dot(x)),
    "np.dot": (1, 2, lambda x: np.dot(x, x.T)),
    "inner": (1, 2, lambda x: np.inner(x, x)),
    "np.outer": (1, 1, lambda x: np.outer(x, x)),
    "kron": (2, 2, lambda x: np.kron(x, np.eye(2, dtype=np.int64))),
    "add.reduce": (1, 3, np.add.reduce),
    "multiply.reduce": (1, 3, np.multiply.reduce),
    "logical_and.reduce": (1, 3, np.logical_and.reduce),
    "take": (1, 1, lambda x: np.take(x, [0, -1]) if x.size else np.take(x, [])[:0]),
    "mask": (1, 3, lambda x: x[np.arange(x.size).reshape(x.shape) % 2 == 0]),
    "list": (1, 3, lambda x: x[[0, -1]] if len(x) else x[[]]),
    "negative": (1, 3, lambda x: x[-1] if len(x) else x),
    "step": (1, 3, lambda x: x[::-2]),
    "columns": (2, 3, lambda x: x[:, [0, 0, -1]]),
    "mixed": (2, 3, lambda x: x[..., 1:]),
    "rows": (2, 3, lambda x: x[[True] * len(x)]),
    "grid": (2, 2, lambda x: x[np.ix_(range(len(x)), [0])]),
}
NOT_EMPTY = {
    "max": (1, 3, lambda x: x.max()),
    "min": (1, 3, lambda x: np.min(x)),
    "amax": (1, 3, lambda x: np.amax(x, axis=-1)),
    "max axis": (1, 3, lambda x: x.max(axis=0)),
    "maximum.reduce": (1, 3, np.maximum.reduce),
}


@pytest.mark.parametrize("name", [*UNARY, *SHAPED, *NOT_EMPTY])
def test_functions_of_one_array(name: Any) -> None:
    least, most, function = (0, 3, UNARY[name]) if name in UNARY else {**SHAPED, **NOT_EMPTY}[name]
    for seed, shape in enumerate(SHAPES):
        if (
            not least <= len(shape) <= most
            or (name in NOT_EMPTY and 0 in shape)
            or (name == "tolist" and 0 in shape)
        ):
            continue
        solved = Solved(seed)
        x = (
            solved.numbers(shape)
            if seed % 3 or name in ("-", "by vector", "gram")
            else solved.numbers(shape, 0, 1)
        )
        check(solved, function(x), function(solved.value(x)), f"{name} {shape}")


def test_indices_that_are_expressions() -> None:
    for seed in range(120):
        solved = Solved(seed)
        rng = solved.random
        shape = rng.choice([(4,), (2, 3), (3, 3), (2, 3, 2)])
        grid = solved.numbers(shape) if seed % 2 else ci.array(np.arange(int(np.prod(shape))).reshape(shape))
        key = []
        for length in shape[: rng.randint(1, len(shape))]:
            kind = rng.choice(["expr", "expr", "slice", "int", "array", "list"])
            key.append(
                {  # type: ignore[no-untyped-call]
                    "expr": lambda one, n: one.number(0, n - 1),
                    "slice": lambda one, n: slice(
                        None, one.random.choice([None, n - 1]), one.random.choice([1, -1])
                    ),
                    "int": lambda one, n: one.random.randint(-n, n - 1),
                    "array": lambda one, n: one.numbers((2,), 0, n - 1),
                    "list": lambda one, n: [one.random.randint(0, n - 1), one.number(0, n - 1)],
                }[kind](solved, length)
            )
        if seed % 7 == 0 and len(key) < len(shape):
            key.insert(rng.randint(0, len(key)), ...)
        values = tuple(solved.value(part) if not isinstance(part, slice) else part for part in key)
        values = tuple(np.array(part) if isinstance(part, list) else part for part in values)
        key = key[0] if len(key) == 1 and seed % 3 else tuple(key)  # type: ignore[assignment]
        check(solved, grid[key], solved.value(grid)[values], f"{shape} {key}")


def test_an_index_outside_is_undefined_on_its_own_axis() -> None:
    m = ci.Model()
    i, j = m.int_var("i", -2, 4), m.int_var("j", -2, 4)
    g = m.int_vars("g", (2, 3), 0, 1)
    m.add(ci.array([[0, 1, 2], [3, 4, 5]])[i, j] >= 0, g == 0, g[i, j] == 0)
    assert {(r["i"], r["j"]) for r in m.iter_solutions()} == {(a, b) for a in range(2) for b in range(3)}
    assert m.count(engine="interpreted") == m.count() == 6


def test_a_model_of_numpy_is_solved() -> None:
    m = ci.Model()
    x = m.int_vars("x", (3, 3), 1, 9)
    m.add(ci.all_different(x), x.sum(axis=0) == 15, np.sum(x, axis=1) == 15)
    m.add(x.trace() == 15, np.trace(np.fliplr(x)) == 15, np.arange(3) * x[0] >= np.zeros(3, dtype=int))
    r = m.solve()
    square = r[x]
    assert isinstance(square, np.ndarray)
    assert square.dtype == np.int64
    assert (square.sum(axis=0) == 15).all()
    assert sorted(square.ravel()) == list(range(1, 10))
    assert r[x[0]].tolist() == square[0].tolist()
    assert r[x.T].tolist() == square.T.tolist()
    assert r[[x[0, 0], x[1, 1] + 1]].tolist() == [square[0, 0], square[1, 1] + 1]
    assert m.count() == 8


def test_values_beyond_int64_are_python_integers() -> None:
    m = ci.Model()
    x = m.int_vars("x", 2, 10**30, 10**30)
    found = m.solve()[x]
    assert found.dtype == object
    assert found.tolist() == [10**30] * 2


@pytest.mark.parametrize(
    ("misuse", "advice"),
    [
        (lambda x: np.sort(x), "np.sort is not defined for expressions"),
        (lambda x: np.mean(x), "np.mean is not defined"),
        (lambda x: np.sin(x), "np.sin is not defined"),
        (lambda x: np.linalg.norm(x), "linalg.norm is not defined"),
        (lambda x: x / 2, "does not give an integer"),
        (lambda x: np.arange(3) / x, "does not give an integer"),
        (lambda x: x & (x == 3), "two conditions or two numbers"),
        (lambda x: x + np.arange(4), "shapes (3,) and (4,) do not match"),
        (lambda x: x @ np.arange(4), "mismatch"),
        (lambda x: x[x > 1], "mask of conditions"),
        (lambda x: x[:0].max(), "no elements"),
        (lambda x: np.add(x, 1, out=np.zeros(3)), "`out`"),
        (lambda x: np.array(x, dtype=np.int64), "has no numbers"),
        (lambda x: x.__setitem__(0, 3), "cannot be changed"),
        (lambda x: 3 in x, "any_of(array == value)"),
        (lambda x: bool(x == 3), "all_of"),
        (lambda x: x + "a", "'a' is not an integer"),
        (lambda x: ci.array([[1, 2], [3]]), "one shape"),
    ],
)
def test_what_numpy_can_do_and_arrays_cannot_is_an_error(misuse: Callable[..., Any], advice: str) -> None:
    m = ci.Model()
    with pytest.raises(ModelError) as caught:
        misuse(m.int_vars("x", 3, 0, 9))
    assert advice in str(caught.value)


def test_arrays_are_shown_as_nested_lists() -> None:
    m = ci.Model()
    x = m.int_vars("x", (2, 2), 0, 9)
    assert repr(x) == "ExprArray([[x[0,0], x[0,1]],\n           [x[1,0], x[1,1]]])"
    assert repr(x[0] + 1) == "ExprArray([x[0,0] + 1, x[0,1] + 1])"
    assert repr(m.int_vars("y", 1000, 0, 9)).endswith("y[7], …, y[999]])")
    assert "<td>x[1,0]</td>" in x._repr_html_()
    assert len(repr(m.int_vars("z", (40, 40, 40), 0, 9))) < 3_000


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_short_floats_are_the_decimals_that_numpy_prints(kind: Any) -> None:
    m = ci.Model()
    x = m.int_vars("x", 2, 0, 5)
    weights = np.array([0.1, 0.2], dtype=kind)
    m.add((x * weights).sum() == 0.3, weights[0] * x[0] <= 0.3, weights[1] * x[1] <= 1)
    assert m.count() == 2


def test_the_absolute_value_of_a_fraction() -> None:
    m = ci.Model()
    x = m.int_var("x", -4, 5)
    m.add(ci.abs_(x - 0.5) <= 2.5, ci.abs_(-1.5) <= 2)
    assert m.count() == 6
