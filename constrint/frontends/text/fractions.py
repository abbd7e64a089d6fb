"""Fractions in text: decimal numbers and quotients, in sums, products, comparisons and objectives.

``maximize 0.5 * x``, ``0.5 * x + 1.25 <= y``, ``max(0.5 * x, y)``, ``[0.5, 1.25][k]``. They are exact: a
comparison of fractions becomes one of integers. Everything else in the language is an integer or a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from constrint.errors import ModelError, ParseError
from constrint.expr import FUNCTIONS, And, BoolExpr, Const, IntExpr, linear
from constrint.expr.arithmetic.choices import element_of, if_then_else
from constrint.expr.rational import Rational, common, compared, lifted, total
from constrint.frontends.constants import as_token
from constrint.frontends.text.meanings import Items, Value

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.frontends.text.expressions import ExpressionReader

    Node: TypeAlias = Tree[Token]

Number: TypeAlias = IntExpr | Rational


def decimal(reader: ExpressionReader, tree: Node) -> Rational:
    """A decimal number."""
    token = as_token(tree.children[0])
    reader.budget.digits(token, lambda: reader.where(token))
    exact = Fraction(token.replace("_", ""))
    return Rational(Const(exact.numerator), exact.denominator, True)


def operation(reader: ExpressionReader, tree: Node, parts: Sequence[Any]) -> Number:
    """An operator with fractions among its operands."""
    rule = _RULES.get(tree.data)
    if rule is None:
        raise reader.error(tree, f"'{reader.position(tree).text}' is an operation on integers")
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


def _product(reader: ExpressionReader, tree: Node, parts: Sequence[Any]) -> Number:
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


def _unary(reader: ExpressionReader, tree: Node, parts: Sequence[Any]) -> Number:
    return -lifted(parts[1]) if parts[0] == "-" else lifted(parts[1])


def _chain(reader: ExpressionReader, tree: Node, parts: Sequence[Any]) -> BoolExpr:
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


def call(reader: ExpressionReader, tree: Node, name: str, arguments: Sequence[Node]) -> Number:
    """A call of `sum`, `abs`, `max`, `min` or `if_then_else` with fractions among its arguments."""
    if name == "if_then_else":
        then, otherwise = [reader.operand(one) for one in arguments[1:]]
        return if_then_else(reader.boolean(arguments[0]), then, otherwise)
    if len(arguments) == 1:
        values = _numbers(reader, arguments[0])
    else:
        values = [reader.operand(one) for one in arguments]
    if name == "sum":
        return _moderate(reader, tree, total(values))
    numerators, divided = common(values)
    return divided(FUNCTIONS[name].of(tuple(numerators)))


def _numbers(reader: ExpressionReader, tree: Node) -> list[Number]:
    """The numbers that an argument is: itself, or the entries of a list or comprehension."""
    if tree.data == "comprehension":
        return reader.expanded(tree, reader.operand)
    value = reader.value(tree)
    if not isinstance(value, Items):
        found = None if isinstance(value, Rational) else reader.flat(value)
        return [reader.operand(tree)] if found is None else list(found)
    numbers: list[Number] = [one for one in value.items if isinstance(one, IntExpr | Rational)]
    if len(numbers) < len(value.items):
        raise reader.error(tree, f"'{reader.position(tree).text}' is not a list of numbers alone")
    return numbers


def entry(value: Value, indices: Sequence[Value]) -> Number | None:
    """The element of a list with fractions; None for another list or index."""
    if not isinstance(value, Items) or len(indices) != 1 or not isinstance(indices[0], IntExpr):
        return None
    if not all(isinstance(one, IntExpr | Rational) for one in value.items):
        return None
    found: Number = element_of(value.items, indices[0])
    return found


def _moderate(reader: ExpressionReader, tree: Node, value: Rational) -> Rational:
    numerator = reader.moderate(tree, linear([(1, value.numerator)]))
    return Rational(numerator, value.denominator, value.is_float)
