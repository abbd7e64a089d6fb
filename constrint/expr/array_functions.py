"""Functions of numpy on arrays of expressions: ufuncs, reductions, and functions that rearrange elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from constrint.errors import ModelError
from constrint.expr import Const, IntExpr
from constrint.expr.alignment import paired
from constrint.expr.arithmetic.choices import if_then_else
from constrint.expr.arithmetic.divisors import gcd_, lcm_
from constrint.expr.arithmetic.extremes import max_, min_
from constrint.expr.arithmetic.truncation import truncmod
from constrint.expr.array_indices import broadcast, numbers_of, taken
from constrint.expr.array_operators import bitwise, elements_of, elementwise, plain_numbers
from constrint.expr.array_totals import TOTALS, truth
from constrint.expr.arrays import ExprArray, array, element_like, made
from constrint.expr.rational import Rational


def refused(name: str) -> NoReturn:
    """Raise the error for what is not known before a model is solved."""
    raise ModelError(
        f"np.{name} is not defined for expressions, whose values are not known while the model is built: "
        f"apply it to the values of a result, result[x]"
    )


# ------------------------------------------------------------ reductions


def reduced(name: str, values: ExprArray, axis: object, keepdims: bool = False) -> IntExpr | ExprArray:
    """A reduction of all elements, or along axes."""
    total = TOTALS[name]
    axes = range(values.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    checked = sorted({_axis(one, values.ndim) for one in axes})
    numbers = np.moveaxis(numbers_of(values.shape), checked, range(-len(checked), 0))
    shape = numbers.shape[: values.ndim - len(checked)]
    count = int(np.prod([values.shape[one] for one in checked], dtype=np.int64))
    rows = numbers.reshape(int(np.prod(shape, dtype=np.int64)), count).tolist()
    found = [total([values.flat[number] for number in row]) for row in rows]
    if keepdims:
        shape = tuple(1 if i in checked else length for i, length in enumerate(values.shape))
    return made(found, shape) if shape or keepdims else found[0]


def _axis(axis: SupportsIndex, ndim: int) -> int:
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise IndexError(f"axis {number} is out of bounds for an array of {ndim} axes")
    return number % ndim


def matrix_product(left: object, right: object) -> object:
    """The product of matrices and vectors, as `@`."""
    return _by_objects(np.matmul, _contracted(left, right), {})


def _contracted(left: Any, right: Any) -> tuple[Any, Any]:
    """The sides of a product of matrices and vectors, the labels of the axis that is summed over agreeing."""
    left, right = paired(left, right, [(-1, -1 if np.ndim(right) < 2 else -2)])
    return left, right


# ------------------------------------------------------------ ufuncs

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "divide": operator.truediv,
    "remainder": operator.mod,
    "fmod": lambda a, b: truncmod(a, b),
    "power": operator.pow,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "maximum": lambda a, b: max_(a, b),
    "minimum": lambda a, b: min_(a, b),
    "gcd": lambda a, b: gcd_(a, b),
    "lcm": lambda a, b: lcm_(a, b),
    "bitwise_and": bitwise(operator.and_),
    "bitwise_or": bitwise(operator.or_),
    "bitwise_xor": bitwise(operator.xor),
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "logical_and": lambda a, b: truth(a) & truth(b),
    "logical_or": lambda a, b: truth(a) | truth(b),
    "logical_xor": lambda a, b: truth(a) ^ truth(b),
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "invert": operator.invert,
    "logical_not": lambda a: ~truth(a),
    "square": lambda a: a**2,
    "sign": lambda a: (a > 0) - (a < 0),
    "floor": lambda a: _rounded(math.floor, a),
    "ceil": lambda a: _rounded(math.ceil, a),
    "trunc": lambda a: _rounded(math.trunc, a),
    "rint": lambda a: _rounded(round, a),
}


def _rounded(rule: Callable[[Any], Any], value: Any) -> Any:
    """A fraction rounded by a rule; an integer is what it is."""
    return rule(value) if isinstance(value, Rational) else value


_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}


def ufunc_of(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The result of a ufunc on expressions and arrays of them."""
    name = ufunc.__name__
    if any(options.get(key) is not None for key in ("out", "where")):
        raise ModelError(f"np.{name} of expressions takes no `out` and no `where`: it makes a new array")
    if method == "reduce" and name in _REDUCTIONS:
        axis, keepdims = options.get("axis", 0), options.get("keepdims", False)
        return reduced(_REDUCTIONS[name], array(inputs[0]), axis, keepdims)
    if method == "outer" and name in _BINARY:
        first, second = array(inputs[0]), array(inputs[1])
        return elementwise(_BINARY[name], first.reshape(*first.shape, *(1,) * second.ndim), second)
    if method == "accumulate" and name in ("add", "multiply"):
        return _by_objects(ufunc.accumulate, inputs, options)
    if method != "__call__":
        refused(f"{name}.{method}")
    if name == "matmul":
        return matrix_product(*inputs)
    if name == "divmod":
        return _binary(operator.floordiv, *inputs), _binary(operator.mod, *inputs)
    if name in _UNARY:
        (value,) = inputs
        if isinstance(value, ExprArray):
            return made([_UNARY[name](element) for element in value.flat], value.shape)
        return _UNARY[name](value)
    if name in _BINARY:
        return _binary(_BINARY[name], *inputs)
    refused(name)


def _binary(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if not isinstance(left, IntExpr | ExprArray | Rational) and np.ndim(left) == 0:
        left = plain_numbers(np.asarray(left))  # the number of numpy's scalar
    if not isinstance(right, IntExpr | ExprArray | Rational) and np.ndim(right) == 0:
        right = plain_numbers(np.asarray(right))
    if elements_of(left) is None and elements_of(right) is None:
        return function(left, right)
    return elementwise(function, left, right)


# ------------------------------------------------------------ functions


def _rearranged(function: Any, args: tuple[Any, ...], options: dict[str, Any], joins: bool = False) -> Any:
    """The result of a function that rearranges elements; numpy is given the elements' numbers.

    Number 0 stands for the constant 0, which functions such as `diag` and `tril` fill in.
    """
    flat: list[Any] = [Const(0)]

    def numbered(value: object, whole: bool) -> object:
        is_one = isinstance(value, ExprArray | IntExpr | Rational)
        if is_one or (whole and not isinstance(value, list | tuple)):
            found, shape = elements_of(value) or ([value], ())
            start = len(flat)
            flat.extend([element_like(one) for one in found])
            return numbers_of(shape, start)
        if isinstance(value, list | tuple):
            return type(value)([numbered(one, whole) for one in value])
        return value

    given = [numbered(one, joins and (i == 0 or function is np.append)) for i, one in enumerate(args)]
    named = {key: numbered(one, False) for key, one in options.items()}
    return _named(flat, function(*given, **named))


def _named(flat: Sequence[Any], found: object) -> object:
    if isinstance(found, list | tuple):
        return [_named(flat, one) for one in found]
    return taken(flat, found)


def _by_objects(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The result of a function of sums and products; numpy is given arrays of Python objects."""

    def plain(value: object) -> object:
        if isinstance(value, list | tuple) and elements_of(value):
            return np.asarray(array(value)) if _has_arrays(value) else value
        return np.asarray(value) if isinstance(value, ExprArray) else value

    try:
        found = function(*map(plain, args), **options)
    except ValueError as error:
        raise ModelError(f"np.{function.__name__}: {error}") from None
    if isinstance(found, np.ndarray):
        return made([element_like(one) for one in found.flat], found.shape)
    return element_like(found)


def _has_arrays(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_arrays, value))
    return isinstance(value, ExprArray | IntExpr | Rational)


def _where(condition: object, *values: object) -> ExprArray:
    if len(values) != 2:
        refused("where of one argument")
    then, otherwise = paired(*values)
    _, then = paired(condition, then)
    _, otherwise = paired(condition, otherwise)
    found = [array(one) for one in (condition, then, otherwise)]
    flats, shape = broadcast(*[(one.flat, one.shape) for one in found])
    return made([if_then_else(truth(c), a, b) for c, a, b in zip(*flats, strict=True)], shape)


def _clip(values: object, low: object = None, high: object = None) -> Any:
    if isinstance(values, Rational):
        values = values if low is None else _binary(_BINARY["maximum"], values, low)
        return values if high is None else _binary(_BINARY["minimum"], values, high)
    (_, low), (_, high) = paired(values, low), paired(values, high)
    clipped = array(values)
    if low is not None:
        clipped = elementwise(_BINARY["maximum"], clipped, low)
    return clipped if high is None else elementwise(_BINARY["minimum"], clipped, high)


def _round(values: Any, decimals: int) -> Any:
    if decimals:
        raise ModelError("np.round of expressions gives integers: leave the number of digits out")
    if isinstance(values, Rational):
        return round(values)
    return made([_rounded(round, one) for one in values.flat], values.shape)


def _reduction(name: str) -> Callable[..., object]:
    def reduction(
        values: object, axis: object = None, *, keepdims: bool = False, **options: object
    ) -> object:
        if any(value is not None for value in options.values()):
            raise ModelError(
                f"np.{name} of expressions takes `axis` and `keepdims`, not {', '.join(options)}"
            )
        return reduced(name, array(values), axis, keepdims)

    return reduction


_REARRANGING = frozenset(
    "reshape ravel transpose swapaxes moveaxis rollaxis expand_dims squeeze flip fliplr flipud roll rot90 "  # noqa: SIM905
    "repeat tile split array_split hsplit vsplit dsplit diag diagflat diagonal take compress delete tril "
    "triu broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d copy resize matrix_transpose".split()
)
_JOINING = frozenset(
    ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "append", "block"),
)
_BY_OBJECTS = frozenset(
    "diff ediff1d cumsum cumprod trace dot vdot inner outer kron cross tensordot convolve".split()  # noqa: SIM905
)
_OWN: dict[str, Callable[..., object]] = {
    **{name: _reduction(name) for name in TOTALS},
    "amin": _reduction("min"),
    "amax": _reduction("max"),
    "where": _where,
    "clip": _clip,
    "shape": lambda values: values.shape,
    "ndim": lambda values: values.ndim,
    "size": lambda values, axis=None: values.size if axis is None else values.shape[axis],
    "isin": lambda values, members: array(values).is_in(np.asarray(members).ravel().tolist()),
    "count_nonzero": lambda values, axis=None: reduced(
        "sum", made([truth(one) for one in array(values).flat], values.shape), axis
    ),
    "array_repr": repr,
    "array_str": str,
    "round": lambda values, decimals=0: _round(values, decimals),
    "around": lambda values, decimals=0: _round(values, decimals),
    "zeros_like": lambda values: np.zeros(values.shape, dtype=np.int64),
    "ones_like": lambda values: np.ones(values.shape, dtype=np.int64),
}


def function_of(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The result of a function of numpy on arrays of expressions."""
    name = function.__name__
    if getattr(np, name, None) is not function:
        refused(f"{function.__module__.removeprefix('numpy.')}.{name}".removeprefix("numpy."))
    if name in _OWN:
        return _OWN[name](*args, **options)
    if name in _REARRANGING or name in _JOINING:
        return _rearranged(function, args, options, joins=name in _JOINING)
    if name in _BY_OBJECTS:
        given = _contracted(*args) if name in ("dot", "inner", "vdot") and len(args) == 2 else args
        return _by_objects(function, given, options)
    refused(name)
