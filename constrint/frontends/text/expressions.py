"""Builds expressions from the syntax tree of `.constrint` text.

Nodes are built directly, not by Python's operators, because each has its place in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

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
from constrint.frontends.constants import as_token, as_tree
from constrint.frontends.text.calls import CallReader
from constrint.frontends.text.meanings import Value
from constrint.frontends.text.sequences import plain_value, unusable
from constrint.frontends.text.syntax import Source
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]


class ExpressionReader(CallReader):
    """Turns trees into expressions, sets and constants, given the meanings of names."""

    def __init__(self, source: Source, names: dict[str, Value], budget: Budget | None = None) -> None:
        super().__init__(source, names, budget or Budget())

    # ------------------------------------------------------------ expressions

    def value(self, tree: Node) -> Value:
        """The meaning of any argument: an expression, a list, a set or an array."""
        self.budget.node(1, partial(self.where, tree))
        nests = tree.data in _NESTING
        self._depth += nests
        if nests:
            self.budget.depth(self._depth, partial(self.where, tree))
        found = _VALUES[tree.data](self, tree)
        self._depth -= nests
        return found.at(self.span(tree)) if isinstance(found, IntExpr) else found

    def expression(self, tree: Node) -> IntExpr:
        """An integer or a condition."""
        found = self.value(tree)
        if not isinstance(found, IntExpr):
            raise unusable(self, tree, found)
        return found

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

    def _decimal(self, tree: Node) -> IntExpr:
        message = f"{as_token(tree.children[0])} is not an integer: decimals stand in objectives only"
        raise self.error(tree, message, "multiply both sides so that all numbers are integers")

    def _truth(self, tree: Node) -> IntExpr:
        return BoolConst(tree.children[0] == "true")

    def _sum(self, tree: Node) -> IntExpr:
        first, *rest = tree.children
        terms = [(1, self.integer(as_tree(first)))]
        for sign, term in zip(rest[::2], rest[1::2], strict=True):
            terms.append((1 if sign == "+" else -1, self.integer(as_tree(term))))
        return self.moderate(tree, linear(terms))

    def _product(self, tree: Node) -> IntExpr:
        first, *rest = tree.children
        factors = [self.integer(as_tree(first))]
        quotients, remainder = 0, False
        for i in range(0, len(rest), 2):
            operator, factor = rest[i], self.integer(as_tree(rest[i + 1]))
            if operator == "/":
                hint = "integers have no '/': write a // b (rounds down) or ceildiv(a, b) (rounds up)"
                raise self.error(as_token(operator), "'/' stands in objectives only", hint)
            if operator == "*":
                if remainder:
                    raise self._ambiguous_remainder(tree, i)
                factors.append(factor)
                continue
            quotients += 1
            remainder = remainder or operator == "%"
            self.budget.depth(self._depth + quotients, partial(self.where, tree))
            kind = FloorDiv if operator == "//" else Mod
            factors = [kind(self.multiplied(tree, factors), factor)]
        return self.multiplied(tree, factors)

    def multiplied(self, tree: Node, factors: list[IntExpr]) -> IntExpr:
        """The product of factors, after a check that constants in it do not grow too long."""
        self.check_bits(tree, factors, sum)
        result = factors[0]
        for factor in factors[1:]:
            result = product(result, factor)
        return self.moderate(tree, result)

    def _ambiguous_remainder(self, tree: Node, i: int) -> ParseError:
        def text(first: int, last: int) -> str:
            start, end = (
                as_tree(tree.children[first]).meta.start_pos,
                as_tree(tree.children[last]).meta.end_pos,
            )
            return self.source.text[self.begin + start : self.begin + end]

        before, after = text(0, i), text(i + 2, i + 2)
        remainder = max(j for j in range(1, i + 1, 2) if tree.children[j] == "%")
        other = f"{text(0, remainder - 1)} % ({text(remainder + 1, i + 2)})"
        message = "'%' followed by '*' is ambiguous for readers"
        return self.error(
            cast("Token", tree.children[i + 1]), message, f"write ({before}) * {after} or {other}"
        )

    def _unary(self, tree: Node) -> IntExpr:
        operand = self.integer(as_tree(tree.children[1]))
        return linear([(-1 if tree.children[0] == "-" else 1, operand)])

    def _power(self, tree: Node) -> IntExpr:
        base, exponent = [self.integer(as_tree(child)) for child in tree.children]
        self.check_power(tree, base, exponent)
        return Pow(base, exponent)

    def _chain(self, tree: Node) -> IntExpr:
        children = tree.children
        left = self.integer(as_tree(children[0]))
        links: list[BoolExpr] = []
        for i in range(1, len(children), 2):
            operator = as_token(children[i])
            if operator.type in ("IN", "NOT"):
                inside: BoolExpr = Member(left, self.members(as_tree(children[-1])))
                links.append(inside if operator.type == "IN" else Not(inside))
                break
            right = self.integer(as_tree(children[i + 1]))
            links.append(compare(str(operator), left, right))
            left = right
        place = self.span(tree)
        for link in links:
            link.at(place)
        return links[0] if len(links) == 1 else And(tuple(links))


def is_fractional(tree: Node) -> bool:
    """Whether a decimal number or a `/` stands in an expression."""
    stack: list[object] = [tree]
    while stack:
        part = stack.pop()
        if part == "/" or getattr(part, "data", "") == "decimal":
            return True
        stack.extend(getattr(part, "children", ()))
    return False


def compare(operator: str, left: IntExpr, right: IntExpr) -> BoolExpr:
    """A comparison; of two conditions, equality is that both hold or neither."""
    if operator == "divides":
        return Divides(left, right)
    if operator == "==" and isinstance(left, BoolExpr) and isinstance(right, BoolExpr):
        return Iff(left, right)
    return Comparison(operator, left, right)


_NESTING = frozenset(["group", "call", "index", "not_", "unary", "power", "implies", "iff", "list"])
"""Nodes that add to the depth of an expression; a sum in brackets is as deep as the brackets."""

_VALUES: dict[str, Callable[[ExpressionReader, Node], Value]] = {
    "iff": lambda reader, tree: Iff(*[reader.boolean(as_tree(child)) for child in tree.children]),
    "implies": lambda reader, tree: Implies(*[reader.boolean(as_tree(child)) for child in tree.children]),
    "or_": lambda reader, tree: Or(tuple([reader.boolean(as_tree(child)) for child in tree.children])),
    "and_": lambda reader, tree: And(tuple([reader.boolean(as_tree(child)) for child in tree.children])),
    "not_": lambda reader, tree: Not(reader.boolean(as_tree(tree.children[-1]))),
    "chain": ExpressionReader._chain,
    "sum": ExpressionReader._sum,
    "product": ExpressionReader._product,
    "unary": ExpressionReader._unary,
    "power": ExpressionReader._power,
    "number": ExpressionReader._number,
    "decimal": ExpressionReader._decimal,
    "name": ExpressionReader.lookup,
    "truth": ExpressionReader._truth,
    "group": lambda reader, tree: reader.value(as_tree(tree.children[1])),
    "call": ExpressionReader.called,
    "index": ExpressionReader.indexed,
    "list": ExpressionReader.list_of,
    "braces": lambda reader, tree: tuple(reader.braces(tree)),
    "range": ExpressionReader.range_of,
}
