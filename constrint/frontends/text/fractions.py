"""Objectives with fractional coefficients: ``maximize 0.5 * x + 0.25 * y`` and ``maximize (x + y) / 3``.

Everything else in the language is an integer or a condition.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from constrint.errors import ModelError, ParseError
from constrint.expr import Const, IntExpr, linear
from constrint.expr.rational import Rational, lifted
from constrint.frontends.constants import as_token, as_tree
from constrint.frontends.text.expressions import ExpressionReader, is_fractional

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

Target: TypeAlias = IntExpr | Rational


def target_of(reader: ExpressionReader, tree: Node, depth: int = 0) -> Target:
    """The target of an objective."""
    reader.budget.depth(depth, partial(reader.where, tree))
    read = {"sum": _sum, "product": _product, "unary": _negated, "group": _group}.get(tree.data)
    if tree.data == "decimal":
        return _decimal(reader, as_token(tree.children[0]))
    if read is None or not is_fractional(tree):
        return reader.integer(tree)
    try:
        return read(reader, tree, depth + 1)
    except ModelError as error:
        if isinstance(error, ParseError) or hasattr(error, "limit"):
            raise
        raise reader.error(tree, str(error)) from None


def _decimal(reader: ExpressionReader, token: Token) -> Rational:
    reader.budget.digits(token, partial(reader.where, token))
    exact = Fraction(token.replace("_", ""))
    return Rational(Const(exact.numerator), exact.denominator, True)


def _sum(reader: ExpressionReader, tree: Node, depth: int) -> Target:
    first, *rest = tree.children
    total = lifted(target_of(reader, as_tree(first), depth))
    for sign, term in zip(rest[::2], rest[1::2], strict=True):
        value = lifted(target_of(reader, as_tree(term), depth))
        total = total + value if sign == "+" else total - value
    return _moderate(reader, tree, total)


def _product(reader: ExpressionReader, tree: Node, depth: int) -> Target:
    first, *rest = tree.children
    result = lifted(target_of(reader, as_tree(first), depth))
    for operator, factor in zip(rest[::2], rest[1::2], strict=True):
        other = lifted(target_of(reader, as_tree(factor), depth))
        if operator not in ("*", "/"):
            message = f"'{operator}' is an operator of integers"
            raise reader.error(as_token(operator), message, "put the integer part in brackets of its own")
        reader.check_bits(tree, [result.numerator, other.numerator], sum)
        result = result * other if operator == "*" else result / other
        result = _moderate(reader, tree, result)
    return result


def _negated(reader: ExpressionReader, tree: Node, depth: int) -> Target:
    value = lifted(target_of(reader, as_tree(tree.children[1]), depth))
    return -value if tree.children[0] == "-" else value


def _group(reader: ExpressionReader, tree: Node, depth: int) -> Target:
    return target_of(reader, as_tree(tree.children[1]), depth)


def _moderate(reader: ExpressionReader, tree: Node, value: Rational) -> Rational:
    numerator = reader.moderate(tree, linear([(1, value.numerator)]))
    return Rational(numerator, value.denominator, value.is_float)
