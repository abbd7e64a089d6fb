"""Builds expressions from the syntax tree of `.constrint` text.

Nodes are built directly, not by Python's operators, because each has its place in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from constrint.errors import ParseError, Undefined
from constrint.expr import (
    And,
    BoolConst,
    BoolExpr,
    Comparison,
    Const,
    Divides,
    FloorDiv,
    Iff,
    Implies,
    IntExpr,
    Member,
    Mod,
    Not,
    Or,
    Pow,
    linear,
)
from constrint.expr.build import product
from constrint.expr.domain import Domain
from constrint.expr.position import Span
from constrint.frontends.constants import Place, as_token, as_tree
from constrint.frontends.text.calls import CallReader
from constrint.frontends.text.labels import check_alike, check_numbers, members_of
from constrint.frontends.text.meanings import Value, is_number
from constrint.frontends.text.refusals import unusable
from constrint.frontends.text.sequences import plain_value
from constrint.frontends.text.syntax import Source
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.expr.rational import Rational

    Node: TypeAlias = Tree[Token]

_WHOLE = (IntExpr, Domain, str)
Rule: TypeAlias = "Callable[[ExpressionReader, Place, list[Part]], IntExpr]"
Part: TypeAlias = "IntExpr | Domain | str"
"""An operand, the set after `in`, or a token between them."""


class ExpressionReader(CallReader):
    """Turns trees into expressions, sets and constants, given the meanings of names."""

    def __init__(self, source: Source, names: dict[str, Value], budget: Budget | None = None) -> None:
        super().__init__(source, names, budget or Budget())

    # ------------------------------------------------------------ expressions

    def nest(self, more: int, place: Place) -> None:
        """Refuse an expression that is nested deeper by some levels than the limit allows."""
        self.budget.depth(self._depth + more, partial(self.where, place))

    def value(self, tree: Node) -> Value:
        """The meaning of any argument: an expression, a list, a set or an array."""
        self.budget.node(1, partial(self.where, tree))
        nests = tree.data in _NESTING
        self._depth += nests
        if nests:
            self.budget.depth(self._depth, partial(self.where, tree))
        rule = RULES.get(tree.data)
        found = _VALUES[tree.data](self, tree) if rule is None else self._operation(tree, rule)
        self._depth -= nests
        return found.at(self.span(tree)) if isinstance(found, IntExpr) else found

    def _operation(self, tree: Node, rule: Rule) -> Value:
        parts = self._parts(tree)
        divides = tree.data == "product" and "/" in parts[1::2]
        if not divides and all(isinstance(part, _WHOLE) for part in parts):
            return rule(self, tree, parts)
        from constrint.frontends.text.fractions import operation

        return operation(self, tree, parts)

    def _parts(self, tree: Node) -> list[Part]:
        """The operands of an operator, with its tokens between them."""
        read: Callable[[Node], Any] = self.boolean if tree.data in LOGICAL else self.operand
        parts: list[Part] = []
        for child in tree.children:
            if not hasattr(child, "data"):
                parts.append(as_token(child))
            elif parts and getattr(parts[-1], "type", "") == "IN":
                parts.append(self.members(as_tree(child)))
            else:
                parts.append(read(as_tree(child)))
        return parts

    def expression(self, tree: Node) -> IntExpr:
        """An integer or a condition."""
        found = self.value(tree)
        if not isinstance(found, IntExpr):
            raise unusable(self, tree, found)
        return found

    def operand(self, tree: Node) -> IntExpr | Rational:
        """An integer, a condition or a fraction."""
        found = self.value(tree)
        if is_number(found):
            return found
        raise unusable(self, tree, found)

    def integer(self, tree: Node) -> IntExpr:
        """An operand of arithmetic; a condition counts as 0 or 1."""
        return self.expression(tree)

    def boolean(self, tree: Node) -> BoolExpr:
        """An operand of and, or, not, ->, <->."""
        expr = self.expression(tree)
        if not isinstance(expr, BoolExpr):
            text = self.position(tree).text
            raise self.error(tree, f"'{text}' is a number, not a condition", f"compare it: {text} != 0")
        return expr

    def constant(self, tree: Node) -> int:
        """A constant; raises `ParseError` for anything else."""
        if tree.data == "number":
            return self.number(as_token(tree.children[0]))
        expr = self.integer(tree)
        if type(expr) is Const:
            return expr.value
        for variable in expr.variables():
            hint = "for bounds that depend on variables write comparisons: lo <= x <= hi"
            raise self.error(tree, f"'{variable.name}' is a variable; a constant is needed here", hint)
        return self.constant_of(tree, expr)

    def constant_of(self, tree: Node, expr: IntExpr) -> int:
        """The value of an expression that stands for a constant."""
        found = plain_value(expr)
        if found is not None:
            return found
        for variable in expr.variables():
            message = f"'{variable.name}' is a variable; constants are needed here"
            raise self.error(tree, message)
        try:
            return int(self.value_of(tree, expr))
        except Undefined as error:
            raise self.error(tree, f"this is undefined: {error}") from None

    def _number(self, tree: Node) -> IntExpr:
        return Const(self.number(as_token(tree.children[0])))

    def _decimal(self, tree: Node) -> Value:
        from constrint.frontends.text.fractions import decimal

        return decimal(self, tree)

    def _truth(self, tree: Node) -> IntExpr:
        return BoolConst(tree.children[0] == "true")

    def multiplied(self, place: Place, factors: list[IntExpr]) -> IntExpr:
        """The product of factors, after a check that constants in it do not grow too long."""
        self.check_bits(place, factors, sum)
        result = factors[0]
        for factor in factors[1:]:
            result = product(result, factor)
        return self.moderate(place, result)


def _sum(reader: ExpressionReader, place: Place, parts: list[Part]) -> IntExpr:
    check_numbers(reader, place, parts)
    terms = [(1, cast("IntExpr", parts[0]))]
    for i in range(1, len(parts), 2):
        terms.append((1 if parts[i] == "+" else -1, cast("IntExpr", parts[i + 1])))
    return reader.moderate(place, linear(terms))


def _product(reader: ExpressionReader, place: Place, parts: list[Part]) -> IntExpr:
    check_numbers(reader, place, parts)
    factors = [cast("IntExpr", parts[0])]
    quotients, remainder = 0, False
    for i in range(1, len(parts), 2):
        operator, factor = parts[i], cast("IntExpr", parts[i + 1])
        if operator == "/":
            hint = "integers have no '/': write a // b (rounds down) or ceildiv(a, b) (rounds up)"
            raise reader.error(_operator(place, i), "'/' stands beside fractions only", hint)
        if operator == "*":
            if remainder:
                raise _ambiguous_remainder(reader, place, i)
            factors.append(factor)
            continue
        quotients += 1
        remainder = remainder or bool(operator == "%")
        reader.nest(quotients, place)
        kind = FloorDiv if operator == "//" else Mod
        factors = [kind(reader.multiplied(place, factors), factor)]
    return reader.multiplied(place, factors)


def _operator(place: Place, i: int) -> Place:
    """The operator at place `i` of a tree; of a plain statement, whose tree is read next, the whole."""
    return place if isinstance(place, Span) else as_token(as_tree(place).children[i])


def _ambiguous_remainder(reader: ExpressionReader, place: Place, i: int) -> ParseError:
    """The error for a `%` before the operator `*` at place `i` of a product."""
    if isinstance(place, Span):
        return reader.error(place, "'%' is followed by '*'")
    children = as_tree(place).children

    def text(first: int, last: int) -> str:
        return reader.source.text[
            as_tree(children[first]).meta.start_pos : as_tree(children[last]).meta.end_pos
        ]

    before, after = text(0, i - 1), text(i + 1, i + 1)
    remainder = max(j for j in range(2, i, 2) if children[j - 1] == "%")
    other = f"{text(0, remainder - 2)} % ({text(remainder, i + 1)})"
    message = "'%' followed by '*' is ambiguous for readers"
    return reader.error(as_token(children[i]), message, f"write ({before}) * {after} or {other}")


def _unary(reader: ExpressionReader, place: Place, parts: list[Part]) -> IntExpr:
    check_numbers(reader, place, parts)
    return linear([(-1 if parts[0] == "-" else 1, cast("IntExpr", parts[1]))])


def _power(reader: ExpressionReader, place: Place, parts: list[Part]) -> IntExpr:
    check_numbers(reader, place, parts)
    base, exponent = cast("list[IntExpr]", parts)
    reader.check_power(place, base, exponent)
    return Pow(base, exponent)


def _chain(reader: ExpressionReader, place: Place, parts: list[Part]) -> IntExpr:
    check_alike(reader, place, *parts)
    left = cast("IntExpr", parts[0])
    links: list[BoolExpr] = []
    for i in range(1, len(parts), 2):
        operator, right = parts[i], parts[i + 1]
        if operator in ("in", "not"):
            inside: BoolExpr = Member(left, cast("Domain", parts[-1]))
            links.append(inside if operator == "in" else Not(inside))
            break
        links.append(compare(str(operator), left, cast("IntExpr", right)))
        left = cast("IntExpr", right)
    where = reader.span(place)
    for link in links:
        link.at(where)
    return links[0] if len(links) == 1 else And(tuple(links))


def compare(operator: str, left: IntExpr, right: IntExpr) -> BoolExpr:
    """A comparison; of two conditions, equality is that both hold or neither."""
    if operator == "divides":
        return Divides(left, right)
    if operator == "==" and isinstance(left, BoolExpr) and isinstance(right, BoolExpr):
        return Iff(left, right)
    return Comparison(operator, left, right)


_NESTING = frozenset(["group", "call", "index", "not_", "unary", "power", "implies", "iff", "list"])
"""Nodes that add to the depth of an expression; a sum in brackets is as deep as the brackets."""


def _conditions(parts: list[Part]) -> tuple[BoolExpr, ...]:
    return tuple(cast("list[BoolExpr]", parts))


LOGICAL = frozenset(["iff", "implies", "or_", "and_", "not_"])
"""Operators whose operands are conditions."""

RULES: dict[str, Rule] = {
    "iff": lambda reader, place, parts: Iff(*_conditions(parts)),
    "implies": lambda reader, place, parts: Implies(*_conditions(parts)),
    "or_": lambda reader, place, parts: Or(_conditions(parts)),
    "and_": lambda reader, place, parts: And(_conditions(parts)),
    "not_": lambda reader, place, parts: Not(_conditions(parts)[-1]),
    "chain": _chain,
    "sum": _sum,
    "product": _product,
    "unary": _unary,
    "power": _power,
}
"""Operators: what they make of their place and their operands."""

_VALUES: dict[str, Callable[[ExpressionReader, Node], Value]] = {
    "number": ExpressionReader._number,
    "decimal": ExpressionReader._decimal,
    "name": ExpressionReader.lookup,
    "truth": ExpressionReader._truth,
    "group": lambda reader, tree: reader.value(as_tree(tree.children[1])),
    "call": ExpressionReader.called,
    "index": ExpressionReader.indexed,
    "list": ExpressionReader.list_of,
    "braces": lambda reader, tree: tuple(members_of(reader.braces(tree))),
    "range": ExpressionReader.range_of,
}
