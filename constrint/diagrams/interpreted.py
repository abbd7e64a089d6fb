"""Python expressions evaluated on Python values: parsed and turned into closures, never run as code.

For restrictions without a term: bit operators, `is None`, subscripts, `len`, strings and tuples. Expressions
with effects, or with long run times for short texts, are refused or raise `ValueError`.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from constrint.diagrams.python_conditions import COMPARE, COMPARISONS, SyntaxReader
from constrint.expr.arithmetic.power import MOST_POWER_BITS

MOST_ITEMS = 1_000_000
"""The most items of a sequence that an expression makes or searches."""

Values = dict[str, Any]
Code = Callable[[Values], Any]

_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    **{kind: COMPARE[op] for kind, op in COMPARISONS.items()},
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_METHODS: dict[type, tuple[str, ...]] = {
    str: (
        "startswith",
        "endswith",
        "lower",
        "upper",
        "strip",
        "count",
        "find",
        "index",
        "isdigit",
        "isalpha",
    ),
    tuple: ("count", "index"),
    list: ("count", "index"),
}
_MATH = (
    "sqrt",
    "log",
    "log2",
    "log10",
    "exp",
    "floor",
    "ceil",
    "trunc",
    "gcd",
    "lcm",
    "prod",
    "fabs",
    "isqrt",
)


def _power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is None and isinstance(base, int) and isinstance(exponent, int) and exponent > 0:
        _check_bits(base.bit_length() * exponent)
    return pow(base, exponent, modulus)


def _shift(value: Any, count: Any) -> Any:
    if isinstance(value, int) and isinstance(count, int) and value:
        _check_bits(value.bit_length() + count)
    return value << count


def _product(left: Any, right: Any) -> Any:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int) and isinstance(other, str | bytes | tuple | list):
            _check_items(one * len(other))
    return left * right


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, str | bytes):
        raise ValueError("a format, which may ask for any width")
    return left % right


def _check_bits(bits: int) -> None:
    if bits > MOST_POWER_BITS:
        raise ValueError("a number of more than a thousand digits")


def _check_items(count: int) -> None:
    if count > MOST_ITEMS:
        raise ValueError(f"a sequence of more than {MOST_ITEMS} items")


_BINARY: dict[type[ast.operator], Callable[[object, object], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _product,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _remainder,
    ast.Pow: _power,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: _shift,
    ast.RShift: operator.rshift,
}
_FUNCTIONS: dict[str, Callable[..., object]] = {
    **{function.__name__: function for function in (abs, all, any, bool, divmod, float, int, len, list)},
    **{function.__name__: function for function in (max, min, range, round, set, sorted, str, sum, tuple)},
    "pow": _power,
    "gcd": math.gcd,
    "lcm": math.lcm,
}


def interpreted(tree: ast.expr, parameters: Collection[str]) -> tuple[Callable[..., Any], list[str]]:
    """An expression as a function of keyword arguments, and the parameters that it takes.

    Args:
        tree: The expression.
        parameters: The names that it may use.

    Returns:
        The function, which returns Python's value of the expression or raises what Python raises; its
        arguments.

    Raises:
        Refused: A part is not supported; the message says which.
    """
    compiler = _Compiler(parameters)
    code = compiler.read(tree)
    return lambda **values: code(values), list(compiler.taken)


class _Compiler(SyntaxReader[Code]):
    """Turns syntax trees into closures; `taken` collects the parameters that they use."""

    def __init__(self, parameters: Collection[str]) -> None:
        self.parameters = parameters
        self.bound: list[str] = []
        self.taken: dict[str, None] = {}

    def _codes(self, nodes: Iterable[ast.expr]) -> list[Code]:
        return [self.read(node) for node in nodes]

    def _constant(self, node: ast.Constant) -> Code:
        value = node.value
        return lambda _: value

    def _name(self, node: ast.Name) -> Code:
        name = node.id
        if name not in self.bound:
            if name not in self.parameters:
                raise self.refused(node)
            self.taken[name] = None
        return lambda values: values[name]

    def _unaryop(self, node: ast.UnaryOp) -> Code:
        apply, operand = _UNARY[type(node.op)], self.read(node.operand)
        return lambda values: apply(operand(values))

    def _binop(self, node: ast.BinOp) -> Code:
        apply = _BINARY.get(type(node.op))
        if apply is None:
            raise self.refused(node)
        left, right = self.read(node.left), self.read(node.right)
        return lambda values: apply(left(values), right(values))

    def _boolop(self, node: ast.BoolOp) -> Code:
        *firsts, last = self._codes(node.values)
        stops_at = isinstance(node.op, ast.Or)

        def run(values: Values) -> Any:
            for first in firsts:
                value = first(values)
                if bool(value) is stops_at:
                    return value
            return last(values)

        return run

    def _ifexp(self, node: ast.IfExp) -> Code:
        test, body, other = self._codes([node.test, node.body, node.orelse])
        return lambda values: body(values) if test(values) else other(values)

    def _compare(self, node: ast.Compare) -> Code:
        sides = [node.left, *node.comparators]
        for i, op in enumerate(node.ops):
            if isinstance(op, ast.Is | ast.IsNot) and not any(map(_is_singleton, sides[i : i + 2])):
                raise self.refused(node)  # whether equal numbers are one object depends on Python
        first, *others = self._codes(sides)
        tests = list(zip([_COMPARE[type(op)] for op in node.ops], others, strict=True))

        def run(values: Values) -> Any:
            left, holds = first(values), True
            for test, other in tests:
                right = other(values)
                holds = test(left, right)
                if not holds:
                    break
                left = right
            return holds

        return run

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Code:
        make: Callable[[Iterable[Any]], Any] = {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)]
        items = self._codes(node.elts)
        return lambda values: make([item(values) for item in items])

    _tuple = _list = _set = _sequence

    def _subscript(self, node: ast.Subscript) -> Code:
        value, place = self.read(node.value), self.read(node.slice)
        return lambda values: value(values)[place(values)]

    def _slice(self, node: ast.Slice) -> Code:
        parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        low, high, step = self._codes(parts)
        return lambda values: slice(low(values), high(values), step(values))

    def _call(self, node: ast.Call) -> Code:
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise self.refused(node)
        if isinstance(node.func, ast.Attribute) and not _is_math(node.func, self.parameters):
            return self._method(node, node.func)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        known = name in _FUNCTIONS or (isinstance(node.func, ast.Attribute) and name in _MATH)
        if not known or (isinstance(node.func, ast.Name) and name in (*self.parameters, *self.bound)):
            raise self.refused(node)
        function = (
            getattr(math, name)
            if isinstance(node.func, ast.Attribute) and name != "pow"
            else _FUNCTIONS[name]
        )
        args = self._codes(node.args)

        def run(values: Values) -> Any:
            given = [arg(values) for arg in args]
            for one in given:
                if isinstance(one, range) and name != "len":
                    _check_items(len(one))
            return function(*given)

        return run

    def _method(self, node: ast.Call, func: ast.Attribute) -> Code:
        """A method of a string or sequence that does not change it."""
        name = func.attr
        if not any(name in names for names in _METHODS.values()):
            raise self.refused(node)
        subject, args = self.read(func.value), self._codes(node.args)

        def run(values: Values) -> Any:
            value = subject(values)
            if name not in _METHODS.get(type(value), ()):
                raise AttributeError(f"{type(value).__name__} has no {name}")
            return getattr(value, name)(*[arg(values) for arg in args])

        return run

    def _attribute(self, node: ast.Attribute) -> Code:
        if not _is_math(node, self.parameters) or node.attr not in ("pi", "e", "inf", "tau"):
            raise self.refused(node)
        value = getattr(math, node.attr)
        return lambda _: value

    def _generatorexp(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp) -> Code:
        """A comprehension over one sequence, as a generator."""
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise self.refused(node)
        loop = node.generators[0]
        targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if len(names) != len(targets):
            raise self.refused(node)
        items = self.read(loop.iter)
        self.bound += names
        item, tests = self.read(node.elt), self._codes(loop.ifs)
        del self.bound[len(self.bound) - len(names) :]
        return _loop(items, names if isinstance(loop.target, ast.Tuple) else names[0], item, tests)

    def _listcomp(self, node: ast.ListComp) -> Code:
        inner = self._generatorexp(node)
        return lambda values: list(inner(values))

    def _setcomp(self, node: ast.SetComp) -> Code:
        inner = self._generatorexp(node)
        return lambda values: set(inner(values))


def _loop(items: Code, names: str | list[str], item: Code, tests: Sequence[Code]) -> Code:
    def each(values: Values, sequence: Any) -> Iterator[Any]:
        for count, value in enumerate(sequence):
            _check_items(count)
            bound = {names: value} if isinstance(names, str) else dict(zip(names, value, strict=True))
            inner = {**values, **bound}
            if all(test(inner) for test in tests):
                yield item(inner)

    return lambda values: each(values, items(values))


def _is_singleton(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _is_math(node: ast.Attribute, parameters: Collection[str]) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "math" and "math" not in parameters
