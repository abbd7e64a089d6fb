"""Fractions in text: decimal numbers and quotients, in sums, products, comparisons and objectives.

``maximize 0.5 * x``, ``0.5 * x + 1.25 <= y``, ``max(0.5 * x, y)``, ``[0.5, 1.25][k]``. They are exact: a
comparison of fractions becomes one of integers. Everything else in the language is an integer or a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from constrint.errors import ModelError, ParseError
from constrint.expr import FUNCTIONS, And, BoolExpr, Const, linear
from constrint.expr.arithmetic.choices import if_then_else
from constrint.expr.rational import Rational, common, compared, lifted, total
from constrint.frontends.constants import as_token
from constrint.frontends.text.decimals import decimal_number
from constrint.frontends.text.labels import check_numbers
from constrint.frontends.text.meanings import Number

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.frontends.text.expressions import ExpressionReader

    Node: TypeAlias = Tree[Token]


def decimal(reader: ExpressionReader, tree: Node) -> Rational:
    """A decimal number."""
    token = as_token(tree.children[0])
    try:
        found = decimal_number(token, reader.budget, lambda: reader.where(token))
    except ModelError as error:
        if hasattr(error, "limit"):
            raise
        raise reader.error(token, str(error)) from None
    assert found is not None
    return found


def operation(reader: ExpressionReader, tree: Node, parts: Sequence[object]) -> Number:
    """An operator with fractions among its operands."""
    rule = _RULES.get(tree.data)
    if rule is None:
        raise reader.error(tree, f"'{reader.position(tree).text}' is an operation on integers")
    if tree.data != "chain":
        check_numbers(reader, tree, parts)
    try:
        found = rule(reader, tree, parts)
    except ModelError as error:
        if isinstance(error, ParseError) or hasattr(error, "limit"):
            raise
        raise reader.error(tree, str(error)) from None
    return _moderate(reader, tree, found) if isinstance(found, Rational) else found


def _sum(reader: ExpressionReader, tree: Node, parts: Sequence[Any]) -> Number:
    found = lifted(parts[0])
    for sign, term in zip(parts[1::2], parts[2::2], strict=True):
        found = found + lifted(term) if sign == "+" else found - lifted(term)
    return found


def _product(reader: ExpressionReader, tree: Node, parts: Sequence[object]) -> Number:
    result = lifted(parts[0])
    for place, factor in zip(range(1, len(parts), 2), parts[2::2], strict=True):
        operator, other = parts[place], lifted(factor)
        if operator not in ("*", "/"):
            message = f"'{operator}' is an operator of integers"
            hint = "put the integer part in brackets of its own"
            raise reader.error(as_token(tree.children[place]), message, hint)
        reader.check_bits(tree, [result.numerator, other.numerator], sum)
        result = result * other if operator == "*" else result / other
        result = _moderate(reader, tree, result)
    return result


def _unary(reader: ExpressionReader, tree: Node, parts: Sequence[object]) -> Number:
    return -lifted(parts[1]) if parts[0] == "-" else lifted(parts[1])


def _chain(reader: ExpressionReader, tree: Node, parts: Sequence[object]) -> BoolExpr:
    links: list[BoolExpr] = []
    for operator, left, right in zip(parts[1::2], parts[::2], parts[2::2], strict=False):
        if operator in ("in", "not", "divides") and isinstance(left, Rational):
            raise reader.error(tree, f"'{operator}' takes integers: write comparisons, such as x == 0.5 * y")
        links.append(compared(str(operator), left, right))
    where = reader.span(tree)
    for link in links:
        object.__setattr__(link, "_where", where)  # Python's own place was noted
    return links[0] if len(links) == 1 else And(tuple(links))


_RULES: dict[str, Callable[[ExpressionReader, Node, Sequence[Any]], Number]] = {
    "sum": _sum,
    "product": _product,
    "unary": _unary,
    "chain": _chain,
}


def applied(reader: ExpressionReader, tree: Node, name: str, parts: Sequence[Number]) -> Number:
    """A call of a function of numbers, such as `sum` or `max`, with fractions among its arguments."""
    check_numbers(reader, tree, parts)
    if name == "if_then_else":
        condition, then, otherwise = parts
        return if_then_else(condition, then, otherwise)
    if name == "sum":
        return _moderate(reader, tree, total(parts))
    if name == "product":
        result = lifted(Const(1))
        for part in map(lifted, parts):
            reader.check_bits(tree, [result.numerator, part.numerator], sum)
            result = _moderate(reader, tree, result * part)
        return result
    numerators, divided = common(parts)
    return divided(FUNCTIONS[name].of(tuple(numerators)))


def _moderate(reader: ExpressionReader, tree: Node, value: Rational) -> Rational:
    numerator = reader.moderate(tree, linear([(1, value.numerator)]))
    return Rational(numerator, value.denominator, value.is_float)
